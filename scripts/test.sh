#!/bin/sh
# Runs the tests, also right after a clone: all but `*.nightly.test.ts`. Arguments go to vitest, and then every file counts:
# npm test -- test/unit/core
set -eu
cd "$(dirname "$0")/.."
scripts/prepare.sh
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
named() {
  for argument; do case $argument in -*) ;; *) return 0 ;; esac; done
  return 1
}
named "$@" || set -- --project unit --project whole "$@"
exec vitest run "$@"
