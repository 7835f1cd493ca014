"""B1 … B8 after one command: everything that it wrote is read from the database and added up by Python, beside what stood there before.

Shares no code with the aggregator. What one command wrote is small, so that this takes a fraction of a millisecond, whatever lies there
already; `ballast-aggregator check` adds everything up anew, which takes minutes in the end and is asked now and then.
"""

import hashlib
import sqlite3
import sys


class Watch:
    def __init__(self, database):
        self.path = database
        self.balance, self.events, self.head, self.transfer, self.answers = {}, 0, "", 0, 0
        self.asset, self.floor, self.names = {}, {}, {}
        self.blocks, self.judged = 0, 0
        self.link = None

    def __getstate__(self):
        return {**self.__dict__, "link": None}

    def rows(self, sql, *values):
        if self.link is None:
            self.link = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None, cached_statements=200)
        return self.link.execute(sql, values).fetchall()

    def judge(self, wallets, held, **touched):
        """At one instant: all that is new since the last time, the wallets of the model, and what the command named."""
        self.rows("SELECT 1")
        self.link.execute("BEGIN")
        try:
            self.sums()
            self.wallets(wallets, held)
            self.history()
            if "interval" in touched:
                self.interval(*touched["interval"])
            if "certificate" in touched:
                self.certificate(*touched["certificate"])
            if "reserved" in touched:
                self.reserved(*touched["reserved"])
            if "hold" in touched:
                self.hold(*touched["hold"])
            if "answer" in touched:
                self.answer(*touched["answer"])
            if "run" in touched:
                self.run(*touched["run"])
        finally:
            self.link.execute("COMMIT")
        self.judged += 1

    def sums(self):
        """B1, and the balances of all accounts that something was posted to; B2 of those with a floor."""
        rows = self.rows("SELECT transfer, account, amount FROM books_posting WHERE transfer > ? ORDER BY transfer", self.transfer)
        known = {row[0] for row in self.rows("SELECT id FROM books_transfer WHERE id > ?", self.transfer)}
        by_transfer, touched = {}, set()
        for transfer, account, amount in rows:
            if account not in self.asset:
                name, asset, floor = self.rows("SELECT name, asset, floor FROM books_account WHERE id = ?", account)[0]
                self.asset[account], self.floor[account], self.names[name, asset] = asset, floor, account
            sums = by_transfer.setdefault(transfer, [0, {}])
            sums[0] += 1
            sums[1][self.asset[account]] = sums[1].get(self.asset[account], 0) + amount
            self.balance[account] = self.balance.get(account, 0) + amount
            touched.add(account)
        if set(by_transfer) != known:
            sys.exit(f"B1: transfers {known}, and postings of {set(by_transfer)}")
        for transfer, (legs, sums) in by_transfer.items():
            if legs < 2 or any(sums.values()):
                sys.exit(f"B1: transfer {transfer} has {legs} postings, which come to {sums}")
        for account in touched:
            balance, held = self.rows("SELECT balance, held FROM books_account WHERE id = ?", account)[0]
            if balance != self.balance[account]:
                sys.exit(f"B1: account {account} has {balance}, its postings come to {self.balance[account]}")
            if self.floor[account] is not None and balance - held < self.floor[account]:
                sys.exit(f"B2: account {account} has {balance}, {held} of it held")
        if known:
            self.transfer = max(known)

    def wallets(self, wallets, held):
        """B2, each wallet and what is held of it, as the model has them."""
        for (party, asset), wanted in wallets.items():
            name = f"Assets:Party:{party.capitalize()}:Wallet"
            account = self.names.get((name, asset))
            if account is None:
                found = self.rows("SELECT id FROM books_account WHERE name = ? AND asset = ?", name, asset)
                if not found:
                    if wanted or held[party, asset]:
                        sys.exit(f"B2: {name} is not there, the model has {wanted}")
                    continue
                account = self.names[name, asset] = found[0][0]
            balance, hold, floor = self.rows("SELECT balance, held, floor FROM books_account WHERE id = ?", account)[0]
            if (balance, hold) != (wanted, held[party, asset]) or floor != 0 or balance - hold < 0:
                sys.exit(f"B2: {name} {asset}: {balance}, {hold} held, floor {floor}; the model says {wanted}, {held[party, asset]}")

    def history(self):
        """B6, from the head that was seen last."""
        for seq, at, who, kind, data, found in self.rows("SELECT * FROM books_event WHERE seq > ? ORDER BY seq", self.events):
            text = f"{self.head}\n{seq}\n{at}\n{who}\n{kind}\n{data}\n"
            if seq != self.events + 1 or hashlib.sha256(text.encode()).hexdigest() != found:
                sys.exit(f"B6: event {seq} after {self.events}")
            self.events, self.head = seq, found
            self.answers += who not in ("settlement", "feed", "history")

    def interval(self, number, start, revisions):
        """B3: the revisions of the block are the model's, each once."""
        found = self.rows("SELECT revision, export_wh FROM books_interval WHERE resource = ? AND kind = 'actual' AND start_s = ?",
                          number, start)
        if sorted(found) != sorted(revisions.items()):
            sys.exit(f"B3: resource {number}, {start}: {found}, the model says {revisions}")

    def certificate(self, resource, start, wanted, final):
        """B5: as the model has it, and not above the final export."""
        found = self.rows("SELECT energy_wh, owner, state FROM books_certificate WHERE resource = ? AND start_s = ?", resource, start)
        if found != ([tuple(wanted)] if wanted else []):
            sys.exit(f"B5: the certificate of {resource}, {start}: {found}, the model says {wanted}")
        if wanted and wanted[2] == "issued" and wanted[0] > final:
            sys.exit(f"B5: {resource}, {start}: {wanted}, and {final} Wh were made")

    def reserved(self, resource, first, energy, capacity):
        """B4 over a day: no block above what the resource has, and all together as in the model."""
        rows = self.rows("SELECT start_s, sum(energy_wh) FROM books_reserved WHERE resource = ? AND start_s >= ? AND start_s < ? "
                         "GROUP BY start_s", resource, first, first + 86400)
        if any(value > capacity for _, value in rows) or sum(value for _, value in rows) != energy:
            sys.exit(f"B4: {resource}, {first}: {rows[:3]} …, the model says {energy} of {96 * capacity}")

    def hold(self, name, state):
        found = self.rows("SELECT state FROM books_hold WHERE id = ?", name)
        if found != ([(state,)] if state else []):
            sys.exit(f"B2: hold {name}: {found}, the model says {state}")

    def answer(self, key, status, text, taken):
        """B8: one answer, which is the one that was given; each that was carried out stands in the history once."""
        found = self.rows("SELECT status, answer FROM books_answer WHERE who = 'admin' AND key = ?", key)
        if len(found) != 1 or found[0][0] != status or (status < 400 and found[0][1] != text):
            sys.exit(f"B8: {key}: {found}, and {status} {text} was answered")
        if self.answers != taken:
            sys.exit(f"B8: {self.answers} commands in the history, {taken} were carried out")

    def run(self, number):
        """B7: each block of a run, and its money before it is rounded."""
        rows = self.rows("SELECT start_s, export_wh - import_wh + grid_wh - losses_wh FROM books_block WHERE run = ?", number)
        money = sum(int(row[0]) for row in self.rows("SELECT exact FROM books_line WHERE run = ?", number))
        if not rows or any(rest for _, rest in rows) or money != 0:
            sys.exit(f"B7: run {number}: {money}, {[row for row in rows if row[1]][:5]}")
        self.blocks += len(rows)
