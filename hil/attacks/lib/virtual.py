#!/usr/bin/env python3
"""virtual.py BALLAST_SIM CASE_DIR...: runs scenario.yaml of each in virtual time and judges by expectations of the plant,
by order (judge.json: order) and by what was told (judge.json: told). One line a case. Exit 1 if any failed."""
import sys, json, re, subprocess, tempfile, os
sim, dirs = sys.argv[1], sys.argv[2:]
bad = 0
verbose = os.environ.get('VERBOSE')
for d in dirs:
    name = os.path.basename(d.rstrip('/'))
    out = tempfile.mktemp(suffix='.json')
    try:
        p = subprocess.run([sim, 'run', d + '/scenario.yaml', '--json', out, '--quiet'], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        print(f'{name}: FAIL timeout'); bad = 1; continue
    if not os.path.exists(out):
        print(f'{name}: FAIL no result: {(p.stdout + p.stderr).strip()[:300]}'); bad = 1; continue
    r = json.load(open(out))[0]; os.unlink(out)
    spec = json.load(open(d + '/judge.json')) if os.path.exists(d + '/judge.json') else {}
    faults, figs = [], []
    if r['problem']: faults.append('problem: ' + str(r['problem'])[:300])
    soft = {o['before'] for o in spec.get('order', [])}
    m = {}
    for e in r['expectations']:
        m[e.get('why')] = e
        txt = f"{e['what']}"
        if e['measured_s'] is not None and e['within_s']: figs.append(f"{e['measured_s']} s [{e['what'][:40]}]")
        if e['verdict'] == 'failed' and e.get('why') not in soft: faults.append(f"{txt} {e['bound']}: {e['because']}")
    for o in spec.get('order', []):
        a, b = m.get(o['why']), m.get(o['before'])
        if not a or not b: faults.append('order: expectation missing'); continue
        ta, tb = a['measured_s'], b['measured_s']
        figs.append(f"load gone {ta} s, contact open {tb} s")
        if tb is not None and (ta is None or ta >= tb): faults.append(f'the contact parts the load: load gone {ta} s, open {tb} s')
    t = spec.get('told')
    if t and r['steps']:
        at = next(s['at_s'] for s in r['steps'] if s['name'] == t['after'])
        ev = [e for e in r['events'] if e['unit'] in (t['unit'], None) and e['at_s'] >= at]
        ev = [e for e in ev if e['unit'] == t['unit'] or t['unit'] in e['text']]
        def line(e): return f"{e['event']} {e['cause'] or ''} {e['text']}"
        soon = [e for e in ev if e['at_s'] <= at + t['within'] and re.search(t['any'], line(e))]
        if not soon: faults.append(f"nothing told within {t['within']} s that matches /{t['any']}/; told: " + ' | '.join(line(e) for e in ev[:3])[:300])
        else: figs.append(f"told after {soon[0]['at_s'] - at:.2f} s: {line(soon[0])[:160]}")
        if t.get('none'):
            lies = [e for e in ev if re.search(t['none'], line(e))]
            if lies: faults.append('told falsely: ' + line(lies[0])[:200])
    inv = [f"{i['id']} {i['because']}" for i in r['invariants'] if i['verdict'] == 'failed']
    if inv: figs.append("the program's own invariants failed: " + '; '.join(inv)[:200])
    print(f"{name}: {'FAIL' if faults else 'pass'} {' // '.join(faults)} {('{' + '; '.join(figs) + '}') if figs else ''}", flush=True)
    if verbose:
        for e in r['events'][:60]: print('    ', e['at_s'], e['event'], e['unit'], e['cause'], e['text'][:150])
    bad |= bool(faults)
sys.exit(bad)
