"""A control centre by lib60870 (PyPI c104): `iec104_client.py PORT CA [TYPE:ADDRESS]... [tls=AUTHORITY,CERTIFICATE,KEY,SUITES]`.

With `tls=` through a tunnel by Python's ssl: SUITES as openssl names them, or TLS_1_3; without CERTIFICATE it shows none.

It connects, starts the link, and obeys lines on standard input, one JSON line each:

    state                       of the connection
    gi                          asks for everything; how long it took, and the values by address
    values                      those by address, as they are now
    set ADDRESS VALUE           a setpoint or a switch; whether it was confirmed
    ci [FRZ]                    asks for all counters, or freezes or resets them (c104.Frz); whether it was done, and the values by address
    clock                       sets the clock; whether it was taken
    timed ADDRESS N             N setpoints in turn, each until it is confirmed: the milliseconds of each
    drop                        disconnects and connects anew
"""

import ctypes
import json
import os
import signal
import socket
import ssl
import sys
import threading
import time

import c104

PORT, CA = int(sys.argv[1]), int(sys.argv[2])


def tunnel(words):
    """A port of our own: what comes there goes to PORT by TLS (Python's ssl, openssl), for the package's own TLS client cannot be told
    the name that mbedtls wants to look for. A connection is closed where the other side is not trusted, or does not trust us."""
    authority, certificate, key, suites = words
    context = ssl.create_default_context(cafile=authority)
    if certificate:
        context.load_cert_chain(certificate, key)
    version = ssl.TLSVersion.TLSv1_3 if suites == "TLS_1_3" else ssl.TLSVersion.TLSv1_2
    context.minimum_version = context.maximum_version = version
    if suites != "TLS_1_3":
        context.set_ciphers(suites)
    listener = socket.create_server(("127.0.0.1", 0))

    def carry(source, sink):
        try:
            while part := source.recv(16384):
                sink.sendall(part)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def serve():
        while True:
            near, _ = listener.accept()
            try:
                far = context.wrap_socket(socket.create_connection(("127.0.0.1", PORT), timeout=5), server_hostname="127.0.0.1")
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            for ends in ((near, far), (far, near)):
                threading.Thread(target=carry, args=ends, daemon=True).start()

    # A process of its own, which ends with this one: the package holds Python's lock now and then while it waits for the other side.
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        serve()
    return listener.getsockname()[1]


secured = [text[4:].split(",") for text in sys.argv[3:] if text.startswith("tls=")]
port = tunnel(secured[0]) if secured else PORT
client = c104.Client(tick_rate_ms=50, command_timeout_ms=3000)
client.originator_address = 7
connection = client.add_connection(ip="127.0.0.1", port=port, init=c104.Init.NONE)
station = connection.add_station(common_address=CA)
points = {}
for text in sys.argv[3:]:
    if text.startswith("tls="):
        continue
    kind, address = text.split(":")
    point = station.add_point(io_address=int(address), type=getattr(c104.Type, kind))
    if point.type.name.startswith("C_"):
        point.command_mode = c104.CommandMode.DIRECT
    points[int(address)] = point


def wait_open():
    limit = time.monotonic() + 20
    turn = 0
    while connection.state != c104.ConnectionState.OPEN and time.monotonic() < limit:
        turn += 1
        if turn % 100 == 0 and connection.state == c104.ConnectionState.OPEN_MUTED:
            connection.unmute()
        time.sleep(0.02)
    return connection.state.name


def shown(point):
    value = point.value
    if isinstance(value, (bool, int, float)):
        return value
    return value.value if isinstance(getattr(value, "value", None), (int, float)) else str(value)


def values():
    return {str(address): {"value": shown(point), "good": point.quality is None or point.quality.is_good()}
            for address, point in points.items() if point.type.name.startswith("M_")}


def send(address, text):
    point = points[address]
    if point.type.name.startswith("C_SC"):
        point.value = text in ("1", "on")
    elif point.type.name.startswith("C_DC"):
        point.value = c104.Double.ON if text in ("1", "on") else c104.Double.OFF
    else:
        point.value = float(text)
    return point.transmit(cause=c104.Cot.ACTIVATION)


def obey(line):
    word, *rest = line.split()
    if word == "state":
        return connection.state.name
    if word == "gi":
        begin = time.monotonic()
        done = connection.interrogation(common_address=CA)
        return {"done": done, "ms": (time.monotonic() - begin) * 1000, "values": values()}
    if word == "ci":
        freeze = getattr(c104.Frz, rest[0] if rest else "READ")
        done = connection.counter_interrogation(common_address=CA, freeze=freeze)
        return {"done": done, "values": values()}
    if word == "values":
        return values()
    if word == "set":
        return send(int(rest[0]), rest[1])
    if word == "clock":
        return connection.clock_sync(common_address=CA)
    if word == "timed":
        taken = []
        for turn in range(int(rest[1])):
            begin = time.monotonic()
            if not send(int(rest[0]), str(0.01 + 0.0001 * turn)):
                return {"refused": turn}
            taken.append((time.monotonic() - begin) * 1000)
        return taken
    if word == "drop":
        connection.disconnect()
        connection.connect()
        return wait_open()
    return "unknown"


client.start()
connection.connect()
print("READY", wait_open(), flush=True)
for line in sys.stdin:
    print(json.dumps(obey(line)), flush=True)
