"""Draws configurations around every shipped one and asks the judge.

    vary.py PROGRAMS FOLDER COUNT SEED

One to three values of a site's file are changed: numbers by factors, zero and sign, switches turned, keys left out. What
`ballastd --check` accepts plays three random scenarios on the simulated plant. A find is an accepted site that breaks an
invariant, or a program that dies; its file stays in FOLDER/found. Exit status 1 where there is one.
"""
import copy
import glob
import os
import random
import re
import shutil
import subprocess
import sys

import yaml

FACTORS = (0, 0.1, 0.5, 0.8, 1.25, 2, 10, -1)
# What is no setting but an address: another one is another machine.
ADDRESSES = {"host", "port", "unit_id", "number", "id_code", "path", "version"}


def places(tree, path=()):
    """Every value that may be changed, as the keys that lead to it."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        if key in ADDRESSES or (path and path[0] == "paths"):
            continue
        if isinstance(value, (dict, list)):
            yield from places(value, path + (key,))
        elif isinstance(value, (bool, int, float)):
            yield path + (key,)


def change(tree, path, dice):
    """Changes one value; says how."""
    for key in path[:-1]:
        tree = tree[key]
    last, value = path[-1], tree[path[-1]]
    name = ".".join(map(str, path))
    if isinstance(tree, dict) and dice.random() < 0.2:
        del tree[last]
        return f"{name} left out"
    if isinstance(value, bool):
        tree[last] = not value
    else:
        new = value * dice.choice(FACTORS)
        tree[last] = int(new) if isinstance(value, int) and float(new).is_integer() else round(new, 6)
    return f"{name}: {value} -> {tree[last]}"


def run(words):
    return subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)


def draw(programs, folder, sites, number, seed):
    """One configuration: what came of it, and what was changed."""
    dice = random.Random(f"{seed}/{number}")
    source = dice.choice(sites)
    with open(source, encoding="utf-8") as text:
        tree = yaml.safe_load(text)
    changed = copy.deepcopy(tree)
    said = [os.path.basename(source)]
    for _ in range(dice.randint(1, 3)):
        found = list(places(changed))
        if found:
            said.append(change(changed, dice.choice(found), dice))
    path = f"{os.path.dirname(source)}/varied-{number}.yaml"
    with open(path, "w", encoding="utf-8") as text:
        yaml.safe_dump(changed, text, sort_keys=False)
    checked = run([f"{programs}/ballastd", "--config", path, "--check"])
    if checked.returncode < 0 or checked.returncode >= 128:
        return "died", said + [f"ballastd --check ended with {checked.returncode}"], path
    if checked.returncode != 0:
        return "refused", said, path
    played = run([f"{programs}/ballast-sim", "random", "--site", path, "--first", str(number * 3 + 1), "--seeds", "3",
                  "--jobs", "1", "--whole", "--out", f"{folder}/random"])
    if played.returncode < 0 or played.returncode >= 128:
        return "died", said + [f"ballast-sim ended with {played.returncode}"], path
    if played.returncode != 0 and re.search(r"^\s*FAIL \w", played.stdout, re.M):
        return "broke", said + re.findall(r"FAIL .*", played.stdout)[:4], path
    return ("held" if re.search(r"[1-9]\d* of \d+ judged", played.stdout) else "never judged"), said, path


def main(programs, folder, count, seed):
    root = os.getcwd()
    shutil.copytree("config", f"{folder}/config")
    shutil.copytree("hil/scenarios", f"{folder}/hil/scenarios")
    shutil.copytree("hil/profiles", f"{folder}/hil/profiles")
    os.makedirs(f"{folder}/found")
    sites = sorted(site for site in glob.glob(f"{folder}/hil/scenarios/sites/*.yaml") + glob.glob(f"{folder}/config/examples/*-site.yaml")
                   if not site.endswith("bad-key.yaml"))
    os.chdir(folder)
    sums = dict.fromkeys(("refused", "held", "never judged", "broke", "died"), 0)
    for number in range(count):
        outcome, said, path = draw(programs, folder, sites, number, seed)
        sums[outcome] += 1
        if outcome in ("broke", "died"):
            print(f"{number} {outcome}: " + "; ".join(said), flush=True)
            shutil.copy(path, f"{folder}/found/{os.path.basename(path)}")
        os.unlink(path)
        if (number + 1) % 50 == 0:
            print(f"{number + 1} of {count}: {sums}", flush=True)
    os.chdir(root)
    print(f"{count} configurations, seed {seed}: " + ", ".join(f"{value} {key}" for key, value in sums.items()))
    return 1 if sums["broke"] + sums["died"] else 0


if __name__ == "__main__":
    sys.exit(main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])))
