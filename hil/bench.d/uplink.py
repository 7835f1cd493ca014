"""What the way up costs: figures beside raw SQLite in the same run; asserts nothing.

    uplink.py PROGRAMS FOLDER [--sites N] [--seconds N]

A day's backlog of a site of two units goes from a spool, which this program writes by its layout, over mutual TLS through the
real link into the real aggregator; the same rows go into an empty SQLite file, each report's in a transaction of its own. Then N
sites report over connections of their own, once each five seconds and once each second, and their answers are timed; some of
them post as fast as they are answered, in batches of 500 and one by one. Last a dispatch is asked for again and again, and the
simulated inverter's register says when it is there.
"""
import asyncio
import hashlib
import json
import os
import random
import shutil
import signal
import socket
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
    for end in ("", "-wal", "-shm"):
        if os.path.exists("raw.sqlite" + end):
            os.unlink("raw.sqlite" + end)
    base = sqlite3.connect("raw.sqlite")
    base.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                       "CREATE TABLE record (site TEXT, epoch TEXT, n INTEGER, kind TEXT, data TEXT, PRIMARY KEY (site, epoch, n))")
    begin = time.monotonic()
    for start in range(0, len(records), batch):
        with base:
            base.executemany("INSERT INTO record VALUES ('demo', 'e', ?, 'delta', ?)",
                             [(start + i + 1, data.decode()) for i, data in enumerate(records[start:start + batch])])
    return time.monotonic() - begin


async def pour(seconds, context, rows, batch, connections):
    """Connections that post as fast as they are answered: records, reports and bytes a second that were acknowledged."""
    end, count = time.monotonic() + seconds, [0, 0, 0]

    async def one(index):
        reader, writer = await asyncio.open_connection("127.0.0.1", 15882, ssl=context)
        number, epoch = 1, hashlib.md5(f"pour {batch} {index}".encode()).hexdigest()
        texts = [row.decode() for row in rows[:batch]]
        while time.monotonic() < end:
            records = ",".join(f'{{"n":{number + i},"data":{text}}}' for i, text in enumerate(texts))
            body = f'{{"site":"s{index}","epoch":"{epoch}","records":[{records}]}}'.encode()
            writer.write((f"POST /v1/edge/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t{index}\r\n"
                          f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")).split()[1])
            await reader.readexactly(length)
            if b" 200 " not in head.split(b"\r\n")[0]:
                raise RuntimeError(head.split(b"\r\n")[0])
            number += len(texts)
            count[0] += len(texts)
            count[1] += 1
            count[2] += len(body)
        writer.close()

    begin = time.monotonic()
    await asyncio.gather(*(one(index) for index in range(connections)))
    return [value / (time.monotonic() - begin) for value in count]


def dispatch(programs, token, log, times=30):
    """From the POST of a dispatch to the register of the simulated inverter, through four programs."""
    started = []

    def start(name, *arguments):
        started.append(subprocess.Popen([f"{programs}/{name}", *arguments], stdout=log, stderr=log))

    start("ballast-sim", "plant", "--site", "site.yaml", "--control", "run/sim.sock")
    rig.wait(lambda: os.path.exists("run/sim.sock"), 20)
    start("ballastd", "--config", "site.yaml")
    start("ballast-aggregator", "--config", "aggregator.yaml")
    start("ballast-link", "--config", "link.yaml")
    def is_running():
        answer = rig.ask({"command": "status"})
        return bool(answer and answer.get("status") and answer["status"]["units"][0]["mode"] == "running")
    rig.wait(is_running, 60)
    people = rig.Dispatcher(token)

    def setpoint():
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect("run/sim.sock")
            peer.sendall(b"truth\n")
            answer = b""
            while not answer.endswith(b"\n"):
                answer += peer.recv(65536)
        return json.loads(answer)["units"][0]["setpoint_w"]

    waits = []
    for count in range(times):
        watts = 10_000 + 100 * count
        begin = time.monotonic()
        people.post("/v1/sites/demo/leases", {"power_w": watts, "for_s": 30, "dispatch": f"b-{count}", "reason": "bench"})
        while abs(setpoint() - watts) > 1 and time.monotonic() - begin < 10:
            time.sleep(0.005)
        waits.append(time.monotonic() - begin)
        # The site looks at one signature a second in the long run.
        time.sleep(1 + random.random() * 0.3)
    for one in reversed(started):
        one.send_signal(signal.SIGTERM)
    for one in started:
        one.wait(30)
    waits.sort()
    print(f"POST of a dispatch until the inverter's register has it (ramp 200 kW/s, steps of 100 W), {times} times: "
          f"{waits[len(waits) // 2] * 1000:.0f} ms (p50), {waits[int(len(waits) * 0.99)] * 1000:.0f} ms (p99)")


def processor(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))


class Fleet:
    """Sites on connections of their own, each with rows of its own; numbers go on from one stretch to the next."""

    def __init__(self, sites, context, rows):
        self.sites, self.context, self.rows = sites, context, rows
        self.numbers = [1] * sites
        self.ends = [None] * sites
        self.waits = []

    async def connect(self):
        """A handshake for each, and the report that brings its snapshot: what a site costs once."""
        gate = asyncio.Semaphore(32)

        async def one(index):
            async with gate:
                self.ends[index] = await asyncio.open_connection("127.0.0.1", 15882, ssl=self.context)
                await self.report(index)
        await asyncio.gather(*(one(index) for index in range(self.sites)))

    async def report(self, index):
        reader, writer = self.ends[index]
        number = self.numbers[index]
        row = self.rows[(number - 1) % len(self.rows)].decode()
        epoch = hashlib.md5(str(index).encode()).hexdigest()
        body = f'{{"site":"s{index}","epoch":"{epoch}","records":[{{"n":{number},"data":{row}}}]}}'.encode()
        begin = time.monotonic()
        writer.write((f"POST /v1/edge/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t{index}\r\n"
                      f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")).split()[1])
        await reader.readexactly(length)
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.split(b"\r\n")[0])
        self.waits.append(time.monotonic() - begin)
        self.numbers[index] = number + 1

    async def go_on(self, seconds, pause):
        """Each once each `pause` seconds, at instants of its own."""
        end = time.monotonic() + seconds

        async def one(index):
            due = time.monotonic() + random.random() * pause
            while due < end:
                await asyncio.sleep(max(0, due - time.monotonic()))
                await self.report(index)
                due += pause
        await asyncio.gather(*(one(index) for index in range(self.sites)))

    def close(self):
        for _, writer in self.ends:
            writer.close()


async def fleet(pid, sites, seconds, context, rows):
    """What sites cost that are there, apart from what their coming costs."""
    all_of_them = Fleet(sites, context, rows)

    async def measured(work):
        all_of_them.waits.clear()
        busy, begin = processor(pid), time.monotonic()
        await work
        took, used = time.monotonic() - begin, processor(pid) - busy
        waits = sorted(all_of_them.waits)
        return (len(waits), waits[len(waits) // 2] * 1000, waits[int(len(waits) * 0.99)] * 1000, used / took * 100,
                used * 1000 / len(waits))

    count, _, _, _, each = await measured(all_of_them.connect())
    print(f"{count} sites come over TLS 1.3, each with a handshake, its log-in and its snapshot: {each:.2f} ms of processor time each")
    # What they brought is put together by minutes within seconds: it belongs to the coming.
    await all_of_them.go_on(10, 5)
    for pause in (5, 1):
        count, middle, late, share, each = await measured(all_of_them.go_on(seconds, pause))
        print(f"{sites} sites over TLS at a report each {pause} s for {seconds} s, all connected before: {count} reports, acknowledged "
              f"after {middle:.1f} ms (p50), {late:.1f} ms (p99); {share:.1f} % of a core, {each:.2f} ms of processor time a report, "
              f"{resident(pid):.0f} MB resident")
    all_of_them.close()


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
    asyncio.run(fleet(aggregator.pid, sites, seconds, context, records[:76]))
    for batch, connections in ((500, 8), (1, min(sites, 256))):
        poured, reports, sent = asyncio.run(pour(10, context, records[1:501], batch, connections))
        beside = raw(records[:5000] if batch == 1 else records, batch)
        rows = min(len(records), 5000 if batch == 1 else len(records))
        print(f"{connections} connections over TLS, {batch} in a report: {poured:.0f} records/s durable in {reports:.0f} reports/s, "
              f"{poured * values / len(records):.0f} numbers/s, {sent / 1e6:.2f} MB/s; raw SQLite, the same rows and transactions: "
              f"{rows / beside:.0f} records/s")
    aggregator.send_signal(signal.SIGTERM)
    aggregator.wait(30)
    with open("aggregator.yaml", "w", encoding="utf-8") as file:
        file.write(backlog)
    for name in os.listdir("run/state"):
        path = f"run/state/{name}"
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    dispatch(programs, token, log)
    print(f"load of the machine: {', '.join(f'{value:.1f}' for value in os.getloadavg())} on {os.cpu_count()} processors")


if __name__ == "__main__":
    options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(options.get("--sites", 1000)),
         int(options.get("--seconds", 30)))
