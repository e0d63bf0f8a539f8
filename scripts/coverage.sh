#!/bin/sh
# The tests with V8's coverage of the test workers and of every child process, merged; fails under 80 %.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
rm -rf coverage
NODE_V8_COVERAGE="$PWD/coverage/raw" vitest run "$@"
c8 report --temp-directory coverage/raw --reporter text-summary --reporter json --reports-dir coverage \
  --exclude-after-remap --include 'src/**' --include 'tools/**' --exclude 'src/protocol/generated/**' \
  --check-coverage --lines 80 --branches 80
