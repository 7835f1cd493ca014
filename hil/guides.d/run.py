"""Runs the commands of the guides against a simulated site, as a person would type them.

  run.py PROGRAMS GUIDE.md...      PROGRAMS: folder of the built programs

A fence ```sh run is typed into a shell, one shell for each guide; ```text expect behind it holds lines that its output
must have, in this order. Without <!-- site: none --> in it a guide finds a simulated site of two units in service.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+)(?: (run|expect))?\n(.*?)^```$", re.M | re.S)
PATIENCE_S = 120


def blocks(text):
    """(commands, lines that must come of them) in the order of the guide."""
    found = []
    for language, mark, body in FENCE.findall(text):
        if language == "sh" and mark == "run":
            found.append((body, []))
        elif mark == "expect":
            found[-1][1].extend(line.strip() for line in body.splitlines() if line.strip())
    return found


def installed(text):
    """What packages put into /usr/share/ballast lies in config here."""
    return text.replace("/usr/share/ballast/", f"{ROOT}/config/")


class Site:
    """A simulated site of two units behind a meter."""

    def __init__(self, folder, environment):
        self.children = []
        run = lambda *words: subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
        run("ballastctl", "site", "new", "site.yaml", "--units", "2", "--quiet")
        self.start(folder, environment, "ballast-sim", "plant", "--site", "site.yaml", "--control", "plant.sock", "--start")
        wait(lambda: os.path.exists(f"{folder}/plant.sock"), "the plant")
        self.start(folder, environment, "ballastd", "--config", "site.yaml")
        status = lambda: subprocess.run(["ballastctl", "status"], env=environment, capture_output=True, text=True).stdout
        wait(lambda: status().count(" running ") == 2, "two units in service")

    def start(self, folder, environment, *words):
        log = open(f"{folder}/{words[0]}.log", "w", encoding="utf-8")
        self.children.append(subprocess.Popen(words, cwd=folder, env=environment, stdout=log, stderr=log))

    def end(self):
        for child in reversed(self.children):
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()


def wait(condition, what):
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"guides: {what} did not come")
        time.sleep(0.05)


def play(guide, programs):
    text = installed(guide.read_text(encoding="utf-8"))
    folder = tempfile.mkdtemp(prefix="guide-")
    environment = dict(
        os.environ, PATH=f"{programs}:{os.environ['PATH']}", BALLAST_SOCKET=f"{folder}/control.sock",
        PLANT=f"{folder}/plant.sock", SWIFT_BACKTRACE="enable=no", LC_ALL="C.UTF-8")
    site = None if "<!-- site: none -->" in text else Site(folder, environment)
    steps = blocks(text)
    script = "set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n" + "".join(
        f"printf '\\n@@{number}@@\\n'\n{body}" for number, (body, _) in enumerate(steps))
    try:
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
        output = done.stdout + done.stderr
        said = re.split(r"^@@\d+@@\n", done.stdout, flags=re.M)[1:]
        failure = None
        if done.returncode:
            failure = f"block {len(said)} ended with {done.returncode}:\n{steps[len(said) - 1][0]}\n{output[-3000:]}"
        for number, (body, lines) in enumerate(steps):
            rest = said[number] if number < len(said) else ""
            for line in lines if not failure else []:
                before, there, rest = rest.partition(line)
                if not there:
                    failure = f"block {number + 1} does not say {line!r}:\n{body}\n{output[-3000:]}"
                    break
    except subprocess.TimeoutExpired as late:
        failure = f"not done within {PATIENCE_S} s: {(late.stdout or b'')[-2000:]}"
    finally:
        if site:
            site.end()
    if failure:
        print(f"FAIL  {guide.name}: {failure}\n      logs in {folder}")
        return False
    shutil.rmtree(folder, ignore_errors=True)
    print(f"pass  {guide.name}: {len(steps)} blocks, {sum(len(lines) for _, lines in steps)} lines held to their word")
    return True


def main():
    programs, guides = os.path.abspath(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    results = [play(guide, programs) for guide in guides]
    sys.exit(0 if all(results) and results else 1)


main()
