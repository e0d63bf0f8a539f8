#!/usr/bin/env python3
"""A tool of contextd: reads its arguments as JSON from stdin, prints its answer as JSON, or text, on stdout."""

import json
import sys

# Latitude and longitude in degrees.
CITIES = {"Oslo": (59.91, 10.75), "Nairobi": (-1.29, 36.82), "São Paulo": (-23.55, -46.63)}


def locate(city: str) -> dict[str, str | float]:
    if city not in CITIES:
        sys.exit(f"There is no city {city}. Ask for one of these: {', '.join(CITIES)}.")  # A failure, with this text.
    latitude, longitude = CITIES[city]
    return {"city": city, "latitude": latitude, "longitude": longitude}


if __name__ == "__main__":
    arguments = json.load(sys.stdin)  # They fit schema.json: contextd has checked them.
    print(json.dumps(locate(arguments["city"])))
