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

r = Run(site([unit(1)])); r.plant(); held = 0
for n in range(3):
    r.daemon(); r.serve(50)
    hit = threading.Event()
    def line(t):
        if 'TRIP' in t and not hit.is_set(): r.d.send_signal(signal.SIGKILL); hit.set()
    r.on_line = line
    r.fault('bms_alarm', 'BESS_01')
    if not hit.wait(5): print('SETUP: no TRIP line'); sys.exit(3)
    r.d.wait(); r.clear('bms_alarm', 'BESS_01')
    r.daemon(); r.wait(lambda: r.status(), 15, 'status', 0.1); time.sleep(1)
    rc, t = r.ctl('trips', 'BESS_01')
    if 'bms_alarm' not in t: done(False, f'round {n + 1}: after the restart the trip is forgotten: {t[:150]}')
    held += 1
    r.ctl('reset', 'BESS_01', '--reason', 'x'); r.ctl('resume', '--reason', 'x')
    r.kill(); r.ask('clear bms_alarm BESS_01')
    r.daemon(); time.sleep(1); r.ctl('resume', '--reason', 'x'); r.kill()
done(True, f'{held} of 3 trips stand after the restart')
