"""A control centre's conversation with the real ballast-scada as Wireshark's dissector reads it; see hil/dissect.

    dissect.py PROGRAMS FOLDER [FILE]     FILE keeps the result in its section "hil/dissect"

c104 (lib60870) and a bare socket talk to the station through a relay that keeps each octet; the capture is made of those, tshark reads it.
What is judged: no frame of the station is malformed; each refusal is one with the cause it must have; counters, their quality and the
number of their freezing are those that the master was given.
"""
import collections
import datetime
import json
import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

import c104

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../demo.d"))
import layers

SCADA = """
listen: {{address: 127.0.0.1, port: {port}}}
control_socket: {folder}/control
redundancy_groups: [{{name: main, commands: true, masters: [{{address: 127.0.0.1}}]}}]
commanding: {{validity_s: 20}}
common_address: 47
points:
  - {{address: 1001, type: float, source: power_kw, scale: 0.001, deadband: 0.1, cycle_s: 2, group: 1}}
  - {{address: 1002, type: float, source: agc_accepted_kw, scale: 0.001, deadband: 0}}
  - {{address: 1003, type: single, source: in_service, deadband: 0, group: 2}}
  - {{address: 1004, type: double, source: agc_enabled, deadband: 0}}
  - {{address: 1005, type: scaled, source: soc_percent, scale: 100}}
  - {{address: 1006, type: normalised, source: setpoint_kw, scale: 200, deadband: 0.1}}
  - {{address: 1007, type: scaled, source: heartbeat, cycle_s: 1}}
  - {{address: 1011, type: counter, source: export_wh, deadband: 10, group: 1}}
  - {{address: 1012, type: counter, source: unit_export_wh, unit: {unit}, scale: 0.001, group: 2}}
commands:
  - {{address: 5001, type: setpoint_float, action: agc_setpoint, scale: 1000}}
  - {{address: 5002, type: single, action: agc_enable, select: true, termination: true}}
"""
FAILED = []


def check(fits, text):
    print(f"  {'well' if fits else 'NOT WELL'}: {text}", flush=True)
    if not fits:
        FAILED.append(text)


class Relay:
    """Between a master and the station; what each side says is kept, APDU by APDU, as it passes."""

    def __init__(self, port):
        self.port, self.frames, self.lock = port, [], threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.count = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.port))
            self.count += 1
            for source, sink, isStation in ((near, far, False), (far, near, True)):
                threading.Thread(target=self.carry, args=(source, sink, isStation, self.count), daemon=True).start()

    def carry(self, source, sink, isStation, link):
        rest = b""
        try:
            while part := source.recv(65536):
                rest += part
                while len(rest) >= 2 and len(rest) >= 2 + rest[1]:
                    with self.lock:
                        self.frames.append((time.time(), link, isStation, rest[:2 + rest[1]]))
                    rest = rest[2 + rest[1]:]
                sink.sendall(part)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def capture(self, path):
        """As a capture of IPv4 packets, one frame each."""
        sent = collections.Counter()
        with self.lock, open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
            for at, link, isStation, frame in self.frames:
                ends = [(2404, 40000 + link), (bytes([127, 0, 0, 1]), bytes([127, 0, 0, 2]))]
                (source, target), (near, far) = ends if isStation else [pair[::-1] for pair in ends]
                number, other = sent[link, isStation] + 1, sent[link, not isStation] + 1
                sent[link, isStation] += len(frame)
                tcp = struct.pack(">HHIIBBHHH", source, target, number, other, 0x50, 0x18, 65535, 0, 0)
                ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(frame), 0, 0, 64, 6, 0, near, far)
                packet = ip + tcp + frame
                out.write(struct.pack("<IIII", int(at), int(at % 1 * 1e6), len(packet), len(packet)) + packet)


class Bare:
    """A master of plain octets, for what lib60870 will not send."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.sent = 0
        self.socket.sendall(bytes.fromhex("680407000000"))

    def say(self, asdu):
        body = bytes.fromhex(asdu.replace(" ", ""))
        self.socket.sendall(bytes([0x68, 4 + len(body)]) + struct.pack("<HH", self.sent << 1, 0) + body)
        self.sent += 1


def talk(fleet, site, relay):
    client = c104.Client(tick_rate_ms=50, command_timeout_ms=3000)
    connection = client.add_connection(ip="127.0.0.1", port=relay.listener.getsockname()[1], init=c104.Init.NONE)
    station = connection.add_station(common_address=47)
    counters = [station.add_point(io_address=address, type=c104.Type.M_IT_NA_1) for address in (1011, 1012)]
    setpoint = station.add_point(io_address=5001, type=c104.Type.C_SE_NC_1)
    enable = station.add_point(io_address=5002, type=c104.Type.C_SC_NA_1)
    enable.command_mode = c104.CommandMode.SELECT_AND_EXECUTE
    unknown = station.add_point(io_address=70000, type=c104.Type.C_SE_NC_1)
    client.start()
    connection.connect()
    fleet.wait(lambda: connection.state == c104.ConnectionState.OPEN or (connection.state == c104.ConnectionState.OPEN_MUTED and
                                                                       connection.unmute()), "c104's link", 30)

    def give(point, value):
        point.value = value
        return point.transmit(cause=c104.Cot.ACTIVATION)

    def eventually(what, done):
        check(fleet.wait(done, what, 20), what)

    eventually("the whole station is told", lambda: connection.interrogation(common_address=47))
    eventually("a setpoint before it is enabled is refused", lambda: not give(setpoint, 0.02))
    eventually("enabled by select before operate", lambda: give(enable, True))
    eventually("a setpoint is taken", lambda: give(setpoint, 0.05))
    eventually("one beyond the site's bound is refused", lambda: not give(setpoint, 0.5))
    eventually("a point that is not there is refused", lambda: not give(unknown, 0.01))
    check(not connection.clock_sync(common_address=47), "the clock is refused")
    check(not connection.interrogation(common_address=48), "another station is refused")
    eventually("50 kW flow", lambda: abs(fleet.power([site]) - 50_000) < 1_000)
    frz = c104.Frz
    told = []
    for freeze in [frz.FREEZE_WITHOUT_RESET, frz.FREEZE_WITH_RESET, frz.FREEZE_WITH_RESET, frz.COUNTER_RESET]:
        time.sleep(1.5)
        eventually(f"{freeze.name}", lambda: connection.counter_interrogation(common_address=47, freeze=freeze))
        eventually("the counters are read", lambda: connection.counter_interrogation(common_address=47))
        told.append([int(point.value) for point in counters])
    client.stop()
    bare = Bare(relay.listener.getsockname()[1])
    # Test bit, P/N, SQ, NaN, a type that is not spoken, a cause that is none, no such counter group, the process reset, a read.
    for asdu in ["32 01 86 09 2f00 891300 0000003d 00", "32 01 46 09 2f00 891300 0000003d 00", "32 81 06 09 2f00 891300 0000003d 00",
                 "32 01 06 09 2f00 891300 0000c07f 00", "2f 01 06 09 2f00 891300 01", "64 01 03 00 2f00 000000 14",
                 "65 01 06 00 2f00 000000 06", "69 01 06 00 2f00 000000 01", "66 01 05 00 2f00 e90300", "66 01 05 00 2f00 f10300"]:
        bare.say(asdu)
    eventually("each is answered", lambda: sum(link == relay.count and isStation and frame[2] & 1 == 0 and frame[8] & 0x3F not in (1, 3)
                                             for _, link, isStation, frame in relay.frames) >= 10)
    return told


def layersOf(capture):
    text = subprocess.run(["tshark", "-r", capture, "-T", "json", "--no-duplicate-keys"], check=True, capture_output=True).stdout
    return [packet["_source"]["layers"] for packet in json.loads(text)]


def flat(node, found):
    """Every field and what it says, in their order."""
    for key, value in node.items() if isinstance(node, dict) else [(None, item) for item in node]:
        if isinstance(value, (dict, list)):
            flat(value, found)
        elif key:
            found.append((key.rsplit(".", 1)[-1] if not key.startswith("_ws") else key, value))
    return found


REFUSED = {44: "unknown type", 45: "unknown cause", 46: "unknown station", 47: "unknown object", 7: "activation", 9: "deactivation"}


def judge(relay, capture, told):
    read = layersOf(capture)
    check(len(read) == len(relay.frames), f"{len(read)} frames are read, {sum(one[2] for one in relay.frames)} of the station's")
    kinds, bad, frozen = collections.Counter(), [], []
    for (_, _, isStation, octets), layer in zip(relay.frames, read):
        if not isStation:
            continue
        text = json.dumps(layer)
        if "iec60870_104" not in layer or "_ws.malformed" in text or "_ws.expert" in text and "Malformed" in text:
            bad.append(octets.hex())
        asdu = layer.get("iec60870_asdu")
        if not isinstance(asdu, dict):
            continue
        fields = flat(asdu, [])
        said = dict(fields)
        cause, negative = int(said["causetx"]), said["nega"] in ("1", "True", True)
        kinds[int(said["typeid"]), cause, negative] += 1
        if int(said["typeid"]) == 15:
            values = [int(value) for key, value in fields if key == "count"]
            numbers = [int(value) for key, value in fields if key == "sq"][-len(values):]
            states = [[value for key, value in fields if key == name][-len(values):] for name in ("ca", "iv")]
            frozen.append((values, numbers, states))
    check(not bad, f"none of the station's frames is malformed {bad[:3]}")
    check([one[0] for one in frozen] == told, f"counters as tshark reads them are those that c104 was given: {[one[0] for one in frozen]}")
    check([one[1] for one in frozen] == [[1, 1], [2, 2], [3, 3], [3, 3]], "each freezing has its number, a reset none")
    isInvalid = [[state in ("1", "True", True) for state in one[2][1]] for one in frozen]
    check(isInvalid[1] == [True, True] and not any(isInvalid[0] + isInvalid[2]), "what nobody saw beginning is invalid, and nothing else")
    refusals = {(kind, cause): count for (kind, cause, negative), count in kinds.items() if negative}
    for kind, cause, what in [(50, 7, "setpoints"), (50, 47, "a point that is not there"), (103, 7, "the clock"), (100, 46, "another station"),
                              (47, 44, "a type that is not spoken"), (100, 45, "a cause that is none"), (101, 7, "no such counters"),
                              (105, 7, "the reset of the process"), (102, 47, "the read of a counter")]:
        check((kind, cause) in refusals, f"{what}: type {kind} refused, {REFUSED[cause]} ({refusals.get((kind, cause), 0)})")
    return len(read), kinds


def golden(folder):
    """The frames of the tests, read again by the dissector that is here today."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Tests/Network/IEC104Tests/golden.tsv")
    lines = [line.rstrip("\n").split("\t") for line in open(path)]
    relay = Relay.__new__(Relay)
    relay.lock = threading.Lock()
    # Each a stream of its own: their numbers do not follow each other.
    relay.frames = [(1.0 + index, index, True, bytes.fromhex(line[0])) for index, line in enumerate(lines)]
    relay.capture(f"{folder}/golden.pcap")
    same = 0
    for line, layer in zip(lines, layersOf(f"{folder}/golden.pcap")):
        fields = flat([layer.get("iec60870_104", {}), layer.get("iec60870_asdu", {})], [])
        wanted = [pair.split("=", 1) for pair in line[1:]]
        found = collections.Counter((key, value) for key, value in fields)
        same += all((key.rsplit(".", 1)[-1], value) in found for key, value in wanted)
    check(same == len(lines) >= 200, f"{same} of {len(lines)} golden frames are read as they stand in the tests")


def main():
    programs, folder = sys.argv[1], os.path.abspath(sys.argv[2])
    fleet = layers.Fleet(programs, folder, 2, 1)
    site = fleet.sites[0]
    fleet.key(fleet.top)
    here = f"{folder}/{site.id}"
    os.makedirs(here)
    text = layers.SITE.format(
        id=site.id, above="none", key=fleet.top.key, folder=here, meter=layers.Ports.next(), can=layers.Ports.next(),
        inverter=layers.Ports.next())
    text += "control_centre: {charge_max_kw: 80, discharge_max_kw: 80, longest_s: 60, most_per_min: 600}\n"
    path = fleet.write(f"{site.id}/site.yaml", text)
    site.plant = f"{here}/plant"
    try:
        fleet.start(site, "ballast-sim", ["plant", "--site", path, "--control", site.plant])
        fleet.wait(lambda: os.path.exists(site.plant), "the plant", 20)
        fleet.start(site, "ballastd", ["--config", path])
        fleet.wait(lambda: os.path.exists(f"{here}/control"), "the controller")
        port = layers.Ports.next()
        scada = fleet.write(f"{site.id}/scada.yaml", SCADA.format(port=port, folder=here, unit=f"{site.id}_BESS"))
        fleet.start(site, "ballast-scada", ["--config", scada])
        fleet.wait(lambda: socket.create_connection(("127.0.0.1", port)).close() is None, "the station")
        relay = Relay(port)
        told = talk(fleet, site, relay)
    finally:
        for process in list(site.running.values()):
            process.terminate()
    relay.capture(f"{folder}/conversation.pcap")
    count, kinds = judge(relay, f"{folder}/conversation.pcap", told)
    golden(folder)
    version = subprocess.run(["tshark", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    refused = sum(number for (_, _, negative), number in kinds.items() if negative)
    result = (f"{version}, {datetime.date.today()}: {count} frames of c104 and ballast-scada, {len({kind for kind, _, _ in kinds})} types of the "
              f"station's, {refused} refusals; " + ("all well." if not FAILED else f"NOT WELL: {'; '.join(FAILED)}."))
    print(result)
    if len(sys.argv) > 3:
        text = open(sys.argv[3]).read()
        text = re.sub(r"\n## `hil/dissect`\n.*?(?=\n## |\Z)", "", text, flags=re.S).rstrip("\n")
        open(sys.argv[3], "w").write(f"{text}\n\n## `hil/dissect`\n\n{result}\n")
    sys.exit(bool(FAILED))


main()
