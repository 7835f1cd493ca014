"""A gateway is restarted: power ends first, everything comes up by itself, and what was tripped stays tripped."""
import time

PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    rig.discharge()
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_mode("tripped")
    rig.until(lambda: rig.status()["latches_saved"], "the trip is on disk")
    rig.reboot()


def after(rig):
    rig.until(lambda: rig.show("ActiveState") == "active", "the controller starts by itself", 120)
    rig.until(lambda: rig.sh("systemctl is-active ballast-can@can0", may_fail=True) == "active", "can0 is brought up")
    rig.check(True, "can0 is brought up by itself")
    rig.check("BESS_01 tripped" in rig.until(lambda: rig.show("StatusText"), "it says a status")[0],
              "systemctl status says that the unit is tripped", rig.show("StatusText"))
    rig.start_simulator()
    time.sleep(5)
    unit = rig.unit()
    rig.check(unit["mode"] == "tripped" and unit["trips"], "a reboot is no reset", [unit["mode"], unit["trips"]])
    rig.check(rig.plant_unit()["power_w"] == 0, "no power flows")
    rig.reset("cold again, looked at")
    rig.until_running_again("cold again, looked at")
    rig.check(True, "after a reset the unit runs")
