"""Kills the three programs of the uplink at random moments and judges what is left; see hil/uplink-kills.

    uplink_kills.py PROGRAMS FOLDER KILLS SEED

The judge reads the database by sqlite3 and the spool's marks by their layout. It believes none of the programs but the two
commands that verify the chains, which are what is judged then.
"""
import errno
import json
import mmap
import os
import random
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

SITE = """
mode: simulation
site: {{id: demo}}
control: {{enter_service_s: 1, ramp_kw_per_s: 200, resume_after_restart: true}}
grid_meter: {{modbus: {{host: 127.0.0.1, port: 15880}}, poll_ms: 20}}
bess_units:
  - id: BESS_01
    campus_id: CAMPUS
    capacity_kwh: 250
    max_power_kw: 100
    bms: {{transport: "cannelloni:127.0.0.1:20881", period_ms: 200}}
    modbus: {{host: 127.0.0.1, port: 15881}}
remote_leases: {{longest_s: 60, keys: [{{id: aggregator-1, public_key: {key}}}]}}
paths: {{state_directory: ./run/state, control_socket: ./run/control.sock, recording_max_mb: 0}}
"""
AGGREGATOR = """
listen: {{host: 127.0.0.1, port: 15882}}
database: ./run/state/aggregator.sqlite
tls: {{certificate: tls/127.0.0.1.pem, key: tls/127.0.0.1.key, client_ca: tls/ca.pem, revoked: tls/revoked}}
sites: [{{id: demo, token_sha256: 7c43ef5ae21d43ce2743f770c68e24def1a43ee2f416d2438410c8af7af2ff2c}}]
principals: [{{name: judge, token_sha256: {token}, sites: all, roles: [read, dispatch]}}]
signing: {{key_file: lease.key, key_id: aggregator-1}}
limits: {{requests_per_s: 2000}}
"""
LINK = """
spool: ./run/state/spool
site: demo
aggregator: {url: "https://127.0.0.1:15882", token: demo-token, ca_file: tls/ca.pem, certificate: tls/demo.pem, key: tls/demo.key}
control_socket: ./run/control.sock
"""
NAMES = ["ballastd", "ballast-link", "ballast-aggregator"]


class Disk:
    """The switch of disk_shim.c: 0 well, else an errno, with 1 << 32 after half of what was to be written, with
    1 << 33 only where a file would grow."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(8))
        self.path, self.file = path, open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), 8)
        self.sick = False

    def set(self, value):
        self.memory[:] = struct.pack("<q", value)
        self.sick = value != 0


class Rig:
    def __init__(self, programs, shim):
        self.programs, self.shim = programs, shim
        self.disks = {name: Disk(f"{name}.disk") for name in NAMES}
        self.running, self.logs = {}, {}
        # Daemon's starts and ends: (begin, end).
        self.lives = []

    def start(self, name):
        arguments = {
            "ballastd": ["--config", "site.yaml"], "ballast-link": ["--config", "link.yaml"],
            "ballast-aggregator": ["--config", "aggregator.yaml"],
        }[name]
        log = self.logs.setdefault(name, open(f"{name}.log", "ab"))
        setting = dict(os.environ, LD_PRELOAD=self.shim, DISK_SHIM=os.path.realpath(self.disks[name].path),
                       SWIFT_BACKTRACE="enable=no")
        self.running[name] = subprocess.Popen([f"{self.programs}/{name}", *arguments], stdout=log, stderr=log, env=setting)
        if name == "ballastd":
            self.lives.append([time.monotonic(), None])

    def keep_running(self):
        for name in NAMES:
            if self.running[name].poll() is not None and not self.disks[name].sick:
                if name == "ballastd":
                    self.lives[-1][1] = time.monotonic()
                self.start(name)

    def kill(self, name):
        if self.running[name].poll() is None:
            self.running[name].send_signal(signal.SIGKILL)
            self.running[name].wait()
        if name == "ballastd" and self.lives[-1][1] is None:
            self.lives[-1][1] = time.monotonic()

    def end(self):
        for name in NAMES:
            if self.running[name].poll() is None:
                self.running[name].send_signal(signal.SIGTERM)
        for name in NAMES:
            self.running[name].wait(30)


def ask(request, limit=2):
    """One question over the control socket; None where nobody answers."""
    try:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(limit)
            peer.connect("run/control.sock")
            peer.sendall(json.dumps(request).encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                piece = peer.recv(65536)
                if not piece:
                    return None
                answer += piece
            return json.loads(answer)
    except (OSError, ValueError):
        return None


class People(threading.Thread):
    """Asks for a reset again and again, each time with another reason, and remembers what was answered when."""

    def __init__(self):
        super().__init__(daemon=True)
        self.answered, self.over, self.count = {}, False, 0

    def run(self):
        while not self.over:
            self.count += 1
            reason = f"k-{self.count:06d}"
            if ask({"command": "reset", "unit": "BESS_01", "reason": reason}) is not None:
                self.answered[reason] = time.monotonic()
            time.sleep(0.02)


class Dispatcher(threading.Thread):
    """Asks the site for a power over the aggregator, each time for three seconds."""

    def __init__(self, token):
        super().__init__(daemon=True)
        self.token, self.over, self.asked = token, False, {}
        self.context = ssl.create_default_context(cafile="tls/ca.pem")

    def post(self, path, body):
        request = urllib.request.Request(f"https://127.0.0.1:15882{path}", json.dumps(body).encode() if body else None,
                                         {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=5, context=self.context) as answer:
            return json.loads(answer.read())

    def run(self):
        count = 0
        while not self.over:
            count += 1
            try:
                self.post("/v1/sites/demo/leases",
                          {"power_w": 1000 + count, "for_s": 3, "dispatch": f"d-{count:06d}", "reason": "kills"})
                self.asked[f"d-{count:06d}"] = time.time()
            except (OSError, ValueError):
                pass
            time.sleep(0.3)


def marks():
    """What the link has kept as acknowledged, by epoch: the layout of SpoolMarks, without its checksums' help."""
    found = {}
    try:
        with open("run/state/spool/delivered", "rb") as file:
            content = file.read()
    except OSError:
        return found
    for place in (0, 4096):
        slot = content[place:place + 36]
        if len(slot) == 36:
            sequence, epoch, number, _ = struct.unpack("<Q16sQI", slot)
            if sequence:
                found[epoch.hex()] = max(found.get(epoch.hex(), 0), number)
    return found


def stored():
    """How far the aggregator has each stream, by the database itself."""
    with sqlite3.connect("file:run/state/aggregator.sqlite?mode=ro", uri=True, timeout=20) as base:
        return dict(base.execute("SELECT epoch, stored_through FROM stream WHERE site = 'demo'"))


def judge(people, rig, faults):
    """- Returns: what is wrong, and what was counted."""
    wrong, counts = [], {}
    base = sqlite3.connect("file:run/state/aggregator.sqlite?mode=ro", uri=True, timeout=20)
    reasons, granted = {}, {}
    until = dict(base.execute("SELECT dispatch, until FROM lease"))
    streams = list(base.execute("SELECT epoch, stored_through FROM stream WHERE site = 'demo' ORDER BY first_seen"))
    total, gaps = 0, 0
    for epoch, through in streams:
        numbers = [n for n, in base.execute("SELECT n FROM record WHERE epoch = ? ORDER BY n", (epoch,))]
        covered = set(numbers)
        if len(covered) != len(numbers):
            wrong.append(f"{epoch}: a number is there twice")
        for first, last in base.execute("SELECT from_n, to_n FROM gap WHERE epoch = ?", (epoch,)):
            gaps += last - first + 1
            covered |= set(range(first, last + 1))
        missing = [n for n in range(1, through + 1) if n not in covered]
        if missing:
            wrong.append(f"{epoch}: {len(missing)} numbers are neither there nor a gap, the first {missing[0]}")
        total += len(numbers)
        # A request has several events, each with its reason: it was asked for, and what became of it.
        last, seen = {}, set()
        for n, text in base.execute("SELECT n, data FROM record WHERE epoch = ? AND kind = 'event' ORDER BY n", (epoch,)):
            data = json.loads(text)
            if data.get("event") == "remote_lease":
                granted[data["value"]] = granted.get(data["value"], 0) + 1
                if data["t_ms"] > until.get(data["value"], 0):
                    wrong.append(f"I8: {data['value']} was granted at {data['t_ms']}, and ended at {until.get(data['value'])}")
            reason = data.get("reason", "")
            if not reason.startswith("k-"):
                continue
            kind = data["event"]
            if (kind, reason) in seen:
                wrong.append(f"{epoch}: {kind} of {reason} is there twice")
            if reason < last.get(kind, ""):
                wrong.append(f"{epoch}: {kind} of {reason} (record {n}) stands behind {last[kind]}")
            seen.add((kind, reason))
            last[kind] = max(last.get(kind, ""), reason)
            reasons[reason] = n
    # A record is on the disk a second after it was written, where the disk is well.
    for reason, at in people.answered.items():
        life = next((life for life in rig.lives if life[0] <= at and (life[1] is None or at < life[1])), None)
        was_well = not any(begin - 3 <= at <= end + 3 for begin, end in faults)
        if life and was_well and (life[1] is None or life[1] - at > 2.5) and reason not in reasons:
            wrong.append(f"{reason} was answered, more than two seconds before any kill, and is nowhere")
    unread = base.execute("SELECT count(*) FROM record WHERE kind = 'unreadable'").fetchone()[0]
    if unread:
        wrong.append(f"{unread} records came as no JSON object")
    twice = [name for name, count in granted.items() if count > 1]
    if len(streams) == 1 and twice:
        wrong.append(f"I8: granted twice: {twice[:3]}")
    if base.execute("SELECT count(*) FROM differing").fetchone()[0]:
        wrong.append("records came again with another content")
    counts.update(streams=len(streams), records=total, gaps=gaps, reasons=len(reasons), granted=len(granted))
    return wrong, counts


def run(command):
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    return said.returncode, (said.stdout + said.stderr).strip()


def prepare(programs):
    tool = f"{programs}/ballast-aggregator"
    for arguments in (["authority", "--out", "tls"], ["server", "--authority", "tls", "--name", "127.0.0.1", "--out", "tls"],
                      ["device", "--authority", "tls", "--site", "demo", "--out", "tls"]):
        subprocess.run([tool, "certificate", *arguments], check=True, stdout=subprocess.DEVNULL)
    open("tls/revoked", "w").close()
    said = subprocess.run([tool, "lease", "key", "--out", "lease.key"], check=True, capture_output=True, text=True).stdout
    key = said.split("public_key: ")[1].split("}")[0]
    import hashlib
    token = "judge-token"
    os.makedirs("run/state", exist_ok=True)
    for name, text in (("site.yaml", SITE.format(key=key)), ("link.yaml", LINK),
                       ("aggregator.yaml", AGGREGATOR.format(token=hashlib.sha256(token.encode()).hexdigest()))):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    return token


def wait(condition, limit):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def main(programs, folder, kills, seed):
    os.chdir(folder)
    token = prepare(programs)
    dice = random.Random(seed)
    plant = subprocess.Popen([f"{programs}/ballast-sim", "plant", "--site", "site.yaml"],
                             stdout=open("plant.log", "wb"), stderr=subprocess.STDOUT)
    rig = Rig(programs, os.path.realpath("disk.so"))
    for name in reversed(NAMES):
        rig.start(name)
    wait(lambda: ask({"command": "status"}) is not None, 20)
    people, dispatcher = People(), Dispatcher(token)
    people.start()
    dispatcher.start()
    wrong, faults, done, begun = [], [], 0, time.monotonic()
    count = dict.fromkeys(NAMES, 0)
    try:
        while done < kills:
            time.sleep(dice.uniform(0.02, 0.6))
            name = dice.choice(NAMES)
            if dice.random() < 0.15:
                disk, start = rig.disks[dice.choice(NAMES)], time.monotonic()
                disk.set(dice.choice([errno.ENOSPC, errno.EIO, errno.ENOSPC | 1 << 32, errno.EIO | 1 << 32,
                                      errno.ENOSPC | 1 << 33, errno.ENOSPC | 3 << 32]))
                time.sleep(dice.uniform(0.05, 1.0))
                if dice.random() < 0.5:
                    rig.kill(name)
                disk.set(0)
                faults.append((start, time.monotonic()))
            acknowledged = marks()
            rig.kill(name)
            done += 1
            count[name] += 1
            if name == "ballast-aggregator":
                held = stored()
                for epoch, number in acknowledged.items():
                    if number > held.get(epoch, 0):
                        wrong.append(f"kill {done}: {number} of {epoch} was acknowledged, {held.get(epoch, 0)} is stored")
            rig.keep_running()
            if done % 100 == 0:
                print(f"{done} of {kills}: {len(people.answered)} answered, {len(wrong)} wrong", flush=True)
        rig.keep_running()
        people.over = dispatcher.over = True
        last = f"last-{seed}"
        wait(lambda: ask({"command": "status"}) is not None, 20)
        wait(lambda: ask({"command": "reset", "unit": "BESS_01", "reason": last}) is not None, 10)

        def is_there():
            rig.keep_running()
            with sqlite3.connect("file:run/state/aggregator.sqlite?mode=ro", uri=True, timeout=20) as base:
                return base.execute("SELECT count(*) FROM record WHERE data LIKE ?", (f"%{last}%",)).fetchone()[0] > 0

        if not wait(is_there, 60):
            wrong.append("what was asked last has not come up within a minute")
        rig.end()
    finally:
        for process in [plant, *rig.running.values()]:
            if process.poll() is None:
                process.kill()
    more, counts = judge(people, rig, faults)
    wrong += more
    chain, said = run([f"{programs}/ballast-aggregator", "verify", "--config", "aggregator.yaml", "--replay"])
    if chain:
        wrong.append(f"I9: {said}")
    audit, told = run([f"{programs}/ballastctl", "audit", "verify", "--state", "run/state"])
    if audit:
        wrong.append(f"I9: {told}")
    print(f"{kills} kills ({', '.join(f'{name} {number}' for name, number in count.items())}), {len(faults)} sick disks, "
          f"seed {seed}, {time.monotonic() - begun:.0f} s")
    print(f"asked {people.count}, answered {len(people.answered)}, at the aggregator {counts['reasons']}; leases asked "
          f"{len(dispatcher.asked)}, granted {counts['granted']}")
    print(f"{counts['records']} records in {counts['streams']} streams, {counts['gaps']} numbers declared as gaps")
    print(f"aggregator: {said}")
    print(f"audit: {told}")
    for line in wrong[:40]:
        print(f"WRONG {line}")
    print(f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
