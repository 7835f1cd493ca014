"""Prints the points of SunSpec models as pysunspec2 packages them: one line `model point offset type scale unit` each.

The judge of the offsets in Sources/DeviceCodecs/SunSpecModels.swift. A missing scale or unit is `-`.
"""

import json
import os
import sys

import sunspec2

FOLDER = os.path.join(os.path.dirname(sunspec2.__file__), "models", "json")


def load(model):
    """The points of the model's fixed block as (offset, definition), in order."""
    with open(os.path.join(FOLDER, f"model_{model}.json"), encoding="utf-8") as file:
        points = json.load(file)["group"]["points"]
    offset, placed = 0, []
    for point in points:
        placed.append((offset, point))
        offset += point["size"]
    return placed


def main():
    for model in sys.argv[1:]:
        points = load(model)
        offsets = {point["name"]: offset for offset, point in points}
        for offset, point in points:
            scale = offsets.get(point.get("sf"), "-")
            unit = point.get("units", "-").replace(" ", "_")
            print(model, point["name"], offset, f"{point['type']}:{point['size']}", scale, unit)


if __name__ == "__main__":
    main()
