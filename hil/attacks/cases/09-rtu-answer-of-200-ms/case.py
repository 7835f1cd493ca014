from harness import *
r = Run(site([unit(1, rtu='u1')], control='enter_service_s: 15, ramp_kw_per_s: 100')); r.plant(); r.daemon(); r.serve(30)
low = []
for i in range(10):
    r.fault('inverter_slow', 'BESS_01', 'delay_ms=200'); time.sleep(0.15); r.clear('inverter_slow', 'BESS_01')
    low.append(min(x for _, x in r.watch(3, every=0.02)))
    if low[-1] < 15: break
    time.sleep(0.3 + 0.037 * i)
done(min(low) >= 15, f'least power after each: {[round(x, 1) for x in low]} kW')
