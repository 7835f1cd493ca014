"""Random frames of a DBC file as a candump recording, a C program around the C that cantools generates from it, and the
speed of cantools itself.

    decode.py prepare DBC LOG DRIVER.c   the header must be called battery.h
    decode.py time DBC LOG               one line of JSON
"""
import json
import random
import sys
import time

import cantools
from cantools.database.can.c_source import camel_to_snake_case as snake


def load(path):
    return cantools.database.load_file(path, strict=True, encoding="utf-8")


def prepare(path, log, driver):
    database, chance = load(path), random.Random(1)
    with open(log, "w", encoding="utf-8") as file:
        for number in range(4_000):
            message = chance.choice(database.messages)
            data = bytearray(chance.getrandbits(8) for _ in range(message.length))
            switches = [signal for signal in message.signals if signal.is_multiplexer]
            if switches:
                # All of ours stand in byte 0.
                data[0] = chance.choice(sorted({i for s in message.signals for i in s.multiplexer_ids or []}))
            digits = 8 if message.is_extended_frame else 3
            file.write(f"({number}.0) can0 {message.frame_id:0{digits}X}#{data.hex().upper()}\n")
    with open(driver, "w", encoding="utf-8") as file:
        file.write(program(database))


def program(database):
    cases = "".join(case(message) for message in database.messages)
    return f"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "battery.h"
struct frame {{ uint32_t key; size_t length; uint8_t data[8]; }};
static struct frame frames[4096];
static double decode(const struct frame *f) {{
    double sum = 0;
    switch (f->key) {{
{cases}    }}
    return sum;
}}
int main(int argc, char **argv) {{
    if (argc != 3) return 2;
    FILE *log = fopen(argv[1], "r");
    char line[128];
    size_t count = 0;
    while (log && fgets(line, sizeof line, log) && count < 4096) {{
        char *id = strstr(line, "can0 ") + 5, *hash = strchr(id, '#');
        struct frame *f = &frames[count++];
        f->key = (uint32_t)strtoul(id, NULL, 16) | (hash - id == 8 ? 0x80000000u : 0);
        unsigned byte;
        for (char *p = hash + 1; f->length < 8 && sscanf(p, "%2x", &byte) == 1; p += 2) f->data[f->length++] = (uint8_t)byte;
    }}
    long total = atol(argv[2]);
    volatile double sum = 0;
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long i = 0; i < total; i++) sum += decode(&frames[i % (long)count]);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double seconds = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
    printf("{{\\"frames\\": %ld, \\"decoder_per_s\\": %.0f}}\\n", total, (double)total / seconds);
    return 0;
}}
"""


def case(message):
    name = "battery_" + snake(message.name)
    key = message.frame_id | (0x80000000 if message.is_extended_frame else 0)

    def decode(signal):
        return f"sum += {name}_{snake(signal.name)}_decode(m.{snake(signal.name)});"

    lines = [f"    case 0x{key:X}u: {{ struct {name}_t m; {name}_unpack(&m, f->data, f->length);"]
    lines += [decode(signal) for signal in message.signals if not signal.multiplexer_ids]
    for switch in (signal for signal in message.signals if signal.is_multiplexer):
        lines.append(f"switch (m.{snake(switch.name)}) {{")
        values = {}
        for signal in message.signals:
            for value in signal.multiplexer_ids or []:
                values.setdefault(value, []).append(signal)
        for value, signals in sorted(values.items()):
            lines.append(f"case {value}: " + " ".join(map(decode, signals)) + " break;")
        lines.append("}")
    return "\n        ".join(lines) + "\n        break; }\n"


def measure(path, log):
    database, frames = load(path), []
    with open(log, encoding="utf-8") as file:
        for line in file:
            identifier, data = line.split()[2].split("#")
            frames.append((int(identifier, 16), bytes.fromhex(data)))
    begun = time.monotonic()
    for identifier, data in frames:
        database.decode_message(identifier, data, decode_choices=False)
    rate = round(len(frames) / (time.monotonic() - begun))
    print(json.dumps({"frames": len(frames), "decoder_per_s": rate}))


if sys.argv[1] == "prepare":
    prepare(*sys.argv[2:])
else:
    measure(*sys.argv[2:])
