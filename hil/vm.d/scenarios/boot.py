"""The installed service sees a battery through SocketCAN: everything else here stands on it."""
PROFILE = "virtual"
SHORT = True


def run(rig):
    rig.start_site()
    can = rig.link("socketcan:can0")
    rig.check(can["up"] == 1 and can["frames"] > 0, "frames arrive on can0", can)
    rig.check(can["bus_errors"] == 0 and can["rejected_frames"] == 0, "no frame is lost or refused", can)
    counted = int(rig.sh("cat /sys/class/net/can0/statistics/rx_packets"))
    seen = rig.link("socketcan:can0")["frames"]
    rig.check(abs(counted - seen) <= 14, "the controller has every frame that the kernel has counted", [counted, seen])
    unit, plant = rig.unit(), rig.plant_unit()
    rig.check(abs(unit["soc_percent"] - plant["soc_percent"]) < 1, "the state of charge is the plant's",
              [unit["soc_percent"], plant["soc_percent"]])
    status = rig.status()
    rig.check(status["realtime"].startswith("real time: SCHED_FIFO 50, memory locked"), "full real time is granted", status["realtime"])
    rig.check(status["overruns"] == 0, "no cycle began late", status["overruns"])
    rig.until(lambda: "BESS_01 running" in rig.show("StatusText"), "systemctl status has the news, once a second")
    rig.check(True, "systemctl status says it in one line", rig.show("StatusText"))
    failed = rig.sh("systemctl list-units --failed --plain --no-legend")
    rig.check(not failed, "no unit has failed", failed)
    warned = rig.sh("journalctl -b -q -o cat -p warning -u 'ballast*'", may_fail=True)
    rig.check(not warned, "nothing in the journal is worth a warning", warned)
