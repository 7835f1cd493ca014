"""Attacks recordings, and measures what recording costs: see hil/recordings.

    recordings.py PROGRAMS ROOT FOLDER PART [SEED]        PART: damage, craft, states, ring, memory, sync
"""
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time

PROGRAMS, ROOT, FOLDER = (os.path.realpath(path) for path in sys.argv[1:4])
sys.path.insert(0, f"{ROOT}/Tests/Peers")
import recording_reader as format  # noqa: E402

SHOWS = (["--page", "x.html"], ["--json", "x.json"], ["--csv", "x.csv"], ["--comtrade", "x", "--form", "ascii"],
         ["--comtrade", "x", "--form", "binary"], ["--comtrade", "x"], ["--plot", "x.svg"], ["--scenario", "made"], ["--step"])


def tool(*words):
    return subprocess.run([f"{PROGRAMS}/ballastctl", "replay", *words], capture_output=True, check=False, timeout=600)


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)
    return name


def read(name):
    with open(name, "rb") as file:
        return file.read()


def recordings():
    folder = f"{ROOT}/Tests/Simulation/VirtualSiteTests/recordings"
    return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name.endswith(".cycles")]


def whole_cycles(data):
    """How many cycles stand before the first damage, by another reader."""
    count = 0
    try:
        for kind, _, _ in format.records(data):
            count += kind == "cycle"
    except (ValueError, IndexError, struct.error):
        pass
    return count


class Count:
    def __init__(self):
        self.done, self.failed = 0, 0

    def judge(self, is_well, text):
        self.done += 1
        if not is_well:
            self.failed += 1
            print(f"  FAILED: {text}")


def damage(dice, count):
    """Cut, turned, foreign and future files: refused with the place, what is before it readable."""
    # A rule that has changed is not what is looked for here.
    files = [name for name in recordings() if tool(name).returncode == 0]
    for turn in range(120):
        data = bytearray(read(dice.choice(files)))
        what = dice.choice(["cut", "bit", "bits", "tail", "swap", "version", "foreign", "units"])
        if what == "cut":
            del data[dice.randrange(len(data)):]
        elif what in ("bit", "bits"):
            for _ in range(1 if what == "bit" else 20):
                data[dice.randrange(16, len(data))] ^= 1 << dice.randrange(8)
        elif what == "tail":
            data += dice.randbytes(dice.randrange(1, 100))
        elif what == "swap":
            at = dice.randrange(16, len(data) - 200)
            data[at:at + 200] = data[at + 100:at + 200] + data[at:at + 100]
        elif what == "version":
            data[8:12] = struct.pack("<I", dice.choice([0, 2, 3, 1 << 31]))
        elif what == "foreign":
            data = bytearray(dice.choice([b"", b"BALCYCL", dice.randbytes(5000), b"\x7fELF" + dice.randbytes(99)]))
        elif what == "units":
            data[12:16] = struct.pack("<I", dice.choice([0, 65, 1 << 31]))
        name = write("damaged.cycles", bytes(data))
        left = whole_cycles(bytes(data))
        answer = tool(name)
        said = answer.stdout.decode(errors="replace")
        is_cut_at_end = what == "cut" and answer.returncode == 0 and "not ended" in said
        is_told = answer.returncode == 1 and (re.search(r"byte \d+", said) or "no cycle" in said or "tells of" in said)
        count.judge(is_told or is_cut_at_end, f"{what}: status {answer.returncode}, {said.strip()[:300]} {answer.stderr[:200]}")
        if left and what != "units":
            found = re.search(r"(\d+) cycles", said)
            # What is read on behind the damage is told apart.
            on = re.search(r"goes on: (\d+) of these", said)
            behind = int(on[1]) if on else 0
            count.judge(found and int(found[1]) - behind == left,
                        f"{what}: {left} whole cycles are there, said was {said.strip()[:200]}")
            if turn % 4 == 0:
                if os.path.exists("x.csv"):
                    os.unlink("x.csv")
                tool(name, "--csv", "x.csv")
                rows = read("x.csv").count(b"\r\n") - 1 if os.path.exists("x.csv") else 0
                count.judge(rows - behind == left, f"{what}: {rows} rows of {left} cycles, {behind} behind the damage")


def crafted(data, dice, kinds):
    """Some bodies of these kinds with other bytes in them, every check right."""
    parts = []
    for kind, _, body in format.records(data):
        body = bytearray(body)
        if kind in kinds and body and dice.random() < kinds[kind]:
            for _ in range(dice.randrange(1, 4)):
                at = dice.randrange(len(body))
                run = dice.choice([1, 1, 2, 8])
                body[at:at + run] = dice.choice([dice.randbytes(run), b"\xff" * run, b"\x80" * run, bytes(run)])
        parts.append((kind, bytes(body)))
    return format.sealed(data[:16], parts)


def craft(dice, count):
    """Files whose every check is right and whose contents are not: each is shown, or refused; no tool is ended by one."""
    files = recordings()
    kinds = {"about": 0.3, "file": 0.2, "start": 0.3, "command": 0.5, "cycle": 0.02, "end_asked": 0.5, "end": 0.2}
    site = f"{ROOT}/hil/scenarios/sites/eight-units.yaml"
    for turn in range(60):
        name = write("crafted.cycles", crafted(read(dice.choice(files)), dice, kinds))
        for words in [[], ["--with", site], *SHOWS] if turn % 6 == 0 else [[], dice.choice(SHOWS)]:
            answer = tool(name, *words)
            count.judge(answer.returncode in (0, 1), f"{words}: status {answer.returncode}, {answer.stderr[:300]}")


def states(dice, count):
    """Recordings that go on from states that no ballastd has left, under the program's own name: whatever becomes of the
    process, it opens, sends and starts nothing once it has looked at one."""
    source = daemon_recording(1, 6)
    data = read(source)
    answer = tool(source)
    count.judge(answer.returncode == 0 and b"identical" in answer.stdout, f"{answer.stdout}{answer.stderr}")
    # Beside what a filter lets through: what was on its way when it came into force, and its end.
    allowed = re.compile(r"^(\d+ +)?(seccomp|write|exit|exit_group|munmap|mremap|madvise|brk|futex|rt_sigreturn|getrandom|clock_gettime|fstat"
                         r"|sched_yield|mmap|mprotect|\+\+\+|---)")
    ends = {}
    for turn in range(60):
        parts = []
        for kind, _, body in format.records(data):
            if kind == "checkpoint" and (turn % 2 or not any(part[0] == "checkpoint" for part in parts)):
                body = broken_state(body, dice)
            parts.append((kind, body))
        name = write("state.cycles", format.sealed(data[:16], parts))
        answer = subprocess.run(
            ["strace", "-f", "-qq", "-o", "calls", f"{PROGRAMS}/ballastd", "--replay", name], capture_output=True, check=False, timeout=900)
        calls = read("calls").decode(errors="replace").splitlines()
        begun = [place for place, line in enumerate(calls) if "seccomp(SECCOMP_SET_MODE_FILTER" in line]
        count.judge(len(begun) == 1, "it was not shut in")
        for line in calls[begun[0]:] if begun else []:
            is_well = allowed.match(line) or "EPERM" in line
            if not is_well:
                count.judge(False, f"it called {line[:150]}")
        said = answer.stdout.decode(errors="replace").strip()
        end = f"signal {-answer.returncode}" if answer.returncode < 0 else re.sub(r"[\d.]+", "N", said.split(": ", 1)[-1])[:32]
        ends[end] = ends.get(end, 0) + 1
    for end, times in sorted(ends.items(), key=lambda item: -item[1]):
        print(f"  {times:3} ended: {end}")


def broken_state(body, dice):
    """Other words in a state, at random places, by the same coding."""
    length = struct.unpack_from("<H", body, 16)[0]
    head = 18 + length + 4
    words = []
    format.changed(body[head:], words)
    total = struct.unpack_from("<I", body, head - 4)[0]
    words += [0] * (total - len(words))
    for _ in range(dice.choice([1, 10, 1000, total])):
        words[dice.randrange(total)] = dice.choice([dice.getrandbits(64), 0xFFFFFFFFFFFFFFFF, dice.getrandbits(8), dice.getrandbits(32)])
    out = bytearray()
    left = 1
    for word in words:
        if word == 0:
            left += 1
            continue
        for value in (left << 1 | 1, int.from_bytes(word.to_bytes(8, "little"), "big")):
            while value >= 0x80:
                out.append(value & 0x7F | 0x80)
                value >>= 7
            out.append(value)
        left = 1
    return body[:head] + bytes(out) + b"\0"


# A site with so many units, recorded.

def site(units, megabytes, on_disk):
    rows = "".join(f"""
  - id: BESS_{unit:02d}
    campus_id: CAMPUS
    capacity_kwh: 250
    max_power_kw: 100
    bms: {{transport: "cannelloni:127.0.0.1:{20891 + unit}", period_ms: 200}}
    modbus: {{host: 127.0.0.1, port: {15891 + unit}}}""" for unit in range(units))
    return f"""
mode: simulation
site: {{id: recorded}}
control: {{enter_service_s: 1, ramp_kw_per_s: 200}}
grid_meter: {{modbus: {{host: 127.0.0.1, port: 15890}}, poll_ms: 20}}
bess_units:{rows}
paths: {{state_directory: ./run/state, control_socket: ./run/control.sock, recording_max_mb: {megabytes}, recording_on_disk: {on_disk}}}
"""


def run(units, megabytes, seconds, on_disk="false", before=(), look=None):
    """Bytes a second of a site in service, and what `timing` says; `look` is given the daemon's number at the end."""
    subprocess.run(["rm", "-rf", "run"], check=True)
    os.makedirs("run")
    write("site.yaml", site(units, megabytes, on_disk).encode())
    ask = lambda *words: subprocess.run(  # noqa: E731
        [f"{PROGRAMS}/ballastctl", *words, "--socket", "run/control.sock"], capture_output=True, text=True, check=False).stdout
    with open("plant.log", "wb") as out, open("ballastd.log", "wb") as log:
        plant = subprocess.Popen([f"{PROGRAMS}/ballast-sim", "plant", "--site", "site.yaml"], stdout=out, stderr=out)
        daemon = subprocess.Popen([*before, f"{PROGRAMS}/ballastd", "--config", "site.yaml"], stdout=log, stderr=log)
        try:
            limit = time.monotonic() + 60
            while read("ballastd.log").count("→ running".encode()) < units and time.monotonic() < limit:
                time.sleep(0.2)
            ask("setpoint", str(20 * units), "--for", "600s", "--reason", "measured")
            first, begun = held(), time.monotonic()
            time.sleep(seconds)
            last, took = held(), time.monotonic() - begun
            timing = json.loads(ask("timing", "--json"))
            if look:
                look(daemon.pid)
        finally:
            # Under strace it is its child that is asked to end.
            with open(f"/proc/{daemon.pid}/task/{daemon.pid}/children", encoding="ascii") as children:
                os.kill(int(children.read().split()[0]) if before else daemon.pid, signal.SIGTERM)
            daemon.wait()
            plant.terminate()
            plant.wait()
    return (last - first) / took, timing


def held():
    folder = "run/state/cycles"
    return sum(os.stat(f"{folder}/{name}").st_size for name in os.listdir(folder)) if os.path.isdir(folder) else 0


def daemon_recording(units, seconds):
    run(units, 32, seconds)
    return f"run/state/cycles/{sorted(os.listdir('run/state/cycles'))[-1]}"


def ring(dice, count):
    """How long the shipped 32 MB last, and what the recording costs the cycle's thread."""
    for units, least in ((1, 300), (8, 300), (64, 30)):
        costs = {}
        for megabytes in (0, 32, 0, 32):
            rate, timing = run(units, megabytes, 20)
            stages = {stage["name"]: stage["quantiles"]["p50_us"] for stage in timing["stages"]}
            costs.setdefault(megabytes, []).append(stages["publication"])
            if megabytes:
                lasts = 28e6 / rate
        more = min(costs[32]) - min(costs[0])
        count.judge(lasts >= least, f"{units} units: {lasts:.0f} s")
        count.judge(more / units <= 2, f"{units} units: {more:.1f} µs")
        print(f"  {units} units: {rate:.0f} bytes/s, 32 MB hold {lasts:.0f} s at least (wanted {least}); publication of a cycle "
              f"{min(costs[0]):.1f} µs without, {min(costs[32]):.1f} µs with it: {more / units:.2f} µs a unit")


def locked(process):
    """What the kernel holds in memory for it and may not take back, bytes."""
    with open(f"/proc/{process}/smaps_rollup", encoding="ascii") as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("Locked:")) * 1024


def memory(dice, count):
    """What recording takes of locked memory, by the kernel's own account: the whole daemon with it and without, also after a
    capture has been put together."""
    for units in (1, 8, 64):
        found = {}

        def look(process):
            found["in service"] = locked(process)
            if megabytes:
                before = set(os.listdir("run/state/captures")) if os.path.isdir("run/state/captures") else set()
                subprocess.run([f"{PROGRAMS}/ballastctl", "capture", "--reason", "measured", "--socket", "run/control.sock"], capture_output=True, check=False)
                limit = time.monotonic() + 40
                while time.monotonic() < limit and (not os.path.isdir("run/state/captures") or set(os.listdir("run/state/captures")) <= before):
                    found["at most"] = max(found.get("at most", 0), locked(process))
                    time.sleep(0.05)
                time.sleep(1)
                found["after a capture"] = locked(process)
                count.judge(os.path.isdir("run/state/captures"), f"{units} units: no capture")

        megabytes = 0
        run(units, 0, 15, look=look)
        without = found["in service"]
        found.clear()
        megabytes = 32
        run(units, 32, 15, look=look)
        more = max(found.values()) - without
        count.judge(more <= 8 << 20, f"{units} units: {more / 1e6:.2f} MB")
        print(f"  {units} units: {without / 1e6:.2f} MB locked without recording; "
              + ", ".join(f"{value / 1e6:.2f} {name}" for name, value in found.items()) + f": {more / 1e6:.2f} MB more at most")


def sync(dice, count):
    """With recording_on_disk: how long it is from one sync to the next, on the thread that syncs."""
    run(1, 32, 20, "true", ["strace", "-f", "-qq", "-ttt", "-T", "-e", "trace=fdatasync", "-o", "syncs"])
    by_thread = {}
    for line in read("syncs").decode().splitlines():
        found = re.match(r"(\d+) +([\d.]+) fdatasync\(.*<([\d.]+)>", line)
        if found:
            by_thread.setdefault(found[1], []).append((float(found[2]), float(found[3])))
    # The thread that syncs most, by far; the spool's and the latches' have theirs.
    times = max(by_thread.values(), key=len)
    gaps = [later[0] + later[1] - earlier[0] for earlier, later in zip(times, times[1:])]
    count.judge(len(times) >= 18, f"{len(times)} syncs")
    # A cycle waits a tenth of a second to be written at most.
    count.judge(max(gaps) + 0.1 <= 2, f"{max(gaps):.3f} s")
    print(f"  {len(times)} syncs, {max(gaps) + 0.1:.2f} s at most from a cycle to its end on the disk; {max(took for _, took in times) * 1000:.1f} ms the longest")


def main():
    part, seed = sys.argv[4], int(sys.argv[5]) if len(sys.argv) > 5 else 17
    os.makedirs(FOLDER, exist_ok=True)
    os.chdir(FOLDER)
    count = Count()
    begun = time.monotonic()
    {"damage": damage, "craft": craft, "states": states, "ring": ring, "memory": memory, "sync": sync}[part](random.Random(seed), count)
    print(f"{part}, seed {seed}: {count.done} judged, {count.failed} failed, {time.monotonic() - begun:.0f} s")
    return 1 if count.failed else 0


if __name__ == "__main__":
    sys.exit(main())
