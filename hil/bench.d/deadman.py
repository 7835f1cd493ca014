#!/usr/bin/env python3
"""How long power stays when the controller is gone: the real ballastd on a simulated site, killed, stopped, and with
its cycle's thread alone held or starved. Times are those at the device's wire, on the machine's monotonic clock.

    deadman.py PROGRAMS OUT [--kills N] [--case kill|stall|starve|stop]…
"""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HOLDER = os.path.join(HERE, "..", "..", "Tests", "Peers", "hold_thread.py")
REVERSION_S = 3
GRACE_MS = 100

SITE = f"""\
mode: simulation
site: {{id: deadman}}
control: {{period_ms: 20, output_grace_ms: {GRACE_MS}, enter_service_s: 0.5, ramp_kw_per_s: 1000, cpu: CPU}}
grid_integration: {{nominal_frequency_hz: 50, droop_settings: {{deadband_hz: [49.97, 50.03], droop_percent: 5}}}}
grid_meter: {{modbus: {{host: 127.0.0.1, port: 15260}}, poll_ms: 20}}
bess_units:
  - id: BESS_TCP
    campus_id: BENCH
    capacity_kwh: 2500
    max_power_kw: 100
    bms: {{transport: "cannelloni:127.0.0.1:20261", period_ms: 200}}
    modbus: {{host: 127.0.0.1, port: 15261}}
    reversion_s: {REVERSION_S}
    contactor_open_ms: 80
    contactors: {{drive: own, precharge_current_max_a: 10, discharged_v: 60, precharge_pause_ms: 500,
      feedback_debounce_ms: 1500}}
    io_module:
      modbus: {{host: 127.0.0.1, port: 15262}}
      poll_ms: 50
      watchdog_ms: 5000
      inputs: [{{number: 1, name: emergency_stop}}, {{number: 7, name: main_contactor}}]
      coils:
        - {{number: 1, drives: main_contactor}}
        - {{number: 2, drives: precharge_contactor}}
  - id: BESS_RTU
    campus_id: BENCH
    capacity_kwh: 2500
    max_power_kw: 100
    bms: {{transport: "slcan:./run/unit2-can", period_ms: 200}}
    modbus: {{device: ./run/unit2-rtu, baud: 115200, unit_id: 1}}
    reversion_s: {REVERSION_S}
paths: {{state_directory: ./run/state, control_socket: ./run/control.sock}}
"""


def now_ms():
    return time.monotonic() * 1000


def fail(text):
    sys.exit(f"deadman: {text}")


def wait_for(what, condition, limit=60):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    return fail(f"{what} did not come true in {limit} s; the logs lie in {os.getcwd()}")


def ask(line):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.connect("run/sim.sock")
        client.sendall(line.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            part = client.recv(65536)
            if not part:
                break
            answer += part
    return json.loads(answer)


def units():
    return ask("truth")["units"]


def as_the_unit():
    """The unit gives its real-time policy to ExecStopPost= too; without the right to it, it runs as it can."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except PermissionError:
        pass


class Site:
    def __init__(self, programs, cpu):
        self.programs = programs
        self.daemon = None
        shutil.rmtree("run", ignore_errors=True)
        os.mkdir("run")
        with open("site.yaml", "w", encoding="utf-8") as file:
            file.write(SITE.replace("CPU", "none" if cpu is None else str(cpu)))
        self.log = open("ballastd.log", "a", encoding="utf-8")
        self.plant = subprocess.Popen(
            [f"{programs}/ballast-sim", "plant", "--site", "site.yaml", "--control", "run/sim.sock"],
            stdout=open("sim.log", "w", encoding="utf-8"), stderr=subprocess.STDOUT)
        wait_for("the plant", lambda: "ready" in open("sim.log", encoding="utf-8").read())
        ask("frequency 49.5")

    def start(self):
        """In service, at power, with its plan on disk; as after a commissioning."""
        shutil.rmtree("run/state", ignore_errors=True)
        self.daemon = subprocess.Popen(
            [f"{self.programs}/ballastd", "--config", "site.yaml"], stdout=self.log, stderr=self.log)
        self.at_power()
        wait_for("the plan", lambda: open("run/state/wires", encoding="utf-8").read().count("registers ") == 2)

    def at_power(self):
        wait_for("power on every unit", lambda: all(
            unit["power_w"] > 10_000 and unit["zero_since_ms"] is None for unit in units()))

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()
        died = now_ms()
        self.daemon = None
        return died

    def end(self):
        for process in (self.daemon, self.plant):
            if process:
                process.kill()
                process.wait()


def kill_cases(site, count):
    """From death to zero at each device, with --safe-output started at once, as systemd does."""
    times = {"zero at the inverter, TCP": [], "zero at the inverter, RTU": [], "coils off, TCP": [],
             "safe output done": []}
    for _ in range(count):
        site.start()
        died = site.kill()
        done = subprocess.run(
            [f"{site.programs}/ballastd", "--safe-output", "--config", "site.yaml"], stdout=site.log, stderr=site.log,
            check=False, preexec_fn=as_the_unit)
        times["safe output done"].append(now_ms() - died)
        if done.returncode != 0:
            fail(f"--safe-output ended with {done.returncode}")
        tcp, rtu = units()
        if tcp["reversions"] + rtu["reversions"] > 0 and max(tcp["setpoint_w"], rtu["setpoint_w"]) > 0:
            fail("a device reverted before the safe output reached it")
        times["zero at the inverter, TCP"].append(tcp["zero_since_ms"] - died)
        times["zero at the inverter, RTU"].append(rtu["zero_since_ms"] - died)
        times["coils off, TCP"].append(tcp["coils_off_since_ms"] - died)
    return times


def zero_after(begun):
    found = wait_for("zero on every unit", lambda: (lambda all_: all(
        unit["zero_since_ms"] is not None for unit in all_) and all_)(units()), limit=10)
    return [unit["zero_since_ms"] - begun for unit in found]


def stall_cases(site, count):
    """The cycle's thread alone held by ptrace."""
    times = {"zero at the inverter, TCP": [], "zero at the inverter, RTU": []}
    site.start()
    holder = subprocess.Popen(
        [sys.executable, "-u", HOLDER, str(site.daemon.pid), "cycle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True)
    if not holder.stdout.readline().startswith("READY"):
        return "ptrace is not allowed here"
    for _ in range(count):
        holder.stdin.write("hold\n")
        holder.stdin.flush()
        answer = holder.stdout.readline()
        if not answer.startswith("held"):
            return "ptrace is not allowed here"
        tcp, rtu = zero_after(float(answer.split()[1]))
        times["zero at the inverter, TCP"].append(tcp)
        times["zero at the inverter, RTU"].append(rtu)
        holder.stdin.write("free\n")
        holder.stdin.flush()
        holder.stdout.readline()
        site.at_power()
    holder.stdin.close()
    holder.wait()
    site.kill()
    return times


def starve_cases(site, count, cpu):
    """A program of a higher priority spins on the cycle's processor."""
    times = {"zero at the inverter, TCP": [], "zero at the inverter, RTU": []}
    spinner = ("import os, sys, time\n"
               f"os.sched_setaffinity(0, {{{cpu}}})\n"
               "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))\n"
               "print(time.monotonic() * 1000, flush=True)\n"
               "end = time.monotonic() + 0.8\n"
               "while time.monotonic() < end: pass\n")
    site.start()
    for _ in range(count):
        process = subprocess.Popen(
            [sys.executable, "-c", spinner], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = process.stdout.readline()
        if not line:
            return "real-time scheduling is not allowed here"
        begun = float(line)
        process.wait()
        found = units()
        if any(unit["zero_since_ms"] is None or unit["zero_since_ms"] < begun for unit in found):
            # It may be at power again: the log of the daemon says whether it stood still at all.
            times.setdefault("not starved, or not seen", []).append(0.0)
            site.at_power()
            continue
        times["zero at the inverter, TCP"].append(found[0]["zero_since_ms"] - begun)
        times["zero at the inverter, RTU"].append(found[1]["zero_since_ms"] - begun)
        site.at_power()
    site.kill()
    return times


def stop_cases(site, count):
    """The whole process stopped: the device's own timer, and then its power."""
    times = {"power zero by reversion, TCP": [], "power zero by reversion, RTU": []}
    for _ in range(count):
        site.start()
        before = [unit["reversions"] for unit in units()]
        os.kill(site.daemon.pid, signal.SIGSTOP)
        begun = now_ms()
        seen = [None, None]

        def look():
            for index, unit in enumerate(units()):
                if seen[index] is None and unit["reversions"] > before[index] and unit["power_w"] == 0:
                    seen[index] = now_ms() - begun
            return all(seen)

        wait_for("reversion", look, limit=REVERSION_S + 30)
        times["power zero by reversion, TCP"].append(seen[0])
        times["power zero by reversion, RTU"].append(seen[1])
        site.kill()
    return times


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


TITLES = {
    "kill": "kill -9, then --safe-output at once and at the unit's priority: from death",
    "stall": f"the cycle's thread held by ptrace (grace {GRACE_MS} ms): from the hold",
    "starve": f"a spinner of priority 90 on the cycle's processor (grace {GRACE_MS} ms): from its start",
    "stop": f"SIGSTOP of the process (reversion {REVERSION_S} s): from the stop",
}


def table(results):
    lines = [f"{'ms':48} {'n':>5} {'p50':>9} {'p99':>9} {'max':>9}"]
    for case, times in results.items():
        lines.append(TITLES[case])
        if isinstance(times, str):
            lines.append(f"  not measured: {times}")
            continue
        for name, values in times.items():
            if values:
                lines.append(
                    f"  {name:46} {len(values):5} {quantile(values, 0.5):9.1f} {quantile(values, 0.99):9.1f}"
                    f" {max(values):9.1f}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs")
    parser.add_argument("out")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--case", action="append", choices=list(TITLES))
    options = parser.parse_args()
    programs = os.path.abspath(options.programs)
    os.makedirs(options.out, exist_ok=True)
    os.chdir(options.out)
    open("ballastd.log", "w", encoding="utf-8").close()
    cpu = max(os.sched_getaffinity(0))
    few = max(1, options.kills // 5)
    cases = {
        "kill": lambda site: kill_cases(site, options.kills),
        "stall": lambda site: stall_cases(site, few),
        "starve": lambda site: starve_cases(site, few, cpu),
        "stop": lambda site: stop_cases(site, max(1, few // 4)),
    }
    results = {}
    for case in options.case or list(TITLES):
        site = Site(programs, cpu if case == "starve" else None)
        try:
            results[case] = cases[case](site)
        finally:
            site.end()
    with open("deadman.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    print(table(results))


main()
