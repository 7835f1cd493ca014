"""What a droop curve with a subtracted deadband asks for over a profile, in exact fractions.

    frequency_closed_form.py PROFILE NOMINAL LOW HIGH DROOP RATED_KW BASE_KW

Frequency is linear between rows, so power is linear between the instants at which frequency crosses a kink of
the curve: each piece is integrated exactly. Prints one JSON object: peak_kw, injected_kwh, absorbed_kwh.
"""
import json
import sys
from fractions import Fraction as F

profile, *numbers = sys.argv[1:]
nominal, low, high, droop, rated, base = map(F, numbers)
rows = [tuple(map(F, line.split(","))) for line in open(profile, encoding="utf-8")
        if line.strip() and not line.startswith(("#", "t_s"))]
full = nominal * droop


def change(f):
    """Power beside the base point; the nameplate bounds the total."""
    total = base + max(F(0), low - f) / full * rated - max(F(0), f - high) / full * rated
    return min(rated, max(-rated, total)) - base


# Where the curve bends: the deadband's edges, and where the nameplate ends it.
kinks = [low, high, low - full * (rated - base) / rated, high + full * (rated + base) / rated]
injected = absorbed = F(0)
peak = change(rows[0][1])
for (t0, f0), (t1, f1) in zip(rows, rows[1:]):
    cuts = {t0, t1} | {t0 + (k - f0) / (f1 - f0) * (t1 - t0) for k in kinks if min(f0, f1) < k < max(f0, f1)}
    times = sorted(cuts)
    for a, b in zip(times, times[1:]):
        powers = [change(f0 + (t - t0) / (t1 - t0) * (f1 - f0)) for t in (a, b)]
        # Pieces end at the deadband's edges, so no piece crosses zero.
        area = sum(powers) / 2 * (b - a) / 3600
        injected, absorbed = injected + max(F(0), area), absorbed + max(F(0), -area)
        peak = max([peak, *powers], key=abs)
print(json.dumps({"peak_kw": float(peak), "injected_kwh": float(injected), "absorbed_kwh": float(absorbed)}))
