"""Reads the raw figures that hil/bench left in a folder, writes results.json there and prints the tables.

With --all-run it reads a status from standard input instead; exit status 0 if every unit is in service. With
--all-enabled it reads the simulator's truth; exit status 0 if every inverter's setpoint is enabled.
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


CONTROLLERS = {"ballastd": "ballastd", "c": "C loop on libmodbus", "python": "Python asyncio, pymodbus"}


def quantiles(times):
    times = sorted(times)
    if not times:
        raise ValueError("no setpoint after any step")
    return {"min": times[0]} | {
        label: times[math.ceil(share * len(times)) - 1] for label, share in QUANTILES.items() if label != "p99.9"}


def response():
    """A step waits 0 … PLANT_MS + poll for the meter's next reading. The bus of ballastd keeps the cycle's grid, so
    its setpoint is written one period after that reading; the other two write at once."""
    status, controllers = load("status-response.json"), {}
    poll = int(re.search(r"grid_meter:.*?poll_ms: (\d+)", load("site.yaml"), re.S).group(1))
    period = status["period_ms"]
    for controller in CONTROLLERS:
        steps = [step for name in sorted(glob.glob(f"response-{controller}-*.json")) for step in load(name)["steps"]]
        times = {unit: [step["setpoint_ms"][unit] for step in steps] for unit in steps[0]["setpoint_ms"]}
        answered = {unit: [time for time in row if time is not None] for unit, row in times.items()}
        controllers[controller] = {
            "steps": len(steps), "units_ms": {unit: quantiles(row) for unit, row in answered.items()},
            "all_ms": quantiles(sum(answered.values(), [])),
            "unanswered": sum(row.count(None) for row in times.values())}
    ours, longest = controllers["ballastd"]["all_ms"], PLANT_MS + poll + period
    ratios = {name: {label: ours[label] / max(1e-3, controllers[name]["all_ms"][label]) for label in ours}
              for name in ("c", "python")}
    return {"meter_poll_ms": poll, "period_ms": period, "controllers": controllers, "ratios": ratios,
            "configured_ms": {"min": period, "p50": (period + longest) / 2, "p99": longest, "max": longest},
            "realtime": status["realtime"]}


def print_response(part):
    columns, configured = ["min", "p50", "p99", "max"], part["configured_ms"]
    head("frequency step to setpoint; ms", columns)
    row("ballastd's configured periods", [configured[name] for name in columns],
        tail=f"period {part['period_ms']:g} + meter poll 0 … {part['meter_poll_ms']} + plant 0 … {PLANT_MS}")
    for name, title in CONTROLLERS.items():
        one = part["controllers"][name]
        missing = f", {one['unanswered']} without an answer" if one["unanswered"] else ""
        row(title, [one["all_ms"][label] for label in columns], tail=f"{one['steps']} steps{missing}")
        for unit, times in one["units_ms"].items():
            row(f"  {unit}", [times[label] for label in columns])
    for name, ratio in part["ratios"].items():
        row(f"ratio ballastd / {name.title()}", [ratio[label] for label in columns], "{:.2f}")
    print(f"  ballastd: {part['realtime']}")
    print("  The other two have no interlocks, limits, ages, reversion watch or record; they write every period.")


MODBUS = {"tcp-1": "TCP, 1 device", "tcp-10": "TCP, 10 devices", "tcp-50": "TCP, 50 devices",
          "rtu-1": "RTU at 115200 bit/s"}
MODBUS_COLUMNS = {"polls_per_s": "polls/s", "p50_us": "p50 µs", "p99_us": "p99 µs", "cpu_us_per_poll": "CPU µs"}


def modbus():
    result = {}
    for case in MODBUS:
        one = {}
        for program in ("swift", "c"):
            runs = [load(name) for name in sorted(glob.glob(f"poll-{program}-{case}-*.json"))]
            one[program] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
            one[program]["rounds_polls_per_s"] = [run["polls_per_s"] for run in runs]
        result[case] = one | {"ratio": {key: one["swift"][key] / one["c"][key] for key in MODBUS_COLUMNS}}
    return result


def print_modbus(part):
    for case, title in MODBUS.items():
        head(f"{title}, 100 registers a poll", MODBUS_COLUMNS.values())
        for program, name in (("swift", "ModbusClient (Swift)"), ("c", "libmodbus (C)")):
            one = part[case][program]
            rates = one["rounds_polls_per_s"]
            row(name, [one[key] for key in MODBUS_COLUMNS],
                tail=f"medians of {len(rates)} rounds, {min(rates):.0f} … {max(rates):.0f} polls/s")
        row("ratio Swift / C", part[case]["ratio"].values(), "{:.2f}")


def decode():
    result = {}
    for name in sorted({re.match(r"decode-c-(.*)-0\.json", file).group(1) for file in glob.glob("decode-c-*-0.json")}):
        one = {}
        for program in ("swift", "c", "cantools"):
            runs = [load(file) for file in sorted(glob.glob(f"decode-{program}-{name}-*.json"))]
            one[program] = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        counts = [int(load(f"mallocs-{name}-{frames}.txt").split()[-1]) for frames in (100000, 200000)]
        rate = one["swift"]["decoder_per_s"]
        result[name] = one | {
            "allocations_per_frame": (counts[1] - counts[0]) / 100000,
            "ratio": {"c": rate / one["c"]["decoder_per_s"], "cantools": rate / one["cantools"]["decoder_per_s"]}}
    return result


def print_decode(part):
    for name, one in part.items():
        head(f"frames of {name}", ("frames/s", "ratio"))
        row("DBC decoder (Swift)", [one["swift"]["decoder_per_s"]], "{:.0f}",
            tail=f"{one['allocations_per_frame']:g} allocations a frame")
        row("  with mapping and images", [one["swift"]["battery_per_s"]], "{:.0f}",
            tail=f"{one['swift']['memory_kb']:.0f} kB for profile and state")
        row("C generated by cantools", [one["c"]["decoder_per_s"]], "{:.0f}")
        row("  ratio Swift / C", [None, one["ratio"]["c"]], "{:.2f}")
        row("cantools (Python)", [one["cantools"]["decoder_per_s"]], "{:.0f}")
        row("  ratio Swift / cantools", [None, one["ratio"]["cantools"]], "{:.1f}")


def main(folder):
    os.chdir(folder)
    parts = (("timing-0.json", cycle, print_cycle), ("response-ballastd-0.json", response, print_response),
             ("poll-c-tcp-1-0.json", modbus, print_modbus), ("decode-c-foxbms2-0.json", decode, print_decode))
    parts = [part for part in parts if os.path.exists(part[0])]
    results = {collect.__name__: collect() for _, collect, _ in parts} | {"machine": load("machine.txt")}
    with open("results.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    for _, collect, show in parts:
        show(results[collect.__name__])
    print(f"\nmachine: {results['machine']}\nresults: {folder}/results.json")


if sys.argv[1] == "--all-run":
    sys.exit(any(unit["mode"] != "running" for unit in json.load(sys.stdin)["units"]))
if sys.argv[1] == "--all-enabled":
    sys.exit(any(not unit["setpoint_enabled"] for unit in json.load(sys.stdin)["units"]))
main(sys.argv[1])
