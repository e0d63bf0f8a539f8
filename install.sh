#!/bin/sh
# Installs contextd for the user who runs this script, and runs a demo. Running it again is safe.
#
#   ./install.sh [--prefix DIR]      commands are linked into DIR/bin (default: ~/.local/bin)
#   ./install.sh --prune             also removes what only builds and tests need, which the next ./install.sh brings back
#   ./install.sh --gitleaks          only installs the gitleaks program (a full installation does this too)
#   ./install.sh --uninstall [--prefix DIR]
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
bindir=${HOME:-/root}/.local/bin
uninstall=no
gitleaks_only=no
prune=no

# The directories that this script made, for --uninstall.
made=$root/bin/.made-directories
# The directories that have its links.
linked=$root/bin/.linked-directories

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -ge 2 ] || fail "--prefix needs a directory. Usage: ./install.sh --prefix DIR"; bindir=${2%/}/bin; shift ;;
    --prefix=*) bindir=${1#--prefix=}; bindir=${bindir%/}/bin ;;
    --uninstall) uninstall=yes ;;
    --gitleaks) gitleaks_only=yes ;;
    --prune) prune=yes ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $1. Usage: ./install.sh [--prefix DIR] [--prune] [--gitleaks | --uninstall]" ;;
  esac
  shift
done
case $bindir in /*) ;; *) bindir=$PWD/$bindir ;; esac

# Puts the gitleaks program into the data directory if it can get it; contextd works without it.
install_gitleaks() { "$root/node_modules/.bin/node" "$root/dist/scripts/install-gitleaks.js"; }

# Makes a directory and those around it, and remembers which did not exist.
make_directory() {
  new=
  around=$1
  while [ ! -d "$around" ]; do
    new="$new$around
"
    around=$(dirname -- "$around")
  done
  mkdir -p "$1" 2>/dev/null || return 1
  printf '%s' "$new" >>"$made"
}

# Longest first, so that a directory comes after those in it. One that is not empty stays.
remove_made_directories() {
  if [ ! -f "$made" ]; then return; fi
  LC_ALL=C sort -ru "$made" | while IFS= read -r directory; do
    if rmdir "$directory" 2>/dev/null; then say "Removed $directory"; fi
  done
  rm "$made"
}

# A link is ours if it leads into this checkout.
is_ours() { [ -L "$1" ] && case $(readlink "$1") in "$root"/bin/*) true ;; *) false ;; esac; }

# A directory of links.
unlink_commands() {
  for name in ctxd contextd contextd-proxy; do
    if is_ours "$1/$name"; then rm "$1/$name"; say "Removed $1/$name"; fi
  done
  page=${1%/bin}/share/man/man1/ctxd.1
  if [ "$(readlink "$page" 2>/dev/null)" = "$root/share/man/man1/ctxd.1" ]; then rm "$page"; say "Removed $page"; fi
}

# What is the person's own: settings, data, records, and the files in projects.
list_kept() {
  state=${CONTEXTD_HOME:+$CONTEXTD_HOME/state}
  state=${state:-${XDG_STATE_HOME:-$HOME/.local/state}/contextd}
  say "Kept (delete what you do not need):"
  if [ -n "${CONTEXTD_HOME:-}" ]; then keep "$CONTEXTD_HOME" "settings, data and records"; else
    keep "${XDG_CONFIG_HOME:-$HOME/.config}/contextd" "settings"
    keep "${XDG_DATA_HOME:-$HOME/.local/share}/contextd" "installed tools and stored outputs"
    keep "$state" "records: sessions, memories, the audit log"
  fi
  for manifest in "$state"/projects/*.json; do
    project=$(sed -n 's/^  "root": "\(.*\)",$/\1/p' "$manifest" 2>/dev/null) || continue
    if [ -n "$project" ]; then keep "$project" "files of ctxd init; to remove them: ./install.sh, then ctxd init --uninstall $project"; fi
  done
  keep "${npm_config_cache:-$HOME/.npm}" "npm's cache of packages, for all projects of yours"
  keep "$root" "the source, from which ./install.sh installs again"
}

keep() {
  if [ -e "$1" ]; then say "  $1  ($2)"; fi
}

if [ "$uninstall" = yes ]; then
  if [ -x "$root/bin/ctxd" ] && [ -d "$root/dist" ]; then
    # A unit of `ctxd server install` would start a program that is gone.
    if grep -qsF "$root/bin/contextd" "${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/contextd.service" \
      "$HOME"/Library/LaunchAgents/*contextd*.plist; then "$root/bin/ctxd" server uninstall || true; fi
    "$root/bin/ctxd" server stop || true
  fi
  unlink_commands "$bindir"
  if [ -f "$linked" ]; then
    while IFS= read -r directory; do unlink_commands "$directory"; done <"$linked"
    rm "$linked"
  fi
  remove_made_directories
  rm -rf "$root/dist" "$root/node_modules" "$root/share" "$root/bin/contextd-proxy"
  say "Removed everything that was built in $root."
  list_kept
  exit 0
fi

case $(uname -s) in
  Linux | Darwin) ;;
  *) fail "contextd runs on Linux (and, with less isolation, macOS); this is $(uname -s)." ;;
esac

"$root/scripts/prepare.sh"
if [ "$gitleaks_only" = yes ]; then
  install_gitleaks || exit 1
  say "Restart a running daemon so that it uses gitleaks:  ctxd server restart"
  exit 0
fi
install_gitleaks || say "gitleaks was not installed; see the message above. contextd masks secrets without it."

make_directory "$bindir" || fail "cannot create $bindir. Choose another place: ./install.sh --prefix DIR"
for name in ctxd contextd contextd-proxy; do
  if [ -e "$bindir/$name" ] || [ -L "$bindir/$name" ]; then
    is_ours "$bindir/$name" || fail "$bindir/$name exists and is not a link into $root. Move it away, or choose another place: ./install.sh --prefix DIR"
  fi
  ln -sfn "$root/bin/$name" "$bindir/$name"
done
grep -qxF -- "$bindir" "$linked" 2>/dev/null || printf '%s\n' "$bindir" >>"$linked"
say "Linked ctxd, contextd and contextd-proxy into $bindir"
# man looks for pages in share/man beside each directory of PATH.
mandir=${bindir%/bin}/share/man/man1
if make_directory "$mandir" && { [ -L "$mandir/ctxd.1" ] || [ ! -e "$mandir/ctxd.1" ]; }; then
  ln -sfn "$root/share/man/man1/ctxd.1" "$mandir/ctxd.1"
fi
case :$PATH: in
  *:"$bindir":*) ;;
  *) say "$bindir is not on your PATH. Add it:  export PATH=\"$bindir:\$PATH\"" ;;
esac

if [ "$prune" = yes ]; then
  say "Removing what only builds and tests need ..."
  "$root/node_modules/.bin/node" "$root/dist/scripts/prune.js" || fail "not everything could be removed; see the message above"
fi
say "Starting the daemon (a few seconds) ..."
"$root/bin/ctxd" server restart || fail "the daemon did not start; see the message above and: $root/bin/ctxd server logs"

demo=$(mktemp -d "${TMPDIR:-/tmp}/contextd-demo.XXXXXX")
# Generated here, so that this file holds no real-looking key.
key=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
printf 'API_KEY=%s\n' "$key" >"$demo/.env"
say ""
say "A demo project in $demo (a few seconds):"
(cd "$demo" && "$root/bin/ctxd" init >/dev/null) || fail "ctxd init failed in $demo"
command='cat .env; seq 100000'
say "\$ .claude/tools/safe_bash/safe_bash '$command' --max-tokens 256"
answer=$(cd "$demo" && .claude/tools/safe_bash/safe_bash "$command" --max-tokens 256 2>&1) || fail "the demo call failed. To see what this machine lacks, run: $root/bin/ctxd doctor"
printf '%s\n' "$answer"
case $answer in *"$key"*) fail "the demo secret was not masked; please report this." ;; esac
(cd "$demo" && "$root/bin/ctxd" init --uninstall >/dev/null) || true
rm -rf "$demo"
say ""
say "contextd is installed. In one of your projects:  ctxd init      Check:  ctxd doctor      Undo:  ./install.sh --uninstall"
