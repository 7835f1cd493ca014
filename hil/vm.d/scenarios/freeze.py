"""The service's control group is frozen: neither the controller nor its watchdog moves, and the inverter's own timer ends its power."""
import time

PROFILE = "virtual"
# reversion_s of the site, and the inverter's way to zero.
REVERSION = 5


def run(rig):
    rig.start_site()
    rig.discharge()
    old = rig.pid()
    began = time.monotonic()
    rig.sh("systemctl freeze ballastd")
    rig.until_power(0, within=30)
    took = time.monotonic() - began
    rig.check(took < REVERSION + 1, "the plant is at zero when the inverter's timer has run out", f"{took:.2f} s")
    powers = []
    for _ in range(20):
        powers.append(rig.plant_unit()["power_w"])
        time.sleep(0.5)
    rig.check(max(map(abs, powers)) < 500, "and stays there for ten seconds", max(map(abs, powers)))
    # systemd may refuse, since its watchdog has killed the program meanwhile; then the kernel's own switch is left.
    rig.sh("systemctl thaw ballastd || echo 0 >/sys/fs/cgroup/system.slice/ballastd.service/cgroup.freeze")
    rig.until(lambda: rig.show("ActiveState") == "active" and rig.status(), "the controller answers again")
    rig.say(f"process {old} before, {rig.pid()} after")
    rig.until_running_again("looked at after the standstill")
    rig.discharge()
    rig.check(True, "thawed, the site serves again")
