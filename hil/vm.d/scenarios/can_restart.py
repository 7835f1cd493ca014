"""An adapter that never leaves bus-off by itself: the controller asks by a file, and the oneshot with the right takes it down and up."""
import json
import subprocess

PROFILE = "virtual"


def run(rig):
    rig.sh("modprobe slcan; ip link add dev vcan0 type vcan; ip link set vcan0 up")
    rig.sh("sed -i 's/socketcan:can0/socketcan:slcan0/' /etc/ballast/site.yaml")
    adapter = subprocess.Popen(["python3", "-u", "/rig/guest/slcan_adapter.py", "vcan0", "slcan0"], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    rig.until(lambda: "slcan0" in rig.sh("ls /sys/class/net"), "slcan0 is there")
    rig.sh("ballastctl can up slcan0 --bitrate 500000; systemctl start ballast-can-restart@slcan0.path")
    rig.start_simulator("slcan0=vcan0")
    rig.sh("systemctl start ballastd")
    rig.until_mode("running")
    rig.discharge()
    adapter.stdin.write("bus-off\n")
    adapter.stdin.flush()
    rig.until(lambda: rig.unit()["mode"] != "running", "the unit leaves service", every=0.01)
    _, took = rig.until(lambda: rig.show("ExecMainExitTimestampMonotonic", "ballast-can-restart@slcan0.service") not in ("", "0"),
                        "the oneshot has run")
    rig.check(9 < took < 15, "it is asked for after 10 s, when the driver has had its chance", f"{took:.1f} s")
    rig.check(rig.show("Result", "ballast-can-restart@slcan0.service") == "success", "it ends well",
              rig.sh("journalctl -b -q -o cat -u ballast-can-restart@slcan0.service", may_fail=True)[-300:])
    link = json.loads(rig.sh("ip -j -d link show slcan0"))[0]
    rig.check("UP" in link["flags"] and link["linkinfo"]["info_data"]["state"] != "BUS-OFF", "the interface is up and no longer off",
              link["linkinfo"]["info_data"])
    rig.until_running_again("the bus has come back")
    rig.until_power(18.8)
    rig.check(True, "the site serves again, and nobody was there to help but for its trip")
    held = rig.sh(f"cat /proc/{rig.pid()}/status | grep CapEff")
    rig.check(int(held.split()[-1], 16) == 0, "the controller had no right to do that itself", held)
    asked = [entry["MESSAGE"] for entry in rig.events("bus_restart_asked")]
    rig.check(bool(asked), "the journal says that it has asked", asked[-1:])
    adapter.kill()
