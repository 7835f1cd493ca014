"""The control centre's program as installed: its own user, through the door, hears the site's status and brings a setpoint; the
inverter has it, silence ends it, and the unit is exposed no more than is stated."""
import json
import socket
import struct
import time

PROFILE = "virtual"
SITE = "control_centre: {charge_max_kw: 15, discharge_max_kw: 15, longest_s: 60}\n"
SCADA = """listen: {address: 127.0.0.1, port: 2404}
control_socket: /run/ballast/control.sock
status_file: /run/ballast-scada/status.json
redundancy_groups: [{name: main, commands: true, masters: [{address: 127.0.0.1}]}]
commanding: {validity_s: 5}
common_address: 47
points:
  - {address: 1001, type: float, source: power_kw}
  - {address: 1002, type: single, source: in_service, deadband: 0}
commands:
  - {address: 5001, type: setpoint_float, action: agc_setpoint}
  - {address: 5002, type: single, action: agc_enable}
"""


class Master:
    """A control centre on a bare socket: it starts the link, and each command is waited for."""

    def __init__(self, port=2404):
        self.line = socket.create_connection(("127.0.0.1", port), 10)
        self.sent = self.seen = 0
        self.line.sendall(b"\x68\x04\x07\x00\x00\x00")
        self.until(lambda frame: frame[:1] == b"\x0b")

    def frame(self):
        head = self.line.recv(2, socket.MSG_WAITALL)
        body = self.line.recv(head[1], socket.MSG_WAITALL)
        if not body[0] & 1:
            self.seen += 1
            self.line.sendall(b"\x68\x04\x01\x00" + struct.pack("<H", self.seen << 1))
        if body[:1] == b"\x43":
            self.line.sendall(b"\x68\x04\x83\x00\x00\x00")
        return body

    def until(self, fits):
        while not fits(body := self.frame()):
            pass
        return body

    def command(self, kind, address, value):
        """Whether it is confirmed."""
        asdu = bytes([kind, 1, 6, 0]) + struct.pack("<H", 47) + struct.pack("<I", address)[:3] + value
        body = struct.pack("<HH", self.sent << 1, self.seen << 1) + asdu
        self.sent += 1
        self.line.sendall(b"\x68" + bytes([len(body)]) + body)
        answer = self.until(lambda body: not body[0] & 1 and body[4] == kind and body[6] & 0x3F == 7)
        return not answer[6] & 0x40

    def enable(self):
        return self.command(45, 5002, b"\x01")

    def ask(self, kilowatts):
        return self.command(50, 5001, struct.pack("<f", kilowatts) + b"\x00")


def shown(rig):
    try:
        return json.loads(rig.sh("cat /run/ballast-scada/status.json", may_fail=True))
    except ValueError:
        return {}


def run(rig):
    with open("/etc/ballast/site.yaml", "a", encoding="utf-8") as file:
        file.write(SITE)
    with open("/etc/ballast/scada.yaml", "w", encoding="utf-8") as file:
        file.write(SCADA)
    rig.sh("chgrp ballast /etc/ballast/scada.yaml; chmod 640 /etc/ballast/scada.yaml")
    rig.start_site()
    rig.sh("systemctl start ballast-scada")
    rig.until(lambda: shown(rig).get("controller_heard"), "the station hears the controller")
    rig.check(rig.sh(f"stat -c %U /proc/{rig.pid('ballast-scada')}") == "ballast-scada", "it runs as its own user")
    score = float(rig.sh("systemd-analyze security --no-pager ballast-scada | tail -1").split(": ")[1].split()[0])
    rig.check(score <= 1.1, "it is exposed at most 1.1", score)
    master = Master()
    rig.check(not master.ask(10), "no setpoint before they are enabled")
    rig.check(master.enable() and master.ask(10), "a setpoint is confirmed")
    rig.until_power(10, within=20)
    rig.check(not master.ask(15.5), "one beyond the site's bound is not")
    _, took = rig.until(lambda: rig.status()["base_point_by"] != "agc", "silence ends it", 20)
    rig.check(True, "silence ends it", f"after {took:.1f} s")
    # The controller goes and comes again: so does what the station shows.
    old = rig.pid()
    rig.sh("systemctl kill -s KILL ballastd")
    rig.until_restarted(old)
    begin = time.time()
    # What it shows is written each second; one of after the kill counts.
    rig.until(lambda: shown(rig).get("controller_heard") and shown(rig)["at"] > time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begin + 3)),
              "the station hears it again")
    said = rig.sh("journalctl -b -q -o cat -p warning -u ballast-scada -u ballast-door", may_fail=True)
    rig.check("tells nothing" not in said, "nobody refused it the status", said[-300:])
