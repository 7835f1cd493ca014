from harness import *
r = Run(site([unit(1)])); r.plant(); r.daemon(); r.serve()
conns = []
for _ in range(40):
    s = socket.socket(socket.AF_UNIX); s.settimeout(0.5)
    try: s.connect('/tmp/w/run/control.sock'); conns.append(s)
    except OSError: pass
time.sleep(0.3); rc, text = r.ctl('setpoint', '50', '--for', '1h', '--reason', 'x')
for s in conns: s.close()
most = max(x for _, x in r.watch(10, every=0.05))
done(rc == 0 or most < 2, f'setpoint: exit {rc} ({text[:80]}); most power afterwards {most:.1f} kW')
