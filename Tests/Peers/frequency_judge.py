"""Draws rows for `ballast-sim conformance` and says what each one must give, by another way than the product.

    frequency_judge.py droop|time SEED COUNT

Written from the definitions of the grid codes, in exact fractions; only the exponential of the open-loop
response time is a decimal, of 40 digits. Prints one JSON object: the table with its expectations, and the
profiles by name.
"""
import decimal
import json
import random
import sys
from fractions import Fraction as F

decimal.getcontext().prec = 40

# Deviation in mHz and share of contracted power of the services, one side; the other is its mirror.
SERVICES = {
    "FCR_CE": [(0, F(0)), (200, F(1))],
    "GB_DC": [(15, F(0)), (200, F(1, 20)), (500, F(1))],
    "GB_DM": [(15, F(0)), (100, F(1, 20)), (200, F(1))],
    "GB_DR": [(15, F(0)), (200, F(1))],
}
CURVE = ("edge_low_hz", "edge_high_hz", "droop_under", "droop_over", "pn_kw", "p_pre_kw", "pref_pu", "curve",
         "hysteresis_hz")
DROOP = ["id", "model", "fn_hz", "f_hz", *CURVE, "p_dis_max_kw", "p_chg_max_kw", "soc", "soc_min", "soc_max",
         "soc_taper", "p_min_kw", "expect_p_kw"]
TIME = ["id", "model", "fn_hz", *CURVE, "tr_s", "profile_csv", "t_s", "expect_p_kw"]


def text(number):
    """Of a fraction that came from a short decimal."""
    whole = decimal.Decimal(number.numerator) / decimal.Decimal(number.denominator)
    return format(whole.quantize(decimal.Decimal("1e-12")).normalize(), "f")


def draw(low, high, digits):
    scale = 10 ** digits
    return F(dice.randint(int(low * scale), int(high * scale)), scale)


class Curve:
    """One row's response: power against frequency, and where it bends."""

    def __init__(self, row):
        self.model = row["model"]
        self.nominal = row["fn_hz"]
        self.low, self.high = row.get("edge_low_hz"), row.get("edge_high_hz")
        self.under, self.over = row.get("droop_under"), row.get("droop_over")
        self.rated = row["pn_kw"] * (row.get("pref_pu", 1) if self.model.startswith("LFSM") else 1)
        self.back = row.get("hysteresis_hz", F(0)) if self.model == "STEP" else F(0)
        self.service = SERVICES.get(row.get("curve"))
        self.side = 0

    def corners(self):
        if self.service:
            points = [F(deviation, 1000) for deviation, _ in self.service]
            return {self.nominal + way * point for point in points for way in (-1, 1)}
        edges = set()
        if self.model != "LFSMO":
            edges |= {self.low, self.low + self.back}
        if self.model != "LFSMU":
            edges |= {self.high, self.high - self.back}
        return edges

    def see(self, f):
        """Remembers on which side of the band the frequency is: -1, 0 or 1."""
        if self.service:
            return
        if self.model != "LFSMO" and f < self.low + (self.back if self.side < 0 else 0):
            self.side = -1
        elif self.model != "LFSMU" and f > self.high - (self.back if self.side > 0 else 0):
            self.side = 1
        else:
            self.side = 0

    def power(self, f):
        """On the side that was seen last."""
        if self.service:
            return self.by_points(f)
        if self.side == 0:
            return F(0)
        edge, droop = (self.low, self.under) if self.side < 0 else (self.high, self.over)
        full = droop * self.nominal
        if self.model == "STEP":
            share = (self.nominal - f) / full
        elif self.model == "RENORM":
            share = (edge - f) / (full - abs(edge - self.nominal))
        else:
            share = (edge - f) / full
        return share * self.rated

    def by_points(self, f):
        deviation = abs(f - self.nominal) * 1000
        sign = 1 if f < self.nominal else -1
        first = self.service[0]
        if deviation <= first[0]:
            return F(0)
        for (x0, y0), (x1, y1) in zip(self.service, self.service[1:]):
            if deviation <= x1:
                return sign * (y0 + (y1 - y0) * (deviation - x0) / (x1 - x0)) * self.rated
        return sign * self.rated


def clamp(power, bounds):
    return min(bounds[1], max(bounds[0], power))


def settings():
    """What a curve is made of."""
    model = dice.choice(["SUB", "SUB", "STEP", "RENORM", "LFSMO", "LFSMU", "PW"])
    nominal = F(50) if model == "PW" else F(dice.choice([50, 60]))
    row = {"model": model, "fn_hz": nominal, "pn_kw": draw(1, 3000, dice.choice([0, 1]))}
    row["p_pre_kw"] = row["pn_kw"] * draw(-13, 13, 2) / 10
    if model == "PW":
        row["curve"] = dice.choice(list(SERVICES))
        return row
    widest = 500 if model.startswith("LFSM") else 300
    row["edge_low_hz"] = nominal - F(dice.randint(0, widest), 1000)
    row["edge_high_hz"] = nominal + F(dice.randint(0, widest), 1000)
    row["droop_under"], row["droop_over"] = draw(2, 12, 1) / 100, draw(2, 12, 1) / 100
    if model.startswith("LFSM"):
        row["pref_pu"] = draw(0.2, 1.5, 2)
    if model == "STEP":
        row["hysteresis_hz"] = F(dice.randint(0, int((row["edge_high_hz"] - row["edge_low_hz"]) * 500)), 1000)
    return row


def near(row):
    """A frequency: anywhere, about the band, or a hair beside a corner."""
    corner = dice.choice(sorted(Curve(row).corners()))
    way = dice.random()
    if way < 0.25:
        return draw(row["fn_hz"] - 8, row["fn_hz"] + 8, 3)
    if way < 0.6:
        return draw(row["fn_hz"] - 1, row["fn_hz"] + 1, 4)
    if way < 0.75:
        return corner
    return corner + dice.choice([-1, 1]) * F(1, 10 ** dice.randint(3, 5))


def limits(row):
    """What may flow, as the row has it; adds its columns."""
    rated = row["pn_kw"]
    discharge = charge = rated
    if dice.random() < 0.6:
        row["p_dis_max_kw"] = discharge = rated * draw(0, 12, 2) / 10
    if dice.random() < 0.6:
        row["p_chg_max_kw"] = charge = rated * draw(0, 12, 2) / 10
    if dice.random() < 0.6:
        low, high = draw(0, 0.4, 2), draw(0.6, 1, 2)
        taper = dice.choice([F(0), F(1, 50), F(1, 10)])
        walls = [low, high, low + taper / 2, high - taper / 2, low + taper, high - taper, draw(0, 1, 3)]
        soc = min(F(1), max(F(0), dice.choice(walls)))
        row.update(soc=soc, soc_min=low, soc_max=high, soc_taper=taper)

        def share(room):
            if room <= 0:
                return F(0)
            return min(F(1), room / taper) if taper else F(1)
        discharge, charge = discharge * share(soc - low), charge * share(high - soc)
    return -charge, discharge


def droop_row(index):
    row = settings()
    bounds = limits(row)
    row["f_hz"] = near(row)
    curve = Curve(row)
    curve.see(row["f_hz"])
    power = clamp(clamp(row["p_pre_kw"], bounds) + curve.power(row["f_hz"]), bounds)
    if dice.random() < 0.2:
        row["p_min_kw"] = row["pn_kw"] * draw(-10, 10, 1) / 10
        power = max(power, clamp(row["p_min_kw"], bounds))
    return {"id": f"D{index}", **row, "expect_p_kw": power}


def profile(row):
    rows = [(draw(0, 3, 1), near(row))]
    for _ in range(dice.randint(2, 7)):
        time, frequency = rows[-1][0], near(row)
        is_step = dice.random() < 0.3 and frequency != rows[-1][1] and (len(rows) < 2 or rows[-2][0] != time)
        rows.append((time if is_step else time + draw(0.1, 12, 2), frequency))
    return rows


def pieces(rows, end, curve, change):
    """(duration, change of power at begin and at end) of the stretches in which power is a straight line."""
    rows = [row for row in rows if row[0] <= end] + [row for row in rows if row[0] > end][:1]
    stretches = list(zip(rows, rows[1:]))
    if rows[-1][0] < end:
        stretches.append((rows[-1], (end, rows[-1][1])))
    curve.see(rows[0][1])
    for (t0, f0), (t1, f1) in stretches:
        if t1 == t0:
            curve.see(f1)
            continue
        slope = (f1 - f0) / (t1 - t0)
        cuts = {t0, min(t1, end)}
        if slope:
            cuts |= {t0 + (corner - f0) / slope for corner in curve.corners()}
        cuts = sorted(cut for cut in cuts if t0 <= cut <= min(t1, end))
        for a, b in zip(cuts, cuts[1:]):
            fa, fb = f0 + slope * (a - t0), f0 + slope * (b - t0)
            curve.see(fa)
            curve.see((fa + fb) / 2)
            ends = curve.power(fa), curve.power(fb)
            # Where the total meets a bound the line bends too.
            inner = {F(0), F(1)}
            if ends[0] != ends[1]:
                inner |= {(bound - ends[0]) / (ends[1] - ends[0]) for bound in change.bends}
            inner = sorted(part for part in inner if 0 <= part <= 1)
            for p, q in zip(inner, inner[1:]):
                at = [change(ends[0] + (ends[1] - ends[0]) * part) for part in (p, q)]
                yield (q - p) * (b - a), at[0], at[1]
            curve.see(fb)


class Change:
    """The part of a response that fits on top of the base."""

    def __init__(self, base, rated):
        self.base, self.rated = base, rated
        self.bends = [rated - base, -rated - base]

    def __call__(self, power):
        return clamp(self.base + power, (-self.rated, self.rated)) - self.base


def exact(fraction):
    return decimal.Decimal(fraction.numerator) / decimal.Decimal(fraction.denominator)


def answer(row, rows):
    """The power at t_s behind a lag that has done 90 % of a step after tr_s."""
    rated = row["pn_kw"]
    base = clamp(row["p_pre_kw"], (-rated, rated))
    if row["t_s"] < rows[0][0]:
        return exact(base)
    curve, change = Curve(row), Change(base, rated)
    value = decimal.Decimal(0)
    for time, first, last in pieces(rows, row["t_s"], curve, change):
        if row["tr_s"] == 0:
            continue
        rate = decimal.Decimal(10).ln() / exact(row["tr_s"])
        first, slope = exact(first), exact((last - first) / time)
        behind = slope / rate
        decay = (-rate * exact(time)).exp()
        value = exact(last) - behind + (value - first + behind) * decay
    if row["tr_s"] == 0:
        now = frequency(rows, row["t_s"])
        curve.see(now)
        value = exact(change(curve.power(now)))
    return exact(base) + value


def frequency(rows, at):
    """After the step where there is one."""
    before = [row for row in rows if row[0] <= at][-1]
    after = [row for row in rows if row[0] > at][:1] or [before]
    (t0, f0), (t1, f1) = before, after[0]
    return f0 if t1 == t0 else f0 + (f1 - f0) * (at - t0) / (t1 - t0)


def time_row(index, profiles):
    row = settings()
    rows = profile(row)
    row["tr_s"] = dice.choice([F(0), F(1, 5), F(1), F(5), F(10)])
    row["t_s"] = draw(0, rows[-1][0] + 5, 3)
    # At a jump without a lag the last digit of the clock would decide.
    while row["tr_s"] == 0 and row["t_s"] > rows[0][0] and min(
            abs(frequency(rows, row["t_s"]) - corner) for corner in Curve(row).corners()) < F(1, 10 ** 6):
        row["tr_s"] = F(1)
    name = f"P{index}"
    profiles[name] = "t_s,f_hz\n" + "".join(f"{text(t)},{text(f)}\n" for t, f in rows)
    power = answer(row, rows)
    return {"id": f"T{index}", **row, "profile_csv": name, "expect_p_kw": F(power)}


kind, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dice = random.Random(seed)
profiles = {}
columns = DROOP if kind == "droop" else TIME
table = [droop_row(index) if kind == "droop" else time_row(index, profiles) for index in range(count)]
lines = [",".join(columns)]
for row in table:
    cells = [row.get(column, "") for column in columns]
    lines.append(",".join(cell if isinstance(cell, str) else text(cell) for cell in cells))
print(json.dumps({"table": "\n".join(lines) + "\n", "profiles": profiles}))
