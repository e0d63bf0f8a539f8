#!/usr/bin/env python3
"""A tool of contextd: reads its arguments as JSON from stdin, prints its answer as JSON, or text, on stdout."""

import json
import sys


def count(text: str) -> dict[str, int]:
    return {"words": len(text.split()), "lines": text.count("\n") + 1}


if __name__ == "__main__":
    arguments = json.load(sys.stdin)  # They fit schema.json: contextd has checked them.
    print(json.dumps(count(arguments["text"])))
