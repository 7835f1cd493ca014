"""The fault catalogue: collects its evidence, runs it, and writes FAULTS.md. See hil/faults."""
import argparse
import collections
import glob
import json
import os
import re
import resource
import subprocess
import sys
import time
import xml.etree.ElementTree

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(ROOT, "hil/out/faults")
FAMILIES = collections.OrderedDict([
    ("C", "CAN"), ("B", "Battery data"), ("M", "Modbus TCP and inverter"), ("R", "Modbus RTU"), ("T", "Clock"), ("D", "Disk"),
    ("P", "Process and host"), ("N", "Network and aggregator"), ("X", "Commands and operators"), ("G", "Configuration"),
    ("Q", "Grid and metering")])
TIERS = ("virtual", "host")
# Real programs are judged as they are shipped, with optimisation.
PROGRAMS = os.environ.get("BALLAST_PROGRAMS", os.path.join(ROOT, ".build/release"))
RIG_RESULTS = os.environ.get("BALLAST_RIG_RESULTS", os.path.join(ROOT, "hil/out/vm/results.xml"))
OF_PROGRAMS = ("BallastDaemonTests", "BallastLinkTests", "BallastAggregatorTests")


def load(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return yaml.safe_load(file)


def say(text):
    print(text, flush=True)


# What there is

def scenarios():
    """number → (path, its contents)"""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "hil/scenarios/[0-9][0-9][0-9]-*.yaml"))):
        number = os.path.basename(path)[:3]
        if number in found:
            raise SystemExit(f"two scenarios have the number {number}")
        found[number] = (os.path.relpath(path, ROOT), load(path))
    return found


def test_names():
    """(target, name) of every test in the sources"""
    names = collections.Counter()
    for path in glob.glob(os.path.join(ROOT, "Tests/**/*.swift"), recursive=True):
        target = os.path.basename(os.path.dirname(path))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name in re.findall(r"func\s+`([^`]+)`", text):
            names[(target, name)] += 1
    return names


def mistakes(catalogue, found, names):
    """What is wrong with the catalogue, one line each."""
    lines = []
    ids = [row["id"] for row in catalogue["rows"]]
    if len(ids) != 150 or len(set(ids)) != 150:
        lines.append(f"{len(ids)} rows with {len(set(ids))} identifiers; there are 150")
    for number, (path, scenario) in found.items():
        lines += [f"{path}: {row} is no row" for row in scenario.get("catalogue", []) if row not in ids]
    proven = {row for _, scenario in found.values() for row in scenario.get("catalogue", [])}
    for row in catalogue["rows"]:
        for test in row.get("tests", []):
            count = names[tuple(test.split("/", 1))]
            if count != 1:
                lines.append(f"{row['id']}: {count} tests are called {test}")
        for name in row.get("rig", []):
            if not os.path.exists(os.path.join(ROOT, f"hil/vm.d/scenarios/{name}.py")):
                lines.append(f"{row['id']}: the rig has no scenario {name}")
        has_proof = bool(row.get("tests") or row.get("rig") or row["id"] in proven)
        if has_proof == ("open" in row):
            lines.append(f"{row['id']}: " + ("is open and has evidence" if has_proof else "has neither evidence nor a reason"))
    return lines


# Running

def run_scenarios(found, tiers):
    for tier in tiers:
        chosen = [(number, path) for number, (path, scenario) in found.items() if tier in scenario.get("tiers", [])]
        for place, (number, path) in enumerate(chosen, 1):
            begun = time.monotonic()
            result = os.path.join(OUT, f"{tier}-{number}.json")
            command = [f"{PROGRAMS}/ballast-sim", "run", path, "--tier", tier, "--json", result]
            if tier == "host":
                command += ["--programs", PROGRAMS, "--records", os.path.join(OUT, f"host-{number}")]
            if os.path.exists(result):
                os.remove(result)
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
            with open(os.path.join(OUT, f"{tier}-{number}.txt"), "w", encoding="utf-8") as file:
                file.write(done.stdout + done.stderr)
            word = "passed" if done.returncode == 0 else "FAILED"
            say(f"  {tier} {place}/{len(chosen)}  {os.path.basename(path)[:-5]}  {word}  {time.monotonic() - begun:.1f} s")


def deep_stack():
    """Without optimisation each reading of a unit keeps a copy of the whole site on the stack."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if soft != resource.RLIM_INFINITY:
        wanted = 1 << 26
        resource.setrlimit(resource.RLIMIT_STACK, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def run_tests(catalogue):
    """The tests that rows name, each target's by themselves: what hangs in one costs not the others."""
    wanted = collections.defaultdict(set)
    for row in catalogue["rows"]:
        for test in row.get("tests", []):
            target, name = test.split("/", 1)
            wanted[target].add(name)
    # Its own program: `swift test` would lock the build's database.
    program, = glob.glob(os.path.join(ROOT, ".build/debug/*PackageTests.xctest"))
    for place, target in enumerate(sorted(wanted), 1):
        begun = time.monotonic()
        output = os.path.join(OUT, f"tests-{target}.xml")
        command = [program, "--testing-library", "swift-testing", "--xunit-output", output]
        for name in sorted(wanted[target]):
            command += ["--filter", f"^{target}\\.(.*/)?`{re.escape(name)}`"]
        environment = os.environ | ({"BALLAST_PROGRAMS": PROGRAMS} if target in OF_PROGRAMS else {})
        with open(os.path.join(OUT, f"tests-{target}.txt"), "w", encoding="utf-8") as log:
            try:
                code = subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, timeout=1800, env=environment,
                                      preexec_fn=deep_stack).returncode
            except subprocess.TimeoutExpired:
                code = "no end"
        say(f"  tests {place}/{len(wanted)}  {target}  {'passed' if code == 0 else f'FAILED ({code})'}  {time.monotonic() - begun:.0f} s")


def begin_rig(catalogue):
    """The rig's scenarios that rows name, beside all else: the guest has a clock of its own, which no load slows down."""
    if os.path.exists(RIG_RESULTS):
        os.remove(RIG_RESULTS)
    if len(glob.glob(os.path.join(ROOT, "hil/out/packages/*.deb"))) != 2:
        say("  rig: not run, there are no packages in hil/out/packages (hil/package makes them)")
        return None
    names = sorted({name for row in catalogue["rows"] for name in row.get("rig", [])})
    with open(os.path.join(OUT, "rig.txt"), "w", encoding="utf-8") as log:
        return subprocess.Popen(["hil/vm", "run", *names], cwd=ROOT, stdout=log, stderr=log)


# Results

def scenario_results():
    """(tier, number) → the scenario's own result"""
    results = {}
    for path in glob.glob(os.path.join(OUT, "*-[0-9][0-9][0-9].json")):
        tier, number = os.path.basename(path)[:-5].rsplit("-", 1)
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
        results[(tier, number)] = text[0] if isinstance(text, list) else text
    return results


def test_results():
    """(target, name) → passed"""
    results = {}
    for path in glob.glob(os.path.join(OUT, "tests-*.xml")):
        try:
            cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
        except xml.etree.ElementTree.ParseError:
            say(f"  {os.path.relpath(path, ROOT)} is not whole: its tests count as not run")
            continue
        for case in cases:
            target = case.get("classname", "").split(".")[0]
            raw = re.match(r"`(.*)`\(", case.get("name", ""))
            name = raw.group(1) if raw else case.get("name", "")
            passed = case.find("failure") is None and case.find("error") is None
            skipped = case.find("skipped") is not None
            if not skipped:
                results[(target, name)] = results.get((target, name), True) and passed
    return results


def rig_results():
    """scenario → passed"""
    results = {}
    if os.path.exists(RIG_RESULTS):
        for case in xml.etree.ElementTree.parse(RIG_RESULTS).iter("testcase"):
            name = case.get("classname", "")
            results[name] = results.get(name, True) and case.find("failure") is None and case.find("error") is None
    return results


def computed(catalogue):
    """interlock → its worst case in seconds, from the reference site's configuration."""
    path = os.path.normpath(os.path.join(ROOT, "hil", catalogue["reference_site"]))
    done = subprocess.run([f"{PROGRAMS}/ballastd", "--config", path, "--check", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr}")
    check = json.loads(done.stdout)
    worst = {}
    for row in check["rows"]:
        for time_to_safe in row.get("time_to_safe") or []:
            worst[row["id"]] = max(worst.get(row["id"], 0), time_to_safe["total_ms"] / 1_000)
    return worst


def bounds(catalogue):
    """The classes in seconds, on the reference site."""
    path = os.path.normpath(os.path.join(ROOT, "hil", catalogue["reference_site"]))
    with open(path, encoding="utf-8") as file:
        site = yaml.safe_load(file)
    unit = site["bess_units"][0]
    cycle = site.get("control", {}).get("period_ms", 20) / 1_000
    periods = {
        "bms": unit["bms"].get("period_ms", 1_000) / 1_000, "inverter": unit.get("poll_ms", 100) / 1_000,
        "meter": site["grid_meter"].get("poll_ms", 100) / 1_000}
    timeout = unit.get("timeout_ms", 250) / 1_000
    return {
        "K1": 2 * cycle + 2 * timeout + cycle, "K2": {name: 3 * period + cycle for name, period in periods.items()}}


# The page

class Row:
    def __init__(self, row, found, scenario_done, tests_done, rig_done):
        self.row = row
        self.evidence = []
        self.times = []
        for number, (path, scenario) in found.items():
            if row["id"] not in scenario.get("catalogue", []):
                continue
            for tier in scenario["tiers"]:
                if tier == "rig":
                    continue
                result = scenario_done.get((tier, number))
                verdict = None if result is None else bool(result["passed"])
                self.evidence.append((f"[{number}]({os.path.relpath(path, 'hil')}) {tier}", verdict))
                if result and result.get("time_to_safe_s") is not None:
                    self.times.append((float(result["time_to_safe_s"]), f"{number} {tier}"))
        for test in row.get("tests", []):
            target, name = test.split("/", 1)
            self.evidence.append((f"{target}: {name}", tests_done.get((target, name))))
        for name in row.get("rig", []):
            self.evidence.append((f"rig: {name}", rig_done.get(name)))

    @property
    def verdict(self):
        """passed, failed, partly (something was not run), not run, open"""
        if "open" in self.row:
            return "open"
        seen = [verdict for _, verdict in self.evidence]
        if any(verdict is False for verdict in seen):
            return "FAILED"
        if all(verdict is None for verdict in seen):
            return "not run"
        return "passed" if all(seen) else "passed, in part"


def seconds(value):
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def bound_text(row, limits):
    text = str(row["bound"])
    if text == "K1":
        return f"K1 ≤ {seconds(limits['K1'])}"
    if text == "K2":
        return f"K2 ≤ {seconds(limits['K2'][row.get('device', 'bms')])}"
    return text


def mark(verdict):
    return {True: "passed", False: "**FAILED**", None: "not run"}[verdict]


# A page put together from kept results must not read like one clean run.
REUSED = " from kept results (`--reuse`), which may be of several builds: *this run* below means the last one of each"


def page(catalogue, rows, limits, worst, reused):
    count = collections.Counter(row.verdict for row in rows)
    automated = sum(1 for row in rows if "open" not in row.row)
    lines = [
        "# Fault catalogue", "",
        f"Written by `hil/faults` on {time.strftime('%Y-%m-%d', time.gmtime())}{REUSED if reused else ''}. Do not edit: the catalogue is "
        "[faults.yaml](faults.yaml), its evidence are [scenarios](scenarios), tests, and the rig.", "",
        "| | rows |", "|---|---|",
        f"| in the catalogue | {len(rows)} |",
        f"| automated | {automated} |",
        f"| … all of whose evidence passed in this run | {count['passed']} |",
        f"| … passed as far as it was run, part of it was not | {count['passed, in part']} |",
        f"| … failed in this run | {count['FAILED']} |",
        f"| … not run | {count['not run']} |",
        f"| open, with the reason | {count['open']} |", "",
        "Bounds: " + "; ".join(f"**{one['id']}** {one['text']}" for one in catalogue["classes"]) + ". In seconds for "
        f"`{os.path.normpath(os.path.join('hil', catalogue['reference_site']))}`. "
        "*Measured*: the longest time from the injection to the safe state in the plant itself, the inverter's own ramp and the wire "
        "included; so it may lie above the bound of the command. *Computed*: the worst case that `ballastd --check` works out for the "
        "interlock of that site, from the evidence to zero power.", ""]
    for letter, name in FAMILIES.items():
        lines += [f"## {name}", "", "| id | fault and injection | required | bound | measured | computed | evidence |",
                  "|---|---|---|---|---|---|---|"]
        for row in (row for row in rows if row.row["id"][0] == letter):
            lines.append(line(row, limits, worst))
        lines.append("")
    return "\n".join(lines)


def line(row, limits, worst):
    data = row.row
    longest = max(row.times, default=None)
    if "open" in data:
        proof = f"**open**: {data['open']}"
    else:
        proof = f"**{row.verdict}**: " + "<br>".join(f"{text}: {mark(verdict)}" for text, verdict in row.evidence)
    if data.get("note"):
        proof += f"<br>*{data['note']}*"
    worst_case = worst.get(data.get("interlock"))
    cells = [
        data["id"], f"{data['fault']}<br>*{data['injection']}*", data["required"], bound_text(data, limits),
        f"{seconds(longest[0])} ({longest[1]})" if longest else "",
        f"{seconds(worst_case)} ({data['interlock']})" if worst_case is not None else "", proof]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reuse", action="store_true")
    parser.add_argument("--tier", action="append", choices=TIERS)
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--no-rig", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    catalogue, found = load("hil/faults.yaml"), scenarios()
    wrong = mistakes(catalogue, found, test_names())
    for text in wrong:
        say(text)
    if wrong or options.check:
        raise SystemExit(1 if wrong else 0)
    os.makedirs(OUT, exist_ok=True)
    if not options.reuse:
        for path in glob.glob(os.path.join(OUT, "*.json")) + glob.glob(os.path.join(OUT, "*.xml")):
            os.remove(path)
        rig = None if options.no_rig else begin_rig(catalogue)
        run_scenarios(found, options.tier or TIERS)
        if not options.no_tests:
            run_tests(catalogue)
        if rig:
            say(f"  rig  {'passed' if rig.wait() == 0 else 'FAILED'}")
    results = (scenario_results(), test_results(), rig_results())
    rows = [Row(row, found, *results) for row in catalogue["rows"]]
    text = page(catalogue, rows, bounds(catalogue), computed(catalogue), options.reuse)
    with open(os.path.join(ROOT, "hil/FAULTS.md"), "w", encoding="utf-8") as file:
        file.write(text)
    count = collections.Counter(row.verdict for row in rows)
    say("hil/FAULTS.md: " + ", ".join(f"{number} {word}" for word, number in count.items()))
    for row in rows:
        if row.verdict == "FAILED":
            say(f"  {row.row['id']}: " + "; ".join(text for text, verdict in row.evidence if verdict is False))
    raise SystemExit(1 if count["FAILED"] else 0)


if __name__ == "__main__":
    sys.exit(main())
