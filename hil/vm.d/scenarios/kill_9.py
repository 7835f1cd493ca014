"""The process dies between two instructions: nothing is latched away, the outputs end in zero, and service begins anew."""
import time

PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    rig.discharge()
    old = rig.pid()
    rig.sh("systemctl kill -s KILL ballastd")
    _, took = rig.until_restarted(old)
    rig.check(took < 2, "it is up again within 2 s", f"{took * 1000:.0f} ms")
    rig.check(rig.show("NRestarts") == "1", "systemd counted one restart", rig.show("NRestarts"))
    seen, _ = rig.until(rig.unit, "it answers", every=0.01)
    rig.check(seen["mode"] != "running", "every unit starts out of service", seen["mode"])
    _, took = rig.until_power(0, within=10)
    rig.check(took < 1, "the first thing the new process does is zero", f"{took * 1000:.0f} ms")
    rig.until_running_again("looked at after the crash")
    rig.until_power(18.8)
    # Without anybody to start it again, the inverter's own timer ends the power.
    rig.sh("mkdir -p /run/systemd/system/ballastd.service.d; "
           "printf '[Service]\\nRestart=no\\n' >/run/systemd/system/ballastd.service.d/x.conf; systemctl daemon-reload")
    began = time.monotonic()
    rig.sh("systemctl kill -s KILL ballastd")
    rig.until_power(0, within=20)
    took = time.monotonic() - began
    rig.check(took < 6.5, "with nobody left the plant is at zero within the reversion time of 5 s and its ramp", f"{took:.2f} s")
