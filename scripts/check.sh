#!/bin/sh
# The checks that must pass, for people and continuous integration: format and lint, types, unused code, generated code,
# certified patterns, tests with coverage.
set -eu
cd "$(dirname "$0")/.."
scripts/prepare.sh
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
biome ci --colors=off .
tsc -p tsconfig.test.json
knip
node dist/scripts/generate-protocol.js --check
node dist/scripts/draw-call.js --check
node dist/scripts/certify-patterns.js --check
exec scripts/coverage.sh
