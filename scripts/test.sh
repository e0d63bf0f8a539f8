#!/bin/sh
# Runs the tests, also right after a clone. Arguments go to vitest: npm test -- test/unit/core
set -eu
cd "$(dirname "$0")/.."
scripts/prepare.sh
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
exec vitest run "$@"
