from harness import *
def parts(r, seconds, i=0, key='main'):
    """(current in the last sample in which the contact (or coil) was still there, time) when it went; None = it did not."""
    last, end, t0 = None, NOW() + seconds, NOW()
    while NOW() < end:
        u = r.u(i)
        there = u['main_contactor_closed'] if key == 'main' else key in u['coils']
        if there: last = u['pack_current_a']
        elif last is not None: return last, NOW() - t0
    return None

r = Run(site([unit(1, io=True)])); r.plant(); r.daemon(); r.serve(95)
i0 = r.u()['pack_current_a']; r.fault('bms_silence', 'BESS_01')
x = parts(r, 15, key='permit')
done(x is None or abs(x[0]) <= 30, f'{i0:.0f} A before; the permit drops at ' + (f'{x[0]:.0f} A after {x[1]:.2f} s' if x else 'no time in 15 s'))
