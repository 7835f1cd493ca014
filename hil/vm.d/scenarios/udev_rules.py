"""Each udev rule takes hold of a real device: names by serial number, the group, no waiting in the adapter, no sleeping on USB."""
PROFILE = "virtual"
RULES = """SUBSYSTEM=="tty", KERNEL=="ttyS1", GROUP="ballast", MODE="0660", TAG+="systemd", SYMLINK+="ballast/rs485-0"
ACTION=="add", SUBSYSTEM=="net", KERNELS=="0000:00:10.0", NAME="can-bms1"
"""


def run(rig):
    rig.host("plug-serial RIG-485")
    rig.until(lambda: rig.sh("ls /dev/ballast 2>/dev/null", may_fail=True), "an adapter is named")
    rig.sh("udevadm settle")
    rig.check(rig.sh("readlink /dev/ballast/RIG-485") == "../ttyUSB0", "the adapter has its serial number for a name",
              rig.sh("ls -l /dev/ballast"))
    rig.check(rig.sh("stat -c '%G %a' /dev/ttyUSB0") == "ballast 660", "it belongs to the group", rig.sh("ls -l /dev/ttyUSB0"))
    latency = rig.sh("cat /sys/class/tty/ttyUSB0/device/latency_timer", may_fail=True)
    rig.check(latency == "1", "it delivers after 1 ms", latency)
    power = rig.sh("cat $(dirname $(readlink -f /sys/class/tty/ttyUSB0/device))/../power/control", may_fail=True)
    rig.check(power == "on", "it never sleeps", power)
    rig.check(rig.sh("systemctl is-active dev-ttyUSB0.device", may_fail=True) == "active", "systemd knows the device")
    properties = rig.sh("udevadm info -q property /dev/ttyUSB0")
    rig.check("ID_MM_DEVICE_IGNORE=1" in properties, "ModemManager leaves it alone")
    rig.sh(f"cat >/etc/udev/rules.d/61-ballast-site.rules <<'X'\n{RULES}X\nudevadm control --reload")
    said = rig.sh("udevadm test $(udevadm info -q path /dev/ttyS1) 2>&1")
    rig.check("rs485-0" in said and "ballast" in said, "udevadm test shows the site's rule")
    wrong = [line for line in said.splitlines() if "ballast" in line and ("nvalid" in line or "gnoring" in line)]
    rig.check(not wrong, "udev has nothing to say about our rules", wrong)
    rig.sh("udevadm trigger --action=add /dev/ttyS1 && udevadm settle")
    rig.check(rig.sh("readlink /dev/ballast/rs485-0") == "../ttyS1", "an on-board port has the site's name")
    rig.unplug_can(0)
    rig.until(lambda: "can0" not in rig.sh("ls /sys/class/net"), "can0 is gone")
    rig.plug_can()
    rig.until(lambda: "can-bms1" in rig.sh("ls /sys/class/net"), "the CAN adapter has the site's name")
    rig.check(True, "a CAN adapter has the site's name")
