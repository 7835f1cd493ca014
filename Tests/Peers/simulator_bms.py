"""Listens to a simulated BMS by python-can: `simulator_bms.py INTERFACE CHANNEL`.

Waits a second without a keep-alive, then sends 0x305 and prints, as one JSON object, what cantools makes of the first
frame of each identifier, and how many frames came before the keep-alive.
"""
import json
import pathlib
import sys
import time

import can
import cantools

database = cantools.database.load_file(pathlib.Path(__file__).with_name("pylontech-lv.dbc"))
known = {message.frame_id for message in database.messages}
options = {"bitrate": 500000, "sleep_after_open": 0.1} if sys.argv[1] == "slcan" else {}
bus = can.Bus(interface=sys.argv[1], channel=sys.argv[2], **options)
early = 0
end = time.monotonic() + 1
while time.monotonic() < end:
    early += bus.recv(0.1) is not None
bus.send(can.Message(arbitration_id=0x305, data=bytes(8), is_extended_id=False))
decoded, raw = {}, {}
end = time.monotonic() + 20
while len(raw) < 7 and time.monotonic() < end:
    frame = bus.recv(1)
    if frame is None or frame.arbitration_id in raw:
        continue
    raw[frame.arbitration_id] = bytes(frame.data).hex()
    if frame.arbitration_id in known:
        decoded.update(
            database.decode_message(
                frame.arbitration_id, frame.data, decode_choices=False, allow_truncated=True
            )
        )
bus.shutdown()
print(json.dumps({"early": early, "decoded": decoded, "raw": {f"{k:X}": v for k, v in raw.items()}}))
