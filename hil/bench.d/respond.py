"""A yardstick of `hil/bench response`: respond.c in Python, as one would write it with asyncio and pymodbus.

respond.py METER_HOST METER_PORT INVERTER_HOST INVERTER_PORT INVERTER_TTY PERIOD_MS; runs until it is ended.
"""
import asyncio
import struct
import sys

from pymodbus.client import AsyncModbusSerialClient, AsyncModbusTcpClient

# Where the simulated devices have model 213 `Hz`, and model 704 from `WSetEna` on.
HERTZ, ENABLE, MODE, SETPOINT = 40096, 40379, 40380, 40381


def droop(frequency):
    """±0.03 Hz, 5 % of 50 Hz, 100 kW."""
    power = 0.0
    if frequency < 49.97:
        power = (49.97 - frequency) / 2.5 * 100_000
    elif frequency > 50.03:
        power = -(frequency - 50.03) / 2.5 * 100_000
    return int(max(-100_000, min(100_000, power)))


def checked(answer):
    if answer.isError():
        raise RuntimeError(str(answer))
    return answer


async def start(inverter):
    """Watts, value, reversion to zero after 10 s; then the control on."""
    checked(await inverter.write_registers(MODE, [1, 0, 0, 0, 0, 0, 0, 1, 0, 10], device_id=1))
    checked(await inverter.write_register(ENABLE, 1, device_id=1))


async def main(meter_host, meter_port, host, port, tty, period_ms):
    meter = AsyncModbusTcpClient(meter_host, port=int(meter_port))
    inverters = [AsyncModbusTcpClient(host, port=int(port)), AsyncModbusSerialClient(tty, baudrate=115_200)]
    for client in [meter, *inverters]:
        if not await client.connect():
            raise ConnectionError(str(client))
    await asyncio.gather(*map(start, inverters))
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        due = max(due + int(period_ms) / 1_000, loop.time())
        await asyncio.sleep(due - loop.time())
        answer = checked(await meter.read_holding_registers(HERTZ, count=2, device_id=1))
        frequency, = struct.unpack(">f", struct.pack(">HH", *answer.registers))
        words = list(struct.unpack(">HH", struct.pack(">i", droop(frequency))))
        for answer in await asyncio.gather(
                *(inverter.write_registers(SETPOINT, words, device_id=1) for inverter in inverters)):
            checked(answer)


asyncio.run(main(*sys.argv[1:]))
