"""A region above a campus of two sites: it has the months of both as the campus has them. No page.

    months_judge.py PROGRAM FOLDER

PROGRAM: ballast-aggregator; FOLDER: empty. What the region says is held against what the campus says of the same records, and its
sum against one that is worked out here. Each check has a name and prints a line; the last line says how many.
"""
import pathlib
import sys
import time

from page_fixture import Aggregator, Site, frequency_event, now_ms

REGION = """fleet:
  role: region
  place: WEST
  mode: simulation
  places:
    - {id: IN, level: country}
    - {id: WEST, level: state, parent: IN}
    - {id: NORTH, level: campus, parent: WEST, nameplate_kw: 105, capacity_kwh: 300}
"""
CAMPUS = """fleet:
  role: campus
  place: NORTH
  mode: simulation
  places:
    - {id: IN, level: country}
    - {id: NORTH, level: campus, parent: IN}
    - {id: alpha, level: node, parent: NORTH, nameplate_kw: 70, capacity_kwh: 200}
    - {id: beta, level: node, parent: NORTH, nameplate_kw: 35, capacity_kwh: 100}
  upward:
    spool: %s/up
    site: NORTH
    aggregator: {url: "%s", token: NORTH}
    keys: [{id: region, public_key: "0000000000000000000000000000000000000000000000000000000000000000"}]
grid_code: code.yaml
"""
CODE = """regulation: a code of the test
source: the test
mark: illustrative
nominal_hz: 50
rules:
  - {effective_from: 2020-01-01, deadband_mhz: 30, droop_min_percent: 3, droop_max_percent: 6, full_response_s: 30, hold_s: 600}
"""
passed, failed = [], []


def check(name, truth, detail=""):
    (passed if truth else failed).append(name)
    print(("pass  " if truth else "FAIL  ") + name + ("" if truth else f": {detail}"), flush=True)


def folder(name):
    path = pathlib.Path(sys.argv[2]) / name
    path.mkdir()
    return path


def ends(aggregator):
    aggregator.process.terminate()
    return aggregator.process.wait(30) == 0


def lines(aggregator, place):
    status, answer = aggregator.ask(f"/v1/nodes/{place}/compliance?from={begin}", "eve")
    return {(period["period"], line["site"]): line for period in answer.get("periods", []) for line in period["lines"]}


region = Aggregator(sys.argv[1], folder("region"), ["NORTH"], REGION)
home = folder("campus")
(home / "code.yaml").write_text(CODE)
campus = Aggregator(sys.argv[1], home, ["alpha", "beta"], CAMPUS % (home, region.url))
alpha, beta = Site(campus, "alpha"), Site(campus, "beta", units=1, place=1)
begin = (now_ms() // 900_000 - 8) * 900_000
late = frequency_event(begin, 10, 9)
# Held for the five minutes that its own score looks at, and not for the ten that the code asks.
late["event"].update({"accuracy": 0.8, "delay": 0.5, "sustained": 0.9, "held_300_s": 1, "held_600_s": 0.75})
good = frequency_event(begin, 10, 9)
good["event"].update({"accuracy": 1, "delay": 1, "sustained": 1})
# A quarter of an hour in which alpha gave nothing at 49.7 Hz for two minutes.
flat = {**alpha.frequency_time(begin // 1000), "deviations": [[-300, 120.0, -0.3, 0.0]]}
signal = {"v": 1, "kind": "signal_time", "t_ms": begin, "mode": "production", "source": "agc", "from_ms": begin,
          "asked_s": 900, "measured_s": 800, "correlation": 0.9, "delay_s": 30, "precision": None}
alpha.tell(late, flat, signal)
beta.tell(good, beta.frequency_time(begin // 1000), {**signal, "correlation": 0.5, "measured_s": 100, "precision": 0.25})
# A spool that was set back tells it all again.
alpha.tell(late, flat, signal)
# It tells at its start, and each hour.
check("the campus ends in order", ends(campus))
campus.said.clear()
campus.start()
own = lines(campus, "NORTH")
month = time.strftime("%Y-%m", time.gmtime(begin / 1000))
check("alpha's flat quarter is found by the code", {"rule": "deadband", "event_ms": begin, "share": 0.0, "deviation_hz": -0.3,
      "given_share": 0.0, "seconds": 120} in own[month, "alpha"]["violations"], own[month, "alpha"])
check("what was told twice counts once", own[month, "alpha"]["agc"]["asked_s"] == 900 and own[month, "alpha"]["events"] == 1,
      own[month, "alpha"])
check("so is what was not held for the code's ten minutes", {"rule": "held", "event_ms": begin, "share": 0.75} in
      own[month, "alpha"]["violations"], own[month, "alpha"])
told, end = {}, time.monotonic() + 60
while time.monotonic() < end and not all((period, site) in told for period, site in own if site):
    time.sleep(0.2)
    told = lines(region, "WEST")
for key in sorted((key for key in own if key[1]), key=str):
    # The campus simulates: so is all that it tells.
    want = {**own[key], "behind": "NORTH", "simulated": True}
    check(f"{key[0]} of {key[1]} is what the campus says", told.get(key) == want, (told.get(key), want))
whole, same = told.get((month, None), {}), own[month, None]
check("the sum of both is the campus's", {**whole, "violations": 0} == {**same, "violations": 0, "simulated": True}, (whole, same))
# 100 (0.4 accuracy + 0.25 delay + 0.2 sustained + 0.15 in service), by nameplates.
score = lambda a, d, s: 100 * (0.4 * a + 0.25 * d + 0.2 * s + 0.15 * 0.9)
want = (70 * score(0.8, 0.5, 0.9) + 35 * score(1, 1, 1)) / 105
check("and is by nameplates", whole.get("score") is not None and abs(whole["score"] - want) < 2e-3, (whole, want))
check("two sites of one campus", whole.get("sites") == 2 and whole.get("sites_scored") == 2, whole)
check("who may not read the campus reads none of it", region.ask("/v1/nodes/WEST/compliance", None)[0] == 401)
# What a level says that cannot be read says nothing, and takes nothing away.
liar = Site(region, "NORTH")
liar.tell({"v": 1, "kind": "months", "mono_ms": 1, "t_ms": now_ms(), "mode": "production", "period": month, "site": "gamma", "weight": -1,
           "sites_scored": 1, "events": 1, "violation_count": 0, "parts": [1, 1, 1, 1, 1], "signals": [[0] * 9] * 2, "violations": []})
after = lines(region, "WEST")
check("a line that lies counts nowhere", (month, "gamma") not in after and after[month, None] == whole, after)
honest = {"v": 1, "kind": "months", "mono_ms": 1, "t_ms": now_ms(), "mode": "production", "simulated": False, "period": month, "site": "gamma",
          "weight": 10, "sites_scored": 1, "events": 1, "violation_count": 0, "parts": [100, 1, 1, 1, 1], "signals": [[0] * 9] * 2, "violations": []}
for number, (name, odd) in enumerate([("parts beyond their range", {"parts": [7, -3, 1, 1, 1]}), ("a score beyond it", {"parts": [101, 1, 1, 1, 1]}),
                                      ("a name that is a formula", {"site": "=HYPERLINK(1)"}), ("a name that is none", {"site": ""}),
                                      ("a place of its own that is another's here", {"site": "NORTH"})]):
    liar.tell({**honest, **odd, "t_ms": now_ms() + number})
    after = lines(region, "WEST")
    check(f"{name}: counts nowhere", after[month, None] == whole, after)
liar.tell({**honest, "weight": 10**12, "t_ms": now_ms() + 10})
after = lines(region, "WEST")
check("who tells of more than its nameplate weighs no more than that", after[month, "gamma"]["simulated"] is False and
      after[month, None]["sites"] == 3, after)
check("both end in order", ends(campus) and ends(region))
print(f"{len(passed)} checks pass, {len(failed)} fail", flush=True)
sys.exit(1 if failed else 0)
