from harness import *
r = Run(site([unit(1)])); r.plant(); r.daemon(); r.serve(60)
conns = []
def more(n):
    for _ in range(n):
        s = socket.socket(socket.AF_UNIX); s.settimeout(0.5)
        try: s.connect('/tmp/w/run/control.sock'); conns.append(s)
        except OSError: pass
out = []
ok = True
for n in (9, 51):
    more(n); time.sleep(0.3); t = NOW(); rc, text = r.ctl('stop', '--reason', 'x'); dt = NOW() - t; z = r.time_to_zero(t, 8)
    good = rc == 0 and dt < 5 and z is not None and z < 5 + 0.3; ok &= good
    out.append(f'{len(conns)} idle: exit {rc} after {dt:.2f} s, zero after {z if z is None else round(z, 2)} s ({text[:80]})')
    if not good: break
    if n == 9:
        for s in conns: s.close()
        conns.clear(); time.sleep(0.5); r.ctl('resume', '--reason', 'x'); r.wait(lambda: r.kw() > 50, 20, '60 kW again')
done(ok, '; '.join(out))
