from harness import *
def capture(*a):
    p = f'/tmp/cap{time.time_ns()}'; l = socket.socket(socket.AF_UNIX); l.bind(p); l.listen()
    c = subprocess.Popen([BIN + '/ballastctl', *a, '--socket', p], stdout=-3, stderr=-3); s, _ = l.accept(); b = s.recv(65536); s.close(); c.wait(); return b
RESET, RESUME = capture('reset', 'BESS_01', '--reason', 'x'), capture('resume', '--reason', 'y')
def send(b):
    s = socket.socket(socket.AF_UNIX); s.settimeout(6); s.connect('/tmp/w/run/control.sock'); s.sendall(b); t = s.recv(65536).decode(); s.close(); return t.strip()
r = Run(site([unit(1), unit(2)], control='enter_service_s: 2, ramp_kw_per_s: 400, base_point_kw: 60')); r.plant(); r.daemon(); r.serve(None, 2); lies = []
for i in range(4):
    r.fault('inverter_fault', 'BESS_01'); r.wait(lambda: r.modes().get('BESS_01') == 'tripped', 10, 'trip'); r.clear('inverter_fault', 'BESS_01'); time.sleep(1.5)
    a, b = send(RESET), send(RESUME); ran, end = False, NOW() + 5
    while NOW() < end and not ran: ran = r.kw() > 1; time.sleep(0.05)
    if ran and 'not resumed' in b: lies.append(b[:160]); break
    if not ran: r.ctl('reset', 'BESS_01', '--reason', 'x'); time.sleep(0.3); r.ctl('resume', '--reason', 'x'); r.wait(lambda: r.kw() > 1, 10, 'power again')
done(not lies, f'{i + 1} tries; told and not true: {lies}; last answers {a[:90]} / {b[:140]}')
