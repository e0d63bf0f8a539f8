#!/bin/sh
# Runs the coverage-guided fuzzer Jazzer.js on everything in test/fuzz/targets.ts, one after the other, and stops at the first input
# that a target does not take. Installs the fuzzer into test/fuzz at the first run.
# Usage: scripts/fuzz.sh [RUNS [TARGET ...]]   (default: 20000 runs of each)
# The fuzzer needs glibc 2.38 or macOS. NODE="LOADER --library-path DIR node" runs it with another C library.
set -eu
cd "$(dirname "$0")/.."
runs=${1:-20000}
[ $# -eq 0 ] || shift
PATH=$PWD/node_modules/.bin:$PATH
[ -e test/fuzz/node_modules/.bin/jazzer ] || npm ci --silent --prefix test/fuzz --ignore-scripts
work=dist/fuzz
rm -rf "$work"
mkdir -p "$work"
esbuild test/fuzz/targets.ts --bundle --platform=node --format=cjs --outfile="$work/targets.cjs" --log-level=warning
[ $# -gt 0 ] || set -- $(node -p "Object.keys(require('./$work/targets.cjs')).join(' ')")
for target in "$@"; do
  printf '%s: %s runs\n' "$target" "$runs"
  ${NODE:-node} test/fuzz/node_modules/@jazzer.js/core/dist/cli.js "$work/targets.cjs" -f "$target" --sync -i "$work" -- \
    "-runs=$runs" -seed=20261121 -max_len=4096 "-artifact_prefix=$work/" >"$work/$target.log" 2>&1 || {
    cat "$work/$target.log" >&2
    exit 1
  }
  grep -E 'Done |cov:' "$work/$target.log" | tail -n 1
done
