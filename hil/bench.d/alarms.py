"""A mail for each crossing, and none besides: walks of a value about a limit through the real aggregator.

    alarms.py PROGRAMS FOLDER [--walks N] [--steps N] [--seed N] [--write FILE]

Each walk is a unit; sites of 64 units tell all of theirs at each step. A rule raises below 10 and is over at 12. What aiosmtpd
catches is compared with a second reading of the walks, which knows nothing of the rule's machine. Ends with 1 where a mail is
missing, comes twice, or was nobody's crossing.
"""
import argparse
import asyncio
import collections
import email
import hashlib
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from aiosmtpd.controller import Controller

from page import Line

UNITS = 64
mails = collections.Counter()


class Box:
    async def handle_DATA(self, server, session, envelope):
        mails[email.message_from_bytes(envelope.content)["Subject"]] += 1
        return "250 taken"


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def walks(count, steps, dice):
    """Values in thousandths; none stands on a limit, where a last bit would decide."""
    for _ in range(count):
        value, walk = 13_000, []
        for _ in range(steps):
            value = max(5_001, min(16_001, value + dice.randrange(-2_500, 2_501)))
            walk.append(value + (value in (10_000, 12_000)))
        yield walk


def crossings(walk):
    """Under 10 it begins; it ends where it next is at 12 or above."""
    raised = cleared = 0
    isIn = False
    for value in walk:
        if not isIn and value < 10_000:
            isIn, raised = True, raised + 1
        elif isIn and value >= 12_000:
            isIn, cleared = False, cleared + 1
    return raised, cleared


def values(name, column, all_):
    return {"v": 1, "mono_ms": int(time.time() * 1000) % 10**9, "t_ms": int(time.time() * 1000), "mode": "production", **(
        {"kind": "snapshot", "site": name, "values": {}, "counters": {}, "units": [
            {"id": f"U{index:02d}", "values": {"mode": [100 * (index + 1), "running"], "soc_mpercent": [100 * (index + 1) + 8, value]}}
            for index, value in enumerate(column)]} if all_ else
        {"kind": "delta", "rows": [[0] + [part for index, value in enumerate(column) for part in (100 * (index + 1) + 8, value)]]})}


async def tell(port, sites, steps, pause):
    line = Line(port)
    numbers = collections.Counter()

    async def report(name, record):
        numbers[name] += 1
        body = {"site": name, "epoch": hashlib.md5(name.encode()).hexdigest(), "gaps": [], "records": [{"n": numbers[name], "data": record}]}
        _, status, answer = await line.ask("/v1/edge/report", name, body)
        assert status == 200, answer
    for step in range(steps):
        end = time.monotonic() + pause
        for name, own in sites.items():
            await report(name, values(name, [walk[step] for walk in own], step == 0))
        # Each value stands until it was judged: at the latest in the next round of a second.
        await asyncio.sleep(max(1.5, end - time.monotonic()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("folder")
    parser.add_argument("--walks", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--write")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    all_ = list(walks(options.walks, options.steps, random.Random(options.seed)))
    sites = {f"s{place // UNITS:04d}": all_[place:place + UNITS] for place in range(0, len(all_), UNITS)}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    box = Controller(Box(), hostname="127.0.0.1", port=port)
    box.start()
    (folder / "aggregator.yaml").write_text("\n".join([
        "listen: {host: 127.0.0.1, port: 0}", f"database: {folder}/store.sqlite", "limits: {requests_per_s: 5000}", "sites:",
        *[f"  - {{id: {name}, token_sha256: {digest(name)}}}" for name in sites], "alarms:",
        f"  mail: {{host: 127.0.0.1, port: {port}, from: ballast@example.org, to: [night@example.org], starttls: false}}",
        "  rules:", "    - {id: no_report, when: no_report, severity: critical, for_s: 86400}",
        "    - {id: low, when: below, channel: soc_percent, limit: 10, hysteresis: 2, severity: warning, clear_after_s: 0}", ""]))
    process = subprocess.Popen([f"{options.programs}/ballast-aggregator", "--config", folder / "aggregator.yaml"], stderr=subprocess.PIPE, text=True)
    try:
        where = next(int(line.split("127.0.0.1:")[1].split(",")[0]) for line in process.stderr if "listening on" in line)
        threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()
        begin = time.monotonic()
        asyncio.run(tell(where, sites, options.steps, 2.0))
        expected = collections.Counter()
        for name, own in sites.items():
            for index, walk in enumerate(own):
                for told, number in zip(("raised", "cleared"), crossings(walk)):
                    if number:
                        expected[f"[ballast] warning {told}: low, U{index:02d} at {name}"] = number
        wanted, last = sum(expected.values()), -1
        while sum(mails.values()) < wanted and sum(mails.values()) != last:
            last = sum(mails.values())
            time.sleep(20)
        time.sleep(3)
        missing, besides = expected - mails, mails - expected
        text = (f"{options.walks} walks of {options.steps} steps (seed {options.seed}): {wanted} crossings, {sum(mails.values())} mails, "
                f"{sum(missing.values())} missing, {sum(besides.values())} besides; {time.monotonic() - begin:.0f} s")
        print(text)
        for name, number in list((missing + besides).items())[:10]:
            print(f"  {name}: {number}")
        if options.write:
            pathlib.Path(options.write).write_text(
                "# A mail for each crossing\n\n`hil/bench alarms --write` wrote this on "
                f"{time.strftime('%d %B %Y')}: a value that walks about a limit raises below 10 and is over at 12; a mail for each, "
                f"caught by aiosmtpd, compared with a second reading of the walks.\n\n{text}\n")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
        box.stop()
    sys.exit(1 if missing or besides else 0)


if __name__ == "__main__":
    main()
