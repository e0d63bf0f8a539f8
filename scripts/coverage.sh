#!/bin/sh
# Runs the tests with V8's coverage, merged over the test workers and every child process; fails below 80 %.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
rm -rf coverage
NODE_V8_COVERAGE="$PWD/coverage/raw" vitest run "$@"
c8 report --temp-directory coverage/raw --reporter text-summary --reporter json --reports-dir coverage \
  --exclude-after-remap --include 'src/**' --include 'tools/**' --exclude 'src/protocol/generated/**' \
  --check-coverage --lines 80 --branches 80
