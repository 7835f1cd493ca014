"""At boot nothing is there yet, and an interface has another name: the service waits, says what it misses, and serves once it is there."""
PROFILE = "virtual"


def run(rig):
    rig.sh("ip link set can0 name canx")
    rig.sh("systemctl start ballast.target")
    rig.until(lambda: rig.show("ActiveState") == "active", "the service starts without its devices")
    rig.until(rig.unit, "it answers")
    rig.check(rig.unit()["mode"] != "running", "the unit is out of service", rig.unit()["mode"])
    said = "; ".join(entry["MESSAGE"] for entry in rig.events("link_down"))
    rig.check("can0" in said, "the journal names the missing interface", said[-200:])
    status = rig.show("StatusText")
    rig.check("no frequency" in status and "BESS_01" in status, "systemctl status says what is missing", status)
    rig.sh("ip link set canx name can0")
    rig.sh("systemctl start ballast-can@can0 ballast-can@can1")
    rig.start_simulator()
    _, took = rig.until_mode("running")
    rig.check(took < 20, "it serves once they are there", f"{took:.1f} s")
    rig.check(rig.show("NRestarts") == "0", "without a restart", rig.show("NRestarts"))
    # The interface goes away by name while it serves.
    rig.sh("ip link set can0 down; ip link set can0 name canx; ip link set canx up")
    rig.until(lambda: rig.unit()["mode"] != "running", "the unit leaves service")
    rig.until_power(0)
    rig.sh("ip link set canx down; ip link set canx name can0; systemctl restart ballast-can@can0")
    rig.until_running_again("the interface has its name again")
    rig.check(True, "it serves again under the old name")
