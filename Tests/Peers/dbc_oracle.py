"""cantools as the judge of DBC decoding: writes what it decodes from random frames.

    dbc_oracle.py SEED FRAMES_PER_MESSAGE FOLDER_OF_DBC_FILES FOLDER_FOR_GENERATED_FILES HOW_MANY

Lines: F path (the file that follows) · L path (cantools cannot load it) · X key (cantools cannot decode the message) ·
N key name … (names of its signals) · D key payload flags index:bits … (one frame; doubles as 16 hex digits).
Flags: u = a switch with an unknown value (cantools refuses the frame; the known part is decoded by its own tree),
o = signals overlap (cantools misreads them together, so each is decoded alone), - = none.
"""

import random
import struct
import sys
from pathlib import Path

import cantools
from cantools.database import DecodeError
from cantools.database.can import Message
from cantools.database.utils import decode_data

import dbc_generator

OPTIONS = {"decode_choices": False, "scaling": False, "allow_truncated": True, "allow_excess": True}


def known_part(message, data):
    """What cantools decodes without the branches of switches whose value it does not know."""

    def walk(node):
        decoded = decode_data(
            data, message.length, node["signals"], node["formats"], False, False, True, True)
        unknown = 0
        for switch, branches in node["multiplexers"].items():
            if switch not in decoded:
                continue
            branch = branches.get(int(decoded[switch]))
            if branch is None:
                unknown += 1
                continue
            more, count = walk(branch)
            decoded.update(more)
            unknown += count
        return decoded, unknown

    return walk(message._codecs)


def alone(message):
    """One message for each signal."""
    return [
        Message(message.frame_id, message.name, message.length, [signal], strict=False,
                is_extended_frame=message.is_extended_frame)
        for signal in message.signals
    ]


def overlaps(message):
    try:
        message.refresh(strict=True)
        return False
    except Exception as error:
        return "overlapping" in str(error)


def bits(signal, raw):
    """raw * factor + offset as doubles: cantools' own number, but where it reckons in whole numbers past 2**53."""
    conversion = signal.conversion
    number = float(raw) * float(conversion.scale) + float(conversion.offset)
    scaled = conversion.raw_to_scaled(raw, False)
    if isinstance(raw, float) or max(abs(raw), abs(raw * conversion.scale), abs(scaled)) < 2**53:
        number = float(scaled)
    return struct.pack(">d", number).hex()


def set_bits(data, signal, value):
    bit = signal.start + (signal.length - 1 if signal.byte_order == "little_endian" else 0)
    for index in range(signal.length):
        wanted = value >> (signal.length - 1 - index) & 1
        if bit // 8 < len(data):
            data[bit // 8] = data[bit // 8] & ~(1 << bit % 8) | wanted << bit % 8
        if signal.byte_order == "little_endian":
            bit -= 1
        else:
            bit = bit + 15 if bit % 8 == 0 else bit - 1


def payload(message, switches, chance):
    length = message.length
    if chance.random() < 0.3:
        length = chance.randint(0, min(64, message.length + 3))
    data = bytearray(chance.getrandbits(8) for _ in range(length))
    if chance.random() < 0.85:
        for signal, values in switches:
            set_bits(data, signal, chance.choice(values))
    return bytes(data)


def judge(message, frames, chance, write):
    key = message.frame_id | (0x80000000 if message.is_extended_frame else 0)
    names = [signal.name for signal in message.signals]
    write("N %x %s\n" % (key, " ".join(names)))
    switches = []
    for signal in message.signals:
        values = {i for s in message.signals if s.multiplexer_signal == signal.name for i in s.multiplexer_ids or []}
        if values:
            switches.append((signal, sorted(values)))
    singles = alone(message) if overlaps(message) else None
    message.refresh(strict=False)
    for _ in range(frames if names else 3):
        data = payload(message, switches, chance)
        flags = "-"
        try:
            if singles:
                flags = "o"
                decoded = {}
                for single in singles:
                    decoded.update(single.decode(data, **OPTIONS))
            else:
                decoded = message.decode(data, **OPTIONS)
        except DecodeError as error:
            if "unpacking failed" in str(error):
                write("X %x\n" % key)
                return
            decoded, unknown = known_part(message, data)
            assert unknown > 0, error
            flags = "u"
        values = " ".join(
            "%d:%s" % (index, bits(signal, decoded[signal.name]))
            for index, signal in enumerate(message.signals) if signal.name in decoded)
        write("D %x %s %s %s\n" % (key, data.hex() or ".", flags, values))


def main():
    seed, frames, samples, generated, count = sys.argv[1:]
    chance = random.Random(int(seed))
    files = sorted(Path(samples).rglob("*.dbc"))
    for number in range(int(count)):
        path = Path(generated) / f"generated-{number}.dbc"
        path.write_text(dbc_generator.text(chance), encoding="utf-8", newline="")
        cantools.database.load_file(path, strict=True)
        files.append(path)
    write = sys.stdout.write
    for path in files:
        try:
            database = cantools.database.load_file(path, strict=False)
        except Exception:
            write(f"L {path}\n")
            continue
        write(f"F {path}\n")
        for message in database.messages:
            judge(message, int(frames), chance, write)


main()
