"""What the way up costs: figures beside raw SQLite in the same run; asserts nothing.

    uplink.py PROGRAMS FOLDER [--sites N] [--seconds N]

A day's backlog of a site of two units goes from a spool, which this program writes by its layout, over mutual TLS through the
real link into the real aggregator; the same rows go into an empty SQLite file, each report's in a transaction of its own. Then N
sites report once each five seconds over connections of their own, and their answers are timed.
"""
import asyncio
import hashlib
import json
import os
import random
import signal
import sqlite3
import ssl
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import uplink_kills as rig  # noqa: E402

EPOCH = bytes(range(16))
TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    TABLE.append(number)


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ TABLE[(value ^ byte) & 255]
    return value ^ 0xFFFFFFFF


def day():
    """A day of records: a snapshot each 300 s, rows each 4 s in which three of forty values have moved a second."""
    dice, begin = random.Random(7), 1_764_000_000_000
    for second in range(0, 86_400, 4):
        time_ms = begin + second * 1000
        head = f'"mono_ms":{second * 1000},"t_ms":{time_ms},"mode":"production"'
        if second % 300 == 0:
            values = ",".join(f'"channel_{n:02d}":[{n},{dice.randrange(100000)}]' for n in range(60))
            yield f'{{"v":1,"kind":"snapshot",{head},"site":"demo","units":[],"values":{{{values}}},"counters":{{}}}}'.encode()
        rows = ",".join("[%d,%s]" % (after * 1000, ",".join(f"{dice.randrange(60)},{dice.randrange(100000)}" for _ in range(3)))
                        for after in range(4))
        yield f'{{"v":1,"kind":"delta",{head},"rows":[{rows}]}}'.encode()


def write_spool(folder, records):
    """The layout of SpoolFormat: one segment, the stream's name, and how far it is synced."""
    os.makedirs(folder)
    head = b"BALSPOOL" + struct.pack("<I", 1) + EPOCH + struct.pack("<Q", 1)
    with open(f"{folder}/{1:010d}-{1:020d}.spool", "wb") as file:
        file.write(head + struct.pack("<I", crc(head)))
        for number, payload in enumerate(records, 1):
            length = struct.pack("<I", len(payload))
            rest = struct.pack("<Q", number) + payload
            file.write(b"\xf5\x52\xc1\x0a" + length + struct.pack("<I", crc(length) ^ crc(rest)) + rest)
    with open(f"{folder}/stream", "w", encoding="utf-8") as file:
        file.write(f"ballast-spool {EPOCH.hex()} {crc(EPOCH):x}\n")
    last = struct.pack("<Q", len(records))
    with open(f"{folder}/synced", "wb") as file:
        file.write(last + struct.pack("<I", crc(EPOCH + last)))


def raw(records, batch):
    """Seconds that SQLite needs for the same rows, each report's in a durable transaction of its own."""
    base = sqlite3.connect("raw.sqlite")
    base.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                       "CREATE TABLE record (site TEXT, epoch TEXT, n INTEGER, kind TEXT, data TEXT, PRIMARY KEY (site, epoch, n))")
    begin = time.monotonic()
    for start in range(0, len(records), batch):
        with base:
            base.executemany("INSERT INTO record VALUES ('demo', 'e', ?, 'delta', ?)",
                             [(start + i + 1, data.decode()) for i, data in enumerate(records[start:start + batch])])
    return time.monotonic() - begin


def processor(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


async def report_on(sites, seconds, context, waits, rows):
    """Each site on a connection of its own, once each five seconds, with rows of its own."""
    end = time.monotonic() + seconds
    gate = asyncio.Semaphore(32)

    async def one(index):
        async with gate:
            reader, writer = await asyncio.open_connection("127.0.0.1", 15882, ssl=context)
        number = 1
        await asyncio.sleep(random.random() * 5)
        while time.monotonic() < end:
            epoch = hashlib.md5(str(index).encode()).hexdigest()
            body = json.dumps({"site": f"s{index}", "epoch": epoch,
                               "records": [{"n": number, "data": json.loads(rows[number % len(rows)])}]}).encode()
            begin = time.monotonic()
            writer.write((f"POST /v1/edge/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t{index}\r\n"
                          f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")).split()[1])
            await reader.readexactly(length)
            if b" 200 " not in head.split(b"\r\n")[0]:
                raise RuntimeError(head.split(b"\r\n")[0])
            waits.append(time.monotonic() - begin)
            number += 1
            await asyncio.sleep(max(0, 5 - (time.monotonic() - begin)))
        writer.close()

    await asyncio.gather(*(one(index) for index in range(sites)))


def main(programs, folder, sites, seconds):
    os.chdir(folder)
    token = rig.prepare(programs)
    with open("aggregator.yaml", encoding="utf-8") as file:
        plain = file.read()
    digest = hashlib.sha256(b"demo-token").hexdigest()
    listed = "".join(f"\n  - {{id: s{n}, token_sha256: {hashlib.sha256(f't{n}'.encode()).hexdigest()}}}" for n in range(sites))
    text = plain.replace(f"sites: [{{id: demo, token_sha256: {digest}}}]", f"sites:\n  - {{id: demo, token_sha256: {digest}}}{listed}")
    backlog, sites_alone = text, text.replace(", client_ca: tls/ca.pem, revoked: tls/revoked", "")
    records = list(day())
    write_spool("run/state/spool", records)
    values = sum(data.count(b",") for data in records)
    spool = sum(os.path.getsize(f"run/state/spool/{name}") for name in os.listdir("run/state/spool"))

    with open("aggregator.yaml", "w", encoding="utf-8") as file:
        file.write(backlog)
    with open("link.yaml", "a", encoding="utf-8") as file:
        file.write("metrics_port: 15883\n")
    log = open("bench.log", "wb")
    aggregator = subprocess.Popen([f"{programs}/ballast-aggregator", "--config", "aggregator.yaml"], stdout=log, stderr=log)
    rig.wait(lambda: os.path.exists("run/state/aggregator.sqlite") and b"listening" in open("bench.log", "rb").read(), 30)
    begin = time.monotonic()
    link = subprocess.Popen([f"{programs}/ballast-link", "--config", "link.yaml"], stdout=log, stderr=log)
    rig.wait(lambda: rig.stored().get(EPOCH.hex(), 0) >= len(records), 300)
    took = time.monotonic() - begin
    import urllib.request
    figures = urllib.request.urlopen("http://127.0.0.1:15883/metrics", timeout=5).read().decode()
    wire = float(next(line for line in figures.split("\n") if line.startswith("ballast_link_sent_bytes_total ")).split()[1])
    link.send_signal(signal.SIGTERM)
    link.wait(30)
    base = sum(os.path.getsize(f"run/state/{name}") for name in os.listdir("run/state") if "sqlite" in name)
    plain_time = raw(records, 500)
    print(f"a day's backlog, {len(records)} records, {sum(map(len, records)) / 1e6:.2f} MB, over mutual TLS: {took:.2f} s, "
          f"{len(records) / took:.0f} records/s; raw SQLite, the same rows and reports: {plain_time:.2f} s, {len(records) / plain_time:.0f}/s")
    print(f"bytes for each of {values} numbers: {spool / values:.2f} in the spool, {wire / values:.2f} on the wire, "
          f"{base / values:.2f} in the database; {wire / 1e6:.2f} MB a day on the wire")
    aggregator.send_signal(signal.SIGTERM)
    aggregator.wait(30)

    with open("aggregator.yaml", "w", encoding="utf-8") as file:
        file.write(sites_alone)
    aggregator = subprocess.Popen([f"{programs}/ballast-aggregator", "--config", "aggregator.yaml"], stdout=log, stderr=log)
    time.sleep(1)
    context = ssl.create_default_context(cafile="tls/ca.pem")
    context.check_hostname = False
    waits, busy = [], processor(aggregator.pid)
    begin = time.monotonic()
    asyncio.run(report_on(sites, seconds, context, waits, records[1:60]))
    share = (processor(aggregator.pid) - busy) / (time.monotonic() - begin)
    waits.sort()
    print(f"{sites} sites over TLS at a report each 5 s for {seconds} s: {len(waits)} reports, acknowledged after "
          f"{waits[len(waits) // 2] * 1000:.1f} ms (p50), {waits[int(len(waits) * 0.99)] * 1000:.1f} ms (p99); "
          f"{share * 100:.1f} % of a core, handshakes included, {resident(aggregator.pid):.0f} MB resident")
    aggregator.send_signal(signal.SIGTERM)
    aggregator.wait(30)
    del token


if __name__ == "__main__":
    options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(options.get("--sites", 1000)),
         int(options.get("--seconds", 30)))
