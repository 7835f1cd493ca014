"""A PMU that is commanded by TCP and sends its data by UDP, with the frames of the PyPI package synchrophasor:
`phasor_mixed.py PORT DATAPORT`.

It prints READY; asked for data, it sends 49.987 Hz to DATAPORT from 127.0.0.1, while 127.0.0.2 sends 51 Hz there. After 100 frames
it closes the connection; the other one goes on.
"""
import collections
import collections.abc
import logging
import socket
import sys
import time

collections.Sequence = collections.abc.Sequence
logging.disable(logging.CRITICAL)

from synchrophasor.frame import ConfigFrame2, DataFrame  # noqa: E402

port, data_port = int(sys.argv[1]), int(sys.argv[2])
names = ["VA", "ANALOG1"] + ["BREAKER %d" % index for index in range(16)]
configuration = ConfigFrame2(7, 1000000, 1, "NORTH", 7, (False,) * 4, 1, 1, 1, names, [(915527, "v")], [(1, "pow")], [(0x0000, 0xFFFF)], 50, 3, 50)
GOOD = ("ok", True, "timestamp", False, False, False, 0, "<10", 0)


def data(deviation):
    frame = DataFrame(7, GOOD, [(14635, -100)], deviation, -12, [100], [0x8001], configuration)
    frame.set_time()
    return frame.convert2bytes()


listener = socket.create_server(("127.0.0.1", port))
own, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
own.bind(("127.0.0.1", 0))
other.bind(("127.0.0.2", 0))
print("READY", flush=True)
connection, _ = listener.accept()
connection.settimeout(0.02)
is_on, sent, pending = False, 0, b""
while sent < 100:
    try:
        part = connection.recv(4096)
        if not part:
            break
        pending += part
    except TimeoutError:
        pass
    # A command is 18 octets, its word stands at 14.
    while len(pending) >= 18:
        command, pending = int.from_bytes(pending[14:16], "big"), pending[18:]
        if command == 5:
            configuration.set_time()
            connection.sendall(configuration.convert2bytes())
        is_on = command == 2 or (is_on and command != 1)
    if is_on:
        own.sendto(data(-13), ("127.0.0.1", data_port))
        other.sendto(data(1000), ("127.0.0.1", data_port))
        sent += 1
connection.close()
while True:
    other.sendto(data(1000), ("127.0.0.1", data_port))
    time.sleep(0.02)
