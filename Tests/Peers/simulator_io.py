"""Drives the contactors of a simulated unit over its I/O module by pymodbus: `simulator_io.py HOST PORT UNIT`; prints
JSON: the levels of inputs 1 … 8 at rest, while precharging and when closed, and of coils 1 … 3 when closed and after
it has stopped writing.
"""
import json
import sys
import time

from pymodbus.client import ModbusTcpClient

device = ModbusTcpClient(sys.argv[1], port=int(sys.argv[2]), timeout=5)
device.connect()
unit = int(sys.argv[3])


def inputs():
    return "".join(str(int(bit)) for bit in device.read_discrete_inputs(0, count=8, device_id=unit).bits[:8])


def coils():
    return "".join(str(int(bit)) for bit in device.read_coils(0, count=3, device_id=unit).bits[:3])


def hold(levels, condition, seconds=0.0):
    """Writes again and again until the condition holds and the time is over."""
    start = time.monotonic()
    while not condition() or time.monotonic() - start < seconds:
        if time.monotonic() - start > 30:
            sys.exit("did not come true")
        device.write_coils(0, levels, device_id=unit)
        time.sleep(0.05)


result = {"rest": inputs()}
hold([False, True, False], lambda: inputs()[7] == "1", 2.0)
result["precharging"] = inputs()
hold([True, False, False], lambda: inputs()[6:] == "10")
result["closed"], result["coils"] = inputs(), coils()
start = time.monotonic()
while coils() != "000" and time.monotonic() - start < 30:
    time.sleep(0.05)
result["coils_later"] = coils()
print(json.dumps(result))
device.close()
