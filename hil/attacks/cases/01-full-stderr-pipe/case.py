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

r = Run(site([unit(1)])); r.plant(); r.daemon(); r.serve(80)
r.stand_still(); t = NOW(); r.fault('cell_overvoltage', 'BESS_01', 'voltage_v=3.7')
z = r.time_to_zero(t, 5)
time.sleep(max(0, t + 1.5 - NOW())); r.kill(); r.clear('cell_overvoltage', 'BESS_01')
ok, text = not_resumed(r)
done(ok and z is not None and z < 1.5, f'zero after {z if z is None else round(z, 3)} s; {text}')
