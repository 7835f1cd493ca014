"""Holds what the programs print to what is documented: JSON to config/schemas, sites to the schema for editors, metrics to
promtool and to the dashboards, completion to the units of a running site, new sites to --check.

  install_judge.py PROGRAMS ROOT      with PROMTOOL in the environment
"""

import copy
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import jsonschema
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard
from page_fixture import Aggregator, Site as PlayedSite, frequency_event, now_ms

PROGRAMS, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FOLDER = tempfile.mkdtemp(prefix="install-")
ENVIRONMENT = dict(
    os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}", BALLAST_SOCKET=f"{FOLDER}/control.sock",
    SWIFT_BACKTRACE="enable=no", LC_ALL="C.UTF-8")
failures = []


def check(what, holds, why=""):
    print(f"{'pass' if holds else 'FAIL'}  {what}" + ("" if holds else f": {why}"))
    if not holds:
        failures.append(what)


def run(*words, status=0, **more):
    done = subprocess.run(words, cwd=FOLDER, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, **more)
    if status is not None and done.returncode != status:
        raise SystemExit(f"{' '.join(words)}: {done.returncode}: {done.stdout}{done.stderr}")
    return done


def until(condition, what):
    end = time.monotonic() + 40
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{what} did not come; logs in {FOLDER}")
        time.sleep(0.05)


class Site:
    def __init__(self, site, modes):
        self.children = []
        for words in (["ballast-sim", "plant", "--site", site, "--control", "plant.sock", "--start"],
                      ["ballastd", "--config", site]):
            log = open(f"{FOLDER}/{words[0]}.log", "w", encoding="utf-8")
            self.children.append(subprocess.Popen(words, cwd=FOLDER, env=ENVIRONMENT, stdout=log, stderr=log))
            if words[0] == "ballast-sim":
                until(lambda: os.path.exists(f"{FOLDER}/plant.sock"), "the plant")
        until(lambda: run("ballastctl", "status", status=None).stdout.count(f" {modes[0]} ") == modes[1], f"units {modes}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            child.wait(20)


def schema(name):
    with open(f"{ROOT}/config/schemas/{name}.schema.json", encoding="utf-8") as file:
        found = json.load(file)
    jsonschema.Draft202012Validator.check_schema(found)
    return jsonschema.Draft202012Validator(found)


def hold(name, text, lines=False):
    validator = schema(name)
    values = [json.loads(line) for line in text.splitlines()] if lines else [json.loads(text)]
    wrong = [error for value in values for error in validator.iter_errors(value)]
    wrong = [f"{error.json_path}: {error.message[:200]}" for error in wrong][:5]
    check(f"{name}: {len(values)} printed, as the schema says", values and not wrong, wrong)
    # A schema that takes everything would pass too.
    first = values[0][0] if isinstance(values[0], list) and values[0] else values[0]
    if isinstance(first, dict):
        strange = dict(first, strange=1)
        value = [strange] if isinstance(values[0], list) else strange
        check(f"{name}: what it does not say is refused", not validator.is_valid(value))


def outputs():
    status = run("ballastctl", "status", "--json").stdout
    hold("status", status)
    hold("timing", run("ballastctl", "timing", "--json").stdout)
    hold("why", run("ballastctl", "why", "--json").stdout)
    hold("top", run("ballastctl", "top", "--once", "--json").stdout)
    hold("doctor", run("ballastctl", "doctor", "--config", "site.yaml", "--json", status=None).stdout)
    hold("check", run("ballastd", "--config", "site.yaml", "--check", "--json").stdout)
    hold("modbus", run("ballastctl", "modbus", "scan", "tcp://127.0.0.1:15021", "--units", "1", "--json").stdout, True)
    read = ["ballastctl", "modbus", "read", "tcp://127.0.0.1:15021", "--unit", "1", "--json"]
    hold("modbus", run(*read, "--model", "704").stdout + run(*read, "--address", "40000", "--count", "4").stdout, True)
    hold("modbus-check", run("ballastctl", "modbus", "check", f"{ROOT}/config/drivers/hybrid-inverter.yaml", "--json").stdout)
    write = ["ballastctl", "modbus", "write", "tcp://127.0.0.1:15021", "--unit", "1", "--model", "704", "--point", "WSet", "1",
             "--reason", "judge", "--json"]
    check("modbus write --json asks nobody", "say --yes" in run(*write, status=1).stderr)
    run("ballastctl", "mode", "BESS_01", "maintenance", "--for", "10m", "--reason", "judge")
    until(lambda: '"maintenance"' in run("ballastctl", "status", "--json").stdout, "maintenance")
    hold("status", run("ballastctl", "status", "--json").stdout)
    vendor = write[:6] + ["--address", "40123", "1", "--reason", "judge", "--json", "--yes"]
    said = run(*vendor, status=None)
    check("a refused write says why", said.returncode == 1 and "stop the daemon" in said.stderr, said.stderr)
    run("ballast-sim", "ask", "plant.sock", "fault", "bms_silence", "BESS_02")
    until(lambda: "lost_bms" in run("ballastctl", "trips").stdout, "a trip")
    hold("trips", run("ballastctl", "trips", "--json").stdout)
    hold("status", run("ballastctl", "status", "--json").stdout)
    hold("why", run("ballastctl", "why", "--json").stdout)
    hold("frequency-report", run("ballastctl", "frequency", "report", "--config", "site.yaml", "--json").stdout)
    profile = f"{ROOT}/config/profiles/pylontech-lv.yaml"
    recorded = run("ballast-sim", "record", profile, status=None)
    decoded = run("ballastctl", "can", "decode", "--profile", profile, "--json", input=recorded.stdout)
    hold("can-decode", decoded.stdout, True)
    run("ballastctl", "replay", f"{ROOT}/Tests/Simulation/VirtualSiteTests/recordings/024-sensor-too-hot.cycles", "--json", "replay.json", status=None)
    with open(f"{FOLDER}/replay.json", encoding="utf-8") as file:
        hold("replay", file.read())
    run("ballast-sim", "run", f"{ROOT}/hil/scenarios/010-battery-silent.yaml", "--json", "run.json")
    with open(f"{FOLDER}/run.json", encoding="utf-8") as file:
        hold("sim-run", file.read())


def scada():
    with open(f"{ROOT}/config/examples/scada.yaml", encoding="utf-8") as file:
        text = file.read()
    text = text.replace("0.0.0.0", "127.0.0.1").replace("./run/control.sock", f"{FOLDER}/control.sock")
    with open(f"{FOLDER}/scada.yaml", "w", encoding="utf-8") as file:
        file.write(re.sub(r"^#? *status_file:.*$", "", text, flags=re.M) + f"\nstatus_file: {FOLDER}/scada.json\n")
    child = subprocess.Popen(["ballast-scada", "--config", "scada.yaml"], cwd=FOLDER, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    try:
        until(lambda: os.path.exists(f"{FOLDER}/scada.json"), "the control centre's status")
        hold("scada", run("ballastctl", "scada", "--file", "scada.json", "--json").stdout)
    finally:
        child.terminate()
        child.wait(20)


def without_daemon():
    """Wires with nobody but us on them."""
    plant = subprocess.Popen(["ballast-sim", "plant", "--site", "site.yaml", "--bms-free-running", "--start"], cwd=FOLDER,
                             env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    try:
        plant.stdout.readline()
        monitor = subprocess.run(
            ["timeout", "5", "ballastctl", "can", "monitor", "cannelloni:127.0.0.1:20001", "--json"], cwd=FOLDER,
            env=ENVIRONMENT, capture_output=True, text=True)
        hold("can-monitor", monitor.stdout, True)
        write = ["ballastctl", "modbus", "write", "tcp://127.0.0.1:15021", "--unit", "1", "--model", "704", "--point", "WSet",
                 "1000", "--reason", "judge", "--without-ballastd", "--yes", "--json"]
        hold("modbus-write", run(*write).stdout)
    finally:
        plant.terminate()
        plant.wait(20)


def editors():
    text = run("ballastd", "--schema").stdout
    validator = jsonschema.Draft202012Validator(json.loads(text))
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    sites = [path for path in glob.glob(f"{ROOT}/config/examples/*site*.yaml")
             + glob.glob(f"{ROOT}/hil/scenarios/sites/*.yaml") + [f"{FOLDER}/site.yaml"] if "bad-" not in path]
    for path in sites:
        with open(path, encoding="utf-8") as file:
            site = yaml.safe_load(file)
        wrong = [f"{error.json_path}: {error.message[:120]}" for error in validator.iter_errors(site)][:3]
        check(f"{os.path.relpath(path, ROOT)} is a site for an editor too", not wrong, wrong)
    with open(f"{ROOT}/config/examples/demo-site.yaml", encoding="utf-8") as file:
        site = yaml.safe_load(file)
    for path, value in [(("control", "period_ms"), 1_001), (("control", "perod_ms"), 20), (("mode",), "real"),
                        (("bess_units", 0, "capacity_kwh"), "much"), (("bess_units", 0, "modbus", "port"), 0)]:
        bad = copy.deepcopy(site)
        place = bad
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        check(f"an editor sees {'.'.join(map(str, path))}: {value}", not validator.is_valid(bad))


def metrics():
    text = run("ballastctl", "metrics", "--config", "site.yaml").stdout
    done = subprocess.run([os.environ["PROMTOOL"], "check", "metrics"], input=text, capture_output=True, text=True)
    check("promtool has nothing to say of the metrics", done.returncode == 0 and not done.stderr, done.stderr[:2000])
    names = set(re.findall(r"^# HELP (\S+) ", text, re.M))
    check("every metric has its HELP", set(re.findall(r"^# TYPE (\S+) ", text, re.M)) == names)
    check("there are metrics of every layer of a site", len(names) > 45, len(names))
    # What has no value now has no line: its name stands in the source.
    source = "".join(open(path, encoding="utf-8").read() for path in
                     glob.glob(f"{ROOT}/Sources/Daemon/BallastDaemon/Tell/MetricsText*.swift"))
    known = names | set(re.findall(r'"(ballast_\w+)": ', source)) | set(re.findall(r'"(ballast_\w+)":$', source, re.M))
    known |= {f"ballast_frequency_{name}" for name in
              re.findall(r'"(\w+)", "[A-Z]', open(f"{ROOT}/Sources/Daemon/FrequencyRecord/ReportMetrics.swift",
                                                  encoding="utf-8").read())}
    boards({"site": known, "frequency": known})


def boards(known):
    plugins.register_default_plugins()
    for name, metrics in known.items():
        with open(f"{ROOT}/config/grafana/{name}.json", encoding="utf-8") as file:
            board = json.load(file)
        lost = list(differences(board, json.loads(JSONEncoder().encode(dashboard.Dashboard.from_json(board)))))
        check(f"dashboard {name}: Grafana's own model takes all of it", not lost, lost)
        asked = set(re.findall(r"ballast_\w+", json.dumps(board)))
        check(f"dashboard {name}: {len(asked)} metrics, each of which there is", asked <= metrics, asked - metrics)
        for panel in board["panels"]:
            for target in panel["targets"]:
                expression = target["expr"].replace("$instance", "a").replace("$unit", "b").replace("$site", "c")
                rule = f'groups: [{{name: g, rules: [{{record: r, expr: {json.dumps(expression)}}}]}}]'
                done = subprocess.run(
                    [os.environ["PROMTOOL"], "check", "rules", "/dev/stdin"], input=rule, capture_output=True, text=True)
                if done.returncode:
                    check(f"dashboard {name}: {target['expr']}", False, done.stdout + done.stderr)


def fleet():
    """The aggregator's metrics: of a site that reports, one that does not, and a campus."""
    folder = f"{FOLDER}/fleet"
    os.mkdir(folder)
    level = """
fleet:
  role: campus
  place: CAMPUS_NORTH
  mode: simulation
  places:
    - {id: CAMPUS_NORTH, level: campus}
    - {id: pune, level: node, parent: CAMPUS_NORTH, nameplate_kw: 200, capacity_kwh: 500}
    - {id: nashik, level: node, parent: CAMPUS_NORTH, nameplate_kw: 100, capacity_kwh: 200}
"""
    aggregator = Aggregator(f"{PROGRAMS}/ballast-aggregator", folder, ["pune", "nashik"], extra=level, local=True)
    ask = lambda: urllib.request.urlopen(f"http://127.0.0.1:{aggregator.local}/metrics", timeout=20).read().decode()
    pune = PlayedSite(aggregator, "pune", 3)
    pune.begin(2)
    pune.tell(frequency_event(now_ms() - 3_600_000, 18.0, 17.6))
    pune.change("BESS_03", mode="tripped", trips='smoke"}\nx', dangers="smoke: evacuate")
    pune.change("BESS_01", soh_mpercent=97_500, warnings="cell_spread")
    text = ""

    def heard():
        nonlocal text
        text = ask()
        return 'ballast_fleet_site_reporting{site="pune"} 1.0' in text and 'children_heard{place="CAMPUS_NORTH",level="campus"} 1.0' in text
    until(heard, "the site's metrics")
    done = subprocess.run([os.environ["PROMTOOL"], "check", "metrics"], input=text, capture_output=True, text=True)
    check("promtool has nothing to say of the aggregator's metrics", done.returncode == 0 and not done.stderr, done.stderr[:2000])
    value = lambda name: {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name + "{")}
    site = lambda name, more="": value(f"ballast_fleet_site_{name}").get(f'ballast_fleet_site_{name}{{site="pune"{more}}}')
    check("a site's units that serve, of three", (site("units_available"), site("availability_ratio")) == (2.0, 2 / 3), text[:500])
    check("its worst battery's health", site("state_of_health_ratio") == 0.975, site("state_of_health_ratio"))
    check("its charge is what its units told", 0.2 < (site("state_of_charge_ratio") or 0) < 0.9, site("state_of_charge_ratio"))
    check("its danger, and no alarm forgotten", site("people_in_danger") == 1.0 and site("alarms", ',severity="life_safety"') == 1.0)
    check("rows by name, whatever a site calls them", len(value("ballast_fleet_site_trip")) == 2, value("ballast_fleet_site_trip"))
    check("activations and score of a day, as worked out by hand",
          site("frequency_activations") == 1.0 and abs((site("frequency_score_ratio") or 0) - 0.971) < 0.0005, site("frequency_score_ratio"))
    check("who never reported has no figures, and is counted", value("ballast_fleet_site_reporting").get('ballast_fleet_site_reporting{site="nashik"}') == 0.0
          and 'power_watts{site="nashik"}' not in text and value("ballast_fleet_place_children_silent").get(
              'ballast_fleet_place_children_silent{place="CAMPUS_NORTH",level="campus"}') == 1.0)
    campus = value("ballast_fleet_place_state_of_charge_ratio").get('ballast_fleet_place_state_of_charge_ratio{place="CAMPUS_NORTH",level="campus"}')
    check("a campus has its charge", 0.2 < (campus or 0) < 0.9, campus)
    source = "".join(open(path, encoding="utf-8").read() for path in glob.glob(f"{ROOT}/Sources/Aggregator/BallastAggregator/**/*.swift", recursive=True))
    names = set(re.findall(r"^# HELP (\S+) ", text, re.M)) | set(re.findall(r'"(ballast_(?:fleet|aggregator)_\w+)"', source))
    # What nobody asks from above has no line now.
    boards({"fleet": names})
    aggregator.process.terminate()
    aggregator.process.wait(20)


def log():
    """`ballastctl log --json` behind a journal of ours: this machine may have none."""
    lines = [{"__REALTIME_TIMESTAMP": "1764025387123456", "PRIORITY": "2", "MESSAGE": "BESS_02 tripped: smoke", "BALLAST_EVENT": "trip", "BALLAST_UNIT": "BESS_02",
              "BALLAST_INTERLOCK": "smoke", "BALLAST_SITE": "demo", "BALLAST_CYCLE": "4711", "SYSLOG_IDENTIFIER": "ballastd", "_PID": "12", "_BOOT_ID": "0"},
             {"__REALTIME_TIMESTAMP": "1764025388000000", "PRIORITY": "5", "MESSAGE": [226, 128, 166, 10], "BALLAST_REASON": ["a", "b"], "BALLAST_USER_ID": "1000 (ann)", "BALLAST_VALUE": None}]
    os.mkdir(f"{FOLDER}/bin")
    with open(f"{FOLDER}/bin/journalctl", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho \"$@\" > " + f"{FOLDER}/asked\ncat <<'E'\n" + "\n".join(json.dumps(line) for line in lines) + "\nno json\nE\nexit 3\n")
    os.chmod(f"{FOLDER}/bin/journalctl", 0o755)
    path = ENVIRONMENT["PATH"]
    ENVIRONMENT["PATH"] = f"{FOLDER}/bin:{path}"
    done = run("ballastctl", "log", "--json", "--explain", "--unit", "BESS_02", "--since", "-1h", status=3)
    ENVIRONMENT["PATH"] = path
    hold("log", done.stdout, True)
    first, second = [json.loads(line) for line in done.stdout.splitlines()]
    check("an event of the journal by our names", (first["event"], first["row"], first["unit"], first["severity"], first["cycle"])
          == ("trip", "smoke", "BESS_02", "critical", "4711") and first["at"].startswith("2025-11-24T23:03:07"), first)
    check("with what it means and what to do", len(first["meaning"]) > 20 and len(first["advice"]) > 20, first)
    check("bytes and repeated fields are texts", (second["text"], second["reason"], second["by"]) == ("…\n", "a", "1000 (ann)"), second)
    with open(f"{FOLDER}/asked", encoding="utf-8") as file:
        asked = file.read()
    check("journalctl is asked for the same as without --json", "--priority=notice" in asked and "BALLAST_UNIT=BESS_02" in asked and "--since=-1h" in asked, asked)


def differences(one, other, path=""):
    if isinstance(one, dict):
        for key, value in one.items():
            yield from [f"{path}/{key}"] if key not in other else differences(value, other[key], f"{path}/{key}")
    elif isinstance(one, list):
        if len(one) != len(other):
            yield path
        for index, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{path}[{index}]")
    elif one != other:
        yield path


def completion():
    def offered(line):
        script = f"""
            source /usr/share/bash-completion/bash_completion
            source <(ballastctl --generate-completion-script bash)
            COMP_LINE='{line}' COMP_POINT={len(line)} COMP_TYPE=9
            COMP_WORDS=({line.rstrip()} {"''" if line.endswith(" ") else ""})
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _ballastctl ballastctl "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}" 2>/dev/null
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        return run("bash", "-c", script, status=None).stdout.split()

    check("a shell completes units of the running site", {"BESS_01", "BESS_02"} <= set(offered("ballastctl reset ")),
          offered("ballastctl reset "))
    check("and rows of the interlock table", "smoke" in offered("ballastctl log --row "), offered("ballastctl log --row "))
    check("and kinds of events", "trip" in offered("ballastctl events "))


def versions():
    programs = ["ballastd", "ballastctl", "ballast-door", "ballast-link", "ballast-scada", "ballast-sim", "ballast-aggregator"]
    said = {name: run(name, "--version").stdout.strip() for name in programs if shutil.which(name, path=PROGRAMS)}
    check(f"--version of {len(said)} programs is one: {set(said.values())}",
          len(said) >= 5 and len(set(said.values())) == 1 and re.match(r"^\d+\.\d+\.\d+", min(said.values())), said)


def new_sites():
    production = ["ballastctl", "site", "new", "real.yaml", "--production", "--units", "3", "--power-kw", "100",
                  "--capacity-kwh", "215", "--battery", f"{ROOT}/config/profiles/pylontech-hv.yaml", "--can", "can0",
                  "--inverter", "10.0.0.11", "--io-module", "10.0.0.31", "--meter", "10.0.0.5", "--import-limit-kw", "250",
                  "--export-limit-kw", "250", "--site-load-max-kw", "40", "--quiet"]
    run(*production)
    with open(f"{FOLDER}/real.yaml", encoding="utf-8") as file:
        site = yaml.safe_load(file)
    hosts = [unit["modbus"]["host"] for unit in site["bess_units"]]
    check("site new counts addresses up", hosts == ["10.0.0.11", "10.0.0.12", "10.0.0.13"], hosts)
    text = run("ballastd", "--config", "real.yaml", "--check").stdout
    check("--check takes a new production site", "configuration is good" in text)
    end = text[text.index("what to look at"):].splitlines()[1:]
    weights = [line.split()[0] for line in end]
    order = ["GRAVE", "WARNING", "note"]
    check("its last lines are what to look at, the gravest first", weights == sorted(weights, key=order.index), end)
    check("each with its line", all(re.search(r"real\.yaml:\d+:\d+: ", line) for line in end), end)
    check("a file that is there is kept", "kept" in run(*production, status=1).stderr)
    missing = [word for word in production if word not in ("--meter", "10.0.0.5")]
    missing[3] = "other.yaml"
    check("production without a meter is refused by name", "--meter" in run(*missing, status=None).stderr)
    odd = run("ballastctl", "site", "new", "odd.yaml", "--power-kw", "100", "--capacity-kwh", "1", "--quiet", status=1)
    check("what --check refuses is not written", "bess_units[0]" in odd.stderr and not os.path.exists(f"{FOLDER}/odd.yaml"),
          odd.stderr)
    with open(f"{FOLDER}/real.yaml", encoding="utf-8") as file:
        text = file.read()
    wrong = text.replace("pylontech-hv.yaml\n", "pylontech-hv.yaml\n      period_ms: 10\n")
    with open(f"{FOLDER}/wrong.yaml", "w", encoding="utf-8") as file:
        file.write(wrong)
    said = run("ballastd", "--config", "wrong.yaml", "--check", status=78).stderr
    line = wrong.splitlines().index("      period_ms: 10") + 1
    check("a refused period names its line and the value that would do",
          re.search(rf"wrong\.yaml:{line}:\d+: bess_units\[0\]\.bms\.period_ms: .* would do", said), said)


def drivers():
    shutil.copytree(f"{ROOT}/config/drivers", f"{FOLDER}/drivers")
    with open(f"{ROOT}/config/examples/driver-site.yaml", encoding="utf-8") as file:
        text = file.read().replace("../drivers", "drivers")
    text += f"\npaths: {{state_directory: {FOLDER}/driven, control_socket: {FOLDER}/control.sock}}\n"
    with open(f"{FOLDER}/driven.yaml", "w", encoding="utf-8") as file:
        file.write(text)
    with Site("driven.yaml", ("running", 1)):
        truth = lambda: json.loads(run("ballast-sim", "ask", "plant.sock", "truth").stdout)
        run("ballastctl", "setpoint", "20", "--for", "5m", "--reason", "judge")
        until(lambda: abs(truth()["units"][0]["power_w"] - 20_000) < 200, "20 kW by a driver file")
        check("a site of driver files runs in the simulator, and gives the power that is asked for", True)
        shown = lambda: json.loads(run("ballastctl", "status", "--json").stdout)
        until(lambda: abs((shown()["meter_power_kw"] or 0) - 20) < 1, "its meter shows 20 kW")
        status = shown()
        check("its meter by a driver file shows what flows", abs((status["meter_power_kw"] or 0) - 20) < 1,
              status["meter_power_kw"])
        run("ballast-sim", "ask", "plant.sock", "fault", "inverter_refuses", "BESS_01", "code=1", status=None)
        until(lambda: "write_single: true" in open(f"{FOLDER}/ballastd.log", encoding="utf-8").read(),
              "the remedy for a refused write")
        check("a refused request suggests the remedy", True)


def main():
    versions()
    run("ballastctl", "site", "new", "site.yaml", "--units", "2", "--quiet")
    with Site("site.yaml", ("running", 2)):
        completion()
        metrics()
        outputs()
        scada()
    log()
    fleet()
    without_daemon()
    editors()
    new_sites()
    drivers()
    if failures:
        raise SystemExit(f"{len(failures)} FAILED; files in {FOLDER}")
    shutil.rmtree(FOLDER, ignore_errors=True)
    print("all passed")


main()
