"""The monotonic clock of the controller passes 2^32 milliseconds, day 49.7 of a machine: power stands, and nothing is taken for old or new."""
import time

PROFILE = "virtual"
END = (1 << 32) / 1000
# Becomes the controller, in a time namespace whose clocks are so far on.
WRAPPER = """
import ctypes, os, pwd, sys
libc, new_time = ctypes.CDLL(None, use_errno=True), 0x80
if libc.unshare(new_time): sys.exit(f"unshare: {ctypes.get_errno()}")
with open("/proc/self/timens_offsets", "w") as file: file.write("monotonic OFFSET 0\\nboottime OFFSET 0\\n")
if libc.setns(os.open("/proc/self/ns/time_for_children", os.O_RDONLY), new_time): sys.exit(f"setns: {ctypes.get_errno()}")
account = pwd.getpwnam("ballast")
os.initgroups("ballast", account.pw_gid)
os.setgid(account.pw_gid)
os.setuid(account.pw_uid)
os.execv("/usr/bin/ballastd", ["ballastd", "--config", "/etc/ballast/site.yaml", "--behind-door", "/run/ballast/door.sock"])
"""


def run(rig):
    offset = int(END - time.monotonic()) - 20
    with open("/root/day_49.py", "w", encoding="utf-8") as file:
        file.write(WRAPPER.replace("OFFSET", str(offset)))
    rig.sh("mkdir -p /etc/systemd/system/ballastd.service.d; printf '[Service]\\nExecStart=\\nExecStart=+/usr/bin/python3 /root/day_49.py\\n' "
           ">/etc/systemd/system/ballastd.service.d/day.conf; systemctl daemon-reload")
    rig.start_site()
    rig.discharge()
    old, late = rig.pid(), rig.status()["overruns"]
    left = END - offset - time.monotonic()
    rig.check(left > 0 and "monotonic" in rig.sh(f"cat /proc/{old}/timens_offsets"), "the controller's clock stands before the instant",
              [f"{left:.1f} s", rig.sh(f"cat /proc/{old}/timens_offsets")])
    powers = []
    while time.monotonic() + offset < END + 8:
        powers.append(rig.plant_unit()["power_w"])
        time.sleep(0.02)
    rig.check(18000 < min(powers) and max(powers) < 19600, "the plant's power stands over the instant", [round(min(powers)), round(max(powers))])
    rig.check(rig.pid() == old and rig.unit()["mode"] == "running", "the same process serves", [old, rig.pid(), rig.unit()["mode"]])
    rig.check(rig.status()["overruns"] == late, "no cycle was late", rig.status()["overruns"] - late)
    rig.simulate("fault bms_silence BESS_01")
    _, took = rig.until_power(0)
    rig.check(took < 2, "a battery that falls silent behind it is noticed in its time", f"{took:.2f} s")
