"""What a scenario uses in the guest: the site and its simulator, conditions with a limit, and checks that are counted.

A scenario is a file in `scenarios/` with a docstring (why it exists), PROFILE ("real" or "virtual") and the function
`run(rig)`; where the machine goes off in it, `after(rig)` is what follows once it is up again.
"""
import json
import os
import re
import socket
import subprocess
import sys
import time

SIMULATOR_SOCKET = "/run/ballast-sim.sock"
CONTROL_SOCKET = "/run/ballast/control.sock"
UNIT = "BESS_01"
# At 49.5 Hz: 0.47 Hz below the deadband, 5 % of 50 Hz is 100 kW.
DROOP_POWER = 18.8


class Failed(Exception):
    """A condition that the scenario cannot go on without."""


def asked(path, line):
    """One line to a socket, one JSON line back; nothing where nobody answers."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(20)
            connection.connect(path)
            connection.sendall(line.encode() + b"\n")
            text = b""
            while not text.endswith(b"\n"):
                data = connection.recv(65536)
                if not data:
                    return None
                text += data
            return json.loads(text)
    except OSError:
        return None


def is_up(interface):
    with open(f"/sys/class/net/{interface}/flags", encoding="ascii") as file:
        return int(file.read(), 16) & 1


class Rig:
    def __init__(self, is_virtual, seconds=600):
        self.is_virtual = is_virtual
        self.seconds = seconds
        self.began = time.monotonic()
        self.failures = 0

    # What is told to the host

    def say(self, text):
        print(f"  {time.monotonic() - self.began:7.2f} s  {text}", flush=True)

    def check(self, is_met, what, seen=None):
        """One line of the verdict. A check that fails does not end the scenario."""
        self.failures += not is_met
        print("@@CHECK " + json.dumps({"what": what, "met": bool(is_met), "seen": seen}), flush=True)

    def host(self, action):
        """Something that is done to the machine from outside: "plug-serial RIG-485"."""
        print("@@HOST " + action, flush=True)
        answer = sys.stdin.readline().strip()
        if answer != "done":
            raise Failed(f"the host could not {action}: {answer}")

    # Commands

    def sh(self, command, may_fail=False, limit=120):
        result = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, timeout=limit)
        if result.returncode != 0 and not may_fail:
            raise Failed(f"{command} ended with {result.returncode}: {result.stdout.strip()[-400:]}")
        return result.stdout.strip()

    def until(self, condition, what, within=60, every=None):
        """Waits for a condition; what it gives, and the seconds that it took. The limit is generous, never a verdict.

        :param every: seconds between two looks; without it more and more, since a look by systemctl costs more than the site.
        """
        start = time.monotonic()
        # Also tells the host that the guest lives: a minute of its time may be many of the host's.
        self.say(f"waiting until {what}")
        while True:
            value = condition()
            if value:
                return value, time.monotonic() - start
            if time.monotonic() - start > within:
                raise Failed(f"not within {within} s: {what}")
            time.sleep(every or min(0.5, 0.05 + 0.1 * (time.monotonic() - start)))

    # The site

    def start_simulator(self, peer="can0=can1", site="/etc/ballast/site.yaml", more="", properties=""):
        """The plant of a site. Its frames take their time on the wire: QEMU's bus has no bit rate of its own."""
        for name in peer.split("="):
            # After a boot they come up by themselves, a little later than we do; in a namespace they are not ours to wait for.
            if os.path.exists(f"/sys/class/net/{name}"):
                self.until(lambda: is_up(name), f"{name} is up")
            self.sh(f"tc qdisc replace dev {name} root netem rate 100kbit limit 100", may_fail=True)
        self.sh("systemctl stop ballast-sim; systemctl reset-failed ballast-sim", may_fail=True)
        self.sh(f"systemd-run -q --unit=ballast-sim --collect {properties} "
                f"ballast-sim plant --site {site} --can-peer {peer} --control {SIMULATOR_SOCKET} --start {more}")
        self.until(self.plant, "the simulated plant answers")

    def start_site(self):
        """Brings up both interfaces, the plant and the installed service, and waits until it runs."""
        self.sh("systemctl start ballast-can@can0 ballast-can@can1")
        self.start_simulator()
        self.sh("systemctl start ballast.target")
        self.until_mode("running")

    def plant(self):
        """The simulated plant as it is, or nothing while it does not answer."""
        return asked(SIMULATOR_SOCKET, "truth")

    def simulate(self, command):
        answer = asked(SIMULATOR_SOCKET, command)
        if not answer or "error" in answer:
            raise Failed(f"the simulator refuses {command}: {answer}")

    def status(self):
        """What the controller says of itself, or nothing while nobody answers."""
        answer = asked(CONTROL_SOCKET, '{"command":"status"}')
        return answer and answer.get("status")

    def unit(self, unit=UNIT):
        status = self.status()
        return next((one for one in status["units"] if one["id"] == unit), None) if status else None

    def link(self, part):
        """The counters of the first link whose name contains `part`."""
        status = self.status()
        return next((one["counters"] for one in status["links"] if part in one["name"]), None) if status else None

    def until_mode(self, *modes, within=60, unit=UNIT):
        def there():
            seen = self.unit(unit)
            return seen if seen and seen["mode"] in modes else None
        return self.until(there, f"{unit} is {' or '.join(modes)}; it is {(self.unit(unit) or {}).get('mode')}", within,
                          every=0.02)

    def plant_unit(self, index=0):
        plant = self.plant()
        return plant["units"][index] if plant else None

    def until_power(self, kilowatts, within=60, tolerance=0.5, index=0):
        """Waits until the plant itself delivers a power."""
        def there():
            unit = self.plant_unit(index)
            return unit if unit and abs(unit["power_w"] / 1000 - kilowatts) <= tolerance else None
        seen = (self.plant_unit(index) or {}).get("power_w")
        return self.until(there, f"the plant delivers {kilowatts} kW (it began at {seen} W)", within, every=0.01)

    def first_trip(self):
        """When the unit's first trip came, as it is kept: one that a restart makes anew of the same cause has another time."""
        found = re.search(r"first .*(\d{4}-\d\d-\d\dT[0-9:.]+Z)", self.sh("ballastctl trips"))
        return found and found[1]

    def reset(self, reason, within=60, unit=UNIT):
        """An operator's reset, repeated until the controller has seen that the causes are gone."""
        def is_reset():
            said = self.sh(f"ballastctl reset {unit} --reason '{reason}' && echo ok", may_fail=True)
            # One that has been reset a moment ago is refused: there is nothing left to reset.
            return said[-2:] == "ok" or (self.unit(unit) or {}).get("mode") not in (None, "tripped")
        return self.until(is_reset, f"{unit} is reset", within, every=0.5)

    def until_running_again(self, reason):
        """A long loss trips the unit; a trip, a crash and a restart that nobody planned are a person's to end."""
        unit, _ = self.until_mode("running", "standby", "tripped")
        if unit["mode"] == "tripped":
            self.reset(reason)
        # The site's word for what a restart holds, the unit's for what a trip does.
        for name in ("", UNIT):
            self.sh(f"ballastctl resume {name} --reason '{reason}'", may_fail=True)
        return self.until_mode("running")

    def discharge(self):
        """A frequency that asks for power, until the plant delivers it: 0.47 Hz beyond the deadband, droop 5 %."""
        self.simulate("frequency 49.5")
        return self.until_power(DROOP_POWER)

    # The machine

    def unplug_can(self, number):
        """Takes adapter 0 or 1 away, as the bus does it: the driver loses its device."""
        self.sh(f"echo 1 >/sys/bus/pci/devices/0000:00:1{number}.0/remove")

    def plug_can(self):
        """Brings back what was taken away."""
        self.sh("echo 1 >/sys/bus/pci/rescan; udevadm settle")

    def power_cut(self):
        """What comes after is the scenario's `after`."""
        print("@@HOST power-cut", flush=True)
        time.sleep(3600)

    def reboot(self, command="systemctl reboot"):
        print("@@HOST wait-off", flush=True)
        sys.stdin.readline()
        subprocess.run(["bash", "-c", command], check=False)
        time.sleep(3600)

    # systemd and the journal

    def show(self, name, unit="ballastd"):
        return self.sh(f"systemctl show -P {name} {unit}")

    def pid(self, unit="ballastd"):
        return int(self.show("MainPID", unit))

    def until_restarted(self, old, within=60):
        return self.until(lambda: self.pid() not in (0, old) and self.show("ActiveState") == "active" and self.pid(),
                          "ballastd is up again", within, every=0.02)

    def events(self, event=None, more=""):
        """The journal's entries of ballastd, the oldest first."""
        match = f"BALLAST_EVENT={event}" if event else ""
        text = self.sh(f"journalctl --sync; journalctl -b -q -o json {match} {more} -u ballastd", may_fail=True)
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def play(rig, path):
    """A file of hil/scenarios, by the runner that also plays it elsewhere; its verdicts are ours."""
    rig.start_site()
    out = "/tmp/played"
    text = rig.sh(f"mkdir -p {out}; ballast-sim run {path} --tier rig --can-peer can0=can1 --records {out}/records "
                  f"--json {out}/result.json --plot {out}/plot.svg >{out}/table.txt 2>&1; echo ended with $? >>{out}/table.txt; "
                  f"cat {out}/table.txt; cp -r {out}/. /rig/out/", limit=1800)
    print(text, flush=True)
    try:
        with open(f"{out}/result.json", encoding="utf-8") as file:
            result = json.load(file)
    except (OSError, ValueError):
        raise Failed(f"{path} has no result: {text[-400:]}") from None
    for outcome in result:
        said = [(f"{one['what']}, {one.get('bound')}", one.get("measured_s"), one) for one in outcome["expectations"]]
        said += [(f"{one['id']} {one['title']}", one.get("because"), one) for one in outcome["invariants"]]
        for what, seen, one in said:
            # What nobody can tell in this tier stands in the table alone.
            if one["verdict"] != "not_judged":
                rig.check(one["verdict"] == "passed", what, seen)
        rig.check(outcome["passed"], f"{os.path.basename(path)} as a whole", outcome.get("problem"))


def main():
    name, part, profile, seconds = (sys.argv[1:] + ["600"])[:4]
    sys.path.insert(0, "/rig/scenarios")
    os.chdir("/")
    rig = Rig(profile == "virtual", int(seconds))
    try:
        if name.endswith(".yaml"):
            play(rig, name)
        else:
            getattr(__import__(name), part)(rig)
    except Failed as failure:
        rig.check(False, str(failure))
    except Exception as failure:  # What went wrong is the scenario's result, whatever it is.
        rig.check(False, f"{type(failure).__name__}: {failure}")
    if rig.failures:
        print(rig.sh("journalctl --sync; journalctl -q -b -n 40 -o short-monotonic -u 'ballast*'", may_fail=True), flush=True)
    return 1 if rig.failures else 0


if __name__ == "__main__":
    sys.exit(main())
