"""Builds the guest, installs the packages in it, and runs scenarios against the installed service.

    hil/vm build [PROFILE...]          the image and a machine with the packages installed, cached under .rig/
    hil/vm run [SCENARIO...]           some scenarios; without a name the short set of CI
    hil/vm run --all                   every one but those that take very long
    hil/vm run FILE.yaml...            scenarios of hil/scenarios, played against the installed service
    hil/vm list                        what there is, and why
    hil/vm shell [real|virtual]        a restored machine; commands from standard input

    --packages DIR   where the .deb files are  (default: hil/out/packages, made by hil/package)
    --seconds N      how long 'soak' lasts, in the site's time  (default: 600)

Each scenario gets a fresh machine. Its journal, console and black boxes are left under hil/out/vm/SCENARIO; the table of
results in hil/out/vm/results.txt, the same as JUnit XML in hil/out/vm/results.xml.
"""
import argparse
import ast
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import image
from machine import Machine, RigError

HERE = pathlib.Path(__file__).resolve().parent
OUT = image.ROOT / "hil/out/vm"
MOUNT = "mkdir -p /rig && mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none rig /rig"
# For one scenario, with all its boots.
LIMIT = 900
started = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - started:5.0f} s] {text}", flush=True)


class Scenario:
    """A file in scenarios/: its docstring says why it exists."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.why = " ".join((ast.get_docstring(tree) or "").split())
        values = {node.targets[0].id: node.value for node in tree.body
                  if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
        self.profile = ast.literal_eval(values["PROFILE"])
        self.is_short = "SHORT" in values and ast.literal_eval(values["SHORT"])
        # By its name alone.
        self.is_long = "LONG" in values and ast.literal_eval(values["LONG"])


class Played:
    """A file of hil/scenarios: `ballast-sim run` plays and judges it in the guest."""

    profile = "virtual"
    is_short = False

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        if not self.path.is_relative_to(image.ROOT / "hil"):
            raise RigError(f"{path} does not lie under hil/, which is what the guest gets to see")
        self.name = self.path.stem


def scenarios():
    return [Scenario(path) for path in sorted((HERE / "scenarios").glob("*.py"))]


# Snapshots

def packages(folder):
    found = {name: sorted(folder.glob(f"{name}_*.deb")) for name in ("ballast", "ballast-aggregator")}
    for name, files in found.items():
        if len(files) != 1:
            raise RigError(f"{folder} holds {len(files)} packages {name}_*.deb, not one: run hil/package first")
    return [files[0] for files in found.values()]


def fill_share(share, debs):
    shutil.rmtree(share, ignore_errors=True)
    (share / "packages").mkdir(parents=True)
    (share / "out").mkdir()
    for deb in debs:
        shutil.copy(deb, share / "packages")
    shutil.copytree(HERE / "guest", share / "guest", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(HERE / "scenarios", share / "scenarios", ignore=shutil.ignore_patterns("__pycache__"))
    # What `ballast-sim run` plays.
    for name in ("scenarios", "profiles"):
        shutil.copytree(image.ROOT / "hil" / name, share / "hil" / name)


def snapshot(base, profile, debs):
    """The folder of the machine with the packages installed; boots and installs where it is not there yet."""
    digest = hashlib.sha256()
    for path in [*debs, HERE / "guest/install.sh", HERE / "guest/site.yaml", HERE / "machine.py"]:
        digest.update(path.read_bytes())
    folder = base / f"{profile}-{digest.hexdigest()[:16]}"
    if (folder / "complete").exists():
        return folder
    for other in base.glob(f"{profile}-*"):
        shutil.rmtree(other, ignore_errors=True)
    folder.mkdir()
    say(f"booting and installing, {profile} time")
    install(base, folder, profile, debs)
    (folder / "complete").touch()
    return folder


def copy_disk(source, target):
    subprocess.run(["cp", "--sparse=always", "--reflink=auto", source, target], check=True)


def install(base, folder, profile, debs):
    disk = folder / "disk"
    copy_disk(base / "root.ext4", disk)
    share = folder / "share"
    fill_share(share, debs)
    machine = Machine(base, profile, disk, folder / "make", share)
    try:
        machine.wait_ready()
        status, said = machine.run(f"date -s @{time.time():.0f} >/dev/null; {MOUNT} && sh /rig/guest/install.sh")
        (folder / "install.log").write_text(said + "\n")
        if status != 0:
            raise RigError(f"the packages cannot be installed in the guest:\n{said[-1500:]}")
        # Programs are in memory when a scenario begins: a wait for the disk would cost virtual time.
        machine.run("umount /rig; sync; cat /usr/bin/ballast* /usr/bin/*ctl /sbin/tc /sbin/ip /usr/lib/x86_64-linux-gnu/*.so* "
                    ">/dev/null; python3 -c 'import json, socket, subprocess'")
        machine.save(folder / "memory")
    finally:
        machine.cut_power()


# One scenario

class Run:
    """One scenario on one machine, with what it checked."""

    def __init__(self, scenario, base, debs, seconds):
        self.scenario = scenario
        self.soak_seconds = seconds
        self.base = base
        self.debs = debs
        self.folder = OUT / scenario.name
        self.checks = []
        self.seconds = 0.0
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.share = self.folder / "share"
        fill_share(self.share, debs)
        self.disk = self.folder / "disk"
        installed = snapshot(base, scenario.profile, debs)
        copy_disk(installed / "disk", self.disk)
        self.state = installed / "memory"

    @property
    def is_passed(self):
        return bool(self.checks) and all(check["met"] for check in self.checks)

    def fail(self, what):
        self.checks.append({"what": what, "met": False, "seen": None})

    def start(self, state=None):
        return Machine(self.base, self.scenario.profile, self.disk, self.folder / "machine", self.share, state)

    def carry_out(self):
        begin = time.monotonic()
        machine = None
        try:
            machine = self.start(self.state)
            if self.part(machine, "run", machine.resume):
                machine.cut_power()
                machine = self.start()
                machine.wait_ready()
                self.part(machine, "after")
            self.bring_back(machine)
        except RigError as error:
            self.fail(f"the rig: {error}")
        finally:
            if machine:
                machine.cut_power()
            self.disk.unlink(missing_ok=True)
            self.seconds = time.monotonic() - begin

    def what(self):
        """How the guest knows the scenario."""
        if isinstance(self.scenario, Played):
            return "/rig/" + str(self.scenario.path.relative_to(image.ROOT))
        return self.scenario.name

    def part(self, machine, part, begin=None):
        """Runs one part of the scenario in the guest.

        :return: whether the machine went off, so that it must be started again.
        """
        command = (f"date -s @{time.time():.0f} >/dev/null; {MOUNT} && cd / && PYTHONDONTWRITEBYTECODE=1 "
                   f"python3 -u /rig/guest/rig.py {self.what()} {part} {self.scenario.profile} {self.soak_seconds}")
        machine.send(command)
        if begin:
            begin()
        with open(self.folder / "said.txt", "a", encoding="utf-8", buffering=1) as file:
            while (line := machine.line(LIMIT)) is not None:
                file.write(line + "\n")
                if line.startswith("@@CHECK "):
                    self.checks.append(json.loads(line[8:]))
                elif line.startswith("@@HOST "):
                    if self.act(machine, line[7:]):
                        return True
                elif line.startswith("@@END "):
                    return False
        raise RigError("the guest ended by itself: " + machine.console())

    def act(self, machine, action):
        """Does something to the machine from outside; whether it is off afterwards."""
        words = action.split()
        if words[0] == "plug-serial":
            machine.ask("chardev-add", id=words[1], backend={"type": "pty", "data": {}})
            # Otherwise it is plugged in only once somebody has the far end open.
            machine.ask("device_add", **{"driver": "usb-serial", "id": words[1], "chardev": words[1], "serial": words[1],
                                         "bus": "usb.0", "always-plugged": True})
        elif words[0] == "power-cut":
            machine.cut_power()
            return True
        elif words[0] == "wait-off":
            machine.answer("done")
            machine.wait_end(300)
            return True
        else:
            machine.answer(f"unknown action {action}")
            return False
        machine.answer("done")
        return False

    def bring_back(self, machine):
        """Journal, records and states, for whoever looks into it."""
        machine.run("journalctl --sync; journalctl -q --no-hostname -o short-precise > /rig/out/journal.txt; "
                    "journalctl -q -o json -u 'ballast*' > /rig/out/journal.json; "
                    "cp -r /var/lib/ballast /rig/out/state 2>/dev/null; "
                    "systemctl status --no-pager 'ballast*' > /rig/out/status.txt 2>&1; true")
        for path in (self.share / "out").iterdir():
            shutil.move(path, self.folder / path.name)
        shutil.rmtree(self.share, ignore_errors=True)


# Results

def write_results(runs):
    width = max(len(run.scenario.name) for run in runs)
    lines = []
    for run in runs:
        failed = [check["what"] for check in run.checks if not check["met"]] or ([] if run.checks else ["nothing was checked"])
        lines.append(f"{'pass' if run.is_passed else 'FAIL'}  {run.scenario.name:<{width}}  {run.scenario.profile:<7}  "
                     f"{run.seconds:5.0f} s  {len(run.checks):2} checks" + "".join(f"\n      - {what}" for what in failed))
    passed = sum(run.is_passed for run in runs)
    lines.append(f"{passed} passed, {len(runs) - passed} failed, in {time.monotonic() - started:.0f} s")
    text = "\n".join(lines) + "\n"
    (OUT / "results.txt").write_text(text)
    suite = xml.Element("testsuite", name="hil/vm", tests=str(sum(len(run.checks) for run in runs)),
                        failures=str(sum(not check["met"] for run in runs for check in run.checks)))
    for run in runs:
        for check in run.checks:
            case = xml.SubElement(suite, "testcase", classname=run.scenario.name, name=check["what"][:300],
                                  time=f"{run.seconds:.1f}")
            if not check["met"]:
                xml.SubElement(case, "failure", message=check["what"]).text = str(check["seen"])
            elif check["seen"] is not None:
                xml.SubElement(case, "system-out").text = str(check["seen"])
    xml.ElementTree(suite).write(OUT / "results.xml", encoding="utf-8", xml_declaration=True)
    return text, passed == len(runs)


def chosen(arguments):
    every = scenarios()
    files = [name for name in arguments.scenario if name.endswith(".yaml")]
    names = set(arguments.scenario) - set(files)
    unknown = names - {one.name for one in every}
    if unknown:
        raise RigError(f"no scenario {', '.join(sorted(unknown))}: hil/vm list shows what there is")
    if arguments.scenario:
        return [one for one in every if one.name in names] + [Played(name) for name in files]
    short = [one for one in every if one.is_short]
    return short + [one for one in every if not one.is_short and not one.is_long] if arguments.all else short


def run(arguments):
    base = image.build(say)
    debs = packages(arguments.packages)
    wanted = chosen(arguments)
    OUT.mkdir(parents=True, exist_ok=True)
    runs = []
    for scenario in wanted:
        one = Run(scenario, base, debs, arguments.seconds)
        one.carry_out()
        runs.append(one)
        say(f"{'pass' if one.is_passed else 'FAIL'} {scenario.name} ({one.seconds:.0f} s)")
        for check in one.checks:
            seen = f"  [{check['seen']}]" if check["seen"] is not None else ""
            print(f"          {'pass' if check['met'] else 'FAIL'}  {check['what']}{seen}", flush=True)
    text, is_passed = write_results(runs)
    print("\n" + text, end="")
    return 0 if is_passed else 1


def shell(arguments):
    base = image.build(say)
    debs = packages(arguments.packages)
    profile = (arguments.scenario or ["virtual"])[0]
    installed = snapshot(base, profile, debs)
    folder = OUT / "shell"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fill_share(folder / "share", debs)
    copy_disk(installed / "disk", folder / "disk")
    machine = Machine(base, profile, folder / "disk", folder / "machine", folder / "share", installed / "memory")
    machine.run(f"date -s @{time.time():.0f} >/dev/null; {MOUNT}", begin=machine.resume)
    for line in sys.stdin:
        status, said = machine.run(line.strip() or "true")
        print(said + (f"\n[{status}]" if status else ""), flush=True)
    machine.cut_power()
    return 0


def main():
    parser = argparse.ArgumentParser(prog="hil/vm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "run", "list", "shell"])
    parser.add_argument("scenario", nargs="*")
    parser.add_argument("--all", action="store_true", help="every scenario, not the short set")
    parser.add_argument("--packages", type=pathlib.Path, default=image.ROOT / "hil/out/packages")
    parser.add_argument("--seconds", type=int, default=600)
    arguments = parser.parse_intermixed_args()
    # Who ends us ends the machine as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        match arguments.command:
            case "list":
                for one in scenarios():
                    print(f"{one.name}{' (short set)' if one.is_short else ' (by name alone)' if one.is_long else ''}, {one.profile} time\n    {one.why}")
                return 0
            case "build":
                base = image.build(say)
                for profile in arguments.scenario or ["virtual"]:
                    snapshot(base, profile, packages(arguments.packages))
                say(f"ready: {base}")
                return 0
            case "shell":
                return shell(arguments)
            case _:
                return run(arguments)
    except (RigError, image.BuildError) as error:
        print(f"hil/vm: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
