#!/bin/sh
# Installs contextd for the user who runs it and shows it at work. Running it again is safe.
#
#   ./install.sh [--prefix DIR]      commands are linked into DIR/bin (default: ~/.local/bin)
#   ./install.sh --gitleaks          only brings gitleaks and its rules (an installation does that too)
#   ./install.sh --uninstall [--prefix DIR]
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
bindir=${HOME:-/root}/.local/bin
uninstall=no
gitleaks_only=no

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -ge 2 ] || fail "--prefix needs a directory. Usage: ./install.sh --prefix DIR"; bindir=${2%/}/bin; shift ;;
    --prefix=*) bindir=${1#--prefix=}; bindir=${bindir%/}/bin ;;
    --uninstall) uninstall=yes ;;
    --gitleaks) gitleaks_only=yes ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $1. Usage: ./install.sh [--prefix DIR] [--gitleaks | --uninstall]" ;;
  esac
  shift
done
case $bindir in /*) ;; *) bindir=$PWD/$bindir ;; esac

# The gitleaks program and its rules into the data directory, when they can be had; contextd works without.
bring_gitleaks() { "$root/node_modules/.bin/node" "$root/dist/scripts/install-gitleaks.js"; }

# A link is ours when it leads into this checkout.
ours() { [ -L "$1" ] && case $(readlink "$1") in "$root"/bin/*) true ;; *) false ;; esac; }

unlink_commands() {
  for name in ctxd contextd contextd-proxy; do
    if ours "$bindir/$name"; then rm "$bindir/$name"; say "Removed $bindir/$name"; fi
  done
}

if [ "$uninstall" = yes ]; then
  if [ -x "$root/bin/ctxd" ] && [ -d "$root/dist" ]; then "$root/bin/ctxd" server stop || true; fi
  unlink_commands
  rm -rf "$root/dist" "$root/node_modules" "$root/bin/contextd-proxy"
  say "Removed what was built in $root."
  say "Left alone: your projects (ctxd init --uninstall undoes one; run it before this), and the data and settings in"
  say "  ${CONTEXTD_HOME:-${XDG_CONFIG_HOME:-$HOME/.config}/contextd, ${XDG_DATA_HOME:-$HOME/.local/share}/contextd, ${XDG_STATE_HOME:-$HOME/.local/state}/contextd}"
  exit 0
fi

case $(uname -s) in
  Linux | Darwin) ;;
  *) fail "contextd runs on Linux (and, with less isolation, macOS); this is $(uname -s)." ;;
esac

"$root/scripts/prepare.sh"
if [ "$gitleaks_only" = yes ]; then
  bring_gitleaks
  say "A running daemon takes it up when it is restarted:  ctxd server restart"
  exit 0
fi
bring_gitleaks || say "gitleaks was not brought; see the message above. contextd masks with its own rules."

mkdir -p "$bindir" || fail "cannot make $bindir. Choose another place: ./install.sh --prefix DIR"
for name in ctxd contextd contextd-proxy; do
  if [ -e "$bindir/$name" ] || [ -L "$bindir/$name" ]; then
    ours "$bindir/$name" || fail "$bindir/$name exists and is not a link into $root. Move it away, or choose another place: ./install.sh --prefix DIR"
  fi
  ln -sfn "$root/bin/$name" "$bindir/$name"
done
say "Linked ctxd, contextd and contextd-proxy into $bindir"
case :$PATH: in
  *:"$bindir":*) ;;
  *) say "$bindir is not on your PATH. Add it:  export PATH=\"$bindir:\$PATH\"" ;;
esac

"$root/bin/ctxd" server restart || fail "the daemon did not start; see the message above and: $root/bin/ctxd server logs"

demo=$(mktemp -d "${TMPDIR:-/tmp}/contextd-demo.XXXXXX")
# Made up on the spot, so that no real-looking key stands in this file.
key=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
printf 'API_KEY=%s\n' "$key" >"$demo/.env"
say ""
say "A demo project, in $demo:"
(cd "$demo" && "$root/bin/ctxd" init >/dev/null) || fail "ctxd init failed in $demo"
command='{"command":"cat .env; seq 100000","max_tokens":400}'
say "\$ .claude/tools/safe_bash/safe_bash '$command'"
answer=$(cd "$demo" && .claude/tools/safe_bash/safe_bash "$command") || fail "the demo call failed. What this machine lacks: $root/bin/ctxd doctor"
printf '%s\n' "$answer"
case $answer in *"$key"*) fail "the demo secret was not masked; please report this." ;; esac
(cd "$demo" && "$root/bin/ctxd" init --uninstall >/dev/null) || true
rm -rf "$demo"
say ""
say "contextd is installed. In a project of yours:  ctxd init      Health:  ctxd doctor      Undo:  ./install.sh --uninstall"
