"""A million random operations at the real aggregator's door, against a model that shares no code; B1 … B8 judged after each request.

  operations.py PROGRAM FOLDER COUNT SEED PYTHON-JUDGE

Transfers in two assets (a batch of n counts as n operations, and is one commit), holds, contracts with escrow and reservations,
intervals with revisions, certificates, payments of bills in rupees and satoshi, repeated keys, and now and then a settlement of a day
with what that makes of escrow, certificates and bills. The model says of each request whether it is taken; after each, all that it
wrote is judged (watch.py), and `ballast-aggregator check` adds everything up anew twenty times. One request after another: one core.

SIGTERM or Ctrl-C ends it after the request that is on its way; the same command with the same FOLDER goes on there.
"""

import collections
import csv
import fractions
import io
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import door
import watch

PARTIES = [f"p{n}" for n in range(12)]
SELLERS = PARTIES[:4]
ASSETS = {"INR": 2, "BTC": 8}
BLOCK = 2_500  # Wh that 10 kW make in a quarter of an hour
FIRST = 1767225600  # 2026-01-01
DAYS = 20
FUTURE = 1893456000  # 2030-01-01: nothing is delivered under these contracts
RATE = 8_500_000  # INR for a bitcoin


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def decimal(amount, asset):
    digits = ASSETS[asset]
    return f"{amount // 10 ** digits}.{amount % 10 ** digits:0{digits}}"


def satoshi(paise):
    """Halves to even, as Python's own round does."""
    return round(fractions.Fraction(paise * 10 ** 8, 100 * RATE))


class Bag:
    """What one can draw from and take out of in one step each."""

    def __init__(self):
        self.keys, self.place = [], {}

    def add(self, key):
        self.place[key] = len(self.keys)
        self.keys.append(key)

    def remove(self, key):
        place, last = self.place.pop(key), self.keys.pop()
        if last != key:
            self.keys[place], self.place[last] = last, place


class Trial:
    def __init__(self, program, folder, count, seed):
        self.dice, self.count = random.Random(seed), count
        self.program, self.folder = program, folder
        self.wallet = {(p, a): 0 for p in PARTIES for a in ASSETS}
        self.held = collections.Counter()
        self.holds, self.contracts, self.reserved = {}, {}, collections.Counter()
        self.open_holds, self.open_contracts = Bag(), Bag()
        self.revisions, self.certificates, self.bills, self.answers = collections.defaultdict(dict), {}, {}, []
        self.done = self.number = self.refused = self.checks = self.settled = self.repeated = self.taken = 0
        self.kinds, self.seconds, self.next_part = collections.Counter(), 0.0, 0
        self.server = self.watch = None

    def __getstate__(self):
        return {**self.__dict__, "server": None}

    def start(self):
        self.server = door.Aggregator(self.program, self.folder)
        self.server.start()
        if self.watch is None:
            self.village()
            self.watch = watch.Watch(self.server.database)

    def village(self):
        self.taken = len(PARTIES) + 2 + 1 + len(SELLERS) + 1
        for name in PARTIES + ["grid", "op"]:
            self.server.done("/v1/parties", json.dumps({"id": name, "name": name}), f"party-{name}")
        self.server.done("/v1/zones", '{"id": "z", "grid": "grid", "operator": "op"}', "zone")
        for name in SELLERS:
            self.server.done("/v1/resources", json.dumps({"id": name, "party": name, "zone": "z", "kind": "pv",
                                                          "export_max_kw": 10}), f"resource-{name}")
        tariffs = json.loads(door.TARIFFS)
        tariffs["bitcoin"] = {"inr_per_btc": RATE, "source": "made up"}
        self.server.done("/v1/tariffs", json.dumps(tariffs), "tariffs")

    # A request, and what the model says of it

    def ask(self, kind, path, body, wanted, type="application/json"):
        self.number += 1
        key = f"n{self.number}"
        answer = self.server.ask("POST", path, body, key, kind=type)
        if answer[0] != wanted:
            sys.exit(f"{key} {path}: {answer[0]}, the model says {wanted}: {body[:300]} {answer[1][:300]}")
        self.refused += wanted != 201
        self.taken += wanted == 201
        self.kinds[kind] += 1
        if len(self.answers) < 2000:
            self.answers.append((path, body, key, type, answer))
        elif self.dice.random() < 0.05:
            self.answers[self.dice.randrange(2000)] = (path, body, key, type, answer)
        self.last = key, answer[0], answer[1], self.taken
        return answer

    def judge(self, **touched):
        self.watch.judge(self.wallet, self.held, answer=self.last, **touched)

    def free(self, party, asset):
        return self.wallet[party, asset] - self.held[party, asset]

    def transfer(self):
        moves = []
        for _ in range(self.dice.choice([1, 1, 2, 5, 20, 90])):
            asset = self.dice.choice(list(ASSETS))
            source = self.dice.choice(PARTIES + ["outside"] * 6)
            moves.append((source, self.dice.choice(PARTIES), asset, self.dice.randint(1, 20_000)))
        after, fits = dict(self.wallet), True
        for source, target, asset, amount in moves:
            if source == target:
                fits = fits and after[source, asset] - self.held[source, asset] >= 0
                continue
            after[target, asset] += amount
            if source != "outside":
                after[source, asset] -= amount
                fits = fits and after[source, asset] >= self.held[source, asset]
        body = ",".join(f'{{"from":"{s}","to":"{t}","asset":"{a}","amount":{decimal(n, a)},"text":"t"}}' for s, t, a, n in moves)
        self.ask("transfers", "/v1/transfers", f'{{"transfers":[{body}]}}', 201 if fits else 422)
        if fits:
            self.wallet = after
        self.done += len(moves)
        self.judge()

    def hold(self):
        self.done += 1
        party, asset, amount = self.dice.choice(PARTIES), self.dice.choice(list(ASSETS)), self.dice.randint(1, 30_000)
        fits = amount <= self.free(party, asset)
        name = f"h{self.number}"
        body = f'{{"id":"{name}","party":"{party}","asset":"{asset}","amount":{decimal(amount, asset)},"text":"t"}}'
        self.ask("holds", "/v1/holds", body, 201 if fits else 422)
        if fits:
            self.held[party, asset] += amount
            self.holds[name] = (party, asset, amount)
            self.open_holds.add(name)
        self.judge(hold=(name, "held" if fits else None))

    def end_hold(self):
        if not self.holds:
            return
        name = self.dice.choice(self.open_holds.keys)
        self.open_holds.remove(name)
        party, asset, amount = self.holds.pop(name)
        target = self.dice.choice(PARTIES + [None])
        body = {"action": "capture", "to": target} if target else {"action": "release"}
        state = "captured" if target else "released"
        self.ask("holds ended", f"/v1/holds/{name}", json.dumps(body), 201)
        self.held[party, asset] -= amount
        if target:
            self.wallet[party, asset] -= amount
            self.wallet[target, asset] += amount
        self.judge(hold=(name, state))
        self.done += 1
        if self.dice.random() < 0.2:
            self.ask("holds ended twice", f"/v1/holds/{name}", json.dumps(body), 409)
            self.judge(hold=(name, state))
            self.done += 1

    def promised(self, seller, day):
        return seller, FUTURE + day * 86400, self.reserved[seller, day], BLOCK

    def contract(self):
        """Drafted, offered, accepted; its blocks are reserved, or there is no room."""
        if len(self.open_contracts.keys) > 2_000:
            return self.contract_event()
        seller, buyer = self.dice.choice(SELLERS), self.dice.choice(PARTIES[4:])
        day, energy, price = self.dice.randrange(400), 96 * self.dice.randint(1, 1500), self.dice.randint(1, 900)
        name, first = f"c{self.number}", FUTURE + day * 86400
        body = {"id": name, "kind": self.dice.choice(["supply", "storage"]), "buyer": buyer, "resource": seller, "from": stamp(first),
                "until": stamp(first + 86400), "energy_kwh": "ENERGY", "price_inr_per_kwh": "PRICE", "payment": "prepaid"}
        text = json.dumps(body).replace('"ENERGY"', f"{energy // 1000}.{energy % 1000:03}").replace('"PRICE"', decimal(price, "INR"))
        self.ask("contracts", "/v1/contracts", text, 201)
        self.judge(reserved=self.promised(seller, day))
        self.ask("contract events", f"/v1/contracts/{name}", '{"event": "offer"}', 201)
        self.judge(reserved=self.promised(seller, day))
        fits = self.reserved[seller, day] + energy <= 96 * BLOCK
        self.ask("contract events", f"/v1/contracts/{name}", '{"event": "accept"}', 201 if fits else 409)
        if fits:
            self.reserved[seller, day] += energy
        self.judge(reserved=self.promised(seller, day))
        cost, rest = divmod(energy * price, 1000)
        cost += rest > 500 or (rest == 500 and cost % 2 == 1)
        self.contracts[name] = ["agreed" if fits else "offered", seller, day, energy, buyer, cost]
        self.open_contracts.add(name)
        self.done += 3

    def contract_event(self):
        if not self.contracts:
            return
        self.done += 1
        name = self.dice.choice(self.open_contracts.keys)
        one = self.contracts[name]
        state, seller, day, energy, buyer, cost = one
        event = self.dice.choice(["activate", "cancel", "endEarly", "reject", "offer"])
        after = {("agreed", "activate"): "active", ("agreed", "cancel"): "over", ("offered", "cancel"): "over",
                 ("offered", "reject"): "over", ("active", "endEarly"): "ended"}.get((state, event))
        wanted = 201 if after else 409
        if (state, event) == ("agreed", "activate") and self.free(buyer, "INR") < cost:
            wanted, after = 422, None
        self.ask("contract events", f"/v1/contracts/{name}", json.dumps({"event": event}), wanted)
        if after:
            one[0] = after
            if after == "active":
                self.wallet[buyer, "INR"] -= cost
            elif state in ("agreed", "active"):
                self.reserved[seller, day] -= energy
            if after == "over":
                del self.contracts[name]
                self.open_contracts.remove(name)
        self.judge(reserved=self.promised(seller, day))

    # Meters and certificates

    def export(self, name, block):
        revisions = self.revisions[name, block]
        return revisions[max(revisions)] if revisions else 0

    def follow(self, name, block):
        """The certificate follows later data, unless it was used up."""
        one = self.certificates.get((name, block))
        if one and one[2] != "retired":
            one[0] = self.export(name, block)
            one[2] = "issued" if one[0] > 0 else "withdrawn"

    def slot(self, name, block):
        start = FIRST + block * 900
        return dict(interval=(SELLERS.index(name) + 1, start, self.revisions[name, block]),
                    certificate=(name, start, self.certificates.get((name, block)), self.export(name, block)))

    def interval(self):
        self.done += 1
        name, block = self.dice.choice(SELLERS), self.dice.randrange(96 * DAYS)
        known = self.revisions[name, block]
        revision = self.dice.randint(0, max(known, default=-1) + 1)
        given = self.dice.choice([known.get(revision, 0), self.dice.randint(0, BLOCK)])
        body = {"resource": name, "start": stamp(FIRST + block * 900), "import_wh": 0, "export_wh": given, "revision": revision,
                "mode": "production"}
        fits = known.get(revision, given) == given
        self.ask("intervals", "/v1/intervals", json.dumps(body), 201 if fits else 422)
        if fits and revision not in known:
            known[revision] = given
            self.follow(name, block)
        self.judge(**self.slot(name, block))

    def certificate(self):
        if not self.certificates:
            return
        self.done += 1
        name, block = self.dice.choice(SELLERS), self.dice.randrange(96 * min(DAYS, self.settled))
        one, to = self.certificates.get((name, block)), self.dice.choice(PARTIES[4:])
        action = "retire" if self.dice.random() < 0.1 else "transfer"
        body = {"resource": name, "start": stamp(FIRST + block * 900), "action": action}
        if action == "transfer":
            body["to"] = to
        wanted = 404 if one is None else 201 if one[2] == "issued" and one[1] != to else 409 if one[2] != "issued" else 201
        self.ask("certificates", "/v1/certificates", json.dumps(body), wanted)
        if wanted == 201:
            if action == "retire":
                one[2] = "retired"
            else:
                one[1] = to
        self.judge(**self.slot(name, block))

    # Bills

    def whole(self, name, total):
        """A bill in satoshi: each line by itself, to the nearest, halves to even; 0 where they come to nothing of its sign."""
        lines = json.loads(self.server.ask("GET", f"/v1/bills/{name}")[1])["lines"]
        lines = sum(round(fractions.Fraction(line["exact_inr"]) * 10 ** 8 / RATE) for line in lines)
        return abs(lines) if lines * total > 0 else 0

    def pay(self):
        if not self.bills:
            return
        self.done += 1
        name = self.dice.choice(list(self.bills))
        one = self.bills[name]
        party, total, paid = one
        asset = self.dice.choice(list(ASSETS))
        left = abs(total) - paid
        amount = self.dice.randint(1, max(1, min(left + left // 8, 4_000)))
        # A part is never less than it is worth.
        isPart = total < 0 and (paid > 0 or amount < left)
        taken = amount if asset == "INR" else satoshi(amount) + (isPart and satoshi(amount) * RATE < amount * 10 ** 6)
        if asset == "BTC" and paid == 0 and amount == left:
            taken = self.whole(name, total) or taken
        fits = amount <= left and taken > 0 and (total > 0 or self.free(party, asset) >= taken)
        body = f'{{"amount_inr": {decimal(amount, "INR")}, "asset": "{asset}"}}'
        self.ask("payments", f"/v1/bills/{name}/payments", body, 201 if fits else 422)
        if fits:
            one[2] += amount
            self.wallet[party, asset] += taken if total > 0 else -taken
            if one[2] == abs(total):
                del self.bills[name]
        self.judge()

    def again(self):
        self.done += 1
        if self.answers:
            path, body, key, type, answer = self.dice.choice(self.answers)
            if self.server.ask("POST", path, body, key, kind=type) != answer:
                sys.exit(f"{key}: a second answer")
            self.repeated += 1
            self.last = key, answer[0], answer[1], self.taken
            self.judge()

    def settle(self):
        """A day is told whole, and settled; contracts that were ended early get their escrow back."""
        day = self.settled % DAYS
        blocks = range(day * 96, day * 96 + 96)
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow("resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record".split(","))
        for name in SELLERS:
            for block in blocks:
                known = self.revisions[name, block]
                known[max(known, default=-1) + 1] = self.dice.randint(0, BLOCK)
                rows.writerow([name, "actual", stamp(FIRST + block * 900), 900, 0, self.export(name, block), max(known),
                               "measured", "production", ""])
                self.follow(name, block)
        self.ask("days", "/v1/intervals.csv", out.getvalue(), 201, type="text/csv")
        self.judge()
        first = FIRST + day * 86400
        done = self.server.run("settle", "--config", self.server.config, "--from", stamp(first), "--to", stamp(first + 86400))
        if done.returncode != 0:
            sys.exit(f"settle: {done.stdout}{done.stderr}")
        self.settled += 1
        for name in [name for name, one in self.contracts.items() if one[0] == "ended"]:
            self.wallet[self.contracts[name][4], "INR"] += self.contracts.pop(name)[5]
            self.open_contracts.remove(name)
        for name in SELLERS:
            for block in blocks:
                if (name, block) not in self.certificates and self.export(name, block) > 0:
                    self.certificates[name, block] = [self.export(name, block), name, "issued"]
        self.judge(run=(self.settled,))
        for name in SELLERS:
            for block in blocks:
                self.judge(**self.slot(name, block))
        for bill, party, total in self.watch.rows("SELECT id, party, total FROM books_bill WHERE run = ?", self.settled):
            if party in PARTIES and total:
                self.bills[bill] = [party, total, 0]

    def part(self):
        """Everything anew, and the next day."""
        if self.done:
            self.settle()
        self.server.check()
        self.checks += 1
        self.next_part += self.count / 20
        print(f"{self.done} operations, {self.seconds + time.monotonic() - self.begun:.0f} s", flush=True)

    def run(self, wants_end):
        self.begun = time.monotonic()
        steps = [self.transfer] * 6 + [self.hold] * 2 + [self.end_hold] * 2 + [self.contract] + [self.contract_event] * 4 + [
            self.interval] * 3 + [self.certificate, self.pay, self.again]
        while self.done < self.count and not wants_end:
            if self.done >= self.next_part:
                self.part()
            self.dice.choice(steps)()
        self.seconds += time.monotonic() - self.begun
        self.begun = time.monotonic()


def report(trial, seed, judge):
    trial.server.check()
    for form in ("hledger", "ledger", "beancount"):
        text = trial.server.run("ledger", "export", "--config", trial.server.config, "--format", form).stdout
        with open(f"{trial.folder}/ledger.{form}", "w") as file:
            file.write(text)
    done = subprocess.run([sys.executable, judge, "export", trial.folder], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"the judges: {done.stdout}{done.stderr}")
    trial.server.end()
    kinds = ", ".join(f"{n} {name}" for name, n in trial.kinds.most_common())
    print(f"{trial.done} random operations in {trial.number} requests ({kinds}), seed {seed}, {trial.seconds:.0f} s: {trial.refused} "
          f"refused as the model says, {trial.repeated} repeated keys with the same answer, {trial.settled} days settled "
          f"({trial.watch.blocks} blocks); B1 … B8 judged {trial.watch.judged} times, after each request, and added up anew "
          f"{trial.checks + 1} times; hledger, ledger, bean-check accept the export")


def main(program, folder, count, seed, judge):
    kept, wants_end = os.path.join(folder, "trial.pickle"), []
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: wants_end.append(1))
    if os.path.exists(kept):
        with open(kept, "rb") as file:
            trial = pickle.load(file)
        os.remove(kept)
    else:
        trial = Trial(program, folder, int(count), int(seed))
    trial.start()
    trial.run(wants_end)
    if wants_end:
        trial.server.end()
        with open(kept, "wb") as file:
            pickle.dump(trial, file)
        sys.exit(f"{trial.done} operations of {trial.count}; the same command goes on")
    report(trial, seed, judge)


main(*sys.argv[1:])
