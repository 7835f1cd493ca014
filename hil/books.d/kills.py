"""Kills the aggregator, and the settlement beside it, at random moments of their postings, and compares the books with a model.

  kills.py PROGRAM FOLDER COUNT SEED PYTHON-JUDGE

The model is a dictionary of balances; it shares no code with what it judges. Requests go one after another, so that the model
knows what each must come to. A request whose answer was lost goes again under its key: it must have happened once, or not yet.
After every kill the balances are compared; B1 … B8 are checked after each tenth and at the end.
"""

import csv
import io
import json
import os
import random
import subprocess
import sys
import threading
import time

import door

PARTIES = [f"p{n}" for n in range(8)]


class Model:
    def __init__(self):
        self.balance = {name: 0 for name in PARTIES}

    def expects(self, moves):
        """Whether the whole batch can be carried out; then it has been, in the model."""
        after = dict(self.balance)
        for source, target, amount in moves:
            for name, change in ((target, amount), (source, -amount)):
                if name != "outside":
                    after[name] += change
            if source != "outside" and after[source] < 0:
                return False
        self.balance = after
        return True


class Trial:
    def __init__(self, program, folder, seed):
        self.dice, self.model = random.Random(seed), Model()
        self.server = door.Aggregator(program, folder)
        self.server.start()
        self.answers, self.number = {}, 0
        self.kills = self.repeated = self.undecided = self.refused = self.settled = 0

    def village(self):
        for name in PARTIES + ["grid", "op"]:
            self.server.done("/v1/parties", json.dumps({"id": name, "name": name}), f"party-{name}")
        self.server.done("/v1/zones", '{"id": "z", "grid": "grid", "operator": "op"}', "zone")
        for name in PARTIES[:3]:
            self.server.done("/v1/resources", json.dumps({"id": name, "party": name, "zone": "z", "kind": "meter",
                                                          "export_max_kw": 10}), f"resource-{name}")
        self.server.done("/v1/tariffs", door.TARIFFS, "tariffs")

    def request(self):
        self.number += 1
        moves = []
        for _ in range(self.dice.choice([1, 1, 2, 5])):
            source, target = self.dice.choice(PARTIES + ["outside"] * 3), self.dice.choice(PARTIES)
            moves.append((source, target, self.dice.randint(1, 50_000)))
        body = json.dumps({"transfers": [{"from": a, "to": b, "amount": f"{c // 100}.{c % 100:02}", "text": "t"}
                                         for a, b, c in moves]}).replace('"amount": "', '"amount": ')
        body = body.replace('", "text"', ', "text"')
        return f"n{self.number}", body, moves

    def transfers_until_killed(self):
        """Posts until the killer strikes; gives back the request whose answer was lost."""
        delay = self.dice.uniform(0.0, 0.12)
        killer = threading.Timer(delay, self.server.kill)
        killer.start()
        lost = None
        while lost is None:
            if self.answers and self.dice.random() < 0.1:
                key = self.dice.choice(list(self.answers))
                body, answer = self.answers[key]
                try:
                    if self.server.ask("POST", "/v1/transfers", body, key) != answer:
                        sys.exit(f"{key}: a second answer")
                    self.repeated += 1
                except door.Gone:
                    break
                continue
            key, body, moves = self.request()
            try:
                self.judge(key, body, moves, self.server.ask("POST", "/v1/transfers", body, key))
            except door.Gone:
                lost = (key, body, moves)
        killer.join()
        self.kills += 1
        return lost

    def judge(self, key, body, moves, answer):
        wanted = 201 if self.model.expects(moves) else 422
        if answer[0] != wanted:
            sys.exit(f"{key}: {answer[0]}, the model says {wanted}: {body} {answer[1]}")
        self.refused += wanted != 201
        self.answers[key] = (body, answer)

    def compare(self):
        status, text = self.server.ask("GET", "/v1/trial-balance")
        accounts = {row["account"]: row["balance"] for row in json.loads(text)["accounts"] if row["asset"] == "INR"}
        for name, wanted in self.model.balance.items():
            have = accounts.get(f"Assets:Party:{name.capitalize()}:Wallet", "0.00").replace(".", "")
            if int(have) != wanted:
                sys.exit(f"{name}: {have}, the model says {wanted}")
        if any(int(value) != 0 for value in json.loads(text)["sums"].values()):
            sys.exit(f"the trial balance does not come to 0: {text}")

    def killed_settlement(self):
        """A day is settled by a job that is killed until once it is not: there is one run for it."""
        day = time.strftime("%Y-%m-%d", time.gmtime(1767225600 + self.settled * 86400))
        after = time.strftime("%Y-%m-%d", time.gmtime(1767225600 + (self.settled + 1) * 86400))
        out = io.StringIO()
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow("resource,kind,start,length_s,import_wh,export_wh,revision,quality,mode,record".split(","))
        for name in PARTIES[:3]:
            for block in range(96):
                start = f"{day}T{block // 4:02}:{block % 4 * 15:02}:00Z"
                rows.writerow([name, "actual", start, 900, self.dice.randint(0, 900), self.dice.randint(0, 900), 0, "measured",
                               "production", ""])
        self.server.done("/v1/intervals.csv", out.getvalue(), f"day-{day}", kind="text/csv")
        command = [self.server.program, "settle", "--config", self.server.config, "--from", f"{day}T00:00:00Z", "--to",
                   f"{after}T00:00:00Z"]
        for _ in range(3):
            job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            time.sleep(self.dice.uniform(0.0, 0.25))
            job.kill()
            job.communicate()
            self.kills += 1
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"settle: {done.stdout}{done.stderr}")
        self.settled += 1
        runs = json.loads(self.server.ask("GET", "/v1/settlements")[1])["settlements"]
        if len(runs) != self.settled or any(run["settled"] != 96 for run in runs):
            sys.exit(f"{self.settled} days, and these runs: {runs}")

    def run(self, count):
        self.village()
        rounds = 0
        while self.kills < count:
            rounds += 1
            lost = self.transfers_until_killed()
            self.server.start()
            if lost:
                self.undecided += 1
                self.judge(*lost, self.server.ask("POST", "/v1/transfers", lost[1], lost[0]))
            self.compare()
            if rounds % 10 == 0:
                self.server.check()
            if rounds % 20 == 0:
                self.killed_settlement()
        self.server.check()
        self.compare()


def judge_export(trial, judge):
    for form in ("hledger", "ledger", "beancount"):
        text = trial.server.run("ledger", "export", "--config", trial.server.config, "--format", form).stdout
        with open(os.path.join(trial.server.folder, f"ledger.{form}"), "w") as file:
            file.write(text)
    done = subprocess.run([sys.executable, judge, "export", trial.server.folder], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"the judges: {done.stdout}{done.stderr}")


def main(program, folder, count, seed, judge):
    trial = Trial(program, folder, int(seed))
    trial.run(int(count))
    judge_export(trial, judge)
    trial.server.end()
    print(f"{trial.kills} kills, seed {seed}: {trial.number} requests of up to 5 transfers, {trial.refused} refused as the model says, "
          f"{trial.undecided} whose answer was lost and which were each carried out once, {trial.repeated} repeated keys with the same "
          f"answer, {trial.settled} days settled once each by jobs that were killed 3 times; balances as the model's after every kill, "
          "B1 … B8 after every tenth; hledger, ledger and bean-check accept the export")


main(*sys.argv[1:])
