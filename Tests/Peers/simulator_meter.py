"""Reads the simulated meter by pysunspec2: `simulator_meter.py HOST PORT UNIT`; prints JSON."""
import json
import sys

import sunspec2.modbus.client as client

device = client.SunSpecModbusClientDeviceTCP(
    slave_id=int(sys.argv[3]), ipaddr=sys.argv[1], ipport=int(sys.argv[2]), timeout=5
)
device.scan()
meter = device.models[213][0]
print(json.dumps({"frequency_hz": meter.Hz.cvalue, "power_w": meter.W.cvalue}))
device.close()
