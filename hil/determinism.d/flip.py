"""Changes one byte of the last cycle of a recording, and makes the checks behind it anew.

    flip.py RECORDING OUT BACK      the byte that stands so far from the end of that cycle, 1 = its last
"""
import sys


def fnv(value, data):
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


data = bytearray(open(sys.argv[1], "rb").read())
places, at = [], 16
while at + 13 <= len(data):
    length = int.from_bytes(data[at + 1:at + 5], "little")
    places.append((at, length))
    at += 13 + length
last = max(index for index, (at, length) in enumerate(places) if data[at] == 5 and length > 8)
at, length = places[last]
# The end of a cycle's body belongs to its decision.
data[at + 5 + length - int(sys.argv[3])] ^= 0x01
check = fnv(0xCBF29CE484222325, data[:16])
for at, length in places:
    check = fnv(check, data[at:at + 5 + length])
    data[at + 5 + length:at + 13 + length] = check.to_bytes(8, "little")
open(sys.argv[2], "wb").write(data)
