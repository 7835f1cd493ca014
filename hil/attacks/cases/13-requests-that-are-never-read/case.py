from harness import *
cap = '/tmp/cap.sock'; ls = socket.socket(socket.AF_UNIX); ls.bind(cap); ls.listen()
p = subprocess.Popen([BIN + '/ballastctl', 'status', '--json', '--socket', cap], stdout=-3, stderr=-3); c, _ = ls.accept(); REQ = c.recv(65536); c.close(); p.wait()
r = Run(site([unit(1)])); r.plant(); r.daemon(notify=True); r.serve(60); time.sleep(1); a = NOW(); sent = []
def pour():
    s = socket.socket(socket.AF_UNIX); n = 0
    try:
        s.connect('/tmp/w/run/control.sock'); s.settimeout(3)
        for _ in range(20000): s.sendall(REQ); n += 1
    except OSError: pass
    sent.append(n); time.sleep(20); s.close()
for _ in range(3): threading.Thread(target=pour, daemon=True).start()
time.sleep(1.5); t = NOW(); rc, text = r.ctl('stop', '--reason', 'x'); dt = NOW() - t; z = r.time_to_zero(t, 8); time.sleep(3); g = r.notify.gap(a, NOW())
done(rc == 0 and dt < 5 and z is not None and z < 5.3 and g < 2, f'{sum(sent)} sent; stop: exit {rc} after {dt:.2f} s ({text[:60]}), zero after {z if z is None else round(z, 2)} s; longest time without feed {g:.2f} s')
