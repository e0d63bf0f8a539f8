#!/bin/sh
# Runs the files that the gate leaves out, every property test with 33 times the cases of the gate (10,000 of a function instead of
# 300), all cases of every table, all rows of every matrix, and the generators of test/escape with 20,000 instead of 40 to 250,
# seeded by the date, and the attacks on certified patterns. It takes hours.
# Arguments go to vitest: npm run nightly -- test/unit
set -eu
cd "$(dirname "$0")/.."
: "${CONTEXTD_PROPERTY_RUNS:=10000}" "${CONTEXTD_SHAPE_RUNS:=20000}" "${CONTEXTD_PROPERTY_SEED:=$(date -u +%Y%m%d)}"
export CONTEXTD_PROPERTY_RUNS CONTEXTD_SHAPE_RUNS CONTEXTD_PROPERTY_SEED
printf '%s cases of each function, %s shapes, seed %s\n' \
  "$CONTEXTD_PROPERTY_RUNS" "$CONTEXTD_SHAPE_RUNS" "$CONTEXTD_PROPERTY_SEED"
# The gate tries each certified pattern with two seeds; a text that is slow for it may need another.
[ $# -gt 0 ] || { scripts/prepare.sh; node dist/scripts/certify-patterns.js --check --seed "$CONTEXTD_PROPERTY_SEED"; }
[ $# -gt 0 ] || set -- $(grep -rlE 'fc\.assert\(|propertyRuns\(|shapeRuns\([0-9]|stride\([0-9]|AT_NIGHT' --include='*.test.ts' test; find test -name '*.nightly.test.ts')
exec scripts/test.sh --test-timeout=7200000 "$@"
