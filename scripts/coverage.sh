#!/bin/sh
# Runs the tests with V8's coverage, merged over the test workers and every child process; fails below 85 %. The report is
# printed also if a test fails. Arguments go to vitest.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
rm -rf coverage
# Some children run as another user.
mkdir -p coverage/raw
chmod 1777 coverage/raw
tests=0
NODE_V8_COVERAGE="$PWD/coverage/raw" vitest run --project unit --project whole "$@" || tests=$?
c8 report --temp-directory coverage/raw --reporter text-summary --reporter json --reports-dir coverage \
  --exclude-after-remap --include 'src/**' --include 'tools/**' --exclude 'src/protocol/generated/**' \
  --check-coverage --lines 85 --branches 80
exit "$tests"
