"""What the page costs where there are many sites and many who look: figures; asserts nothing.

    page.py PROGRAMS FOLDER [--sites N] [--browsers N] [--seconds N] [--write FILE]

N sites report each five seconds; N browsers, as processes of Python that read what a browser would be sent, follow the stream of
rows; each two seconds one site says that people are in danger, and it is timed when every browser has read it. Meanwhile a person
opens the page, the fleet, a site and its trends anew, and acknowledgements of reports are timed as the sites see them.
"""
import argparse
import asyncio
import hashlib
import json
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import time

PEOPLE = 10


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def percentiles(values):
    values = sorted(values)
    return [values[min(len(values) - 1, int(len(values) * share))] * 1000 for share in (0.5, 0.99)] + [values[-1] * 1000] if values else [0, 0, 0]


class Line:
    """One kept connection."""

    def __init__(self, port):
        self.port, self.reader, self.writer = port, None, None

    async def ask(self, path, token, body=None):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        data = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(data)}\r\n\r\n"
        begin = time.monotonic()
        self.writer.write(head.encode() + data)
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
        answer = await self.reader.readexactly(length)
        return time.monotonic() - begin, int(lines[0].split()[1]), answer


def unit(index, values):
    return {key: [100 * (index + 1) + number, value] for key, (number, value) in values.items()}


def snapshot(site, danger):
    now = int(time.time() * 1000)
    units = [{"id": f"U{index}", "values": unit(index, {
        "mode": (0, "tripped" if danger else "running"), "power_w": (1, random.randrange(30_000)), "setpoint_w": (2, 10_000), "rating_w": (7, 35_000),
        "soc_mpercent": (8, random.randrange(100_000)), "cell_temperature_min_mc": (12, 24_000), "cell_temperature_max_mc": (13, 27_000),
        "trips": (19, "smoke" if danger else ""), "warnings": (20, ""), "holds": (22, ""), "dangers": (28, danger)})} for index in range(2)]
    return {"v": 1, "kind": "snapshot", "mono_ms": now % 10**9, "t_ms": now, "mode": "production", "site": site,
            "values": {"frequency_uhz": [0, 50_000_000], "setpoint_w": [4, 20_000], "site_power_w": [6, 20_000]}, "units": units, "counters": {}}


def delta():
    now = int(time.time() * 1000)
    rows = [[0, 0, 50_000_000 + random.randrange(-20_000, 20_000), 6, random.randrange(-50_000, 50_000), 101, random.randrange(30_000), 108, random.randrange(100_000)]]
    return {"v": 1, "kind": "delta", "mono_ms": now % 10**9, "t_ms": now, "mode": "production", "rows": rows}


class Load:
    def __init__(self, port, sites):
        self.port, self.sites = port, sites
        self.numbers = {site: 0 for site in sites}
        self.lines, self.acks, self.refused = [Line(port) for _ in range(40)], [], 0
        self.locks = [asyncio.Lock() for _ in self.lines]

    async def report(self, site, *records):
        index = hash(site) % len(self.lines)
        async with self.locks[index]:
            first = self.numbers[site] + 1
            self.numbers[site] += len(records)
            body = {"site": site, "epoch": hashlib.md5(site.encode()).hexdigest(), "gaps": [],
                    "records": [{"n": first + place, "data": record} for place, record in enumerate(records)]}
            took, status, _ = await self.lines[index].ask("/v1/edge/report", site, body)
        self.refused += status != 200
        return took

    async def run(self, seconds):
        """Each site once in five seconds, evenly."""
        begin, place, pause = time.monotonic(), 0, 5 / len(self.sites)
        tasks = set()
        while time.monotonic() - begin < seconds:
            site = self.sites[place % len(self.sites)]
            task = asyncio.create_task(self.report(site, delta()))
            task.add_done_callback(lambda done: (tasks.discard(done), self.acks.append(done.result())))
            tasks.add(task)
            place += 1
            await asyncio.sleep(max(0, begin + place * pause - time.monotonic()))
        await asyncio.gather(*tasks)


def browsers(port, first, count, marks, ready, out):
    """A process of `count` who look; what each has read of every mark, and when."""
    seen = {}
    mark = marks.value

    async def one(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        writer.write(f"GET /v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer p{number % PEOPLE}\r\n\r\n".encode())
        tail, total = b"", 0
        while True:
            data = await reader.read(1 << 18)
            if not data:
                return
            total += len(data)
            word = f"MARK-{marks.value}:".encode()
            if (tail + data).find(word) >= 0:
                seen.setdefault(marks.value, {}).setdefault(number, time.monotonic())
            tail = data[-16:]
            ready.value = max(ready.value, 1)

    async def all_():
        tasks = [asyncio.create_task(one(first + place)) for place in range(count)]
        while marks.value >= 0:
            await asyncio.sleep(0.2)
        for task in tasks:
            task.cancel()
    asyncio.run(all_())
    out.put(seen)


async def person(port, sites, times, until):
    line = Line(port)
    paths = ["/", "/page.js", "/page.css", "/v1/fleet", "/v1/alarms", "/v1/sites/{site}/state", "/v1/sites/{site}/trends?from={from}&until={until}&step_s=60"]
    while time.monotonic() < until:
        for path in paths:
            now = int(time.time()) // 60 * 60_000
            took, status, _ = await line.ask(path.format(site=random.choice(sites), until=now, **{"from": now - 3_600_000}), "ann")
            if status == 200:
                times.setdefault(path.split("?")[0], []).append(took)
            await asyncio.sleep(0.05)


def usage(process):
    stat = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    peak = next(int(line.split()[1]) for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK"), peak / 1024


async def measure(options, port, process, marks, watching):
    sites = [f"s{number:04d}" for number in range(options.sites)]
    load, times, sent = Load(port, sites), {}, {}
    begin = time.monotonic()
    await asyncio.gather(*(load.report(site, snapshot(site, "")) for site in sites))
    print(f"{len(sites)} sites have told their state in {time.monotonic() - begin:.1f} s", flush=True)
    for one in watching:
        one.start()
    await asyncio.sleep(max(5, options.browsers / 50))
    cpu, _ = usage(process)
    start = time.monotonic()
    tasks = [asyncio.create_task(load.run(options.seconds)), asyncio.create_task(person(port, sites, times, start + options.seconds))]
    number = 0
    while time.monotonic() - start < options.seconds - 3:
        await asyncio.sleep(2)
        number += 1
        site = random.choice(sites)
        marks.value = number
        await asyncio.sleep(0.05)
        sent[number] = time.monotonic()
        await load.report(site, snapshot(site, f"MARK-{number}: leave"))
    await asyncio.gather(*tasks)
    await asyncio.sleep(1)
    spent, memory = usage(process)
    marks.value = -1
    return load, times, sent, (spent - cpu) / (time.monotonic() - start), memory


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("folder")
    parser.add_argument("--sites", type=int, default=1_000)
    parser.add_argument("--browsers", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--write")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    people = [f"  - {{name: p{n}, token_sha256: {digest(f'p{n}')}, sites: all, roles: [read]}}" for n in range(PEOPLE)]
    sites = [f"  - {{id: s{n:04d}, token_sha256: {digest(f's{n:04d}')}}}" for n in range(options.sites)]
    (folder / "aggregator.yaml").write_text("\n".join([
        "listen: {host: 127.0.0.1, port: 0}", f"database: {folder}/store.sqlite", "limits: {requests_per_s: 2000}", "sites:", *sites,
        "principals:", f"  - {{name: ann, token_sha256: {digest('ann')}, sites: all, roles: [read, dispatch]}}", *people, ""]))
    process = subprocess.Popen([f"{options.programs}/ballast-aggregator", "--config", folder / "aggregator.yaml"], stderr=subprocess.PIPE, text=True)
    try:
        port = next(int(line.split("127.0.0.1:")[1].split(",")[0]) for line in process.stderr if "listening on" in line)
        log = open(folder / "log", "w")
        multiprocessing.Process(target=lambda: [log.write(line) for line in process.stderr], daemon=True).start()
        marks, ready, out = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0), multiprocessing.Queue()
        share = options.browsers // 2
        watching = [multiprocessing.Process(target=browsers, args=(port, first, count, marks, ready, out), daemon=True)
                    for first, count in ((0, share), (share, options.browsers - share)) if count]
        load, times, sent, cores, memory = asyncio.run(measure(options, port, process.pid, marks, watching))
        seen = [out.get(timeout=30) for _ in watching]
        waits = [at - sent[mark] for one in seen for mark, when in one.items() if mark in sent for at in when.values()]
        wanted = len(sent) * options.browsers
        lines = [f"| {options.sites} sites at a report each 5 s, {options.browsers} browsers, {options.seconds} s | p50 ms | p99 ms | max ms | of |",
                 "|---|---|---|---|---|"]

        def row(name, values, of):
            lines.append("| " + " | ".join([name, *(f"{value:.0f}" for value in percentiles(values)), of]) + " |")
        row("event of a site → read by a browser", waits, f"{len(waits)} of {wanted}")
        row("acknowledgement of a report meanwhile", load.acks, f"{len(load.acks)}, {load.refused} refused")
        for path, values in times.items():
            row(f"`{path}`", values, str(len(values)))
        every = [value for values in times.values() for value in values]
        row("all of the page", every, str(len(every)))
        lines.append("")
        lines.append(f"The aggregator took {cores:.2f} of a core and {memory:.0f} MiB; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, "
                     "browsers and sites among it.")
        text = "\n".join(lines)
        print(text)
        if options.write:
            pathlib.Path(options.write).write_text(
                "# The page, with many sites and many who look\n\n`hil/bench page --write` wrote this on "
                f"{time.strftime('%d %B %Y')}. Goals: the page p99 < 150 ms, event → browser p99 < 500 ms, acknowledgements p99 < 250 ms.\n\n" + text + "\n")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)


if __name__ == "__main__":
    main()
