"""Carries bytes between ballastd and a simulated battery, and spoils those to ballastd when it is told to.

    daemon_relay.py tcp PORT TARGET_PORT     ballastd connects to PORT
    daemon_relay.py pty LINK TARGET_TTY      ballastd opens LINK, which is made here

It prints `READY` and then obeys lines on standard input: `pass`, or `garbage`, which replaces each byte by a
random one.
"""
import os
import random
import select
import socket
import sys
import tty


class TCP:
    def __init__(self, port, target):
        self.listener = socket.create_server(("127.0.0.1", int(port)))
        self.target = ("127.0.0.1", int(target))
        self.near = self.far = None

    def inputs(self):
        return [self.listener, *(end for end in (self.near, self.far) if end)]

    def take(self, source):
        if source is self.listener:
            near, _ = self.listener.accept()
            if self.near:
                near.close()
            else:
                self.near, self.far = near, socket.create_connection(self.target)
            return None
        try:
            data = source.recv(4096)
        except ConnectionError:
            data = b""
        if not data:
            self.drop()
        return data

    def give(self, data, to_near):
        try:
            (self.near if to_near else self.far).sendall(data)
        except ConnectionError:
            self.drop()

    def drop(self):
        for end in (self.near, self.far):
            end.close()
        self.near = self.far = None


class TTY:
    def __init__(self, link, target):
        self.near, self.device = os.openpty()
        self.far = os.open(target, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.device)
        tty.setraw(self.far)
        os.symlink(os.ttyname(self.device), link)

    def inputs(self):
        return [self.near, self.far]

    def take(self, source):
        return os.read(source, 4096)

    def give(self, data, to_near):
        os.write(self.near if to_near else self.far, data)


def main(kind, *places):
    line = {"tcp": TCP, "pty": TTY}[kind](*places)
    noise = random.Random(20190809)
    spoils = False
    print("READY", flush=True)
    while True:
        for source in select.select([0, *line.inputs()], [], [])[0]:
            if source == 0:
                words = os.read(0, 4096).decode().split()
                if not words:
                    return
                spoils = words[-1] == "garbage"
                print("ok", flush=True)
                continue
            if source not in line.inputs():
                continue
            to_near = source is line.far
            data = line.take(source)
            if data:
                line.give(noise.randbytes(len(data)) if spoils and to_near else data, to_near)


if __name__ == "__main__":
    main(*sys.argv[1:])
