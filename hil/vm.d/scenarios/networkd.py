"""A site that sets its interfaces up by systemd-networkd: the example brings can0 up with bit rate and restart, and the site serves."""
import json

PROFILE = "virtual"


def run(rig):
    rig.sh("systemctl disable ballast-can@can0; mkdir -p /etc/systemd/network; "
           "cp /usr/share/doc/ballast/examples/80-ballast-can.network /etc/systemd/network/; systemctl start systemd-networkd")
    rig.until(lambda: "UP" in json.loads(rig.sh("ip -j link show can0"))[0]["flags"], "can0 is up")
    data = json.loads(rig.sh("ip -j -d link show can0"))[0]["linkinfo"]["info_data"]
    rig.check(data["bittiming"]["bitrate"] == 500000, "at its bit rate", data["bittiming"])
    rig.check(data.get("restart_ms") == 200, "it leaves bus-off by itself after 200 ms", data.get("restart_ms"))
    state = rig.sh("networkctl --no-pager --no-legend list can0")
    rig.check("configured" in state, "networkd has it in hand", state)
    rig.sh("systemctl start ballast-can@can1")
    rig.start_simulator()
    rig.sh("systemctl start ballast.target")
    rig.until_mode("running")
    rig.discharge()
    rig.check(rig.sh("systemctl is-active ballast-can@can0", may_fail=True) != "active", "the site serves without ballast-can@can0")
    # The adapter is pulled out and put in again: networkd sets it up anew.
    rig.unplug_can(0)
    rig.until(lambda: rig.unit()["mode"] != "running", "the unit leaves service")
    rig.plug_can()
    rig.until(lambda: rig.sh("ip -br link show can0 | grep -o LOWER_UP", may_fail=True) == "LOWER_UP", "can0 is up again")
    rig.sh("tc qdisc replace dev can0 root netem rate 100kbit limit 100")
    rig.until_running_again("the adapter is back")
    rig.check(True, "an adapter that is plugged in again serves again")
