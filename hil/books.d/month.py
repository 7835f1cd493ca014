"""A month of 1,000 prosumers through the real door, and what it takes.

  month.py PROGRAM FOLDER HOMES DAYS

Every home has a meter; each fifth has a roof of its own. Intervals go in by CSV, a day at a time; then the month is settled by the
job while ten sites report twenty times a second each in all, whose acknowledgements are timed. Last come bills, why, and transfers.
"""

import json
import math
import random
import subprocess
import sys
import threading
import time

import door

FIRST = 1767225600  # 2026-01-01T00:00:00Z
HEADER = "resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record\n"


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def village(server, homes):
    for name in ["grid", "op"] + [f"h{n}" for n in range(homes)]:
        server.done("/v1/parties", json.dumps({"id": name, "name": f"Home {name}"}), f"p-{name}")
    server.done("/v1/zones", '{"id": "z", "grid": "grid", "operator": "op"}', "zone")
    for number in range(homes):
        kind = "pv" if number % 5 == 0 else "meter"
        server.done("/v1/resources", json.dumps({"id": f"h{number}", "party": f"h{number}", "zone": "z", "kind": kind,
                                                 "export_max_kw": 5}), f"r-{number}")
    server.done("/v1/tariffs", door.TARIFFS, "tariffs")


def day_rows(day, homes, dice):
    rows = []
    for block in range(96):
        start = stamp(FIRST + day * 86400 + block * 900)
        sun = max(0.0, math.sin((block - 6) / 48 * math.pi)) if 6 <= block <= 54 else 0.0
        for number in range(homes):
            made = int(sun * 900 * dice.uniform(0.5, 1)) if number % 2 == 0 else 0
            used = 0 if number % 5 == 0 else dice.randint(20, 400)
            rows.append(f"h{number},actual,{start},900,{max(0, used - made)},{max(0, made - used)},0,measured,production,\n")
    return rows


class Reporter(threading.Thread):
    """Sites that report while something else goes on; each waits for its acknowledgement."""

    def __init__(self, server, site):
        super().__init__(daemon=True)
        self.server = door.Aggregator.__new__(door.Aggregator)
        self.server.port, self.server.link = server.port, None
        self.site, self.times, self.stop = site, [], False

    def run(self):
        number = 0
        while not self.stop:
            number += 1
            body = json.dumps({"site": f"s{self.site}", "epoch": f"{self.site:032x}",
                               "records": [{"n": number, "data": {"kind": "event", "event": "x", "t_ms": number}}]})
            before = time.monotonic()
            status, text = self.server.ask("POST", "/v1/edge/report", body, token=f"site-{self.site}")
            if status != 200:
                sys.exit(f"a report: {status} {text}")
            self.times.append(time.monotonic() - before)
            time.sleep(0.5)


def memory(process):
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def percentile(times, share):
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def settle(server, days):
    reporters = [Reporter(server, number) for number in range(10)]
    for reporter in reporters:
        reporter.start()
    time.sleep(2)
    command = [server.program, "settle", "--config", server.config, "--from", stamp(FIRST), "--to", stamp(FIRST + days * 86400)]
    before, peak = time.monotonic(), 0
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while job.poll() is None:
        try:
            peak = max(peak, memory(job.pid))
        except (OSError, StopIteration):
            pass
        time.sleep(0.05)
    seconds = time.monotonic() - before
    for reporter in reporters:
        reporter.stop = True
    for reporter in reporters:
        reporter.join()
    text = job.stdout.read()
    if job.returncode != 0:
        sys.exit(f"settle: {text}")
    times = [one for reporter in reporters for one in reporter.times]
    return seconds, peak, times, text.splitlines()[0]


def timed(server, path):
    before = time.monotonic()
    status, text = server.ask("GET", path)
    if status != 200:
        sys.exit(f"{path}: {status} {text[:300]}")
    return time.monotonic() - before, text


def transfers(server, homes, dice):
    batch = lambda source, count: json.dumps({"transfers": [
        {"from": source if source else f"h{dice.randrange(homes)}", "to": f"h{dice.randrange(homes)}", "amount": 1, "text": "t"}
        for _ in range(count)]})
    for number in range(homes):
        if number % 1000 == 0:
            body = {"transfers": [{"from": "outside", "to": f"h{n}", "amount": 100000, "text": "t"}
                                  for n in range(number, min(homes, number + 1000))]}
            server.done("/v1/transfers", json.dumps(body), f"fill-{number}")
    bodies = [batch(None, 1000) for _ in range(20)]
    before = time.monotonic()
    for number, body in enumerate(bodies):
        server.done("/v1/transfers", body, f"batch-{number}")
    return 20_000 / (time.monotonic() - before)


class Payer(threading.Thread):
    """Posts small batches, one after another, beside others who do the same."""

    def __init__(self, server, number, homes):
        super().__init__(daemon=True)
        self.server = door.Aggregator.__new__(door.Aggregator)
        self.server.port, self.server.link = server.port, None
        self.number, self.homes = number, homes

    def run(self):
        dice = random.Random(self.number)
        for batch in range(40):
            body = json.dumps({"transfers": [{"from": f"h{dice.randrange(self.homes)}", "to": f"h{dice.randrange(self.homes)}",
                                              "amount": 1, "text": "t"} for _ in range(25)]})
            status, text = self.server.ask("POST", "/v1/transfers", body, f"payer-{self.number}-{batch}")
            if status != 201:
                sys.exit(f"a transfer: {status} {text[:300]}")


def payers(server, homes):
    threads = [Payer(server, number, homes) for number in range(16)]
    before = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 16 * 40 * 25 / (time.monotonic() - before)


def main(program, folder, homes, days):
    homes, days, dice = int(homes), int(days), random.Random(1)
    server = door.Aggregator(program, folder, sites=10)
    server.start()
    village(server, homes)
    before = time.monotonic()
    for day in range(days):
        rows = day_rows(day, homes, dice)
        for begin in range(0, len(rows), 25_000):
            body = HEADER + "".join(rows[begin:begin + 25_000])
            server.done("/v1/intervals.csv", body, f"day-{day}-{begin}", kind="text/csv")
    taken = time.monotonic() - before
    print(f"{homes * days * 96} intervals of {homes} homes went in by CSV in {taken:.0f} s")
    seconds, peak, times, line = settle(server, days)
    print(line)
    print(f"settled in {seconds:.1f} s with {peak:.0f} MB; {len(times)} acknowledgements meanwhile: median "
          f"{percentile(times, 0.5) * 1000:.0f} ms, p99 {percentile(times, 0.99) * 1000:.0f} ms, longest {max(times) * 1000:.0f} ms")
    (bill, _), (page, _) = timed(server, "/v1/bills/r1-h7"), timed(server, "/v1/bills/r1-h7/page")
    why, text = timed(server, "/v1/lines/r1-h7-1")
    print(f"a bill in {bill * 1000:.0f} ms, its page in {page * 1000:.0f} ms, why a line in {why * 1000:.0f} ms ({len(text.splitlines())} lines)")
    print(f"{transfers(server, homes, dice):.0f} durable transfers/s in groups of 1,000, {payers(server, homes):.0f} in requests of 25 of 16 "
          "who ask at once")
    before = time.monotonic()
    server.check()
    print(f"B1 … B8 hold (looked at in {time.monotonic() - before:.1f} s); the server holds {memory(server.process.pid):.0f} MB at most")
    server.end()


main(*sys.argv[1:])
