"""Prints every point of SunSpec models as pysunspec2 packages them: `model path offset type:size scale access unit`.

The offset counts from the model's ID register with one instance of each group; the scale is a point's name; a missing
scale or unit is `-`. The judge of Sources/Devices/DeviceCodecs/SunSpec/SunSpecTables*.swift.
"""

import json
import os
import sys

import sunspec2

FOLDER = os.path.join(os.path.dirname(sunspec2.__file__), "models", "json")


def walk(group, path, offset):
    for point in group.get("points", []):
        yield path + point["name"], offset, point
        offset += point["size"]
    for inner in group.get("groups", []):
        for name, place, point in walk(inner, path + inner["name"] + ".", offset):
            yield name, place, point
            offset = place + point["size"]


def main():
    for model in sys.argv[1:]:
        with open(os.path.join(FOLDER, f"model_{model}.json"), encoding="utf-8") as file:
            group = json.load(file)["group"]
        for name, offset, point in walk(group, "", 0):
            if offset < 2:
                continue
            unit = point.get("units", "-").strip().replace(" ", "_")
            access = point.get("access", "R")
            print(model, name, offset, f"{point['type']}:{point['size']}", point.get("sf", "-"), access, unit)


if __name__ == "__main__":
    main()
