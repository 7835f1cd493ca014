from harness import *
r = Run(site([unit(1), unit(2)])); r.plant(); r.daemon(notify=True); r.serve(20, 2)
time.sleep(1); r.stand_still(); a = NOW(); r.fault('bms_silence', 'BESS_02')
time.sleep(4); before = r.kw(); r.ask('frequency 49.5'); time.sleep(2); after = r.kw(); time.sleep(6)
g = r.notify.gap(a, NOW())
done(g < 2 and after - before > 10 and r.d.poll() is None, f'longest time without feed {g:.2f} s; power {before:.1f} -> {after:.1f} kW after the step')
