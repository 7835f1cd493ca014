"""Drives a simulated inverter's reactive power by pysunspec2: `simulator_reactive.py HOST PORT UNIT WATTS`.

Asks for WATTS, then for a power factor of 0.95 under-excited, then for 5000 var, and prints what 701 shows each time as
JSON; then tries a power factor of 1.2, which the device must refuse.
"""
import json
import sys

import sunspec2.modbus.client as client
from sunspec2.modbus.modbus import ModbusClientException

host, port, unit, watts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
device = client.SunSpecModbusClientDeviceTCP(slave_id=unit, ipaddr=host, ipport=port, timeout=5)
device.scan()
control, measured, old = device.models[704][0], device.models[701][0], device.models[103][0]


def write(**points):
    for point, value in points.items():
        getattr(control, point).value = value
        getattr(control, point).write()


def wait(reached):
    for _ in range(2000):
        measured.read()
        if reached():
            break
    old.read()
    return {
        "power_w": measured.W.cvalue, "reactive_var": measured.Var.cvalue, "apparent_va": measured.VA.cvalue,
        "power_factor": measured.PF.cvalue, "reactive_103_var": old.VAr.cvalue,
    }


write(WSetRvrtTms=60, WSetEnaRvrt=1, WSetMod=1, WSet=watts, WSetEna=1)
plain = wait(lambda: measured.W.cvalue == watts)
side = control.PFWInj if watts > 0 else control.PFWAbs
side.PF.cvalue, side.Ext.value = 0.95, 1
side.write()
write(**{"PFWInjEna" if watts > 0 else "PFWAbsEna": 1})
factor = wait(lambda: measured.Var.cvalue != 0)
write(VarSetMod=4, VarSet=5000, VarSetEna=1)
var = wait(lambda: measured.Var.cvalue == 5000)
try:
    side.PF.cvalue = 1.2
    side.write()
    refused = False
except ModbusClientException:
    refused = True
print(json.dumps({"plain": plain, "factor": factor, "var": var, "refused": refused}))
device.close()
