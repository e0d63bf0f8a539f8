#!/bin/sh
# Runs the unit tests on the sources: nothing has to be built after a change. Arguments go to vitest, such as --changed or a path.
set -eu
cd "$(dirname "$0")/.."
[ -f dist/src/tokens/cl100k_base.ranks ] || scripts/prepare.sh
# Node keeps the sources compiled: the threads and programs that tests start read them again.
: "${NODE_COMPILE_CACHE:=$PWD/node_modules/.cache/node}"
export NODE_COMPILE_CACHE
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
exec vitest run --config vitest.unit.config.ts "$@"
