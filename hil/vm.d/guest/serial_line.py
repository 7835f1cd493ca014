"""A line with a bit rate: passes bytes between two serial devices, each no sooner than it would be through on a wire. QEMU's ports
have no bit rate of their own.

    serial_line.py DEVICE DEVICE BAUD       11 bits a character
"""
import os
import select
import sys
import termios
import time
import tty


def opened(path):
    number = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    tty.setraw(number)
    settings = termios.tcgetattr(number)
    settings[2] |= termios.CLOCAL | termios.CREAD
    termios.tcsetattr(number, termios.TCSANOW, settings)
    return number


def main():
    ends = [opened(sys.argv[1]), opened(sys.argv[2])]
    character = 11 / int(sys.argv[3])
    # For each direction: bytes with the time at which they are through, and when the wire is free again.
    waiting = [[], []]
    free = [0.0, 0.0]
    print("ready", flush=True)
    while True:
        due = [queue[0][0] for queue in waiting if queue]
        limit = max(0.0, min(due) - time.monotonic()) if due else None
        readable, _, _ = select.select(ends, [], [], limit)
        now = time.monotonic()
        for index, end in enumerate(ends):
            if end in readable:
                try:
                    data = os.read(end, 256)
                except OSError:
                    # Nobody has the other side of a pseudo-terminal open.
                    time.sleep(0.05)
                    continue
                for byte in data:
                    free[index] = max(free[index], now) + character
                    waiting[index].append((free[index], byte))
        for index, queue in enumerate(waiting):
            through = [byte for at, byte in queue if at <= now]
            if through:
                os.write(ends[1 - index], bytes(through))
                del queue[:len(through)]


main()
