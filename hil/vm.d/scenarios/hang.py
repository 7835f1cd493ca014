"""A process that stands still is worse than one that is dead: the watchdog of systemd ends it after 2 s."""
import time

PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    rig.discharge()
    old = rig.pid()
    began = time.monotonic()
    rig.sh(f"kill -STOP {old}")
    rig.until_restarted(old)
    took = time.monotonic() - began
    rig.check(1.5 < took < 4, "the hung process is replaced: 2 s to see it, at most 1 s to end it", f"{took:.2f} s")
    rig.until_power(0, within=10)
    took = time.monotonic() - began
    rig.check(took < 5.5, "the plant is at zero within 5.5 s of the hang", f"{took:.2f} s")
    said = rig.sh("journalctl -b -q -o cat -u ballastd | grep -i watchdog", may_fail=True)
    rig.check("Watchdog timeout" in said, "the journal says that it was the watchdog", said)
    rig.until_running_again("looked at after the hang")
    rig.check(True, "the unit runs again")
