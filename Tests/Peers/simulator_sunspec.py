"""Drives a simulated inverter by pysunspec2: `simulator_sunspec.py HOST PORT UNIT WATTS`.

Scans it, asks for WATTS with a reversion time of 60 s, waits until 701 shows it, and prints what it read as JSON.
"""
import json
import sys

import sunspec2.modbus.client as client

host, port, unit, watts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
device = client.SunSpecModbusClientDeviceTCP(slave_id=unit, ipaddr=host, ipport=port, timeout=5)
device.scan()
control = device.models[704][0]
for point, value in (("WSetRvrtTms", 60), ("WSetEnaRvrt", 1), ("WSetMod", 1), ("WSet", watts), ("WSetEna", 1)):
    getattr(control, point).value = value
    getattr(control, point).write()
measured = device.models[701][0]
for _ in range(2000):
    measured.read()
    if measured.W.cvalue == watts:
        break
storage, old = device.models[713][0], device.models[103][0]
for model in (storage, old, control):
    model.read()
print(
    json.dumps(
        {
            "models": [key for key in device.models if isinstance(key, int)],
            "serial": device.common[0].SN.value,
            "power_w": measured.W.cvalue,
            "power_103_w": old.W.cvalue,
            "frequency_hz": measured.Hz.cvalue,
            "state": measured.InvSt.value,
            "soc_percent": storage.SoC.cvalue,
            "rating_w": device.models[702][0].WMaxRtg.cvalue,
            "rating_120_w": device.models[120][0].WRtg.cvalue,
            "setpoint_w": control.WSet.cvalue,
            "reversion_left_s": control.WSetRvrtRem.cvalue,
        }
    )
)
device.close()
