"""How long a level takes to share over 10,000 sites in three levels, next to a plain program; and what 200 random trees lose, judged
by HiGHS (PyPI highspy); see hil/bench fleet.

    fleet.py BENCH ROUNDS TREES [FILE]      FILE keeps the result in its section "hil/bench fleet"
"""
import datetime
import json
import os
import re
import subprocess
import sys
import time

import highspy
import numpy as np

BENCH, ROUNDS, TREES = sys.argv[1], sys.argv[2], sys.argv[3]
LINES = []


def say(text):
    LINES.append(text)
    print(text, flush=True)


def run(*words):
    return subprocess.run([BENCH, *words], check=True, capture_output=True, text=True).stdout.splitlines()


def share(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def times(mode):
    rounds = [tuple(map(int, line.split())) for line in run("time", mode, ROUNDS)]
    ours, plain = [one for one, _ in rounds], [other for _, other in rounds]
    say(f"| step over 10,000 sites in three levels, {mode.replace('_', ' ')} | p50 {share(ours, 0.5) / 1e3:.1f} ms, p99 "
        f"{share(ours, 0.99) / 1e3:.1f} ms, at most {max(ours) / 1e3:.1f} ms ({len(ours)} times, each site told anew) | "
        f"{share(plain, 0.5) / 1e3:.2f} ms: sorted and filled by one program without levels, losses, charge and leases; ratio "
        f"{share(ours, 0.5) / share(plain, 0.5):.0f} |")


def least(tree, pieces):
    """What no way to share loses less than: the linear program over tangents of every line's loss, which lie below it."""
    places = tree["places"]
    count, children = len(places), [[] for _ in places]
    for index, place in enumerate(places[1:], 1):
        children[place[0]].append(index)
    can = [max(0, place[1]) for place in places]
    for index in reversed(range(count)):
        can[index] += sum(can[child] for child in children[index])
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for index in range(count):
        solver.addVar(tree["target"] if index == 0 else 0, tree["target"] if index == 0 else can[index])
    for index in range(count):
        solver.addVar(0, highspy.kHighsInf)
        solver.changeColCost(count + index, 1.0)
    for index, (_, _, nameplate, part, _) in enumerate(places):
        if children[index]:
            names = np.array([index] + children[index], dtype=np.int32)
            solver.addRow(0, 0, len(names), names, np.array([1.0] + [-1.0] * len(children[index])))
        for piece in range(1, pieces + 1) if nameplate and part else []:
            at, slope = can[index] * piece / pieces, part / nameplate
            # y ≥ k · (2 · a · p − a²)
            solver.addRow(
                -slope * at * at, highspy.kHighsInf, 2, np.array([count + index, index], dtype=np.int32),
                np.array([1.0, -2 * slope * at]))
    begin = time.monotonic()
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return solver.getInfo().objective_function_value, time.monotonic() - begin


def lost(tree):
    for index, (parent, *_) in enumerate(tree["places"]):
        given = [place[4] for place in tree["places"] if place[0] == index]
        assert not given or sum(given) == tree["places"][index][4], "a sum is wrong"
    assert tree["places"][0][4] == tree["target"]
    return sum(part / nameplate * given * given for _, _, nameplate, part, given in tree["places"] if nameplate)


def trees():
    more, places = [], []
    for line in run("trees", TREES, "19"):
        tree = json.loads(line)
        more.append(lost(tree) / least(tree, 60)[0] - 1)
        places.append(len(tree["places"]))
    say(f"| loss in {len(more)} random trees of {min(places)} … {max(places)} places, sums right to the watt in each | at most "
        f"{100 * max(more):.3f} % above the solver's bound, p50 {100 * share(more, 0.5):.3f} % | HiGHS {highspy.Highs().version()}, a linear "
        f"program over 60 tangents of each line's loss: a bound from below |")
    return max(more)


def large():
    tree = json.loads(run("large")[0])
    bound, seconds = least(tree, 20)
    say(f"| the same of the 10,000 sites | {100 * (lost(tree) / bound - 1):.3f} % above the bound | HiGHS, 20 tangents: {seconds:.1f} s |")


load = os.getloadavg()
say("| what | ours | next to it, in the same run |")
say("|---|---|---|")
for mode in ["proportional", "minimum_loss"]:
    times(mode)
worst = trees()
large()
print(f"load {load[0]:.1f} before, {os.getloadavg()[0]:.1f} after")
if len(sys.argv) > 4:
    path = sys.argv[4]
    text = open(path).read()
    section = (f"## `hil/bench fleet`\n\n{datetime.date.today()}, load {load[0]:.1f} before, {os.getloadavg()[0]:.1f} after, on two processors.\n\n"
               + "\n".join(LINES) + "\n\n")
    pattern = re.compile(r"## `hil/bench fleet`\n.*?(?=\n## |\Z)", re.S)
    text = pattern.sub(lambda _: section.rstrip("\n"), text) if pattern.search(text) else text.rstrip("\n") + "\n\n" + section.rstrip("\n")
    open(path, "w").write(text.rstrip("\n") + "\n")
sys.exit(worst > 0.01)
