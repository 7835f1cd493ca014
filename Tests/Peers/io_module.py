"""A digital I/O module by pymodbus, 8 inputs and 8 coils, behind a relay that can lose, delay and spoil answers.

    io_module.py tcp|rtu [--units 1,2] [--first ADDRESS] [--first-coil ADDRESS]

It prints `READY <port or tty>` and then obeys lines on standard input, one answer line each:

    inputs UNIT 10000000        the levels of inputs 1 … 8
    coils UNIT                  the levels of coils 1 … 8, as `10000000`
    coil UNIT NUMBER 0|1        somebody else switches a coil
    writes UNIT                 `<number of function 5> <number of function 15>`
    refuse UNIT FUNCTION CODE   refuse a function (0 = all) with this exception code; code 0 ends it
    watchdog UNIT MS            drop all coils after this silence; 0 = never
    mode normal | silent UNIT | late MS COUNT | garbage COUNT | short COUNT | empty COUNT | trickle
    down | up | quit            as in sunspec_device.py

`empty` answers have the right function and no data.
"""

import argparse
import asyncio
import os
import sys
import time

from pymodbus.constants import ExcCodes
from pymodbus.framer import FramerType
from pymodbus.framer.rtu import FramerRTU
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

import sunspec_device
from sunspec_device import Relay, SerialFront, TCPFront


class Module:
    """Inputs, coils and behaviour of one unit."""

    def __init__(self, unit, first, first_coil):
        self.unit, self.first, self.first_coil = unit, first, first_coil
        self.inputs, self.coils = [False] * 8, [False] * 8
        self.refused, self.writes = {}, {5: 0, 15: 0}
        self.watchdog, self.written_at = 0, time.monotonic()

    def run_watchdog(self):
        if self.watchdog and time.monotonic() - self.written_at > self.watchdog:
            self.coils = [False] * 8

    async def action(self, function, start, address, count, current, new):
        code = self.refused.get(function) or self.refused.get(0)
        if code:
            return ExcCodes(code)
        first = self.first if function == 2 else self.first_coil
        offset = address - first
        if new is not None:
            if offset < 0 or offset + len(new) > 8:
                return ExcCodes.ILLEGAL_ADDRESS
            self.coils[offset:offset + len(new)] = [bool(bit) for bit in new]
            self.writes[function] += 1
            self.written_at = time.monotonic()
        self.run_watchdog()
        levels = self.inputs if function == 2 else self.coils
        # One bit per address, 16 to a register.
        for index, level in enumerate(levels):
            register, bit = divmod(first + index, 16)
            mask = 1 << bit
            place = register - start
            current[place] = current[place] | mask if level else current[place] & ~mask
        return None

    def sim(self):
        bits = lambda first: [SimData(first, values=[False] * 8, datatype=DataType.BITS)]
        words = lambda: [SimData(0, values=[0], datatype=DataType.REGISTERS)]
        return SimDevice(id=self.unit, simdata=(bits(self.first_coil), bits(self.first), words(), words()), action=self.action)


class BitRelay(Relay):
    def answer(self, data, send):
        if self.kind == "empty" and self.count > 0 and data[self.unit_index + 1] in (1, 2):
            self.count -= 1
            body = bytes([data[self.unit_index], data[self.unit_index + 1], 0])
            if self.unit_index:
                send(data[:4] + bytes([0, len(body)]) + body)
            else:
                send(body + FramerRTU.compute_CRC(body).to_bytes(2, "big"))
            return
        super().answer(data, send)


def levels(bits):
    return "".join("1" if bit else "0" for bit in bits)


async def obey(line, modules, relay, front):
    word, *rest = line.split()
    if word in ("down", "up", "mode"):
        return await sunspec_device.obey(line, [], relay, front)
    module = next(module for module in modules if str(module.unit) == rest[0])
    if word == "inputs":
        module.inputs = [character == "1" for character in rest[1]]
    elif word == "coils":
        module.run_watchdog()
        return levels(module.coils)
    elif word == "coil":
        module.coils[int(rest[1]) - 1] = rest[2] == "1"
    elif word == "writes":
        return f"{module.writes[5]} {module.writes[15]}"
    elif word == "refuse":
        module.refused[int(rest[1])] = int(rest[2])
    elif word == "watchdog":
        module.watchdog = int(rest[1]) / 1000
    return "ok"


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("transport", choices=["tcp", "rtu"])
    parser.add_argument("--units", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--first-coil", type=int)
    options = parser.parse_args()
    coil = options.first if options.first_coil is None else options.first_coil
    modules = [Module(int(unit), options.first, coil) for unit in options.units.split(",")]
    sims = [module.sim() for module in modules]
    relay = BitRelay(6 if options.transport == "tcp" else 0)
    front = None
    if options.transport == "tcp":
        server = ModbusTcpServer(sims, address=("127.0.0.1", 0))
        await server.serve_forever(background=True)
        front = TCPFront(relay, server.transport.sockets[0].getsockname()[1])
        name = await front.up()
    else:
        front = SerialFront(relay, None, False)
        name = await front.up()
        server = ModbusSerialServer(sims, framer=FramerType.RTU, port=front.inner_name, baudrate=115200)
        await server.serve_forever(background=True)
    print("READY", name, flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if line.strip() == "quit":
            break
        print(await obey(line, modules, relay, front), flush=True)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
