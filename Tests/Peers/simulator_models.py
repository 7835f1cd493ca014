"""Drives a simulated inverter by the models of before 2018, by pysunspec2: `simulator_models.py HOST PORT UNIT METERPORT`.

Rates of 124, the cap of 123, enter service of 703, the battery of 802, the meter's 203; prints JSON.
"""
import json
import sys
import time

import sunspec2.modbus.client as client

host, port, unit, meter_port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
device = client.SunSpecModbusClientDeviceTCP(slave_id=unit, ipaddr=host, ipport=port, timeout=5)
device.scan()


def write(model, **points):
    for name, value in points.items():
        point = getattr(device.models[model][0], name)
        point.cvalue = value
        point.write()


def wait(watts, limit=30):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        device.models[103][0].read()
        if abs(device.models[103][0].W.cvalue - watts) < 1:
            return True
    return False


read = {}
write(124, InOutWRte_RvrtTms=60, OutWRte=-25, InWRte=25, StorCtl_Mod=3)
read["charges"] = wait(-25000)
write(124, OutWRte=40, InWRte=-40)
read["discharges"] = wait(40000)
write(123, WMaxLimPct=10, WMaxLim_Ena=1)
read["capped"] = wait(10000)
write(123, WMaxLim_Ena=0)
read["released"] = wait(40000)
write(703, ES=0)
read["ceased"] = wait(0)
write(703, ES=1)
read["resumed"] = wait(40000)
write(124, InOutWRte_RvrtTms=5)
write(124, OutWRte=40)
device.models[124][0].read()
read["enabled"] = device.models[124][0].StorCtl_Mod.value
read["reverted"] = wait(0)
device.models[124][0].read()
read["disabled"] = device.models[124][0].StorCtl_Mod.value
battery = device.models[802][0]
battery.read()
read["soc"], read["volts"], read["cell"] = battery.SoC.cvalue, battery.V.cvalue, battery.CellVMax.cvalue
read["state"], read["charge_max"] = battery.State.value, battery.AChaMax.cvalue
status = device.models[122][0]
status.read()
read["connected"] = status.StorConn.value
meter = client.SunSpecModbusClientDeviceTCP(slave_id=1, ipaddr=host, ipport=meter_port, timeout=5)
meter.scan()
model = meter.models[203][0]
read["meter_hz"], read["meter_v"], read["meter_w"] = model.Hz.cvalue, model.PhV.cvalue, model.W.cvalue
print(json.dumps(read))
