"""Decodes CAN payloads by cantools.

stdin: one frame per line, identifier and bytes in hexadecimal: "351 14 02 c0 12".
stdout: one JSON object per line, signal name to number; signals that the frame does not fully contain are left out.
"""
import json
import pathlib
import sys

import cantools

database = cantools.database.load_file(pathlib.Path(__file__).with_name("pylontech-lv.dbc"))
for line in sys.stdin:
    identifier, *data = line.split()
    print(
        json.dumps(
            database.decode_message(
                int(identifier, 16),
                bytes(int(byte, 16) for byte in data),
                decode_choices=False,
                allow_truncated=True,
            )
        )
    )
