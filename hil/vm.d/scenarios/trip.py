"""A hot cell trips its unit; the trip stands in the journal with its fields, outlives a restart, and only a reset clears it."""
import time

PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    rig.discharge()
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_mode("tripped")
    _, took = rig.until_power(0)
    rig.check(took < 1.0, "the plant stands at zero within 1 s of the trip", f"{took * 1000:.0f} ms")
    trips = rig.events("trip")
    first = trips[0] if trips else {}
    rig.check(first.get("PRIORITY") == "2" and first.get("MESSAGE_ID") and first.get("BALLAST_UNIT") == "BESS_01"
              and first.get("BALLAST_INTERLOCK") and first.get("BALLAST_VALUE") and first.get("BALLAST_LIMIT"),
              "the journal holds the trip with its fields", {key: value for key, value in first.items() if "BALLAST" in key})
    text = rig.sh(f"journalctl -b -x -q -o short _SYSTEMD_UNIT=ballastd.service BALLAST_EVENT=trip", may_fail=True)
    rig.check("who" in text or "reset" in text, "journalctl -x explains it", text[-200:])
    rig.sh("systemctl restart ballastd")
    unit, _ = rig.until_mode("tripped")
    rig.check(bool(unit["trips"]), "a restart is no reset", unit["trips"])
    refused = rig.sh("ballastctl reset BESS_01 --reason 'still hot'", may_fail=True)
    time.sleep(1)
    rig.check(rig.unit()["mode"] == "tripped", "a reset is refused while the cell is hot", refused)
    # A plant that has cooled down.
    rig.start_simulator()
    rig.reset("the fan was replaced")
    rig.until_running_again("the fan was replaced")
    rig.check(True, "after the reset the unit runs again")
