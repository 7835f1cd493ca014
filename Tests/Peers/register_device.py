"""Devices without SunSpec by pymodbus, with the registers of the examples in config/drivers written down by hand.

    register_device.py hybrid|meter [--no-fc16]

It prints `READY <port>` and then obeys lines on standard input, one answer line each:

    get holding|input ADDRESS [int32|float]      int32: low word first
    set holding|input ADDRESS NUMBER [int32|float]
    touched TABLE ADDRESS                        how many requests covered that address
    mode ..., down, up, quit                     as in sunspec_device.py

The hybrid inverter follows its setpoint (13051, + = charging) while its mode (13049) is 3; after the seconds in 13053
without a write of the setpoint it goes to zero power.
"""

import argparse
import asyncio
import os
import struct
import sys
import time

from pymodbus.constants import ExcCodes
from pymodbus.server import ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

import sunspec_device
from sunspec_device import Relay, TCPFront

BLOCKS = {
    "hybrid": {"holding": [(13049, 12)], "input": [(5000, 1), (13000, 60)]},
    "meter": {"holding": [(24, 2)], "input": [(0, 80)]},
}


class Device:
    def __init__(self, kind, no_fc16):
        self.kind, self.no_fc16, self.touched = kind, no_fc16, {}
        self.memory = {"holding": {}, "input": {}}
        for table, blocks in BLOCKS[kind].items():
            for first, count in blocks:
                self.memory[table].update({first + index: 0 for index in range(count)})
        self.written_at = time.monotonic()
        if kind == "hybrid":
            self.memory["input"].update({5000: 500, 13000: 0, 13019: 7512, 13035: 4998})
            self.memory["holding"].update({13058: 100, 13060: 8000})
        else:
            self.set("input", 0, 230.5, "float")
            self.set("input", 52, 0.0, "float")
            self.set("input", 70, 49.97, "float")

    def set(self, table, address, number, kind=None):
        memory = self.memory[table]
        if kind == "int32":
            bits = int(number) & 0xFFFFFFFF
            memory[address], memory[address + 1] = bits & 0xFFFF, bits >> 16
        elif kind == "float":
            bits = struct.unpack(">HH", struct.pack(">f", float(number)))
            memory[address], memory[address + 1] = bits
        else:
            memory[address] = int(number) & 0xFFFF

    def get(self, table, address, kind=None):
        memory = self.memory[table]
        if kind == "int32":
            bits = memory[address + 1] << 16 | memory[address]
            return bits - 2**32 if bits >= 2**31 else bits
        if kind == "float":
            return struct.unpack(">f", struct.pack(">HH", memory[address], memory[address + 1]))[0]
        return memory[address]

    def work(self):
        if self.kind != "hybrid":
            return
        limit = self.get("holding", 13053)
        if limit and time.monotonic() - self.written_at > limit:
            self.set("holding", 13051, 0, "int32")
        follows = self.get("holding", 13049) == 3
        power = self.get("holding", 13051, "int32") if follows else 0
        self.set("input", 13021, power, "int32")
        self.set("input", 13000, 2 if follows else 0)

    async def action(self, function, start, address, count, current, new):
        table = "input" if function == 4 else "holding"
        memory = self.memory[table]
        for place in range(address, address + count):
            self.touched[table, place] = self.touched.get((table, place), 0) + 1
        if new is not None:
            if function == 16 and self.no_fc16:
                return ExcCodes.ILLEGAL_FUNCTION
            for index, value in enumerate(new):
                memory[address + index] = value
            if address <= 13051 < address + count:
                self.written_at = time.monotonic()
        self.work()
        for index in range(count):
            current[address - start + index] = memory[address + index]
        return None

    def sim(self):
        def data(table):
            return [
                SimData(first, values=[0] * count, datatype=DataType.REGISTERS)
                for first, count in BLOCKS[self.kind][table]
            ]

        bits = lambda: [SimData(0, values=[False] * 16, datatype=DataType.BITS)]
        return SimDevice(id=1, simdata=(bits(), bits(), data("holding"), data("input")), action=self.action)


async def obey(line, device, relay, front):
    word, *rest = line.split()
    if word in ("down", "up", "mode"):
        return await sunspec_device.obey(line, [], relay, front)
    device.work()
    if word == "get":
        return str(device.get(rest[0], int(rest[1]), rest[2] if len(rest) > 2 else None))
    if word == "touched":
        return str(device.touched.get((rest[0], int(rest[1])), 0))
    if word == "set":
        device.set(rest[0], int(rest[1]), float(rest[2]), rest[3] if len(rest) > 3 else None)
    return "ok"


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=list(BLOCKS))
    parser.add_argument("--no-fc16", action="store_true")
    options = parser.parse_args()
    device = Device(options.kind, options.no_fc16)
    server = ModbusTcpServer([device.sim()], address=("127.0.0.1", 0))
    await server.serve_forever(background=True)
    relay = Relay(6)
    front = TCPFront(relay, server.transport.sockets[0].getsockname()[1])
    print("READY", await front.up(), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if line.strip() == "quit":
            break
        print(await obey(line, device, relay, front), flush=True)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
