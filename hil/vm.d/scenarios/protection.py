"""What the unit promises holds in the live service: no right, no other address family, two directories, and the score that is stated."""
PROFILE = "virtual"


def run(rig):
    rig.start_site()
    status = rig.sh(f"cat /proc/{rig.pid()}/status")
    values = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
        rig.check(int(values[name], 16) == 0, f"{name} is empty", values[name])
    rig.check(values["NoNewPrivs"] == "1" and values["Seccomp"] == "2", "no new right, system calls filtered")
    threads = rig.sh(f"ps -L -o cls=,rtprio=,comm= -p {rig.pid()}")
    rig.check("FF     50 cycle" in threads, "the cycle runs at SCHED_FIFO 50", threads)
    rig.check(all(line.strip().startswith("FF     49") for line in threads.splitlines() if line.endswith((" can", " modbus"))),
              "bus threads run at 49")
    rig.check(all("TS" in line for line in threads.splitlines() if line.endswith((" control", " recorder", " ballastd"))),
              "all others have stepped down")
    for unit, limit in (("ballastd", 1.5), ("ballast-door", 0.5), ("ballast-link", 1.1), ("ballast-scada", 1.1), ("ballast-aggregator", 1.1)):
        line = rig.sh(f"systemd-analyze security --no-pager {unit} | tail -1")
        score = float(line.split(": ")[1].split()[0])
        rig.check(score <= limit, f"{unit} is exposed at most {limit}", score)
    locked = int(values["VmLck"].split()[0])
    rig.check(locked > 0, "memory is locked", values["VmLck"])
    rig.check(int(values["VmHWM"].split()[0]) < 128 << 10, "and little of it is used", values["VmHWM"])
