"""Replays the complaints of issue 18, one after the other, on the real programs: what was met, what is typed, what is said now.

    run.py PROGRAMS [--page] [--write]

What was met stands here as the newcomer told it; what is said now is judged here by words that a person needs, not by our texts as a
whole. The last line says how many hold; --write keeps the table in hil/OPERATOR.md.
"""

import glob
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/Peers"))
from aiosmtpd.controller import Controller
from page_fixture import Aggregator, Site as PlayedSite, now_ms

PROGRAMS = os.path.abspath(sys.argv[1])
FOLDER = tempfile.mkdtemp(prefix="operator-")
SOCKET = f"{FOLDER}/run/control.sock"
ENVIRONMENT = dict(os.environ, PATH=f"{PROGRAMS}:{os.environ['PATH']}", BALLAST_SOCKET=SOCKET, SWIFT_BACKTRACE="enable=no",
                   LC_ALL="C.UTF-8", COLUMNS="100")
table, children = [], []


def run(words, folder=FOLDER, **more):
    done = subprocess.run(words if isinstance(words, list) else ["bash", "-c", words], cwd=folder, env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=90, **more)
    return done.stdout + done.stderr, done.returncode


def said(words):
    return run(words)[0]


def until(condition, what, limit=60):
    end = time.monotonic() + limit
    while not (found := condition()):
        if time.monotonic() > end:
            raise SystemExit(f"operator: {what} did not come; logs in {FOLDER}")
        time.sleep(0.05)
    return found


def saying(words, pattern):
    """What is said, once it has the pattern; asked again until then."""
    text = words() if callable(words) else said(words)
    return text if re.search(pattern, text) else ""


def row(point, met, typed, now, holds, line=None):
    """`line`: what of the answer is shown; by itself its first line."""
    shown = (line or next((text for text in now.splitlines() if text.strip()), "")).strip()
    table.append((point, met, typed, shown, bool(holds)))
    print(f"{'pass' if holds else 'FAIL'}  {point}: {typed}\n      {shown[:150]}" + ("" if holds else f"\n{now[:3000]}"), flush=True)


def matching(text, pattern):
    return next((line for line in text.splitlines() if re.search(pattern, line)), "")


def start(*words):
    log = open(f"{FOLDER}/{words[0]}.log", "a", encoding="utf-8")
    children.append(subprocess.Popen(words, cwd=FOLDER, env=ENVIRONMENT, stdout=log, stderr=log))
    return children[-1]


def end(child):
    child.send_signal(signal.SIGTERM)
    child.wait(30)
    children.remove(child)


def plant(command):
    return said(f"ballast-sim ask plant.sock {command}")


def modes():
    text, status = run("ballastctl status --json")
    return [unit["mode"] for unit in json.loads(text)["units"]] if status == 0 else []


def truth():
    """The first message alone: one that did not come is told by the checks."""
    site = (ROOT / "hil/scenarios/sites/two-io-units.yaml").read_text(encoding="utf-8")
    pathlib.Path(f"{FOLDER}/site.yaml").write_text(site, encoding="utf-8")
    daemon = start("ballastd", "--config", "site.yaml")
    until(lambda: modes() == ["offline", "offline"], "two units offline")
    now = until(lambda: saying("ballastctl why", "heard"), "what is missing")
    row("2", "an offline unit said nothing of what it lacks", "ballastctl why", now, "battery never heard; inverter never heard" in now, matching(now, "never heard"))
    sim = start("ballast-sim", "plant", "--site", "site.yaml", "--control", "plant.sock", "--start")
    until(lambda: modes() == ["running", "running"], "two units in service")

    ranks()
    answers()
    refusals()
    looking()

    log = f"{FOLDER}/ballastd.log"
    run("ballastctl setpoint 20 --for 10m --reason test")
    begin = os.path.getsize(log)
    end(daemon)
    now = open(log, "rb").read()[begin:].decode()
    row("2", "SIGTERM logged \"an operator's power\"", "systemctl stop ballastd", now,
        "for the program ends" in now and "an operator's power" not in now, matching(now, "for the program ends"))
    now, status = run("ballastctl modbus write tcp://127.0.0.1:15121 --unit 1 --model 704 --point WSet 1 --reason test --yes")
    row("3", "a socket path with no daemon behind it: the write went past its guard", "ballastctl modbus write … (no daemon)", now,
        status != 0 and "--without-ballastd" in now, matching(now, "without-ballastd"))
    end(sim)


def ranks():
    plant("fault inverter_fault BESS_02")
    until(lambda: modes()[1:] == ["tripped"], "a trip of the inverter")
    plant("fault smoke BESS_01")
    until(lambda: "smoke" in said("ballastctl trips"), "smoke")
    now = said("ballastctl trips")
    first = now.splitlines()[0]
    row("1", "\"evacuate and call the fire brigade\" stood fourth, behind \"read the event code at the inverter\"",
        "ballastctl trips (an inverter's fault first, then smoke)", now,
        now.find("evacuate") >= 0 and now.find("evacuate") < now.find("event code") and "smoke" in "".join(now.splitlines()[:3]),
        matching(now, "evacuate"))
    for command in ("status", "why", "top --once"):
        now = said(f"ballastctl {command}")
        row("1", f"the same in {command.split()[0]}", f"ballastctl {command}", now, "evacuate" in "".join(now.splitlines()[:5]), matching(now, "evacuate"))
    plant("clear smoke BESS_01")
    plant("clear inverter_fault BESS_02")
    until(lambda: run("ballastctl reset BESS_01 --reason 'detector replaced'")[1] == 0, "the reset of smoke")
    until(lambda: run("ballastctl reset BESS_02 --reason 'read its code'")[1] == 0, "the reset of the inverter")
    run("ballastctl resume --reason 'nobody is there'")
    until(lambda: modes() == ["running", "running"], "service again")
    plant("fault estop BESS_01")
    until(lambda: "tripped" in modes(), "the stop")
    plant("clear estop BESS_01")
    until(lambda: "emergency_stop" not in json.dumps([item for unit in json.loads(said("ballastctl status --json"))["units"]
                                                      for item in unit.get("inputs") or [] if item.get("active")]), "the button is out")
    now = said("ballastctl trips")
    row("1", "an emergency stop did not say whose button, once it was released", "ballastctl trips (the button is out again)", now,
        "begun by emergency_stop of BESS_01" in now, matching(now, "begun by"))


def answers():
    now = said("ballastctl why")
    row("2", "\"held after reset\" was said of a unit that is still tripped", "ballastctl why (tripped)", now, "after reset" not in now and "tripped" in now)
    until(lambda: run("ballastctl reset BESS_02 --reason 'button seen'")[1] == 0, "the reset of BESS_02")
    now = until(lambda: (lambda text, status: text if status == 0 else "")(
        *run("ballastctl reset BESS_01 --reason 'button seen' && ballastctl resume --reason 'nobody is there'")), "reset and resume")
    until(lambda: modes() == ["running", "running"], "service again")
    row("2", "`reset X; resume` printed \"not resumed\" while the unit entered service", "ballastctl reset BESS_01 …; ballastctl resume …", now,
        "not resumed" not in now and "did not answer" not in now, now.splitlines()[-1])
    run("ballastctl mode BESS_02 standby --for 2h --reason 'noise at night'")
    until(lambda: modes()[1] != "running", "standby")
    now = said("ballastctl why BESS_02")
    row("2", "`why` of a standby named neither person, time left nor reason", "ballastctl why BESS_02", now,
        re.search(r"noise at night\), (1 h 59|2 h 0) min left", now) and "user id" in now, matching(now, "noise at night"))
    run("ballastctl mode BESS_02 auto --reason morning")
    now = until(lambda: saying("ballastctl why BESS_02", r"\d+ s"), "a countdown")
    row("2", "\"waits\" had no countdown", "ballastctl why BESS_02 (on its way into service)", now, re.search(r"\d+ s", now), matching(now, r"\d+ s"))
    until(lambda: modes() == ["running", "running"], "service again")
    run("ballastctl setpoint 30 --for 10m --reason 'noise test'")
    now = until(lambda: saying("ballastctl why", "noise test"), "the power")
    row("2", "`why` of a setpoint named neither", "ballastctl why", now, re.search(r"(9|10) min \d+ s left: noise test", now), matching(now, "noise test"))
    run("ballastctl stop --reason 'smell in the container'")
    until(lambda: "running" not in modes(), "the stop")
    now = said("ballastctl status")
    row("2", "`stop` stood far down in `status`, without who", "ballastctl status", now,
        re.search(r"STOPPED by .* since 20.*smell in the container", now.splitlines()[1]), now.splitlines()[1])
    run("ballastctl resume --reason 'it was the paint'")
    until(lambda: modes() == ["running", "running"], "service again")


def refusals():
    run("ballastctl setpoint 40 --for 10m --reason 'full age test'")
    plant("fault inverter_silence BESS_02")
    time.sleep(6)
    now = said("ballastctl top --once")
    line = matching(now, "15123")
    row("5", "nothing said how old a link's last word was", "ballastctl top --once (an inverter silent for 6 s)", now,
        re.search(r"last word [5-9] s ago", line) and re.search(r"last word 1 s ago", matching(now, "15121")), line)
    plant("clear inverter_silence BESS_02")
    until(lambda: run("ballastctl reset BESS_02 --reason 'it answers again'")[1] == 0, "the reset")
    now = said("ballastctl trips")
    row("2", "`trips` right behind a reset still had the trip", "ballastctl reset BESS_02 …; ballastctl trips", now, "BESS_02" not in now)
    run("ballastctl resume --reason 'nobody is there'")
    until(lambda: modes() == ["running", "running"], "service again")
    for words, met in [("setpoint 900 --for 1m --reason slip", "a setpoint beyond what can be was taken"),
                       ("setpoint 1 --unit BESS_9 --for 1m --reason slip", "an unknown unit's name was taken")]:
        now, status = run(f"ballastctl {words}")
        row("3", met, f"ballastctl {words}", now, status != 0 and ("beyond what can be" in now or "BESS_01" in now))
    now, status = run(["ballastctl", "stop", "--reason", "a" + "\u0301" * 30_000])
    row("3", "30,000 combining marks passed as a reason", "ballastctl stop --reason a◌́×30000", now, status != 0 and len(now) < 1_000 and "STOPPED" not in said("ballastctl status"))
    now, status = run(["ballastctl", "stop", "--reason", "two\nlines\x1b[2J"])
    row("3", "a reason could be several lines, or none that can be printed", "ballastctl stop --reason $'two\\nlines\\e[2J'", now, status != 0 and "\x1b" not in now)
    now, status = run("ballastctl status --socket /run/nobody.sock")
    row("3", "a socket with no daemon behind it", "ballastctl status --socket /run/nobody.sock", now, status != 0 and "ballastd" in now)
    master, line = pty.openpty()
    name = os.ttyname(line)
    holder = subprocess.Popen(["sleep", "60"], stdin=line)
    now, status = run(f"ballastctl modbus scan {name} --units 1")
    row("3", "a scan on a line in use", "ballastctl modbus scan /dev/pts/…", now, status != 0 and "in use" in now and "--shared" in now)
    holder.kill()
    holder.wait()
    os.close(master)
    os.close(line)


def looking():
    for columns in (80, 160):
        now = said(["script", "-qec", f"stty cols {columns}; ballastctl top --once", "/dev/null"]).replace("\r", "")
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", now)
        wide = max(len(line) for line in plain.splitlines())
        row("5", "there was no live screen", f"ballastctl top --once ({columns} columns)", plain, "BESS_01" in plain and "Hz" in plain and wide <= columns,
            f"{matching(plain, 'Hz').strip()} (widest line {wide})")
    now = said("ballastctl top --once --json")
    row("5", "nor one for scripts", "ballastctl top --once --json", now, json.loads(now)["age_s"] < 2, f"age_s {json.loads(now)['age_s']}")
    now = said("ballastctl metrics --config site.yaml")
    checked = subprocess.run([os.environ.get("PROMTOOL", "promtool"), "check", "metrics"], input=now, capture_output=True, text=True)
    names = len(re.findall("^# HELP", now, re.M))
    row("8", "metrics without HELP, and without most of the mission's", "ballastctl metrics | promtool check metrics", now + checked.stderr,
        checked.returncode == 0 and not checked.stderr and names > 45, f"{names} names, nothing to say of them")
    now, status = run("ballastctl metrics --config site.yaml --textfile ballast.prom && head -1 ballast.prom")
    row("8", "no file for the node exporter", "ballastctl metrics --textfile ballast.prom", now, status == 0 and "# HELP" in now)


def files():
    shutil.copytree(ROOT / "config", f"{FOLDER}/config", dirs_exist_ok=True)
    driver = pathlib.Path(f"{FOLDER}/config/drivers/hybrid-inverter.yaml")
    text = driver.read_text(encoding="utf-8")
    wrong = re.sub(r"unit: W\b", "unit: kOhm", text, count=1)
    driver.write_text(wrong, encoding="utf-8")
    now, status = run("ballastctl modbus check config/drivers/hybrid-inverter.yaml")
    row("4", "a register in another unit than is wanted passed", "ballastctl modbus check (a driver with kOhm for W)", now, wrong != text and status != 0 and "kOhm" in now)
    driver.write_text(text, encoding="utf-8")
    run("ballastctl site new slow.yaml --production --units 1 --power-kw 100 --capacity-kwh 215 --battery config/profiles/pylontech-hv.yaml --can can0"
        " --inverter 10.0.0.11 --io-module 10.0.0.31 --meter 10.0.0.5 --import-limit-kw 250 --export-limit-kw 250 --site-load-max-kw 40 --quiet")
    now = said("ballastd --config slow.yaml --check")
    after = now[now.find("what to look at"):].splitlines()[1:] if "what to look at" in now else []
    weights = [line.split()[0] for line in after if line.split()]
    order = ["GRAVE", "WARNING", "note"]
    row("4", "`--check` mixed its warnings among the rest", "ballastd --config site.yaml --check", now,
        weights and all(weight in order for weight in weights) and weights == sorted(weights, key=order.index), after[0] if after else None)
    here = sorted({match for line in after for match in re.findall(r"slow\.yaml:\d+:\d+", line)})
    row("4", "and named no line", "the same", now, after and all("slow.yaml:" in line for line in after if line.split()[0] in order), ", ".join(here[:6]))
    programs = ["ballastd", "ballastctl", "ballast-door", "ballast-link", "ballast-scada", "ballast-sim", "ballast-aggregator"]
    versions = {name: said([name, "--version"]).strip() for name in programs}
    row("9", "`--version` of some programs", "ballastd --version …", str(versions), len(set(versions.values())) == 1 and re.match(r"\d+\.\d+", versions["ballastd"]), f"{len(versions)} programs: {versions['ballastd']}")
    now, status = run("ballastctl site new fresh.yaml --units 3 --quiet && ballastd --config fresh.yaml --check")
    row("10", "the first site took five rounds of --check", "ballastctl site new fresh.yaml --units 3; ballastd --check", now, status == 0, matching(now, "configuration is good"))
    schemas = sorted(os.path.basename(path).split(".")[0] for path in glob.glob(f"{ROOT}/config/schemas/*.json"))
    row("10", "no `--json` was documented", "ls config/schemas", " ".join(schemas), {"why", "modbus-write", "log", "status"} <= set(schemas), f"{len(schemas)} schemas: {', '.join(schemas)}")
    guides = sorted(os.path.basename(path) for path in glob.glob(f"{ROOT}/config/guides/*.md"))
    now, status = run([sys.executable, str(ROOT / "hil/guides.d/run.py"), PROGRAMS, str(ROOT / "config/guides/quick-start.md")], folder=str(ROOT))
    row("11", "no guides", "hil/guides config/guides/quick-start.md (all of them: hil/guides)", now, status == 0 and len(guides) >= 9, f"{len(guides) - 1} guides; {now.strip().splitlines()[-1] if now.strip() else ''}")


def above(with_page):
    mails = []

    class Box:
        async def handle_DATA(self, server, session, envelope):
            mails.append(envelope.content.decode(errors="replace"))
            return "250 OK"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(Box(), hostname="127.0.0.1", port=port)
    controller.start()
    folder = f"{FOLDER}/above"
    os.mkdir(folder)
    aggregator = Aggregator(f"{PROGRAMS}/ballast-aggregator", folder, ["pune", "silent"], local=True, extra=f"""
alarms:
  quiet_hours: {{from: "00:00", until: "23:59", zone_minutes: 0}}
  mail: {{host: 127.0.0.1, port: {port}, from: ballast@example.org, to: [night@example.org], starttls: false}}
""")
    pune = PlayedSite(aggregator, "pune", 2)
    pune.begin(1)
    pune.live()
    with urllib.request.urlopen(aggregator.url + "/") as answer:
        policy = answer.headers["Content-Security-Policy"]
    row("6", "the page's script stood in it, and anybody's could", "GET /", policy, "script-src 'self'" in policy and "default-src 'none'" in policy, policy[:90])
    pune.change("BESS_02", mode="tripped", trips="smoke", dangers="smoke: evacuate and call the fire brigade")
    now = until(lambda: next((mail for mail in mails if "DANGER" in mail), ""), "the mail of the danger")
    row("7", "nobody was told of anything", "(smoke at BESS_02, in quiet hours)", now, "evacuate" in now.replace("=\n", ""), matching(now, "Subject"))
    status, _ = aggregator.ask("/v1/alarms/test", "ann", {})
    now = until(lambda: next((mail for mail in mails if "a test of the alarms" in mail.replace("=\n", "")), ""), "the test's mail")
    row("7", "no way to try it", "POST /v1/alarms/test", now, status == 202, matching(now, "Subject"))
    ask = lambda: urllib.request.urlopen(f"http://127.0.0.1:{aggregator.local}/metrics").read().decode()
    now = until(lambda: saying(ask, re.escape('ballast_fleet_site_people_in_danger{site="pune"} 1.0')), "metrics of the site")
    row("8", "no metrics of a campus, a region, or a site at the aggregator", "GET /metrics (aggregator)", now,
        'ballast_fleet_site_reporting{site="silent"} 0.0' in now, matching(now, r"^ballast_fleet_site_people_in_danger"))
    pune.kill()
    begin = time.monotonic()
    now = until(lambda: saying(ask, re.escape('ballast_fleet_site_reporting{site="pune"} 0.0')), "silence")
    row("6", "a dead controller looked alive", "(the controller is killed)", now, 'ballast_fleet_site_power_watts{site="pune"}' not in now,
        f"not reporting after {time.monotonic() - begin:.0f} s, its figures gone; the page is grey within 5 s (browser_judge.py)")
    aggregator.process.terminate()
    aggregator.process.wait(20)
    controller.stop()
    if with_page:
        os.mkdir(f"{FOLDER}/page")
        recording = str(ROOT / "Tests/Simulation/VirtualSiteTests/recordings/024-sensor-too-hot.cycles")
        done = subprocess.run([sys.executable, str(ROOT / "Tests/Peers/browser_judge.py"), f"{PROGRAMS}/ballast-aggregator", f"{FOLDER}/page", recording],
                              capture_output=True, text=True, timeout=600)
        last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-500:]
        row("6", "the page, on a desk, at 390 px and in the dark", "Tests/Peers/browser_judge.py", done.stdout[-3000:], done.returncode == 0, last)


def keep():
    holds = sum(holds for *_, holds in table)
    clean = lambda text: text.replace("|", "\\|").replace("`", "'").replace(FOLDER, "…").replace(str(ROOT), "…").strip()
    when = time.strftime("%-d %B %Y")
    lines = ["# What a newcomer met, and what is said now", "",
             f"`hil/operator --page --write` wrote this on {when}: the complaints of issue 18 replayed on the real programs and a simulated site, as that person",
             f"would. {holds} of {len(table)} hold.", "", "| point | what was met | what is typed | what is said now | |", "|---|---|---|---|---|"]
    for point, met, typed, now, is_good in table:
        lines.append(f"| {point} | {clean(met)} | `{clean(typed)}` | {clean(now)[:220]} | {'holds' if is_good else '**does not hold**'} |")
    (ROOT / "hil/OPERATOR.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    try:
        truth()
        files()
        above("--page" in sys.argv)
    finally:
        for child in reversed(children):
            child.kill()
    holds = sum(holds for *_, holds in table)
    if "--write" in sys.argv:
        keep()
    print(f"{holds} of {len(table)} hold")
    if holds < len(table):
        raise SystemExit(f"files in {FOLDER}")
    shutil.rmtree(FOLDER, ignore_errors=True)


main()
