#!/bin/sh
# Runs the tests, straight after a clone too. Arguments go to vitest: npm test -- test/unit/core
set -eu
cd "$(dirname "$0")/.."
scripts/prepare.sh
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
exec vitest run "$@"
