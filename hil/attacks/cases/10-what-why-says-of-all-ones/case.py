from harness import *
r = Run(site([unit(1)])); r.plant(); r.daemon(); r.serve(); n = len(r.lines); r.fault('bms_not_available', 'BESS_01'); time.sleep(6)
units = json.dumps(r.status()['units']); parts = {'why': r.ctl('why')[1], 'trips': r.ctl('trips')[1], 'status --json': units, 'log': '\n'.join(l for _, l in r.lines[n:])}
lies = {k: m[0] for k, t in parts.items() if (m := re.search(r'(?i)[^.|\n]{0,40}silent[^.|\n]{0,40}', t))}
names = [k for k, t in parts.items() if re.search(r'(?i)not available|missing|no value|unavailable|says nothing', t)]
done(not lies and bool(names), f'says silent: {lies}; names what is missing: {names}')
