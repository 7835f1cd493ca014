"""Golden frames of IEC 60870-5-104, made by lib60870 (PyPI c104, both ends) and read by Wireshark's dissector.

    iec104_golden.py FILE      runs a c104 server and client against each other, records every frame, has tshark (Debian
                               package tshark) read them, and writes one line a frame: its octets, then what tshark says
                               as field=value. Nothing of Ballast runs here.
"""
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import c104

PORT = 29404
FRAMES = []
random.seed(104)


def keep(data):
    if data not in FRAMES:
        FRAMES.append(bytes(data))


def on_raw(server: c104.Server, data: bytes) -> None:
    keep(data)


def on_client_raw(connection: c104.Connection, data: bytes) -> None:
    keep(data)


def on_setpoint(point: c104.Point, previous_info: c104.Information, message: c104.IncomingMessage) -> c104.ResponseState:
    return c104.ResponseState.SUCCESS if random.random() < 0.7 else c104.ResponseState.FAILURE


def qualities():
    q = c104.Quality
    return [q(), q.Invalid, q.NonTopical, q.Blocked, q.Substituted, q.Overflow, q.Invalid | q.NonTopical]


def informations(kind, stamp):
    t = c104.Type
    quality = random.choice(qualities())
    if kind in (t.M_SP_NA_1, t.M_SP_TB_1):
        return c104.SingleInfo(on=random.random() < 0.5, quality=quality, recorded_at=stamp)
    if kind in (t.M_DP_NA_1, t.M_DP_TB_1):
        return c104.DoubleInfo(state=random.choice([c104.Double.OFF, c104.Double.ON, c104.Double.INTERMEDIATE,
                                                    c104.Double.INDETERMINATE]), quality=quality, recorded_at=stamp)
    if kind in (t.M_ST_NA_1, t.M_ST_TB_1):
        return c104.StepInfo(state=c104.Int7(random.randint(-64, 63)), transient=random.random() < 0.5, quality=quality,
                             recorded_at=stamp)
    if kind in (t.M_BO_NA_1, t.M_BO_TB_1):
        return c104.BinaryInfo(blob=c104.Byte32(random.getrandbits(32)), quality=quality, recorded_at=stamp)
    if kind in (t.M_ME_NA_1, t.M_ME_TD_1):
        return c104.NormalizedInfo(actual=c104.NormalizedFloat(random.uniform(-1, 0.9999)), quality=quality, recorded_at=stamp)
    if kind in (t.M_ME_NB_1, t.M_ME_TE_1):
        return c104.ScaledInfo(actual=c104.Int16(random.randint(-32768, 32767)), quality=quality, recorded_at=stamp)
    if kind in (t.M_ME_NC_1, t.M_ME_TF_1):
        return c104.ShortInfo(actual=random.uniform(-5000, 5000), quality=quality, recorded_at=stamp)
    return c104.BinaryCounterInfo(counter=random.randint(0, 2**31 - 1), sequence=c104.UInt5(random.randint(0, 31)),
                                  quality=random.choice([c104.BinaryCounterQuality(), c104.BinaryCounterQuality.Invalid,
                                                         c104.BinaryCounterQuality.Carry]), recorded_at=stamp)


def commands(kind, stamp):
    t = c104.Type
    quality = random.choice([c104.Qoc.NONE, c104.Qoc.SHORT_PULSE, c104.Qoc.LONG_PULSE, c104.Qoc.PERSISTENT])
    if kind in (t.C_SC_NA_1, t.C_SC_TA_1):
        return c104.SingleCmd(on=random.random() < 0.5, qualifier=quality, recorded_at=stamp)
    if kind in (t.C_DC_NA_1, t.C_DC_TA_1):
        return c104.DoubleCmd(state=random.choice([c104.Double.OFF, c104.Double.ON]), qualifier=quality, recorded_at=stamp)
    if kind in (t.C_SE_NA_1, t.C_SE_TA_1):
        return c104.NormalizedCmd(target=c104.NormalizedFloat(random.uniform(-1, 0.9999)), recorded_at=stamp)
    if kind in (t.C_SE_NB_1, t.C_SE_TB_1):
        return c104.ScaledCmd(target=c104.Int16(random.randint(-32768, 32767)), recorded_at=stamp)
    return c104.ShortCmd(target=random.uniform(-100, 100), recorded_at=stamp)


def record():
    t = c104.Type
    server = c104.Server(ip="127.0.0.1", port=PORT, tick_rate_ms=50)
    server.on_receive_raw(callable=on_raw)
    server.on_send_raw(callable=on_raw)
    station = server.add_station(common_address=47)
    monitored = [t.M_SP_NA_1, t.M_SP_TB_1, t.M_DP_NA_1, t.M_DP_TB_1, t.M_ST_NA_1, t.M_ST_TB_1, t.M_BO_NA_1, t.M_BO_TB_1,
                 t.M_ME_NA_1, t.M_ME_TD_1, t.M_ME_NB_1, t.M_ME_TE_1, t.M_ME_NC_1, t.M_ME_TF_1, t.M_IT_NA_1, t.M_IT_TB_1]
    commanded = [t.C_SC_NA_1, t.C_DC_NA_1, t.C_SE_NA_1, t.C_SE_NB_1, t.C_SE_NC_1, t.C_SC_TA_1, t.C_DC_TA_1, t.C_SE_TA_1,
                 t.C_SE_TB_1, t.C_SE_TC_1]
    points = [station.add_point(io_address=1000 + index, type=kind) for index, kind in enumerate(monitored)]
    for index, kind in enumerate(commanded):
        station.add_point(io_address=70000 + index, type=kind).on_receive(callable=on_setpoint)
    client = c104.Client(tick_rate_ms=50, command_timeout_ms=500)
    client.originator_address = 9
    connection = client.add_connection(ip="127.0.0.1", port=PORT, init=c104.Init.NONE)
    connection.on_receive_raw(callable=on_client_raw)
    connection.on_send_raw(callable=on_client_raw)
    far = connection.add_station(common_address=47)
    wishes = [far.add_point(io_address=70000 + index, type=kind) for index, kind in enumerate(commanded)]
    unknown = far.add_point(io_address=123456, type=t.C_SE_NC_1)
    server.start()
    client.start()
    connection.connect()
    for turn in range(500):
        if connection.state == c104.ConnectionState.OPEN:
            break
        if turn % 100 == 99 and connection.state == c104.ConnectionState.OPEN_MUTED:
            connection.unmute()
        time.sleep(0.02)
    begin = datetime.datetime(2026, 2, 28, 23, 59, 58, 250_000, tzinfo=datetime.timezone.utc)
    for turn in range(12):
        stamp = begin + datetime.timedelta(seconds=turn * 2_000_003.5)
        for point, kind in zip(points, monitored):
            point.info = informations(kind, stamp)
            point.transmit(cause=c104.Cot.SPONTANEOUS if turn % 2 else c104.Cot.PERIODIC if kind.name.endswith("A_1") else c104.Cot.SPONTANEOUS)
        if turn < 6:
            for point, kind in zip(wishes, commanded):
                point.info = commands(kind, stamp)
                point.transmit(cause=c104.Cot.ACTIVATION)
        time.sleep(0.05)
    unknown.value = 3.5
    unknown.transmit(cause=c104.Cot.ACTIVATION)
    connection.interrogation(common_address=47)
    connection.counter_interrogation(common_address=47)
    connection.clock_sync(common_address=47)
    connection.test(common_address=47)
    connection.interrogation(common_address=48)
    time.sleep(0.5)
    client.stop()
    server.stop()


def dissect(frames):
    """What tshark says of each, all in one run, each as a TCP stream of its own."""
    folder = tempfile.mkdtemp()
    dump, capture = os.path.join(folder, "frames.txt"), os.path.join(folder, "frames.pcap")
    with open(dump, "w") as out:
        for frame in frames:
            out.write("000000 " + " ".join(f"{byte:02x}" for byte in frame) + "\n\n")
    subprocess.run(["text2pcap", "-q", "-T", "40000,2404", dump, capture], check=True, stderr=subprocess.DEVNULL)
    text = subprocess.run(["tshark", "-r", capture, "-T", "json", "--no-duplicate-keys"], check=True, capture_output=True).stdout
    return [packet["_source"]["layers"] for packet in json.loads(text)]


def fields(node, found):
    for key, value in node.items():
        if isinstance(value, dict):
            fields(value, found)
        elif isinstance(value, list):
            for item in value:
                fields(item, found) if isinstance(item, dict) else found.append((key, item))
        else:
            found.append((key, value))
    return found


WANTED = """tx rx utype typeid sq numix causetx nega test oa addr ioa float normval scalval bitstring siq.spi siq.bl siq.sb
siq.nt siq.iv diq.dpi diq.bl diq.sb diq.nt diq.iv qds.ov qds.bl qds.sb qds.nt qds.iv vti.t vti.v bcr.count bcr.sq bcr.cy
bcr.ca bcr.iv sco.on sco.qu sco.se dco.on dco.qu dco.se qos.ql qos.se qoi rqt frz cp56time.ms cp56time.min cp56time.iv
cp56time.hour cp56time.su cp56time.day cp56time.month cp56time.year""".split()


def main():
    record()
    frames = FRAMES[:]
    lines = []
    for frame, layers in zip(frames, dissect(frames)):
        found = []
        for layer in ("iec60870_104", "iec60870_asdu"):
            if layer in layers and isinstance(layers[layer], dict):
                fields(layers[layer], found)
        pairs = [(key.split(".", 1)[1], value) for key, value in found if "." in key]
        said = [f"{key}={value}" for key, value in pairs if key in WANTED]
        lines.append(frame.hex() + "\t" + "\t".join(said))
    with open(sys.argv[1], "w") as out:
        out.write("".join(line + "\n" for line in lines))
    print(len(lines), "frames")


main()
