"""An adapter goes bus-off: writing to it still succeeds and nothing arrives, so the state of the bus must be watched."""
import subprocess
import time

PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.sh("modprobe slcan; ip link add dev vcan0 type vcan; ip link set vcan0 up")
    rig.sh("sed -i 's/socketcan:can0/socketcan:slcan0/' /etc/ballast/site.yaml")
    adapter = subprocess.Popen(["python3", "-u", "/rig/guest/slcan_adapter.py", "vcan0", "slcan0"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)

    def tell(line):
        adapter.stdin.write(line + "\n")
        adapter.stdin.flush()

    rig.until(lambda: "slcan0" in rig.sh("ls /sys/class/net"), "slcan0 is there")
    rig.sh("ballastctl can up slcan0 --bitrate 500000")
    rig.start_simulator("slcan0=vcan0")
    rig.sh("systemctl start ballastd")
    rig.until_mode("running")
    rig.discharge()
    tell("warning")
    rig.until(lambda: rig.link("slcan0")["bus_errors"] > 0, "an error frame is seen")
    rig.check(rig.unit()["mode"] == "running", "a warning of the bus ends nothing")
    began = time.monotonic()
    tell("bus-off")
    rig.until(lambda: rig.unit()["mode"] != "running", "the unit leaves service", every=0.01)
    rig.until_power(0)
    took = time.monotonic() - began
    rig.check(took < 5, "the plant is at zero within 5 s of bus-off", f"{took:.2f} s")
    said = "; ".join(entry["MESSAGE"] for entry in rig.events() if "bus" in entry["MESSAGE"].lower())
    rig.check("off" in said.lower(), "the journal names bus-off", said[-300:])
    # slcan has no restart of its own: down and up, as ballast-can-restart@ does.
    rig.sh("ip link set slcan0 down; ballastctl can up slcan0 --bitrate 500000")
    tell("good")
    _, took = rig.until_running_again("the bus is good again")
    rig.check(took < 30, "the unit runs again once the bus is up", f"{took:.1f} s")
    adapter.kill()
