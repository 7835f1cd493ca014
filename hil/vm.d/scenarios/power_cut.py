"""The gateway loses its supply in the middle of service: the trip that was latched is there afterwards, and the records are whole."""
PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    rig.discharge()
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_mode("tripped")
    rig.until(lambda: rig.status()["latches_saved"], "the trip is on disk")
    rig.power_cut()


def after(rig):
    rig.until(lambda: rig.show("ActiveState") == "active", "the controller starts by itself", 120)
    unit, _ = rig.until_mode("tripped")
    rig.check(bool(unit["trips"]), "the trip stands", unit["trips"])
    said = " ".join(entry["MESSAGE"] for entry in rig.events())
    rig.check("latch_record" not in said and "missing" not in said, "the record of trips is whole")
    rig.start_simulator()
    rig.reset("cold again, looked at")
    rig.until_running_again("cold again, looked at")
    rig.discharge()
    rig.check(True, "the site serves again")
