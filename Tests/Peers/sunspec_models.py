"""Prints the points of SunSpec models as pysunspec2 packages them: one line `model point offset type scale unit` each.

After the fixed block come the points of the first group, once. The judge of the offsets in
Sources/Devices/DeviceCodecs/SunSpec/SunSpecModels.swift. A missing scale or unit is `-`.
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


def first_group(model, offset):
    """The points of the model's first group, if it has one, as they stand behind the fixed block."""
    with open(os.path.join(FOLDER, f"model_{model}.json"), encoding="utf-8") as file:
        groups = json.load(file)["group"].get("groups", [])
    placed = []
    for point in groups[0].get("points", []) if groups else []:
        placed.append((offset, point))
        offset += point["size"]
    return placed


def main():
    for model in sys.argv[1:]:
        points = load(model)
        points += first_group(model, points[-1][0] + points[-1][1]["size"])
        # The fixed block's names win: scale factors stand there.
        offsets = {point["name"]: offset for offset, point in reversed(points)}
        for offset, point in points:
            scale = offsets.get(point.get("sf"), "-")
            unit = point.get("units", "-").replace(" ", "_")
            print(model, point["name"], offset, f"{point['type']}:{point['size']}", scale, unit)


if __name__ == "__main__":
    main()
