#!/bin/sh
# run.sh DIRECTORY PROGRAM [ARGUMENT…]: the program in that directory, as the only process.
cd "$1" || exit 127
shift
exec "$@"
