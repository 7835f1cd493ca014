"""An slcan adapter played in user space: passes frames between an interface and the kernel's slcan driver, and says on
command that its bus is in trouble. Commands on standard input: warning, passive, bus-off, good.

    slcan_adapter.py INTERFACE NAME       makes interface NAME
"""
import fcntl
import os
import pty
import select
import socket
import struct
import subprocess
import sys
import tty

TIOCSETD, N_SLCAN = 0x5423, 17
STATES = {"warning": b"sw096100\r", "passive": b"sp128130\r", "bus-off": b"sb000256\r", "good": b"sa000000\r"}


def text_of(frame):
    number, length = struct.unpack("<IB", frame[:5])
    return f"t{number & 0x7FF:03X}{length}{frame[8:8 + length].hex().upper()}\r".encode()


def frame_of(text):
    length = int(text[4:5])
    return struct.pack("<IB3x8s", int(text[1:4], 16), length, bytes.fromhex(text[5:5 + 2 * length].decode()))


def main():
    controller, device = pty.openpty()
    tty.setraw(device)
    tty.setraw(controller)
    before = set(os.listdir("/sys/class/net"))
    fcntl.ioctl(device, TIOCSETD, struct.pack("i", N_SLCAN))
    new = (set(os.listdir("/sys/class/net")) - before).pop()
    subprocess.run(["ip", "link", "set", new, "name", sys.argv[2]], check=True)
    bus = socket.socket(socket.PF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
    bus.bind((sys.argv[1],))
    is_off = False
    rest = b""
    while True:
        ready, _, _ = select.select([controller, bus, sys.stdin], [], [])
        if sys.stdin in ready:
            word = sys.stdin.readline().strip()
            if not word:
                return
            is_off = word == "bus-off"
            os.write(controller, STATES[word])
        if bus in ready and not is_off:
            os.write(controller, text_of(bus.recv(16)))
        elif bus in ready:
            bus.recv(16)
        if controller in ready:
            rest += os.read(controller, 4096)
            *lines, rest = rest.split(b"\r")
            for line in lines:
                # A controller that is opened anew has forgotten its errors.
                is_off = is_off and line != b"O"
                if line[:1] == b"t" and not is_off:
                    bus.send(frame_of(line))


main()
