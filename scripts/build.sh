#!/bin/sh
# Source to program: compiled JavaScript, rule and rank data, the core tool bundle, the compiled proxy.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
# Independent of the caller's umask: the tools of a root daemon run as the owner of a project and read these files.
umask 022
# Its time is that of the start: what is changed meanwhile is built again by prepare.sh.
mkdir -p dist
rm -f dist/.built
: >dist/.building
# Code that uses a new message of proto/ fails to compile until it is generated.
tsc -p tsconfig.json || {
  status=$?
  node dist/scripts/generate-protocol.js --check || true
  exit "$status"
}
mkdir -p dist/src/scrub/rules
rm -f dist/src/scrub/rules/*.toml
cp src/scrub/rules/*.toml dist/src/scrub/rules/
cp src/scrub/exact/certified-patterns.txt dist/src/scrub/exact/
cp src/relay/run.sh dist/src/relay/
cp src/install/sigstore-trusted-root.json dist/src/install/
cp src/scrub/gitleaks/gitleaks.toml dist/src/scrub/gitleaks/
node dist/scripts/build-ranks.js
node dist/scripts/build-manual.js
node dist/scripts/build-core-bundle.js
node dist/scripts/build-sdk.js
node dist/scripts/build-daemon.js
node dist/scripts/build-proxy.js
mv dist/.building dist/.built
