"""The gateway is short of processor time, of memory and of descriptors: whoever else runs goes first, and control goes on."""
import datetime
import os

PROFILE = "virtual"


def serves(rig, what):
    rig.simulate("frequency 50.0")
    rig.until_power(0)
    rig.discharge()
    rig.check(rig.show("NRestarts") == "0", f"{what}: droop follows, by the same process", rig.show("NRestarts"))


def late(rig):
    return rig.status()["overruns"]


def processor(rig):
    before = late(rig)
    rig.sh("for n in 1 2 3 4 5 6; do systemd-run -q --unit=busy$n sh -c 'while :; do :; done'; done")
    for _ in range(5):
        serves(rig, "beside six that never rest")
    rig.check(late(rig) == before, "no cycle was late beside them", late(rig) - before)
    rig.sh("systemctl stop 'busy*'")


def inversion(rig):
    """Priority between the cycle and everything else, and no rest for 0.4 s at a time: a lock that the cycle shares with
    somebody below would hold it up for as long."""
    before = late(rig)
    rig.sh("systemd-run -q --unit=middle -p CPUSchedulingPolicy=fifo -p CPUSchedulingPriority=10 python3 -c '\n"
           "import time\nwhile True:\n    end = time.monotonic() + 0.4\n    while time.monotonic() < end: pass\n    time.sleep(0.1)'")
    for _ in range(5):
        serves(rig, "below one that leaves nothing to the others")
    rig.check(rig.show("ActiveState", "middle") == "active" and late(rig) == before, "no cycle was late above it", late(rig) - before)
    rig.sh("systemctl stop middle")


def memory(rig):
    """The plant is another machine: what plays it here keeps its memory, and the controller has locked its own."""
    rig.sh("systemctl set-property --runtime system.slice MemoryMin=400M; "
           "systemd-run -q --unit=hog --slice=hog.slice python3 -c '\nkept = []\nwhile True: kept.append(bytes(range(256)) * 40960)'")
    rig.until(lambda: rig.show("ActiveState", "hog") in ("failed", "inactive"), "the hog is ended", 120)
    said = rig.sh("journalctl --sync; journalctl -b -q -k -o cat | grep 'Out of memory: Killed' | tail -1", may_fail=True)
    rig.check("(python3)" in said, "the kernel ran out of memory and took the hog", said[-200:])
    serves(rig, "after a lack of memory")


def descriptors(rig):
    pid = rig.pid()
    taken = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    free = next(number for number in range(1024) if number not in taken)
    rig.sh(f"prlimit --pid {pid} --nofile={free}:1024")
    rig.say(f"{len(taken)} descriptors, no new one from here on")
    rig.simulate("frequency 50.0")
    rig.until_power(0)
    rig.simulate("frequency 49.5")
    rig.until_power(18.8)
    rig.check(True, "droop follows without a descriptor")
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_power(0, within=120)
    rig.check(rig.pid() == pid, "a trip ends power without a descriptor", [pid, rig.pid()])
    rig.until(lambda: rig.events("trip"), "the journal has the trip", 30)
    # Nobody can ask it: its own word for when it came stands in the journal.
    came = rig.events("trip")[0]
    rig.sh(f"kill -9 {pid}")
    rig.until_restarted(pid)
    rig.until_mode("tripped")
    kept = rig.first_trip()
    rig.say(f"{came}")
    rig.check(kept and datetime.datetime.fromisoformat(kept).timestamp() < int(came["__REALTIME_TIMESTAMP"]) / 1e6,
              "the trip that was made without a descriptor was kept", [kept, came["MESSAGE"]])


def run(rig):
    rig.start_site()
    rig.discharge()
    processor(rig)
    inversion(rig)
    memory(rig)
    descriptors(rig)
