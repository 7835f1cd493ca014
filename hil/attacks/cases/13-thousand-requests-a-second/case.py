from harness import *
cap = '/tmp/cap.sock'; ls = socket.socket(socket.AF_UNIX); ls.bind(cap); ls.listen()
p = subprocess.Popen([BIN + '/ballastctl', 'status', '--json', '--socket', cap], stdout=-3, stderr=-3); c, _ = ls.accept(); REQ = c.recv(65536); c.close(); p.wait()
r = Run(site([unit(1)])); r.plant(); r.daemon(notify=True); r.serve(20); time.sleep(1)
FLOOD = """import socket, sys, time
req = bytes.fromhex(sys.argv[1]); n = 0; end = time.monotonic() + 12; start = time.monotonic()
while time.monotonic() < end:
    s = socket.socket(socket.AF_UNIX); s.settimeout(1)
    try:
        s.connect('/tmp/w/run/control.sock'); s.sendall(req); s.recv(65536); n += 1
    except OSError: pass
    s.close()
    d = start + n / 250 - time.monotonic()
    if d > 0: time.sleep(d)
print(n)
"""
a = NOW(); fl = [subprocess.Popen([sys.executable, '-c', FLOOD, REQ.hex()], stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.nice(5)) for _ in range(4)]
time.sleep(2); before = r.kw(); r.ask('frequency 49.5'); age = 0
end = NOW() + 2
while NOW() < end: age = max(age, r.u()['setpoint_age_ms']); time.sleep(0.02)
after = r.kw(); t = NOW(); rc, text = r.ctl('stop', '--reason', 'x'); dt = NOW() - t; z = r.time_to_zero(t, 8)
n = sum(int(f.communicate()[0] or 0) for f in fl); g = r.notify.gap(a, NOW())
done(g < 2 and age < 2000 and after - before > 10 and rc == 0 and dt < 5 and z is not None, f'{n} answered in 12 s; longest time without feed {g:.2f} s; oldest setpoint {age:.0f} ms; step {before:.1f} -> {after:.1f} kW; stop: exit {rc} after {dt:.2f} s, zero after {z if z is None else round(z, 2)} s')
