from harness import *
def not_resumed(r, seconds=10):
    """After the restart: is the unit kept from running, by a trip or a hold? Judged by the plant (no power) and its mode."""
    r.daemon()
    r.wait(lambda: r.status(), 15, 'status after the restart', 0.1)
    end, ran = NOW() + seconds, None
    while NOW() < end and not ran:
        m = r.modes().get('BESS_01'); ran = m == 'running' or abs(r.kw()) > 1
        time.sleep(0.2)
    s = r.status()['units'][0]
    return not ran, f"after the restart mode {s['mode']}, trips {s.get('trips')}, holds {s.get('holds', s.get('hold'))}, {r.kw():.1f} kW"

r = Run(site([unit(1), unit(2)])); r.journal(); r.plant(); r.daemon(notify=True); r.serve(160, 2)
used = r.journalled; r.journal_reads = False; a = NOW()
time.sleep(0.2); f = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); f.setblocking(False); k = 0
try:
    while True: f.sendto(b'MESSAGE=x\n', '/run/systemd/journal/socket'); k += 1
except OSError: pass
r.fault('bms_silence', 'BESS_02'); time.sleep(1); t = NOW(); r.fault('cell_overvoltage', 'BESS_01', 'voltage_v=3.7'); z = r.time_to_zero(t, 5)
time.sleep(3); g = r.notify.gap(a, NOW()); r.kill(); r.journal_reads = True; r.clear('cell_overvoltage', 'BESS_01'); r.clear('bms_silence', 'BESS_02')
ok, text = not_resumed(r)
done(ok and used > 0 and g < 2 and z is not None and z < 1.5, f'{used} records journalled before, {k} fill the socket; zero after {z if z is None else round(z, 3)} s; longest time without feed {g:.2f} s; {text}')
