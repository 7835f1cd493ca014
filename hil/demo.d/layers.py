"""Starts a fleet of real programs on this machine and judges it by the simulated plants; see hil/demo --layers.

    layers.py PROGRAMS FOLDER LAYERS SITES DISPATCHES [KILLS]

Layers 2: a campus over SITES sites. Layers 3: a region over two campuses, three from nine sites on, that share the sites. Each site is a ballastd, a
ballast-sim and a ballast-link of its own. The judge asks the plants what flows (`truth`), not the programs that are judged.
"""
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

SITE = """
mode: simulation
site: {{id: {id}}}
control: {{enter_service_s: 0.5, ramp_kw_per_s: 400, resume_after_restart: true}}
grid_meter: {{modbus: {{host: 127.0.0.1, port: {meter}}}}}
remote_leases: {{longest_s: 60, keys: [{{id: {above}, public_key: {key}}}]}}
paths: {{state_directory: {folder}/state, control_socket: {folder}/control, recording_max_mb: 0}}
bess_units:
  - id: {id}_BESS
    campus_id: {above}
    capacity_kwh: 250
    max_power_kw: 100
    bms: {{transport: "cannelloni:127.0.0.1:{can}", period_ms: 200}}
    modbus: {{host: 127.0.0.1, port: {inverter}}}
    poll_ms: 200
    reversion_s: 2
"""
LEVEL = """
listen: {{host: 127.0.0.1, port: {port}, local_port: {local}}}
database: {folder}/{id}.sqlite
sites: [{sites}]
principals: [{{name: judge, token_sha256: {token}, sites: all}}]
signing: {{key_file: {folder}/{id}.key, key_id: {id}}}
limits: {{requests_per_s: 2000}}
fleet:
  role: {role}
  place: {id}
  mode: simulation
  places:
    - {{id: IN, level: country}}
{places}
{upward}
"""
UPWARD = """
  upward:
    spool: {folder}/{id}-spool
    site: {id}
    aggregator: {{url: "http://127.0.0.1:{port}", token: {id}-token}}
    keys: [{{id: {above}, public_key: {key}}}]
"""
LINK = """
spool: {folder}/state/spool
site: {id}
aggregator: {{url: "http://127.0.0.1:{port}", token: {id}-token}}
control_socket: {folder}/control
"""


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Ports:
    used = set()

    @classmethod
    def next(cls):
        port = 24000
        while True:
            port += 1
            if port in cls.used:
                continue
            with socket.socket() as probe:
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError:
                    continue
            cls.used.add(port)
            return port


class Node:
    """A level or a site, and its processes."""

    def __init__(self, id, above=None):
        self.id, self.above, self.children, self.running = id, above, [], {}
        if above:
            above.children.append(self)
        self.port, self.local = Ports.next(), Ports.next()


class Fleet:
    def __init__(self, programs, folder, layers, sites):
        self.programs, self.folder, self.failures = programs, folder, 0
        self.top = Node("REGION") if layers == 3 else Node("CAMPUS_A")
        names = ["CAMPUS_A", "CAMPUS_B", "CAMPUS_C"][:3 if sites >= 9 else 2]
        self.campuses = [Node(name, self.top) for name in names] if layers == 3 else [self.top]
        self.sites = [Node(f"SITE_{n + 1}", self.campuses[n % len(self.campuses)]) for n in range(sites)]
        self.levels = [self.top] + (self.campuses if layers == 3 else [])

    # ------------------------------------------------------------- processes

    def start(self, node, name, arguments):
        log = open(f"{self.folder}/{node.id}-{name}.log", "ab")
        environment = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}
        node.running[name] = subprocess.Popen(
            [f"{self.programs}/{name}", *arguments], stdout=log, stderr=log, env=environment, cwd=self.folder)

    def kill(self, node, name):
        node.running.pop(name).send_signal(signal.SIGKILL)

    def end(self):
        ended = True
        order = ["ballast-link", "ballastd", "ballast-aggregator", "ballast-sim"]
        for name in order:
            for node in self.sites + self.levels:
                process = node.running.pop(name, None)
                if not process:
                    continue
                process.send_signal(signal.SIGTERM)
                try:
                    ended = process.wait(20) == 0 and ended
                except subprocess.TimeoutExpired:
                    process.kill()
                    ended = False
        return ended

    def key(self, node):
        made = subprocess.run(
            [f"{self.programs}/ballast-aggregator", "lease", "key", "--out", f"{self.folder}/{node.id}.key"],
            capture_output=True, text=True, check=True)
        node.key = re.search(r"public_key: ([0-9a-f]{64})", made.stdout).group(1)

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)
        return f"{self.folder}/{name}"

    def level(self, node):
        isTop, isRegion = node is self.top, node.id == "REGION"
        places = [f"    - {{id: {node.id}, level: {'state' if isRegion else 'campus'}, parent: IN}}"]
        for child in node.children:
            leaves = max(1, len(child.children))
            level = "campus" if isRegion else "node"
            places.append(
                f"    - {{id: {child.id}, level: {level}, parent: {node.id}, nameplate_kw: {100 * leaves}, "
                f"capacity_kwh: {250 * leaves}, redundancy_group: {node.id}}}")
        upward = "" if isTop else UPWARD.format(
            folder=self.folder, id=node.id, port=node.above.port, above=node.above.id, key=node.above.key)
        tokens = ", ".join(f"{{id: {c.id}, token_sha256: {digest(c.id + '-token')}}}" for c in node.children)
        path = self.write(f"{node.id}.yaml", LEVEL.format(
            port=node.port, local=node.local, folder=self.folder, id=node.id, sites=tokens, token=digest("judge"),
            role="region" if isRegion else "campus", places="\n".join(places), upward=upward))
        self.start(node, "ballast-aggregator", ["--config", path])

    def site(self, node):
        folder = f"{self.folder}/{node.id}"
        os.makedirs(folder, exist_ok=True)
        path = self.write(f"{node.id}/site.yaml", SITE.format(
            id=node.id, above=node.above.id, key=node.above.key, folder=folder, meter=Ports.next(),
            can=Ports.next(), inverter=Ports.next()))
        node.site, node.plant = path, f"{folder}/plant"
        self.start(node, "ballast-sim", ["plant", "--site", path, "--control", node.plant])
        self.wait(lambda: os.path.exists(node.plant), f"{node.id}'s plant")
        self.start(node, "ballastd", ["--config", path])
        link = self.write(f"{node.id}/link.yaml", LINK.format(folder=folder, id=node.id, port=node.above.port))
        self.start(node, "ballast-link", ["--config", link])

    def run(self):
        for node in self.levels:
            self.key(node)
        for node in self.levels:
            self.level(node)
        for node in self.sites:
            self.site(node)

    def resume(self, node):
        return subprocess.run(
            [f"{self.programs}/ballastctl", "resume", "--reason", "looked at", "--socket", f"{self.folder}/{node.id}/control"],
            capture_output=True).returncode == 0

    # ------------------------------------------------------------- looking

    def wait(self, condition, what, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if condition():
                    return True
            except (OSError, KeyError, ValueError):
                pass
            time.sleep(0.02)
        print(f"  waited {seconds} s in vain: {what}")
        return False

    def truth(self, node):
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(5)
            line.connect(node.plant)
            line.sendall(b"truth\n")
            data = b""
            while not data.endswith(b"\n"):
                piece = line.recv(65536)
                if not piece:
                    break
                data += piece
        return json.loads(data)["units"]

    def power(self, nodes=None):
        """W that flow in the plants."""
        return sum(unit["power_w"] for node in nodes or self.sites for unit in self.truth(node))

    def registers(self, nodes=None):
        """W that stand in the inverters' registers."""
        return sum(unit["setpoint_w"] for node in nodes or self.sites for unit in self.truth(node))

    def ask(self, node, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{node.port}{path}", data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer judge", "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def nodes(self, level):
        return {node["id"]: node for node in self.ask(level, "/v1/nodes")[1]["nodes"]}

    def dispatch(self, id, place, watts, priority="market", seconds=600):
        return self.ask(self.top, "/v1/dispatches", {
            "dispatch": id, "place": place, "power_w": watts, "for_s": seconds, "priority": priority,
            "reason": "demo"})

    def revoke(self, id):
        self.ask(self.top, f"/v1/dispatches/{id}/revoke", {"reason": "demo"})

    def check(self, fits, text):
        print(f"  {'pass' if fits else 'FAIL'}  {text}", flush=True)
        self.failures += 0 if fits else 1
        return fits

    def near(self, watts, nodes=None, share=0.01):
        return abs(self.power(nodes) - watts) <= max(200, abs(watts) * share)

    def sums(self):
        """Whether what every level grants is what it was granted itself, to the watt."""
        for _ in range(100):
            views = {level.id: self.nodes(level) for level in self.levels}
            equal = True
            for level in self.levels:
                own = views[level.id][level.id]["granted_w"]
                parts = [views[level.id][child.id]["granted_w"] for child in level.children]
                equal = equal and own is not None and own == sum(part or 0 for part in parts)
                if level is not self.top:
                    equal = equal and own == views[level.above.id][level.id]["granted_w"]
            if equal:
                return True
            time.sleep(0.1)
        return False


def play(fleet, dispatches, kills):
    top, sites = fleet.top, fleet.sites
    full = 20_001 * len(sites)
    if not fleet.check(
            fleet.wait(lambda: all(
                node["presence"] == "reporting" and node["discharge_w"] > 0
                for level in fleet.levels for node in fleet.nodes(level).values() if "presence" in node), "reports", 90),
            f"every child reports to its level: {len(sites)} sites, {len(fleet.levels)} levels"):
        return
    print("\n== a dispatch")
    fleet.dispatch("D-1", top.id, full)
    fleet.check(fleet.wait(lambda: fleet.near(full), "power"), f"{full} W flow in the plants: {fleet.power():.0f} W")
    fleet.check(fleet.sums(), "what each level grants is what it was granted, to the watt")
    fleet.check(
        fleet.wait(lambda: fleet.ask(top, "/v1/dispatches/D-1")[1]["state"] == "active", "active"),
        "pending → delivered → accepted → active: "
        + ", ".join(e["what"] for e in fleet.ask(top, "/v1/dispatches/D-1")[1]["events"]))
    fleet.wait(
        lambda: all(
            f'"{site.id}_BESS", "setpoint_w": 2' in json.dumps(fleet.ask(top, "/v1/dispatches/D-1/trace")[1])
            for site in sites), "trace", 20)
    text = json.dumps(fleet.ask(top, "/v1/dispatches/D-1/trace")[1], indent=1)
    with open(f"{fleet.folder}/trace.json", "w") as file:
        file.write(text)
    fleet.check(
        all(f"{site.id}_BESS" in text for site in sites), f"its trace of {len(text)} bytes leads to every register: trace.json")
    print("\n== an emergency at one site")
    one = sites[0]
    if len(fleet.levels) == 1:
        most = full * 3 // 4
        fleet.dispatch("E-1", one.id, most, "emergency", 600)
        fleet.check(
            fleet.wait(lambda: fleet.near(most, [one]) and fleet.near(full), "emergency"),
            f"{one.id} gives {fleet.power([one]):.0f} W, all together still {fleet.power():.0f} W")
        fleet.revoke("E-1")
    else:
        campus = fleet.campuses[0]
        most = full * 3 // 4
        fleet.dispatch("E-1", campus.id, most, "emergency", 600)
        own = [site for site in sites if site.above is campus]
        fleet.check(
            fleet.wait(lambda: fleet.near(most, own) and fleet.near(full), "emergency"),
            f"{campus.id} gives {fleet.power(own):.0f} W, all together still {fleet.power():.0f} W")
        fleet.revoke("E-1")
    fleet.wait(lambda: fleet.near(full), "the dispatch again")
    time.sleep(3)
    print("\n== a site's controller is killed under load")
    rounds = [kill(fleet, sites[-1 - number % len(sites)], full, number) for number in range(kills)]
    offs, backs, mosts = ([one[part] for one in rounds if one[part] is not None] for part in range(3))
    fleet.check(
        len(backs) == kills and len(sites) > 1 and share(backs, 99) < 5,
        f"its power ends after {max(offs):.1f} s; all together are back at {full} W {max(backs):.1f} s after the kill"
        + (f" ({kills} times: p50 {share(backs, 50):.1f} s, p99 {share(backs, 99):.1f} s)" if kills > 1 else ""))
    fleet.check(
        len(mosts) == kills and max(mosts) <= full * 1.03 + 500, f"it comes back; never more than {max(mosts):.0f} W flowed")
    if dispatches:
        latency(fleet, dispatches)
    print("\n== the top dies")
    fleet.dispatch("D-2", top.id, full)
    fleet.wait(lambda: fleet.near(full), "power")
    begin = time.monotonic()
    fleet.kill(top, "ballast-aggregator")
    gone = fleet.wait(lambda: fleet.power() == 0, "every lease lapses", 30)
    fleet.check(gone, f"every lease lapses: nothing flows {time.monotonic() - begin:.1f} s after it")
    fleet.level(top)
    fleet.check(
        fleet.wait(lambda: fleet.near(full), "the dispatch goes on", 60), "it is started again, and the dispatch goes on")
    metrics = urllib.request.urlopen(f"http://127.0.0.1:{top.local}/metrics", timeout=10).read().decode()
    found = re.findall(r"^(ballast_fleet_\w+) (\S+)$", metrics, re.M)
    fleet.check(len(found) > 8, f"{len(found)} figures of the fleet: granted {dict(found).get('ballast_fleet_granted_watts')} W")


def share(times, percent):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def kill(fleet, victim, full, number):
    """Kills a site's controller and has it back: seconds until its power ends, until all together are back, and the most that
    flows while it comes back; None = that did not happen."""
    # At another instant of the leases' two seconds each time.
    time.sleep(0.37 * (number % 7))
    begin = time.monotonic()
    fleet.kill(victim, "ballastd")
    fleet.wait(lambda: fleet.power([victim]) == 0, "its power ends")
    off = time.monotonic() - begin
    back = time.monotonic() - begin if fleet.wait(lambda: fleet.near(full), "power is back", 30) else None
    fleet.start(victim, "ballastd", ["--config", victim.site])
    # Nobody trusts a controller that was killed before a person has looked.
    fleet.wait(lambda: fleet.resume(victim), "a person lets it into service again")
    most, end = 0.0, time.monotonic() + 60
    while time.monotonic() < end:
        most = max(most, fleet.power())
        if fleet.power([victim]) > 1_000 and fleet.near(full):
            return off, back, most
        time.sleep(0.05)
    return off, back, None


def latency(fleet, count):
    """From the answered POST at the top to the registers of all inverters."""
    print(f"\n== {count} dispatches, from the request at {fleet.top.id} to the registers")
    fleet.revoke("D-1")
    fleet.wait(lambda: fleet.registers() == 0, "rest")
    times, whole = [], 0
    for number in range(count):
        watts = (10_000 + 500 * (number % 20)) * len(fleet.sites) * (1 if number % 2 else -1)
        id = f"L-{number}"
        begin = time.monotonic()
        fleet.dispatch(id, fleet.top.id, watts, seconds=60)
        if fleet.wait(lambda: abs(fleet.registers() - watts) <= 200, f"{id}: {watts} W in the registers", 15):
            times.append(time.monotonic() - begin)
        fleet.wait(lambda: fleet.ask(fleet.top, f"/v1/dispatches/{id}")[1]["state"] in ("active", "done"), id, 15)
        # Every level has answered, and tells the one above of every site that has.
        def isWhole():
            trace = json.dumps(fleet.ask(fleet.top, f"/v1/dispatches/{id}/trace")[1])
            return all(f'"{site.id}' in trace for site in fleet.sites) and '"active' in trace
        whole += fleet.wait(isWhole, f"the trace of {id}", 10)
        # The next one takes its place: of the same rank, the later holds. A site looks at one lease a second.
        time.sleep(1.2)
    text = "".join(f" p{percent} {share(times, percent):.2f} s" for percent in (50, 99))
    fleet.check(
        len(times) == count and share(times, 99) < 2, f"{len(times)} of {count} arrived:{text}, at most {max(times):.2f} s")
    fleet.check(whole == count, f"{whole} of {count} traces name every site")
    fleet.revoke(f"L-{count - 1}")


def main():
    programs, folder, layers, sites, dispatches = sys.argv[1:6]
    kills = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    fleet = Fleet(programs, os.path.abspath(folder), int(layers), int(sites))
    print(f"== layer {layers}: " + " → ".join(
        [fleet.top.id] + ([f"{len(fleet.campuses)} campuses"] if layers == "3" else []) + [f"{sites} sites"]))
    try:
        fleet.run()
        play(fleet, int(dispatches), kills)
    finally:
        ended = fleet.end()
    fleet.check(ended, "every process ended in order")
    print(f"\n{'all as it should be' if not fleet.failures else f'{fleet.failures} checks failed'}; logs in {folder}")
    sys.exit(1 if fleet.failures else 0)


if __name__ == "__main__":
    main()
