#!/bin/sh
# Runs the unit tests on the sources: nothing has to be built after a change. Arguments go to vitest, such as --changed or a path.
set -eu
cd "$(dirname "$0")/.."
[ -f dist/src/tokens/cl100k_base.ranks ] || scripts/prepare.sh
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
exec vitest run --config vitest.unit.config.ts "$@"
