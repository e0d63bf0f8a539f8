#!/bin/sh
# Calls the tool as contextd does, and compares its answers.
set -eu
cd "$(dirname "$0")"
want='{"city": "Oslo", "latitude": 59.91, "longitude": 10.75}'
got=$(echo '{"city":"Oslo"}' | INPUT_city=Oslo ./main.sh)
if [ "$got" != "$want" ]; then
  echo "got $got, want $want" >&2
  exit 1
fi
if got=$(echo '{"city":"Atlantis"}' | INPUT_city=Atlantis ./main.sh 2>&1); then
  echo "got $got, want a failure for a city that it does not know" >&2
  exit 1
fi
echo "ok: $want"
