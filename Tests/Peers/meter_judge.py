"""A campus of three sites whose connection is metered at one of them; its leases hold for a minute. No page.

    meter_judge.py PROGRAM FOLDER

PROGRAM: ballast-aggregator; FOLDER: empty. The plants are here: each site gives what it was granted until that ends, one that is
killed nothing, and the meter sees all of them beside a load. Each check has a name and prints a line; the last line says how many.
"""
import sys
import threading
import time

from page_fixture import Aggregator, Site, SITE, now_ms

FLEET = """fleet:
  role: campus
  place: NORTH
  mode: simulation
  lease_s: 60
  meter: alpha
  places:
    - {id: IN, level: country}
    - {id: NORTH, level: campus, parent: IN}
    - {id: alpha, level: node, parent: NORTH, nameplate_kw: 70, capacity_kwh: 200}
    - {id: beta, level: node, parent: NORTH, nameplate_kw: 70, capacity_kwh: 200}
    - {id: gamma, level: node, parent: NORTH, nameplate_kw: 70, capacity_kwh: 200}
"""
ASKED, LOAD = 45_000, 30_000
SITE["meter_power_w"] = 5
passed, failed = [], []


def check(name, truth, detail=""):
    (passed if truth else failed).append(name)
    print(("pass  " if truth else "FAIL  ") + name + ("" if truth else f": {detail}"), flush=True)


class Plant(Site):
    all = []

    def __init__(self, aggregator, name):
        super().__init__(aggregator, name, units=2)
        self.held, self.isDead = (0, 0), False
        Plant.all.append(self)

    @property
    def power(self):
        watts, until = self.held
        return watts if not self.isDead and now_ms() < until else 0

    def look(self, t_ms):
        values, units = super().look(t_ms)
        own = self.power
        meter = total() - LOAD if self.name == "alpha" else own
        for unit in units:
            unit.update({"power_w": own // 2, "setpoint_w": own // 2, "soc_mpercent": 50_000})
        return {**values, "setpoint_w": own, "site_power_w": own, "meter_power_w": meter}, units

    def serve(self):
        while self.alive:
            status, answer = self.aggregator.ask("/v1/edge/commands", self.name)
            for command in answer.get("commands", []) if status == 200 and self.alive else []:
                lease = bytes.fromhex(command["lease"])
                until, watts = (int.from_bytes(lease[at:at + 8], "big", signed=True) for at in (32, 40))
                self.held = (watts, until) if lease[7] == 1 else (0, 0)
                self.aggregator.ask(f"/v1/edge/results?site={self.name}", self.name, {
                    "sequence": command["sequence"], "state": "granted", "answer": "granted until its end"})


def total():
    return sum(plant.power for plant in Plant.all)


def wait(condition, limit):
    begin = time.monotonic()
    while time.monotonic() - begin < limit:
        if condition():
            return time.monotonic() - begin
        time.sleep(0.05)
    return None


aggregator = Aggregator(sys.argv[1], sys.argv[2], ["alpha", "beta", "gamma"], FLEET)
alpha, beta, gamma = (Plant(aggregator, name) for name in ["alpha", "beta", "gamma"])
most = 0


def watch():
    global most
    while True:
        most = max(most, total())
        time.sleep(0.02)


for plant in Plant.all:
    plant.live()
threading.Thread(target=watch, daemon=True).start()
check("all report", wait(lambda: all(node.get("presence") == "reporting" for node in aggregator.ask("/v1/nodes", "eve")[1]["nodes"]
                                     if "presence" in node), 30) is not None)
status, answer = aggregator.ask("/v1/dispatches", "ann", {"dispatch": "D1", "place": "NORTH", "power_w": ASKED, "reason": "test", "for_s": 600})
check("a dispatch is taken", status == 201, answer)
check("it flows", wait(lambda: total() == ASKED, 20) is not None, total())
# Long enough for readings at which all are heard.
wait(lambda: False, 12)

print("== a site that nobody hears, and that gives on")
gamma.kill()
share = gamma.power
wait(lambda: False, 20)
check("it is not taken for missing", total() == ASKED and gamma.power == share and not any("gamma is missing" in said for said in aggregator.said),
      (total(), aggregator.said[-3:]))
gamma.live()
check("it is heard again", wait(lambda: {node["id"]: node for node in aggregator.ask("/v1/nodes", "eve")[1]["nodes"]}["gamma"]["presence"] == "reporting", 30))
wait(lambda: False, 12)

print("== a site that is killed")
share, most = beta.power, 0
beta.isDead = True
beta.kill()
check("its share is gone", share > 10_000 and total() == ASKED - share, (share, total()))
seconds = wait(lambda: total() == ASKED, 90)
check("the others give it long before its lease ends", seconds is not None and seconds < 25, seconds)
check("the campus says so", any("beta is missing at the meter" in said for said in aggregator.said), aggregator.said[-5:])
print(f"after {seconds:.1f} s" if seconds else "never")
beta.held, beta.isDead = (0, 0), False
beta.live()
check("it comes back", wait(lambda: beta.power > 10_000 and total() == ASKED, 40) is not None, total())
check("and nothing was doubled", most == ASKED, most)
aggregator.process.terminate()
check("it ends in order", aggregator.process.wait(30) == 0)
print(f"{len(passed)} checks pass, {len(failed)} fail", flush=True)
sys.exit(1 if failed else 0)
