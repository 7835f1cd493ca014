"""Reads a recording by its description (`RecordingFormat`) alone: every check, the words of every cycle, the digest over all
decisions. For those who judge the reader in Swift, and for those who break recordings on purpose.

    recording_reader.py FILE DECISION-WORDS      prints how many of each kind, their bytes, and the digest of the last
                                                 DECISION-WORDS words of each cycle; 0 = the digest is not made
"""
import struct
import sys

KINDS = ["", "about", "file", "start", "command", "cycle", "end_asked", "end", "checkpoint", "capture", "instant", "fields"]
HEADER = 16
PRIME, BASIS, MASK = 0x100000001B3, 0xCBF29CE484222325, (1 << 64) - 1


def fnv(data, value=BASIS):
    for byte in data:
        value = ((value ^ byte) * PRIME) & MASK
    return value


def records(data):
    """(kind, place, body) of each whole record; the check runs over everything before but other checks."""
    if data[:8] != b"BALCYCLE":
        raise ValueError("byte 0: no recording")
    check, place = fnv(data[:HEADER]), HEADER
    while place + 13 <= len(data):
        kind, length = data[place], struct.unpack_from("<I", data, place + 1)[0]
        end = place + 5 + length
        if end + 8 > len(data):
            return
        check = fnv(data[place:end], check)
        if struct.unpack_from("<Q", data, end)[0] != check:
            raise ValueError(f"byte {place}: wrong check")
        yield KINDS[kind], place, data[place + 5:end]
        place = end + 8


def sealed(header, parts):
    """The bytes of a recording of these (kind, body), with every check made."""
    out, check = bytearray(header), fnv(header)
    for kind, body in parts:
        record = bytes([KINDS.index(kind)]) + struct.pack("<I", len(body)) + body
        check = fnv(record, check)
        out += record + struct.pack("<Q", check)
    return bytes(out)


def varint(body, place):
    value = shift = 0
    while True:
        byte = body[place]
        place, value, shift = place + 1, value | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            return value, place


def changed(body, words):
    """Turns the words before into those of this row."""
    place = at = 0
    while True:
        head, place = varint(body, place)
        if head == 0:
            return
        value, place = varint(body, place)
        at += (head >> 1) - 1
        while at >= len(words):
            words.append(0)
        if head & 1:
            words[at] ^= int.from_bytes(value.to_bytes(8, "big"), "little")
        else:
            words[at] = (words[at] + ((value >> 1) ^ -(value & 1))) & MASK
        at += 1


def main(path, decision):
    with open(path, "rb") as file:
        data = file.read()
    counts, sizes, words, digest = {}, {}, [], BASIS
    told = None
    for kind, _, body in records(data):
        counts[kind] = counts.get(kind, 0) + 1
        sizes[kind] = sizes.get(kind, 0) + len(body) + 13
        if kind in ("start", "checkpoint"):
            words = [0] * len(words)
        elif kind == "cycle":
            changed(body, words)
            for word in words[len(words) - decision:] if decision else []:
                digest = fnv(word.to_bytes(8, "little"), digest)
        elif kind == "end":
            told = struct.unpack("<QQ", body)
    print(f"version {struct.unpack_from('<I', data, 8)[0]}, {struct.unpack_from('<I', data, 12)[0]} units")
    for kind, count in counts.items():
        print(f"{kind}: {count}, {sizes[kind]} bytes")
    if told:
        print(f"end: {told[0]} cycles, digest {told[1]:016x}" + (", as counted here" if told == (counts.get("cycle", 0), digest) else ""))
    if decision:
        print(f"digest {digest:016x}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
