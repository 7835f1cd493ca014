"""Reads and drives a site that serves itself as a SunSpec device, by pysunspec2: `proxy_client.py PORT`.

It obeys lines on standard input, one JSON line each:

    read                     the models, and what 701, 702, 704 and 713 say
    ask WATTS SECONDS        WSetRvrtTms, WSet and WSetEna in one write each
    release                  WSetEna 0
    poke MODEL POINT NUMBER  any write; `refused` or `taken`
    crowd COUNT              so many connections at once; how many of them are answered
"""

import json
import socket
import sys

import sunspec2.modbus.client as client

PORT = int(sys.argv[1])


def connect():
    device = client.SunSpecModbusClientDeviceTCP(slave_id=1, ipaddr="127.0.0.1", ipport=PORT, timeout=5)
    device.scan()
    return device


def read(device):
    measured, rated = device.models[701][0], device.models[702][0]
    control, storage = device.models[704][0], device.models[713][0]
    for model in (measured, rated, control, storage):
        model.read()
    return {
        "models": [key for key in device.models if isinstance(key, int)],
        "maker": device.common[0].Mn.value, "serial": device.common[0].SN.value,
        "w": measured.W.cvalue, "hz": measured.Hz.cvalue, "state": measured.InvSt.value,
        "rating": rated.WMaxRtg.cvalue, "soc": storage.SoC.cvalue, "wh": storage.WHRtg.cvalue,
        "setpoint": control.WSet.cvalue, "enabled": control.WSetEna.value,
        "left": control.WSetRvrtRem.cvalue, "other": control.WMaxLimPct.value,
    }


def poke(device, model, point, number):
    point = getattr(device.models[model][0], point)
    point.value = number
    point.write()


def crowd(count):
    request = bytes.fromhex("00010000000601039c400002")
    sockets, answered = [], 0
    for _ in range(count):
        one = socket.create_connection(("127.0.0.1", PORT), timeout=5)
        sockets.append(one)
        try:
            one.sendall(request)
            answered += len(one.recv(64)) == 13
        except OSError:
            pass
    for one in sockets:
        one.close()
    return answered


def obey(device, line):
    word, *rest = line.split()
    try:
        if word == "read":
            return read(device)
        if word == "ask":
            for point, value in (("WSetRvrtTms", int(rest[1])), ("WSet", int(rest[0])), ("WSetEna", 1)):
                poke(device, 704, point, value)
        elif word == "release":
            poke(device, 704, "WSetEna", 0)
        elif word == "poke":
            poke(device, int(rest[0]), rest[1], int(rest[2]))
        elif word == "crowd":
            return crowd(int(rest[0]))
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"}
    return "taken"


def main():
    device = connect()
    print("READY", PORT, flush=True)
    for line in sys.stdin:
        print(json.dumps(obey(device, line)), flush=True)


if __name__ == "__main__":
    main()
