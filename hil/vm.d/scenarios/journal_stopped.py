"""journald stands still: control goes on, a trip made meanwhile is on disk, and a restart does not forget it."""
import time

PROFILE = "virtual"


def run(rig):
    rig.start_site()
    rig.discharge()
    late = rig.status()["overruns"]
    journald = rig.sh("systemctl show -P MainPID systemd-journald")
    rig.sh(f"kill -STOP {journald}")
    # More than the socket of the journal holds: each change of the frequency is told.
    for _ in range(3):
        rig.simulate("frequency 50.0")
        rig.until_power(0)
        rig.simulate("frequency 49.5")
        rig.until_power(18.8)
    rig.check(True, "droop follows while nobody takes the log")
    began = time.monotonic()
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_mode("tripped")
    _, took = rig.until_power(0)
    rig.check(took < 1.0, "the plant stands at zero within 1 s of the trip", 
              f"{took * 1000:.0f} ms, {time.monotonic() - began:.1f} s after the fault")
    rig.until(lambda: rig.status()["latches_saved"], "the trip is on disk", within=5)
    rig.check(rig.status()["overruns"] == late, "no cycle was late", rig.status()["overruns"] - late)
    first = rig.first_trip()
    old = rig.pid()
    rig.sh(f"kill -9 {old}")
    rig.sh(f"kill -CONT {journald}")
    rig.until_restarted(old)
    rig.until_mode("tripped")
    rig.check(first and rig.first_trip() == first, "the restart knows the trip that no journal had", [first, rig.first_trip()])
