#!/bin/sh
# A tool of contextd. Its arguments are JSON on stdin, and each is a variable INPUT_<name> too. What it prints on stdout is
# its answer, JSON or text. An exit status other than 0 is a failure, with what it printed on stderr.
set -eu
words=$(printf '%s' "$INPUT_text" | wc -w)
lines=$(($(printf '%s' "$INPUT_text" | wc -l) + 1))
printf '{"words": %d, "lines": %d}\n' "$words" "$lines"
