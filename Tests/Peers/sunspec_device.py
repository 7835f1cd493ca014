"""A SunSpec inverter by pymodbus, its registers laid out by pysunspec2's model definitions, behind a relay that can lose,
delay and spoil answers.

    sunspec_device.py tcp|rtu [--base N] [--units 1,2] [--models 1,701,704] [--link PATH] [--echo]

It prints `READY <port or tty>` and then obeys lines on standard input, one answer line each:

    get UNIT MODEL POINT            the point's raw number (POINT may be an offset; with model 0 an address)
    set UNIT MODEL POINT NUMBER
    mode normal | silent UNIT | late MS COUNT | garbage COUNT | short COUNT
    mode trickle [MS]               a byte each MS milliseconds [50]
    mode unit | function | length | transaction | checksum COUNT
                                    the answer says something else there, with a fitting checksum but for the last
    mode close COUNT                TCP only: half an answer, then the end; `reset COUNT`: a reset instead
    requests                        the functions asked for since the last time
    refuse UNIT MODEL POINT CODE    refuse writes of that point
    exception UNIT CODE             refuse everything with this code; 0 ends it
    down | up                       TCP: close everything and stop listening; listen again. RTU with --link: the tty
                                    goes away as an unplugged adapter's does; it comes back under another name, to which
                                    the link then points
    quit

Unit 0 means all. Model 704's WSetRvrtTms works: the timer restarts at each write of WSet or WSetEna, and when it fires
WSet and WSetEna take their reversion values. 701 W follows WSet while the control is enabled.
"""

import argparse
import asyncio
import os
import socket
import struct
import sys
import time
import tty

from pymodbus.constants import ExcCodes
from pymodbus.framer import FramerType
from pymodbus.server import ModbusSerialServer, ModbusTcpServer
from pymodbus.simulator import DataType, SimData, SimDevice

from sunspec_models import load

ABSENT = {
    "int16": [0x8000], "sunssf": [0x8000], "uint16": [0xFFFF], "enum16": [0xFFFF], "bitfield16": [0xFFFF],
    "int32": [0x8000, 0], "uint32": [0xFFFF] * 2, "enum32": [0xFFFF] * 2, "bitfield32": [0xFFFF] * 2,
    "uint64": [0xFFFF] * 4, "acc32": [0, 0], "acc64": [0] * 4, "float32": [0x7FC0, 0], "pad": [0x8000],
    "count": [0xFFFF],
}

VALUES = {
    1: {"Mn": "Ballast Test", "Md": "Pymodbus PCS", "SN": "4711", "Vr": "1.0"},
    103: {"W": -1234, "W_SF": 1, "Hz": 4998, "Hz_SF": -2, "VAr": 50, "VAr_SF": 1, "PhVphA": 2301, "V_SF": -1,
          "DCV": 7650, "DCV_SF": -1, "St": 4, "Evt1": 0},
    113: {"W": 0, "Hz": 0x4247F5C3, "PhVphA": 0x43660000, "DCV": 0x443F4000, "St": 4, "Evt1": 0},
    120: {"DERTyp": 82, "WRtg": 5000, "WRtg_SF": 1},
    121: {"WMax": 4000, "WMax_SF": 1},
    123: {"Conn": 1, "Conn_WinTms": 0, "Conn_RvrtTms": 0, "WMaxLimPct": 1000, "WMaxLimPct_WinTms": 0,
          "WMaxLimPct_RvrtTms": 3600, "WMaxLimPct_RmpTms": 0, "WMaxLim_Ena": 0, "OutPFSet": 1000, "OutPFSet_Ena": 0,
          "VArPct_Ena": 0, "WMaxLimPct_SF": -1 & 0xFFFF, "OutPFSet_SF": -3 & 0xFFFF},
    124: {"WChaMax": 5000, "WChaMax_SF": 1, "WChaGra": 100, "WDisChaGra": 100, "WChaDisChaGra_SF": 0, "StorCtl_Mod": 0,
          "OutWRte": 10000, "InWRte": 10000, "InOutWRte_WinTms": 0, "InOutWRte_RvrtTms": 0, "InOutWRte_RmpTms": 0,
          "InOutWRte_SF": -2 & 0xFFFF, "ChaSt": 6},
    203: {"W": -250, "W_SF": 2, "Hz": 5001, "Hz_SF": -2, "PhV": 2299, "V_SF": -1},
    701: {"ACType": 2, "St": 1, "InvSt": 3, "ConnSt": 1, "Alrm": 0, "W": 0, "W_SF": 1, "Var": 5, "Var_SF": 1,
          "LNV": 2301, "V_SF": -1, "Hz": 49985, "Hz_SF": -3},
    702: {"WMaxRtg": 5000, "WMax": 5000, "W_SF": 1},
    704: {"WSetEna": 0, "WSetMod": 0, "WSet": 0, "WSetRvrt": 0, "WSetPct": 0, "WSetPctRvrt": 0, "WSetEnaRvrt": 0,
          "WSetRvrtTms": 0, "WSetRvrtRem": 0, "WSet_SF": 1, "WSetPct_SF": 0,
          "PFWInjEna": 0, "PFWInjEnaRvrt": 0, "PFWInjRvrtTms": 0, "PFWInjRvrtRem": 0,
          "PFWAbsEna": 0, "PFWAbsEnaRvrt": 0, "PFWAbsRvrtTms": 0, "PFWAbsRvrtRem": 0, "PF_SF": -2 & 0xFFFF,
          "VarSetEna": 0, "VarSetMod": 0, "VarSetPri": 0, "VarSet": 0, "VarSetRvrt": 0, "VarSetPct": 0,
          "VarSetPctRvrt": 0, "VarSetEnaRvrt": 0, "VarSetRvrtTms": 0, "VarSetRvrtRem": 0, "VarSet_SF": 0},
    715: {"LocRemCtl": 0, "DERHb": 0, "ControllerHb": 0, "AlarmReset": 0, "OpCtl": 1},
    802: {"AHRtg": 100, "WHRtg": 100, "WChaRteMax": 100, "WDisChaRteMax": 100, "SoC": 50, "LocRemCtl": 0, "Hb": 0,
          "CtrlHb": 0, "AlmRst": 0, "Typ": 4, "State": 3, "V": 700, "A": 0, "W": 0, "SetOp": 1, "SetInvState": 3},
    714: {"PrtAlrms": 0, "NPrt": 1, "DCA": 100, "DCW": 800, "DCA_SF": -1, "DCV_SF": -1, "DCW_SF": 0},
    713: {"WHRtg": 10000, "WHAvail": 5000, "SoC": 500, "SoH": 990, "Sta": 0, "WH_SF": 1, "Pct_SF": -1},
}


def words(number, size):
    return [(number >> 16 * (size - 1 - index)) & 0xFFFF for index in range(size)]


def model_registers(model, values):
    registers = []
    points = load(model)
    for offset, point in points:
        name, size, kind = point["name"], point["size"], point["type"]
        if kind == "string":
            text = values.get(name, "").encode().ljust(2 * size, b"\0")
            registers += [text[2 * i] << 8 | text[2 * i + 1] for i in range(size)]
        elif name in values:
            registers += words(values[name], size)
        else:
            registers += ABSENT[kind]
    # 704 carries groups of constants after its points.
    registers += [0] * (8 if model == 704 else 0)
    # 714 tells of one port: DCA, DCV, DCW at 10, 11, 12.
    registers += [0] * 10 + [100, 7512, 751] + [0] * 12 if model == 714 else []
    registers[0], registers[1] = model, len(registers) - 2
    return registers


class Device:
    """Registers and behaviour of one unit."""

    def __init__(self, unit, base, models):
        self.unit, self.base, self.starts = unit, base, {}
        self.memory = [0x5375, 0x6E53]
        for model in models:
            self.starts[model] = base + len(self.memory)
            self.memory += [model, 3, 7, 7, 7] if model >= 64000 else model_registers(model, VALUES[model])
        # The register after the end mark is not served, as by some devices.
        self.memory += [0xFFFF]
        self.exception, self.deadline = 0, None
        self.refused = {}

    def place(self, model, point):
        if model == 0:
            return int(point) - self.base, 1
        if point.isdigit():
            return self.starts[model] - self.base + int(point), 1
        for offset, definition in load(model):
            if definition["name"] == point:
                return self.starts[model] - self.base + offset, definition["size"]
        raise KeyError(point)

    def get(self, model, point):
        offset, size = self.place(model, point)
        number = 0
        for register in self.memory[offset:offset + size]:
            number = number << 16 | register
        return number

    def set(self, model, point, number):
        offset, size = self.place(model, point)
        self.memory[offset:offset + size] = words(number, size)

    def run_timer(self):
        if 704 not in self.starts:
            return self.run_rates()
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.deadline = None
            self.set(704, "WSet", self.get(704, "WSetRvrt"))
            self.set(704, "WSetEna", self.get(704, "WSetEnaRvrt"))
        if self.get(704, "WSetEna") == 1 and 701 in self.starts:
            setpoint = self.get(704, "WSet")
            self.set(701, "W", setpoint & 0xFFFF)

    def run_rates(self):
        """124: after silence the control is disabled, and the device goes on as it likes: here with 1 kW."""
        if 124 not in self.starts:
            return
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.deadline = None
            self.set(124, "StorCtl_Mod", 0)
        rate = self.get(124, "OutWRte")
        if self.get(124, "StorCtl_Mod") == 3 and self.get(124, "InWRte") == -rate & 0xFFFF:
            signed = rate - 0x10000 if rate >= 0x8000 else rate
            watts = self.get(124, "WChaMax") * 10 * signed / 10000
        else:
            watts = 1000
        if 103 in self.starts:
            self.set(103, "W", round(watts / 10) & 0xFFFF)

    def rates_written(self, address, count):
        touched = range(address - self.base, address - self.base + count)
        if self.place(124, "OutWRte")[0] in touched:
            seconds = self.get(124, "InOutWRte_RvrtTms")
            self.deadline = time.monotonic() + seconds if seconds > 0 else None
        self.run_rates()

    def written(self, address, count):
        if 704 not in self.starts:
            return self.rates_written(address, count) if 124 in self.starts else None
        touched = range(address - self.base, address - self.base + count)
        if self.place(704, "WSet")[0] in touched or self.place(704, "WSetEna")[0] in touched:
            seconds = self.get(704, "WSetRvrtTms")
            running = self.get(704, "WSetEna") == 1 and seconds > 0
            self.deadline = time.monotonic() + seconds if running else None
        self.run_timer()

    async def action(self, function, start, address, count, current, new):
        if self.exception:
            return ExcCodes(self.exception)
        self.run_timer()
        offset = address - self.base
        if new is not None:
            for place in range(offset, offset + count):
                if place in self.refused:
                    return ExcCodes(self.refused[place])
            self.memory[offset:offset + count] = list(new)
            self.written(address, count)
        current[address - start:address - start + count] = self.memory[offset:offset + count]
        return None

    def sim(self):
        block = SimData(self.base, values=list(self.memory), datatype=DataType.REGISTERS)
        return SimDevice(id=self.unit, simdata=[block], action=self.action)


def crc(data):
    total = 0xFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = total >> 1 ^ 0xA001 if total & 1 else total >> 1
    return bytes((total & 0xFF, total >> 8))


class Relay:
    """Passes requests on at once and answers as its mode says."""

    def __init__(self, unit_index):
        self.unit_index = unit_index
        self.cut = lambda reset: None
        self.functions = []
        self.normal()

    def asked(self, data):
        if len(data) > self.unit_index + 1:
            self.functions.append(data[self.unit_index + 1])

    def twisted(self, data):
        """The answer with one thing wrong."""
        index = {"unit": self.unit_index, "function": self.unit_index + 1, "length": self.unit_index + 2,
                 "transaction": 1, "checksum": -1}[self.kind]
        data = bytearray(data)
        # A function that has an answer of the same form.
        data[index] = data[index] ^ 7 if self.kind == "function" else data[index] + 2 & 0xFF
        if self.unit_index == 0 and self.kind != "checksum":
            data[-2:] = crc(data[:-2])
        return bytes(data)

    def normal(self):
        self.silent, self.late, self.count, self.kind = set(), 0, 0, None

    def answer(self, data, send):
        unit = data[self.unit_index] if len(data) > self.unit_index else 0
        if 0 in self.silent or unit in self.silent:
            return
        if self.kind == "trickle":
            for index in range(len(data)):
                asyncio.get_running_loop().call_later(self.late * index, send, data[index:index + 1])
            return
        if self.kind and self.count > 0:
            self.count -= 1
            if self.kind == "late":
                asyncio.get_running_loop().call_later(self.late, send, data)
            elif self.kind == "garbage":
                send(bytes((byte * 7 + 13) & 0xFF for byte in data))
            elif self.kind == "short":
                send(data[:-3])
            elif self.kind in ("close", "reset"):
                send(data[:-3])
                self.cut(self.kind == "reset")
            else:
                send(self.twisted(data))
            return
        send(data)


class TCPFront:
    def __init__(self, relay, inner):
        self.relay, self.inner, self.port, self.server, self.writers = relay, inner, 0, None, set()

    async def up(self):
        self.server = await asyncio.start_server(self.client, "127.0.0.1", self.port)
        self.port = self.server.sockets[0].getsockname()[1]
        return self.port

    async def down(self):
        self.server.close()
        for writer in list(self.writers):
            writer.transport.abort()

    async def client(self, reader, writer):
        self.writers.add(writer)
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self.inner)

        def cut(reset):
            if reset:
                writer.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            else:
                writer.close()

        self.relay.cut = cut

        async def answers():
            while data := await inner_reader.read(4096):
                self.relay.answer(data, lambda part: writer.is_closing() or writer.write(part))

        task = asyncio.create_task(answers())
        try:
            while data := await reader.read(4096):
                self.relay.asked(data)
                inner_writer.write(data)
        except ConnectionError:
            pass
        task.cancel()
        inner_writer.close()
        writer.close()
        self.writers.discard(writer)


def pty():
    controller, device = os.openpty()
    tty.setraw(device)
    os.set_blocking(controller, False)
    return controller, os.ttyname(device)


class SerialFront:
    """Two ptys joined: the name of one is for the client, the other's for the server."""

    def __init__(self, relay, link, echo):
        self.relay, self.link, self.echo, self.outer = relay, link, echo, None
        self.inner, self.inner_name = pty()
        asyncio.get_running_loop().add_reader(self.inner, self.answer)

    async def up(self):
        # The old pair's other end stays open here, so that the new one has another name.
        self.outer, name = pty()
        asyncio.get_running_loop().add_reader(self.outer, self.request)
        if self.link:
            if os.path.lexists(self.link):
                os.unlink(self.link)
            os.symlink(name, self.link)
        return self.link or name

    async def down(self):
        """Whoever has the tty open loses it, as when an adapter is unplugged."""
        asyncio.get_running_loop().remove_reader(self.outer)
        os.close(self.outer)
        os.unlink(self.link)

    def request(self):
        try:
            data = os.read(self.outer, 4096)
        except OSError:
            return
        self.relay.asked(data)
        if self.echo:
            os.write(self.outer, data)
        os.write(self.inner, data)

    def answer(self):
        data = os.read(self.inner, 4096)
        self.relay.answer(data, lambda part: os.write(self.outer, part))


async def obey(line, devices, relay, front):
    word, *rest = line.split()
    chosen = [d for d in devices if rest and rest[0] in ("0", str(d.unit))]
    if word == "get":
        return str(chosen[0].get(int(rest[1]), rest[2]))
    if word == "set":
        for device in chosen:
            device.set(int(rest[1]), rest[2], int(rest[3]))
    elif word == "refuse":
        for device in chosen:
            device.refused[device.place(int(rest[1]), rest[2])[0]] = int(rest[3])
    elif word == "requests":
        functions, relay.functions = relay.functions, []
        return " ".join(map(str, functions))
    elif word == "exception":
        for device in chosen:
            device.exception = int(rest[1])
    elif word == "down":
        await front.down()
    elif word == "up":
        await front.up()
    elif word == "mode":
        if rest[0] == "normal":
            relay.normal()
        elif rest[0] == "silent":
            relay.silent.add(int(rest[1]))
        elif rest[0] == "late":
            relay.kind, relay.late, relay.count = "late", int(rest[1]) / 1000, int(rest[2])
        elif rest[0] == "trickle":
            relay.kind, relay.late = "trickle", int(rest[1]) / 1000 if len(rest) > 1 else 0.05
        else:
            relay.kind, relay.count = rest[0], int(rest[1]) if len(rest) > 1 else 1
    return "ok"


async def run_timers(devices):
    while True:
        for device in devices:
            device.run_timer()
        await asyncio.sleep(0.02)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("transport", choices=["tcp", "rtu"])
    parser.add_argument("--base", type=int, default=40000)
    parser.add_argument("--units", default="1")
    parser.add_argument("--models", default="1,103,120,701,64001,704,713")
    parser.add_argument("--link")
    parser.add_argument("--echo", action="store_true")
    options = parser.parse_args()
    models = [int(model) for model in options.models.split(",")]
    devices = [Device(int(unit), options.base, models) for unit in options.units.split(",")]
    sims = [device.sim() for device in devices]
    relay = Relay(6 if options.transport == "tcp" else 0)
    front = None
    if options.transport == "tcp":
        server = ModbusTcpServer(sims, address=("127.0.0.1", 0))
        await server.serve_forever(background=True)
        front = TCPFront(relay, server.transport.sockets[0].getsockname()[1])
        name = await front.up()
    else:
        front = SerialFront(relay, options.link, options.echo)
        name = await front.up()
        server = ModbusSerialServer(sims, framer=FramerType.RTU, port=front.inner_name, baudrate=115200)
        await server.serve_forever(background=True)
    timers = asyncio.create_task(run_timers(devices))
    print("READY", name, flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        if line.strip() == "quit":
            break
        print(await obey(line, devices, relay, front), flush=True)
    timers.cancel()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
