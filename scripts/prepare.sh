#!/bin/sh
# Prepares a checkout to run the program and its tests: packages, bubblewrap, build.
# Usage: scripts/prepare.sh [--quiet]. Does only what is missing and asks no questions.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*"; }
fail() { printf 'contextd: %s\n' "$*" >&2; exit 1; }

command -v node >/dev/null 2>&1 || fail "Node.js is missing. Install Node 20 or newer (https://nodejs.org), then run this again."
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' ||
  fail "Node $(node --version) is too old. Install Node 20 or newer (https://nodejs.org), then run this again."
command -v npm >/dev/null 2>&1 || fail "npm is missing. It comes with Node.js; on Debian and Ubuntu: apt-get install -y npm"

# Independent of the caller's umask: the tools of a root daemon run as the owner of a project, with the Node installed here.
umask 022
if ! cmp -s package-lock.json node_modules/.contextd-lock 2>/dev/null || [ ! -x node_modules/.bin/node ]; then
  say "Installing packages with npm ci (about a minute, longer on a slow network) ..."
  npm ci --no-audit --no-fund --loglevel=error || fail "npm ci failed. See its message above; it needs to reach your npm registry."
  cp package-lock.json node_modules/.contextd-lock
fi
# Installed earlier, with another umask.
chmod go+rx "$(node -p 'require("fs").realpathSync("node_modules/.bin/node")')" 2>/dev/null ||
  fail "this clone belongs to another user, so it cannot be installed from here. Make a clone of your own."

if [ "$(uname -s)" = Linux ] && ! command -v bwrap >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    say "Installing bubblewrap with apt-get (less than a minute) ..."
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 install -y -qq bubblewrap; } >/dev/null ||
      fail "apt-get could not install bubblewrap. Install it by hand, then run this again."
  elif command -v apt-get >/dev/null 2>&1; then
    fail "bubblewrap is missing. Run: sudo apt-get install -y bubblewrap   then run this again."
  else
    fail "bubblewrap is missing. Install it with your package manager, then run this again."
  fi
fi

# A file or a name that is newer than the last build; a removed file changes the time of its directory.
changed() {
  [ -e dist/.built ] && [ -x bin/contextd-proxy ] || return 0
  [ -n "$(find src tools scripts bench proto package.json tsconfig.json node_modules/.contextd-lock -newer dist/.built | head -n 1)" ]
}
if changed; then
  say "Building the program from its source (about a minute) ..."
  npm run --silent build || fail "the build failed; see its message above."
fi
