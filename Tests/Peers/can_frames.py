"""What a battery management system of the tests sends and hears."""
import json
import select
import sys

import can

FRAMES = [
    (0x351, "1402C012C012C201"),
    (0x355, "58005E00"),
    (0x356, "7A13F2FE6B01"),
    (0x359, "0000000006504E"),
    (0x35C, "C000"),
    (0x35E, "50594C4F4E202020"),
    (0x373, "800C1C0D26012B01"),
]


def say(**fields):
    print(json.dumps(fields), flush=True)


def play(bus):
    """Sends all frames every 100 ms and tells what it hears, until its standard input is closed or it is ended."""
    while not select.select([sys.stdin], [], [], 0)[0]:
        for identifier, data in FRAMES:
            bus.send(
                can.Message(arbitration_id=identifier, data=bytes.fromhex(data), is_extended_id=False)
            )
        heard = bus.recv(timeout=0.1)
        if heard is not None:
            say(heard=heard.arbitration_id, extended=heard.is_extended_id, data=bytes(heard.data).hex())
