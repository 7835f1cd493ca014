"""Puts the results of a run on the base into BASE.md and every WHAT.md."""
import re, sys, os
rows = {}
for l in open('hil/attacks/tmp/all2.txt'):
    m = re.match(r'^(\d\d-[\w.-]+): (pass|FAIL)\s*(.*)$', l.rstrip())
    if m: rows[m[1]] = (m[2], m[3])
out = ['# Result of every case on the commit before the mending', '', 'pass = the sentence held there already: kept as a regression case. Run 2026-11-22 17:58-18:04, BIN hil/attacks/base-debug, virtual hil/attacks/ballast-sim-base.', '', '| case | base | figure |', '|---|---|---|']
for k in sorted(rows): out.append(f"| {k} | {rows[k][0]} | {rows[k][1][:260].replace('|', '/')} |")
missing = [d for d in sorted(os.listdir('hil/attacks/cases')) if os.path.isdir('hil/attacks/cases/' + d) and d not in rows]
out += ['', f'without result: {missing}']
open('hil/attacks/cases/BASE.md', 'w').write('\n'.join(out) + '\n')
for k, (v, f) in rows.items():
    p = f'hil/attacks/cases/{k}/WHAT.md'; t = open(p).read()
    t = re.sub(r'\n*Base: see \.\./BASE\.md\n*(Base.*)?$', '', t, flags=re.S)
    t = re.sub(r'\n*Result on the base:.*$', '', t, flags=re.S)
    open(p, 'w').write(t.rstrip() + f"\n\nResult on the base: {'FAILS' if v == 'FAIL' else 'passes (kept as a regression case)'}. {f[:600]}\n")
print(len(rows), missing, [k for k in rows if rows[k][0] == 'pass'])
print(*[k + ': ' + rows[k][1][:200] for k in rows if 'SETUP' in rows[k][1] or 'problem' in rows[k][1]], sep='\n')
