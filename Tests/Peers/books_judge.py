"""Judges what the books write: by hledger, ledger and beancount, and by working a settlement out a second time.

  books_judge.py export FOLDER                                       the three exports alone
  books_judge.py run FOLDER INTERVALS.csv CONTRACTS.yaml TARIFFS.yaml FROM UNTIL

The second settlement reads the same files, shares no code with the first, and counts in fractions of integers. It knows
intervals with revisions, contracts in force over their whole window, fixed tariffs, fees, incentives and owners; it knows
neither registers nor earlier runs.
"""

import collections
import csv
import datetime
import fractions
import os
import subprocess
import sys
from xml.etree import ElementTree

import yaml

F = fractions.Fraction


def judge_exports(folder):
    def ask(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{command[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    path = lambda name: os.path.join(folder, "ledger." + name)
    ask("hledger", "-f", path("hledger"), "check", "--strict", "ordereddates")
    ask("ledger", "--args-only", "--pedantic", "--strict", "-f", path("ledger"), "balance")
    ask(os.path.join(os.path.dirname(sys.executable), "bean-check"), path("beancount"))


def rounded(value):
    """A fraction of the currency in its hundredth, halves to even, as Python's own round does."""
    return round(value * 100)


def instant(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def texts(path):
    """Every scalar as its text, so that no price ever is a floating-point number."""
    with open(path) as file:
        return yaml.load(file, Loader=yaml.BaseLoader)


def shares(total, weights):
    whole = sum(weights)
    parts = [total * w // whole for w in weights]
    order = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for i in order[: total - sum(parts)]:
        parts[i] += 1
    return parts


def latest(path, length):
    best = {}
    for row in csv.DictReader(open(path)):
        key = row["resource"], row["kind"], int(instant(row["start"]))
        if key not in best or int(row["revision"]) > best[key][0]:
            best[key] = int(row["revision"]), int(row["import_wh"]), int(row["export_wh"]), int(row["length_s"])
    blocks = collections.defaultdict(lambda: [0, 0, 0])
    for (resource, kind, start), (_, imported, exported, seconds) in best.items():
        block = blocks[resource, kind, start - start % length]
        block[0] += imported
        block[1] += exported
        block[2] += seconds
    return {key: value for key, value in blocks.items() if value[2] == length}


def work_out(intervals, contracts, tariffs, start, until):
    length = int(contracts.get("block_min", 15)) * 60
    energy = latest(intervals, length)
    lines = collections.defaultdict(F)

    def trade(kind, reference, price, buyer, seller, quantity):
        if quantity and buyer != seller:
            lines[buyer, kind, reference, price] -= F(quantity, 1000) * F(price)
            lines[seller, kind, reference, price] += F(quantity, 1000) * F(price)

    def begin(zone, own, block, tariff):
        """What is left of every party after contracts, and what it bought."""
        left, bought, grid = collections.Counter(), collections.Counter(), None
        for r in own:
            imported, exported, _ = energy[r["id"], "actual", block]
            if r["kind"] == "grid_connection":
                grid = (grid or 0) + imported - exported
            else:
                left[r["party"]] += exported - imported
        if grid is not None:
            left[zone["operator"]] -= sum(left.values()) + grid
        of = {r["id"]: r for r in own}
        for kind in ("supply", "storage"):
            rest = {}
            for r in own:
                imported, exported, _ = energy[r["id"], "actual", block]
                rest[r["id"]] = exported if kind == "supply" else max(0, imported - exported)
            # Across all resources: who traded first is served first, whatever a battery is called.
            chosen = [c for c in contracts.get("contracts", []) if c["resource"] in of and c["kind"] == kind]
            for c in sorted(chosen, key=lambda c: (instant(c["traded_at"]), c["id"])):
                first, last = int(instant(c["from"])), int(instant(c["until"]))
                active = max([first] + [instant(h["at"]) for h in c.get("history", []) if h["event"] == "activate"])
                if not active <= block < last:
                    continue
                count = (last - first) // length
                promised = shares(int(F(c["energy_kwh"]) * 1000), [1] * count)[(block - first) // length]
                buyer, seller = c["buyer"], of[c["resource"]]["party"]
                if kind == "storage":
                    promised = min(promised, max(0, left[buyer]))
                done = min(rest[c["resource"]], promised)
                rest[c["resource"]] -= done
                price = F(c["price_inr_per_kwh"])
                # The price of a storage stands in its line as what it costs to give.
                if kind == "supply":
                    trade("delivery", c["id"], price, buyer, seller, done)
                    bought[buyer] += done
                    left[seller] -= done
                    left[buyer] += done
                else:
                    trade("storage", c["id"], -price, seller, buyer, done)
                    left[seller] += done
                    left[buyer] -= done
                trade("penalty", c["id"], F(c.get("penalty_inr_per_kwh", 0)), seller, buyer, promised - done)
        return left, bought

    def spread(total, left, sign):
        """Shares of a total by what parties have to spare (1) or lack (-1), which it takes away."""
        parties = sorted(p for p in left if left[p] * sign > 0)
        parts = shares(total, [left[p] * sign for p in parties]) if parties and total else []
        for party, part in zip(parties, parts):
            left[party] -= part * sign
        return [(party, part) for party, part in zip(parties, parts) if part]

    def prices(block):
        tariff = [t for t in tariffs["tariffs"] if instant(t["effective_from"]) <= block < instant(t["effective_until"])][0]
        minute = (block + 60 * int(tariff["clock_offset_min"])) % 86400 // 60
        clock = lambda text: int(text[:2]) * 60 + int(text[3:])
        band = [b for b in tariff["bands"] if clock(b["from"]) <= minute < clock(b["until"])][0]
        drawn = F(band["import_inr_per_kwh"]) * F(band.get("peak_multiplier", 1))
        fed = F(band["feed_in_inr_per_kwh"])
        price = tariff.get("community_price_inr_per_kwh", "midpoint")
        price = (drawn + fed) / 2 if price == "midpoint" else F(price)
        return tariff, f"{tariff['id']}/{band['name']}", drawn, fed, price

    groups = collections.defaultdict(list)
    for zone in contracts["zones"]:
        groups[zone.get("cooperative") or ("alone", zone["id"])].append(zone)
    for zones in groups.values():
        zones.sort(key=lambda zone: zone["id"])
        members = [[r for r in contracts["resources"] if r["zone"] == zone["id"]] for zone in zones]
        for block in range(int(start), int(until), length):
            if any((r["id"], "actual", block) not in energy for own in members for r in own):
                continue
            tariff, name, drawn, fed, price = prices(block)
            states = [begin(zone, own, block, tariff) for zone, own in zip(zones, members)]
            spare = lambda left: sum(v for v in left.values() if v > 0)
            lack = lambda left: -sum(v for v in left.values() if v < 0)
            for left, bought in states:
                matched = min(spare(left), lack(left))
                for party, part in spread(matched, left, 1):
                    lines[party, "community", name, price] += F(part, 1000) * price
                for party, part in spread(matched, left, -1):
                    lines[party, "community", name, price] -= F(part, 1000) * price
                    bought[party] += part
            over, under = [spare(left) for left, _ in states], [lack(left) for left, _ in states]
            shared = min(sum(over), sum(under))
            given = shares(shared, over) if shared else [0] * len(zones)
            taken = shares(shared, under) if shared else [0] * len(zones)
            for zone, (left, bought), give, take in zip(zones, states, given, taken):
                for party, part in spread(give, left, 1):
                    trade("cooperative", name, price, zone["grid"], party, part)
                for party, part in spread(take, left, -1):
                    trade("cooperative", name, price, party, zone["grid"], part)
                    bought[party] += part
                for party in sorted(left):
                    if left[party] > 0:
                        trade("grid_feed_in", name, fed, zone["grid"], party, left[party])
                    else:
                        trade("grid_import", name, drawn, party, zone["grid"], -left[party])
                for party, quantity in bought.items():
                    for fee in tariff.get("fees", []):
                        trade("fee", f"{tariff['id']}/{fee['name']}", F(fee["price_inr_per_kwh"]), party, zone["operator"], quantity)
            for zone, own in zip(zones, members):
                for r in own:
                    baseline = energy.get((r["id"], "baseline", block))
                    if baseline and r["kind"] != "grid_connection":
                        less = max(0, baseline[0] - energy[r["id"], "actual", block][0])
                        for i in tariffs.get("incentives", []):
                            if instant(i["from"]) <= block < instant(i["until"]):
                                trade("incentive", i["name"], F(i["price_inr_per_kwh"]), zone["operator"], r["party"], less)
    return lines


def judge_run(folder, intervals, contracts, tariffs, start, until):
    deals = texts(contracts)
    lines = work_out(intervals, deals, texts(tariffs), instant(start), instant(until))
    expected = collections.Counter()
    for (party, kind, reference, price), exact in lines.items():
        expected[party, kind, reference, str(float(price))] += rounded(exact)
    for party in sorted(deals["parties"], key=lambda p: p["id"]):
        total = sum(v for k, v in expected.items() if k[0] == party["id"])
        if party.get("owners") and total > 0:
            parts = shares(total, [int(o["share"]) for o in party["owners"]])
            for owner, part in zip(party["owners"], parts):
                expected[owner["party"], "share", party["id"], "0.0"] += part
            expected[party["id"], "share", party["id"], "0.0"] -= total
    found = collections.Counter()
    for row in csv.DictReader(open(os.path.join(folder, "lines.csv"))):
        key = row["party"], row["kind"], row["reference"], str(float(row["price_inr_per_kwh"]))
        found[key] += int(F(row["amount_inr"]) * 100)
    wrong = [k for k in set(expected) | set(found) if expected[k] != found[k]]
    if wrong or not found:
        sys.exit("\n".join(f"{k}: {found[k]} paise, a second count gives {expected[k]}" for k in wrong) or "no line")
    prepaid = {(c["buyer"], c["id"]) for c in deals.get("contracts", []) if c.get("payment") == "prepaid"}
    for party in sorted({k[0] for k in found}):
        # Refuses what is not well-formed.
        page = ElementTree.parse(os.path.join(folder, f"bill-{party}.html"))
        rows = ["".join(row.itertext()).split("\n")[0] for row in page.iter("{http://www.w3.org/1999/xhtml}tr")]
        total = sum(v for k, v in found.items() if k[0] == party)
        # Out of escrow came what was delivered, and it was the buyer's own.
        escrow = -sum(v for k, v in found.items() if k[0] == party and k[1] in ("delivery", "storage") and (party, k[2]) in prepaid)
        if len(rows) != (4 if escrow else 2) + sum(1 for k in found if k[0] == party):
            sys.exit(f"bill-{party}.html has not a row for each line")
        rest = total + escrow
        amount = lambda paise: f"{'-' if paise < 0 else ''}{abs(paise) // 100}.{abs(paise) % 100:02}"
        words = ("to pay" if rest < 0 else "paid: nothing is left to pay" if rest == 0 and escrow else "to get") + amount(rest)
        if not rows[-1].startswith(words) or escrow and not rows[-2].startswith("paid from escrow" + amount(escrow)):
            sys.exit(f"bill-{party}.html ends with {rows[-2:]}, a second count with {words} after {escrow} paise of escrow")
    print(f"{len(found)} lines agree")


if __name__ == "__main__":
    judge_exports(sys.argv[2])
    if sys.argv[1] == "run":
        judge_run(sys.argv[2], *sys.argv[3:])
