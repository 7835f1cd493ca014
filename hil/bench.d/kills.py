"""Kills a recording ballastd at random instants, and judges what of its cycles is left by the wall clock.

    kills.py PROGRAMS FOLDER KILLS SEED

Each time: every recording must be read to its last whole record, replay identically, and reach to within a second
of the kill. Exit status 1 where one does not.
"""
import datetime
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

SITE = """
mode: simulation
site: {id: kills}
control: {enter_service_s: 1, ramp_kw_per_s: 200}
grid_meter: {modbus: {host: 127.0.0.1, port: 15890}, poll_ms: 20}
bess_units:
  - id: BESS_01
    campus_id: CAMPUS
    capacity_kwh: 250
    max_power_kw: 100
    bms: {transport: "cannelloni:127.0.0.1:20891", period_ms: 200}
    modbus: {host: 127.0.0.1, port: 15891}
paths: {state_directory: ./run/state, control_socket: ./run/control.sock, recording_max_mb: 8}
"""


def newest(folder):
    names = sorted(name for name in os.listdir(folder) if name.endswith(".cycles")) if os.path.isdir(folder) else []
    return f"{folder}/{names[-1]}" if names else None


def look(programs, file):
    """What replay says, and when the last recorded cycle was, since 1970, s."""
    said = subprocess.run([f"{programs}/ballastctl", "replay", file], capture_output=True, text=True, check=False).stdout
    subprocess.run([f"{programs}/ballastctl", "replay", file, "--json", "last.json"], capture_output=True, check=False)
    with open("last.json", encoding="utf-8") as text:
        found = json.load(text)
    begin = datetime.datetime.strptime(found["begin"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    return said.strip(), begin.timestamp() + found["length_s"]


def main(programs, folder, kills, seed):
    os.makedirs(f"{folder}/run", exist_ok=True)
    os.chdir(folder)
    with open("site.yaml", "w", encoding="utf-8") as site:
        site.write(SITE)
    dice = random.Random(seed)
    log = open("plant.log", "wb")
    plant = subprocess.Popen([f"{programs}/ballast-sim", "plant", "--site", "site.yaml"], stdout=log, stderr=log)
    lost, failed = [], 0
    try:
        for kill in range(1, kills + 1):
            before = newest("run/state/cycles")
            with open("ballastd.log", "wb") as log:
                daemon = subprocess.Popen([f"{programs}/ballastd", "--config", "site.yaml"], stdout=log, stderr=log)
            limit = time.monotonic() + 30
            while newest("run/state/cycles") == before and time.monotonic() < limit and daemon.poll() is None:
                time.sleep(0.02)
            time.sleep(dice.uniform(0, 3))
            daemon.send_signal(signal.SIGKILL)
            killed = time.time()
            daemon.wait()
            file = newest("run/state/cycles")
            said, last = look(programs, file)
            cycles = re.search(r"identical, (\d+) cycles", said)
            # Of a recording of less than a second the wall clock's second is all that is known of its begin: the
            # disk says when it was written last.
            is_short = not cycles or int(cycles.group(1)) < 55
            lost.append(killed - (os.stat(file).st_mtime if is_short else last))
            if not cycles or "fault" in said or lost[-1] > 1:
                failed += 1
                print(f"kill {kill}: {said}; the last cycle {lost[-1]:.3f} s before the kill")
            if kill % 20 == 0:
                print(f"{kill} of {kills}: at most {max(lost):.3f} s lost so far, {failed} failed", flush=True)
    finally:
        plant.terminate()
        plant.wait()
    print(f"{kills} kills, seed {seed}: {failed} failed; lost {sorted(lost)[len(lost) // 2]:.3f} s median, {max(lost):.3f} s at most")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
