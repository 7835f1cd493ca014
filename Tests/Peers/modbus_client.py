"""Asks a Modbus server (TCP port or tty) by pymodbus and by pysunspec2, and prints one line per finding.

    modbus_client.py tcp PORT | rtu TTY

The server is to have unit 1 with a SunSpec map at 40000 (models 1 and 120), unit 2 with ten registers at 100, unit 3
with nine coils and nine discrete inputs at 20, of which the first and the last input are on.
"""

import sys

import sunspec2.modbus.client as sunspec
from pymodbus.client import ModbusSerialClient, ModbusTcpClient


def client(transport, name):
    if transport == "tcp":
        return ModbusTcpClient("127.0.0.1", port=int(name), timeout=5)
    return ModbusSerialClient(name, baudrate=115200, timeout=5)


def device(transport, name):
    if transport == "tcp":
        return sunspec.SunSpecModbusClientDeviceTCP(slave_id=1, ipaddr="127.0.0.1", ipport=int(name), timeout=5)
    return sunspec.SunSpecModbusClientDeviceRTU(slave_id=1, name=name, baudrate=115200, timeout=5)


def show(what, answer):
    print(what, f"exception {answer.exception_code}" if answer.isError() else answer.registers, flush=True)


def bits(what, answer, count):
    text = "".join(str(int(bit)) for bit in answer.bits[:count])
    print(what, f"exception {answer.exception_code}" if answer.isError() else text, flush=True)


def main(transport, name):
    scanned = device(transport, name)
    scanned.scan()
    print("scan", sorted(model for model in scanned.models if isinstance(model, int)), flush=True)
    print("maker", scanned.common[0].Mn.value, flush=True)
    print("rating", scanned.models[120][0].WRtg.cvalue, flush=True)
    scanned.disconnect()

    one = client(transport, name)
    one.connect()
    # A serial line has one master; TCP clients may be several at once.
    two = client(transport, name) if transport == "tcp" else one
    two.connect()
    show("read", one.read_holding_registers(100, count=3, device_id=2))
    show("input", two.read_input_registers(101, count=1, device_id=2))
    two.write_registers(100, [7, 8], device_id=2)
    one.write_register(102, 9, device_id=2)
    show("written", one.read_holding_registers(100, count=3, device_id=2))
    show("gap", one.read_holding_registers(109, count=2, device_id=2))
    show("refused", one.write_registers(105, [666], device_id=2))
    show("kept", one.read_holding_registers(105, count=1, device_id=2))
    show("coils", one.read_coils(0, count=1, device_id=2))
    bits("inputs", one.read_discrete_inputs(20, count=9, device_id=3), 9)
    one.write_coils(20, [True, False, True, True, False, False, False, False, True], device_id=3)
    one.write_coil(22, False, device_id=3)
    bits("switched", one.read_coils(20, count=9, device_id=3), 9)
    bits("part", one.read_coils(23, count=2, device_id=3), 2)
    bits("beyond", one.write_coils(28, [True, True], device_id=3), 2)
    show("largest", one.read_holding_registers(40000, count=98, device_id=1))
    print("end", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
