"""A BMS on python-can's slcan.

Argument: the tty to open; without one it makes two ptys, joins them and tells the path of the far end.
"""
import os
import select
import sys
import threading
import tty

import can

import can_frames


def join(a, b):
    while True:
        for source in select.select([a, b], [], [])[0]:
            os.write(b if source == a else a, os.read(source, 4096))


def pty():
    controller, device = os.openpty()
    tty.setraw(device)
    return controller, os.ttyname(device)


if len(sys.argv) > 1:
    path = sys.argv[1]
else:
    (here, path), (there, far) = pty(), pty()
    threading.Thread(target=join, args=(here, there), daemon=True).start()
    can_frames.say(device=far)
can_frames.play(can.Bus(interface="slcan", channel=path, bitrate=500000, sleep_after_open=0.1))
