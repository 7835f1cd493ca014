"""A PMU by the PyPI package synchrophasor: `phasor_server.py float|int PORT`.

It prints READY, then sends 49.987 Hz (int) or a deviation of 0.125 Hz (float: the package's own reading of FREQ).
"""
import collections
import collections.abc
import ctypes
import logging
import os
import sys
import time

collections.Sequence = collections.abc.Sequence
logging.disable(logging.CRITICAL)

from synchrophasor.frame import ConfigFrame2  # noqa: E402
from synchrophasor.pmu import Pmu  # noqa: E402

# The package forks; its children must not outlive us (PR_SET_PDEATHSIG, SIGKILL).
os.register_at_fork(after_in_child=lambda: ctypes.CDLL(None).prctl(1, 9))

is_float = sys.argv[1] == "float"
pmu = Pmu(ip="127.0.0.1", port=int(sys.argv[2]), pmu_id=7, data_rate=50)
names = ["VA", "ANALOG1"] + ["BREAKER %d" % index for index in range(16)]
pmu.set_configuration(
    ConfigFrame2(
        7, 1000000, 1, "NORTH", 7, (is_float,) * 4, 1, 1, 1, names, [(915527, "v")], [(1, "pow")],
        [(0x0000, 0xFFFF)], 50, 3, 50,
    )
)
pmu.set_header("a peer for tests")
pmu.run()
print("READY", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    if pmu.clients:
        if is_float:
            pmu.send_data(phasors=[(231.5, 0.25)], analog=[9.5], digital=[0x8001], freq=0.125, dfreq=-0.12)
        else:
            from synchrophasor.frame import DataFrame

            good = ("ok", True, "timestamp", False, False, False, 0, "<10", 0)
            frame = DataFrame(7, good, [(14635, -100)], -13, -12, [100], [0x8001], pmu.cfg2)
            for buffer in pmu.client_buffers:
                buffer.put(frame)
    time.sleep(0.02)
