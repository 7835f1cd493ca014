"""Runs ballastd on a simulated site under steady.so, and fails where a real-time thread asks for memory or a lock, or where it
copies more than 128 KiB at once oftener than a recording begins a new file, which takes the controller's state.

    steady.py PROGRAMS FOLDER CYCLES

Exit status 0: none did, over at least N cycles of every link in service.
"""
import collections
import ctypes
import json
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import time

CLASSES = ("cycle", "can", "modbus", "pmu")
# May wait, so that the daemon of a loaded machine comes into service all the same.
PATIENCE_S = 120
# What the cycle's thread may ask of the kernel; the clock is read without asking. The write goes to the eventfd that wakes
# a bus which has something new to write: it cannot block (LinuxIO, WakeUp).
ALLOWED_CALLS = {"clock_nanosleep", "restart_syscall", "write"}


class Shared(ctypes.Structure):
    """As `struct shared` of steady.c."""
    _fields_ = [("armed", ctypes.c_uint), ("threads", ctypes.c_uint * 4),
                ("memory_calls", ctypes.c_ulong * 4), ("lock_calls", ctypes.c_ulong * 4),
                ("large_copies", ctypes.c_ulong * 4)]


class Site:
    def __init__(self, programs, folder):
        self.programs, self.folder, self.children = programs, folder, []
        os.makedirs(f"{folder}/run", exist_ok=True)
        os.chdir(folder)

    def begin(self, name, *arguments, **environment):
        log = open(f"{name}.log", "wb")
        self.children.append(subprocess.Popen(
            [f"{self.programs}/{name}", *arguments], stdout=log, stderr=log, env=os.environ | environment))
        return self.children[-1]

    def ask(self, command):
        answer = subprocess.run(
            [f"{self.programs}/ballastctl", command, "--json", "--socket", "run/control.sock"],
            capture_output=True, check=False)
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def wait(self, what, condition):
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            for child in self.children:
                if child.poll() is not None:
                    raise SystemExit(f"allocation-check: {child.args[0]} ended; {self.folder}/*.log say why")
            if condition():
                return
            time.sleep(0.1)
        raise SystemExit(f"allocation-check: no {what} within {PATIENCE_S} s; see {self.folder}/*.log")

    def end(self):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(15)
            except subprocess.TimeoutExpired:
                child.kill()


def plant_is_ready():
    with open("ballast-sim.log", encoding="utf-8") as log:
        return re.search("^ready", log.read(), re.M)


def in_service(site):
    status = site.ask("status")
    return status and all(unit["mode"] == "running" for unit in status["units"]) and all(
        link["counters"]["up"] for link in status["links"])


def cycles(site):
    return site.ask("timing")["lateness"]["count"]


def kernel_calls(process):
    """System calls of the cycle's thread within two seconds, by name; None where nobody may look."""
    for task in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{task}/comm", encoding="utf-8") as name:
            if name.read().strip() == "cycle":
                subprocess.run(["timeout", "-s", "INT", "2", "strace", "-q", "-p", task, "-o", "strace.txt"],
                               capture_output=True, check=False)
    if not os.path.exists("strace.txt"):
        return None
    with open("strace.txt", encoding="utf-8", errors="replace") as lines:
        found = [re.match(r"(\w+)\(", line.removeprefix("<... ")) for line in lines]
    return dict(collections.Counter(match.group(1) for match in found if match)) or None


def main(programs, folder, wanted):
    site = Site(programs, folder)
    try:
        site.begin("ballast-sim", "plant", "--site", "site.yaml", "--control", "run/sim.sock")
        site.wait("simulated plant", plant_is_ready)
        environment = {"LD_PRELOAD": f"{folder}/steady.so", "BALLAST_STEADY_FILE": f"{folder}/steady.shared"}
        daemon = site.begin("ballastd", "--config", "site.yaml", **environment)
        site.wait("site in service", lambda: in_service(site))
        with open("steady.shared", "r+b") as file:
            shared = Shared.from_buffer(mmap.mmap(file.fileno(), 0))
        before = cycles(site)
        shared.armed = 1

        def turned():
            return sum(shared.memory_calls) + sum(shared.lock_calls) or cycles(site) - before >= wanted
        site.wait(f"{wanted} cycles", turned)
        count = cycles(site) - before
        time.sleep(1 if sum(shared.memory_calls) else 0)
        shared.armed = 0
        calls = kernel_calls(daemon.pid)
    finally:
        site.end()
    return judge(shared, count, calls)


def named_stacks():
    """The stacks with the names of functions instead of offsets, where the tools for it are there."""
    def name(match):
        program, offset = match.groups()
        # The address is that of the return.
        answer = subprocess.run(["addr2line", "-f", "-e", program, hex(int(offset, 16) - 1)],
                                capture_output=True, text=True, check=False).stdout.split("\n")
        return f"{os.path.basename(program)} {answer[0] if answer else offset}"
    with open("steady.shared.stacks", encoding="utf-8") as stacks:
        lines = [re.sub(r"^(\S+)\(\+(0x[0-9a-f]+)\)\S*", name, line) for line in stacks]
    text = "".join(line if line[0].islower() and "thread:" in line else f"    {line}" for line in lines)
    demangled = subprocess.run(["swift-demangle", "--simplified"], input=text, capture_output=True, text=True,
                               check=False) if shutil.which("swift-demangle") else None
    return demangled.stdout if demangled and demangled.stdout else text


def judge(shared, count, calls):
    print(f"{count} cycles with both units in service")
    for index, name in enumerate(CLASSES):
        print(f"  {name:<7} threads {shared.threads[index]}: {shared.memory_calls[index]} calls for memory,"
              f" {shared.lock_calls[index]} for locks, {shared.large_copies[index]} copies of more than 128 KiB")
    if calls is not None:
        print(f"  system calls of the cycle in 2 s: {calls}")
    failed = any(shared.memory_calls) or any(shared.lock_calls) or not all(shared.threads)
    failed |= any(copies * 100 > count for copies in shared.large_copies)
    if failed:
        print(named_stacks())
    foreign = set(calls or {}) - ALLOWED_CALLS
    if foreign:
        print(f"allocation-check: the cycle makes other system calls: {', '.join(sorted(foreign))}")
    return 1 if failed or foreign else 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3])))
