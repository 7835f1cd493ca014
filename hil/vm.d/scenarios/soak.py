"""Ten minutes of the site's time, or an hour with --seconds 3600, mostly idle, with a frequency event, a silent battery and a lost adapter
every five minutes: memory, threads and descriptors stand where they stood, and no cycle began late."""
import time

PROFILE = "virtual"
LONG = True
EVERY = 300


def footprint(rig):
    pid = rig.pid()
    status = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status", encoding="utf-8") if ":\t" in line)
    return {"rss_kb": int(status["VmRSS"].split()[0]), "address_kb": int(status["VmSize"].split()[0]),
            "threads": int(status["Threads"]), "files": len(rig.sh(f"ls /proc/{pid}/fd").split())}


def disturb(rig):
    rig.discharge()
    rig.simulate("frequency 50.0")
    rig.until_power(0)
    rig.simulate("fault bms_silence BESS_01")
    rig.until(lambda: rig.unit()["mode"] != "running", "the silent battery ends service")
    rig.simulate("clear bms_silence BESS_01")
    rig.until_running_again("the battery speaks again")
    rig.unplug_can(0)
    rig.until(lambda: rig.unit()["mode"] != "running", "the lost adapter ends service")
    rig.plug_can()
    rig.until(lambda: rig.sh("systemctl is-active ballast-can@can0", may_fail=True) == "active", "can0 is up again")
    rig.sh("tc qdisc replace dev can0 root netem rate 100kbit limit 100")
    rig.until_running_again("the adapter is back")


def run(rig):
    rig.start_site()
    pid = rig.pid()
    # All that is made once has been made: links lost and found, a trip and a reset, a record rotated.
    disturb(rig)
    first = footprint(rig)
    rig.say(f"after the first disturbance: {first}")
    began = time.monotonic()
    while time.monotonic() - began < rig.seconds:
        slept = time.monotonic()
        while time.monotonic() - slept < EVERY:
            time.sleep(60)
            rig.say(f"{footprint(rig)}")
        disturb(rig)
    last = footprint(rig)
    rig.check(rig.pid() == pid and rig.show("NRestarts") == "0", "one process all the time", [pid, rig.pid()])
    rig.check(last["rss_kb"] - first["rss_kb"] < 1024, "its memory stands within 1 MB", [first["rss_kb"], last["rss_kb"]])
    rig.check(last["address_kb"] == first["address_kb"], "so does its address space", [first["address_kb"], last["address_kb"]])
    rig.check(last["threads"] == first["threads"] and last["files"] <= first["files"] + 1, "threads and descriptors too", [first, last])
    status = rig.status()
    rig.check(status["overruns"] == 0, "no cycle began late", status["overruns"])
    used = rig.sh("du -sk /var/lib/ballast | cut -f1")
    rig.check(int(used) < 64 << 10, "its records stay small", f"{used} kB")
