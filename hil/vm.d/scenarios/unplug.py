"""A CAN adapter is pulled out and put in again: the unit ends its power, and serves again without a restart."""
import time

PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    rig.discharge()
    pid = rig.pid()
    began = time.monotonic()
    rig.unplug_can(0)
    rig.until(lambda: rig.unit()["mode"] != "running", "the unit leaves service")
    rig.until_power(0)
    rig.check(time.monotonic() - began < 5, "the plant is at zero within 5 s", f"{time.monotonic() - began:.1f} s")
    said = "; ".join(entry["MESSAGE"] for entry in rig.events("link_down"))
    rig.check("can0" in said, "the journal names the link", said)
    time.sleep(3)
    rig.plug_can()
    rig.until(lambda: rig.sh("systemctl is-active ballast-can@can0", may_fail=True) == "active", "can0 is brought up again")
    rig.sh("tc qdisc replace dev can0 root netem rate 100kbit limit 100")
    rig.until_running_again("the adapter is back")
    rig.check(rig.pid() == pid, "the controller was not restarted", [pid, rig.pid()])
    rig.until_power(18.8)
    rig.check(True, "the site serves again")
