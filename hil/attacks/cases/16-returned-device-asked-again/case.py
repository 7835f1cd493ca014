from harness import *
r = Run(site([unit(1)])); r.plant(); r.daemon(); r.serve()
worst, got = 0, []
for off in (12.0, 9.3, 15.7):
    r.fault('inverter_silence', 'BESS_01'); time.sleep(off); n = len(r.lines); t = NOW(); r.clear('inverter_silence', 'BESS_01')
    back = None
    while NOW() < t + 12 and back is None:
        for at, l in r.lines[n:]:
            if 'device_back' in l: back = at - t
        time.sleep(0.01)
    got.append(None if back is None else round(back, 2)); time.sleep(2)
done(all(x is not None and x <= 2 for x in got), f'asked again after {got} s')
