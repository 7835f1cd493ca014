"""Measures and reports what hil/bench asks of the real-time side: lateness next to cyclictest, instructions of a step,
footprint. Called by hil/bench:

    realtime.py footprint PROGRAM SITE     starts the program, times READY=1, reads its memory; prints JSON
    realtime.py report FOLDER [FILE]       prints the tables from the raw figures; writes them to FILE as Markdown too
"""
import datetime
import glob
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import time

QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "max": 1.0}
GOALS = {"stripped_mb": 20, "rss_mb": 25, "ready_ms": 200}
# A step of 64 units in a period of 10 ms.
STEP_GOAL_PERCENT, STEP_GOAL_PERIOD_MS = 5, 10


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file) if name.endswith(".json") else file.read().strip()


# Footprint

def start_once(program, site):
    """Seconds from the start to READY=1, and the process."""
    path = f"notify-{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(path)
    listener.settimeout(30)
    try:
        begun = time.monotonic()
        with open("footprint.log", "ab") as log:
            process = subprocess.Popen([program, "--config", site], stdout=log, stderr=log,
                                       env=os.environ | {"NOTIFY_SOCKET": os.path.abspath(path)})
        while b"READY=1" not in listener.recv(4096):
            pass
        return time.monotonic() - begun, process
    finally:
        listener.close()
        os.unlink(path)


def end(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def memory_mb(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


def footprint(program, site):
    ready = []
    for _ in range(10):
        seconds, process = start_once(program, site)
        ready.append(1000 * seconds)
        end(process)
    _, process = start_once(program, site)
    time.sleep(10)
    memory = memory_mb(process)
    end(process)
    print(json.dumps({"stripped_mb": os.path.getsize(program) / 1e6, "rss_mb": memory,
                      "ready_ms": statistics.median(ready), "ready_max_ms": max(ready), "starts": len(ready)}))


# Lateness

def cyclictest(name):
    thread, result, seen = load(name)["thread"]["0"], {}, 0
    for late, count in sorted((int(late), count) for late, count in thread["histogram"].items()):
        seen += count
        for label, share in QUANTILES.items():
            if seen >= share * thread["cycles"]:
                result.setdefault(label, late)
    return {label: result.get(label, thread["max"]) for label in QUANTILES} | {"count": thread["cycles"]}


def ballastd(name, part):
    """Quantiles of what was recorded between the two reports: the start of the daemon is not in them."""
    counts = {one["up_to_us"]: one["count"] for one in load(name)[part]["bins"]}
    for one in load(name.replace("-cycle", "-before"))[part]["bins"]:
        counts[one["up_to_us"]] -= one["count"]
    total, seen, result = sum(counts.values()), 0, {}
    for up_to, count in sorted(counts.items()):
        seen += count
        for label, share in QUANTILES.items():
            if count and seen >= share * total:
                result.setdefault(label, up_to)
    return result | {"count": total}


def lateness():
    cases = {}
    for name in sorted(glob.glob("late-*-cycle.json")):
        period, loaded, _ = re.match(r"late-(\d+)-(idle|load)-(\d+)-cycle", name).groups()
        theirs = name.replace("-cycle.json", "-yardstick.json")
        ours, work = ballastd(name, "lateness"), ballastd(name, "execution")
        overruns = load(name)["overruns"] - load(name.replace("-cycle", "-before"))["overruns"]
        one = {"count": ours["count"], "overruns": overruns, "ours": ours, "work": work,
               "theirs": cyclictest(theirs) if os.path.exists(theirs) else None}
        cases.setdefault((int(period), loaded), []).append(one)
    rows = []
    for (period, loaded), rounds in sorted(cases.items(), key=lambda case: (case[0][1], case[0][0])):
        pairs = [one for one in rounds if one["theirs"]]

        def mean(side, label, among):
            return statistics.geometric_mean(max(0.1, one[side][label]) for one in among)
        rows.append({
            "period_ms": period, "load": loaded, "rounds": len(rounds), "cycles": sum(one["count"] for one in rounds),
            "overruns": sum(one["overruns"] for one in rounds),
            "ours_us": {label: mean("ours", label, rounds) for label in QUANTILES},
            "work_us": {label: mean("work", label, rounds) for label in QUANTILES},
            "theirs_us": {label: mean("theirs", label, pairs) for label in QUANTILES} if pairs else None,
            "ratio": {label: mean("ours", label, pairs) / mean("theirs", label, pairs) for label in QUANTILES}
            if pairs else None})
    return rows


# Instructions

def instructions():
    rows = []
    for units in (1, 4, 16, 64):
        few, many = (load(f"callgrind-{units}-{count}.txt") for count in ("few", "many"))
        counts = [int(re.search(r"Collected : (\d+)", text).group(1)) for text in (few, many)]
        timing = load(f"step-{units}.json")
        rows.append({"units": units, "instructions": (counts[1] - counts[0]) / 200,
                     "ns_per_step": timing["ns_per_step"],
                     "percent_of_10_ms": timing["ns_per_step"] / (STEP_GOAL_PERIOD_MS * 1e4)})
    # How the cost of a unit at 64 stands to that at 4: 1 = linear.
    first, last = rows[1], rows[3]
    slope = (last["instructions"] - rows[2]["instructions"]) / 48
    start = (rows[2]["instructions"] - first["instructions"]) / 12
    return {"rows": rows, "slope_ratio": slope / start}


def plot(rows):
    """Instructions of a step against units, as SVG; the line is the one through the first and the last point."""
    width, height, margin = 640, 400, 60
    most = max(row["instructions"] for row in rows) * 1.05

    def place(units, count):
        return (margin + (width - 2 * margin) * units / 64, height - margin - (height - 2 * margin) * count / most)
    points = [place(row["units"], row["instructions"]) for row in rows]
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/><text x="{x + 6:.1f}" y="{y - 8:.1f}">'
                   f'{row["instructions"] / 1000:.1f} k</text>' for (x, y), row in zip(points, rows))
    (x1, y1), (x2, y2) = points[0], points[-1]
    left, low = place(0, 0)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<path d="M{left} {margin} V{low} H{width - margin}" fill="none" stroke="black"/>
<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}" stroke="gray" stroke-dasharray="4"/>
{dots}
<text x="{width / 2}" y="{height - 20}" text-anchor="middle">units of the site</text>
<text x="{margin}" y="30">instructions of one control step (callgrind)</text>
</svg>
"""


# Tables

def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def lateness_lines(rows):
    def cells(values, form):
        return [form.format(values[label]) for label in QUANTILES] if values else ["-"] * 4
    lines = ["## How late the cycle wakes", "", "µs; geometric means of the rounds; the units are in service."
             " Ballast counts in steps of 6 %, rounded up. The ratio is what to read: absolute times are this machine's."
             " p99.9 of a short round rests on few samples.", ""]
    body = []
    for row in rows:
        name = f"{row['period_ms']} ms, {'loaded' if row['load'] == 'load' else 'idle'}"
        body.append([name, "ballastd", f"{row['cycles']}, {row['overruns']} missed"] + cells(row["ours_us"], "{:.0f}"))
        body.append(["", "cyclictest", f"{row['rounds']} rounds"] + cells(row["theirs_us"], "{:.0f}"))
        body.append(["", "**ratio**", ""] + cells(row["ratio"], "**{:.2f}**"))
        body.append(["", "its work", ""] + cells(row["work_us"], "{:.0f}"))
    lines += table(["period", "program", "cycles"] + list(QUANTILES), body)
    ratios = [row["ratio"]["p99.9"] for row in rows if row["ratio"]]
    if ratios:
        lines += ["", f"p99.9 against cyclictest over all cases: {statistics.geometric_mean(ratios):.2f} (goal ≤ 1.1)."]
    return lines


def instruction_lines(part):
    body = [[f"{row['units']}", f"{row['instructions']:.0f}", f"{row['instructions'] / row['units']:.0f}",
             f"{row['ns_per_step'] / 1000:.1f}", f"{row['percent_of_10_ms']:.2f}"] for row in part["rows"]]
    return (["## What a control step costs", ""] + table(
        ["units", "instructions", "per unit", "µs", "% of 10 ms"], body) + ["",
        f"A unit more costs {part['slope_ratio']:.2f} times as much at 64 as at 16 units (linear = 1). Goal for 64 units:"
        f" ≤ {STEP_GOAL_PERCENT} % of {STEP_GOAL_PERIOD_MS} ms.", "", "![instructions against units](scaling.svg)"])


def footprint_lines(part):
    names = {"stripped_mb": ("static program, stripped, MB", "{:.1f}"), "rss_mb": ("resident, 4 units in service, MB", "{:.1f}"),
             "ready_ms": (f"start to READY=1, median of {part['starts']}, ms", "{:.0f}")}
    body = [[names[key][0], names[key][1].format(part[key]), f"< {goal}", "yes" if part[key] < goal else "**no**"]
            for key, goal in GOALS.items()]
    return ["## Footprint", ""] + table(["", "measured", "goal", "met"], body)


def report(folder, target):
    os.chdir(folder)
    lines = ["# Results", "", "Written by `hil/bench realtime --write`, not by hand.", "",
             f"{datetime.date.today()}, commit {load('commit.txt')}. {load('machine.txt')}.", ""]
    results = {"machine": load("machine.txt")}
    if glob.glob("late-*-cycle.json"):
        results["lateness"] = lateness()
        lines += lateness_lines(results["lateness"]) + [""]
    if os.path.exists("callgrind-1-few.txt"):
        results["instructions"] = instructions()
        lines += instruction_lines(results["instructions"]) + [""]
        with open("scaling.svg", "w", encoding="utf-8") as file:
            file.write(plot(results["instructions"]["rows"]))
    if os.path.exists("footprint.json"):
        results["footprint"] = load("footprint.json")
        lines += footprint_lines(results["footprint"]) + [""]
    text = "\n".join(lines).rstrip() + "\n"
    with open("realtime.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    print(text)
    if target:
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        if os.path.exists("scaling.svg"):
            with open("scaling.svg", encoding="utf-8") as drawing:
                with open(os.path.join(os.path.dirname(target), "scaling.svg"), "w", encoding="utf-8") as file:
                    file.write(drawing.read())


if sys.argv[1] == "footprint":
    footprint(sys.argv[2], sys.argv[3])
else:
    report(sys.argv[2], os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None)
