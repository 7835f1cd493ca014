"""Reads the raw figures that hil/bench left in a folder, writes results.json there and prints the tables.

With --all-run it reads a status from standard input instead; exit status 0 if every unit is in service.
"""
import glob
import json
import math
import os
import re
import statistics
import sys

QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
# The simulated plant: its physics steps each 5 ms, and a register is at most 2 ms old.
PLANT_MS = 7


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file) if name.endswith(".json") else file.read().strip()


def head(title, columns):
    print(f"\n{title:<36}" + "".join(column.rjust(10) for column in columns))


def row(name, values, form="{:.1f}", tail=""):
    cells = "".join(("-" if value is None else form.format(value)).rjust(10) for value in values)
    print(f"  {name:<34}{cells}{'   ' + tail if tail else ''}")


def cyclictest(name):
    """Quantiles in whole µs; beyond the histogram's end the maximum. None where cyclictest could not run."""
    if not os.path.exists(name):
        return None
    thread, result, seen = load(name)["thread"]["0"], {}, 0
    for late, count in sorted((int(late), count) for late, count in thread["histogram"].items()):
        seen += count
        for label, share in QUANTILES.items():
            if seen >= share * thread["cycles"]:
                result.setdefault(label, late)
    return {label: result.get(label, thread["max"]) for label in QUANTILES} | {"count": thread["cycles"]}


def ballastd(quantiles):
    return dict(zip(QUANTILES, (quantiles[key] for key in ("p50_us", "p99_us", "p999_us", "max_us"))))


def cycle():
    rounds = []
    for number in range(len(glob.glob("timing-*.json"))):
        timing, theirs = load(f"timing-{number}.json"), cyclictest(f"cyclictest-{number}.json")
        late, used = ballastd(timing["lateness"]), ballastd(timing["execution"])
        rounds.append({
            "cycles": timing["lateness"]["count"], "overruns": timing["overruns"],
            "realtime": load(f"status-{number}.json")["realtime"],
            "lateness_us": late, "cyclictest_us": theirs, "execution_us": used,
            "execution_percent": {label: used[label] / timing["period_ms"] / 10 for label in QUANTILES},
            "ratio": theirs and {label: late[label] / max(1, theirs[label]) for label in QUANTILES}})
    ratio = theirs and {
        label: statistics.geometric_mean(one["ratio"][label] for one in rounds) for label in QUANTILES}
    return {"period_ms": timing["period_ms"], "rounds": rounds, "ratio": ratio}


def print_cycle(part):
    head(f"cycle of {part['period_ms']:g} ms; µs", QUANTILES)
    for number, one in enumerate(part["rounds"], 1):
        row(f"round {number}: lateness, ballastd", one["lateness_us"].values(),
            tail=f"{one['cycles']} cycles, {one['overruns']} overruns")
        if one["ratio"]:
            row("         lateness, cyclictest", [one["cyclictest_us"][label] for label in QUANTILES],
                tail=f"{one['cyclictest_us']['count']} cycles")
            row("         ratio", one["ratio"].values(), "{:.2f}")
        row("         execution, ballastd", one["execution_us"].values())
        row("         share of the period, %", one["execution_percent"].values(), "{:.3f}")
    if part["ratio"]:
        row("lateness, ballastd / cyclictest", part["ratio"].values(), "{:.2f}", "geometric mean of rounds")
    else:
        print("  REAL TIME IS NOT GRANTED HERE: cyclictest does not run, there is nothing to compare with:",
              load("cyclictest.err").split("\n")[0])
    for text in sorted({one["realtime"] for one in part["rounds"]}):
        print(f"  ballastd: {text}")
    print("  ballastd counts in steps of 6 %, rounded up; p99.9 rests on 2 samples a round: read p50 and p99")


def response():
    """A step waits 0 … PLANT_MS + poll for the meter's next reading. The bus keeps the cycle's grid, so the
    setpoint is written one period after that reading. Transactions and scheduling come on top."""
    steps, status, units = load("latency.json")["steps"], load("status-response.json"), {}
    poll = int(re.search(r"grid_meter:.*?poll_ms: (\d+)", load("site.yaml"), re.S).group(1))
    period = status["period_ms"]
    for unit in steps[0]["setpoint_ms"]:
        times = sorted(one["setpoint_ms"][unit] for one in steps if one["setpoint_ms"][unit] is not None)
        if not times:
            raise ValueError(f"{unit} got no setpoint after any step")
        units[unit] = {label: times[math.ceil(share * len(times)) - 1] for label, share in QUANTILES.items()}
        units[unit] |= {"min": times[0], "unanswered": len(steps) - len(times)}
    longest = PLANT_MS + poll + period
    return {"steps": len(steps), "meter_poll_ms": poll, "period_ms": period, "setpoint_ms": units,
            "configured_ms": {"min": period, "p50": (period + longest) / 2, "p99": longest, "max": longest},
            "realtime": status["realtime"]}


def print_response(part):
    columns, configured = ["min", "p50", "p99", "max"], part["configured_ms"]
    head("frequency to setpoint written; ms", columns)
    row("sum of the configured periods", [configured[name] for name in columns],
        tail=f"period {part['period_ms']:g} + meter poll 0 … {part['meter_poll_ms']} + plant 0 … {PLANT_MS}")
    for unit, times in part["setpoint_ms"].items():
        missing = f", {times['unanswered']} without an answer" if times["unanswered"] else ""
        row(unit, [times[name] for name in columns], tail=f"{part['steps']} steps{missing}")
        row("  ratio to the configured", [times[name] / configured[name] for name in columns], "{:.2f}")
    print(f"  ballastd: {part['realtime']}")


def modbus():
    result = {}
    for program in ("swift", "c"):
        runs = [load(name) for name in sorted(glob.glob(f"poll-{program}-*.json"))]
        result[program] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        result[program]["rounds_polls_per_s"] = [run["polls_per_s"] for run in runs]
    swift, c = result["swift"], result["c"]
    return result | {"ratio": {key: swift[key] / c[key] for key in ("polls_per_s", "p50_us", "p99_us")}}


def print_modbus(part):
    head("Modbus TCP, 100 registers a poll", ("polls/s", "p50 µs", "p99 µs"))
    for program, name in (("swift", "ModbusClient (Swift)"), ("c", "libmodbus (C)")):
        rates = part[program]["rounds_polls_per_s"]
        row(name, [part[program][key] for key in part["ratio"]],
            tail=f"medians of {len(rates)} rounds, {min(rates):.0f} … {max(rates):.0f} polls/s")
    row("ratio Swift / C", part["ratio"].values(), "{:.2f}")


def main(folder):
    os.chdir(folder)
    parts = (("timing-0.json", cycle, print_cycle), ("latency.json", response, print_response),
             ("poll-c-0.json", modbus, print_modbus))
    parts = [part for part in parts if os.path.exists(part[0])]
    results = {collect.__name__: collect() for _, collect, _ in parts} | {"machine": load("machine.txt")}
    with open("results.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    for _, collect, show in parts:
        show(results[collect.__name__])
    print(f"\nmachine: {results['machine']}\nresults: {folder}/results.json")


if sys.argv[1] == "--all-run":
    sys.exit(any(unit["mode"] != "running" for unit in json.load(sys.stdin)["units"]))
main(sys.argv[1])
