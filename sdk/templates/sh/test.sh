#!/bin/sh
# Calls the tool as contextd does, and compares its answer.
set -eu
cd "$(dirname "$0")"
text='one two
three'
want='{"words": 3, "lines": 2}'
got=$(echo '{"text":"one two\nthree"}' | INPUT_text=$text ./main.sh)
if [ "$got" != "$want" ]; then
  echo "got $got, want $want" >&2
  exit 1
fi
echo "ok: $got"
