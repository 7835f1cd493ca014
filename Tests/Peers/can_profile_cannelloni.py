"""A BMS on python-can and cantools: encodes messages of a DBC file again and again and tells what it hears.

    can_profile_cannelloni.py HOST:PORT DBC MESSAGE SIGNAL=VALUE … , MESSAGE SIGNAL=VALUE …

A value of the form 0~1 alternates from round to round.
"""
import json
import select
import sys
import time

import can
import cantools


def messages(words):
    for part in " ".join(words).split(","):
        name, *signals = part.split()
        yield name, dict(signal.split("=") for signal in signals)


def main():
    address, file, *words = sys.argv[1:]
    database = cantools.database.load_file(file, encoding="utf-8")
    bus = can.Bus(interface="cannelloni", channel=address)
    plan = list(messages(words))
    turn = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        turn += 1
        for name, values in plan:
            message = database.get_message_by_name(name)
            signals = {signal.name: 0 for signal in message.signals}
            for signal, value in values.items():
                signals[signal] = float(value.split("~")[turn % 2] if "~" in value else value)
            data = message.encode(signals, strict=False)
            bus.send(can.Message(
                arbitration_id=message.frame_id, is_extended_id=message.is_extended_frame, data=data))
        end = time.monotonic() + 0.1
        while (left := end - time.monotonic()) > 0:
            heard = bus.recv(timeout=left)
            if heard is not None:
                print(json.dumps({
                    "heard": heard.arbitration_id, "extended": heard.is_extended_id,
                    "data": bytes(heard.data).hex()}), flush=True)


main()
