"""A frequency step becomes power in the plant by the closed form, through real sockets, a real scheduler and the unit's limits."""
PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    _, took = rig.discharge()
    rig.check(took < 1.0, "49.5 Hz gives 18.8 kW within 1 s", f"{took * 1000:.0f} ms")
    rig.simulate("frequency 50.5")
    _, took = rig.until_power(-18.8)
    rig.check(took < 1.0, "50.5 Hz gives -18.8 kW within 1 s", f"{took * 1000:.0f} ms")
    rig.simulate("frequency 50.0")
    _, took = rig.until_power(0)
    rig.check(took < 1.0, "50 Hz gives 0 kW within 1 s", f"{took * 1000:.0f} ms")
    status = rig.status()
    rig.check(status["overruns"] == 0, "no cycle began late", status["overruns"])
