#!/bin/sh
# Tries the ordinary tasks of a working day in real projects and prints the share that works. Not part of the gate: it
# downloads the projects once (CONTEXTD_DAY_CACHE, ~/.cache/contextd-day) and builds real programs, for some minutes.
# CONTEXTD_DAY_OWNER=UID gives the projects to another user, whose ~/.gitconfig must name Ann Example <ann@example.com>.
# CONTEXTD_DAY_INSTALLATION=DIR tries another version.
set -eu
cd "$(dirname "$0")/.."
scripts/prepare.sh
PATH="$PWD/node_modules/.bin:$PATH"
export PATH
exec vitest run --config test/day/vitest.config.ts "$@"
