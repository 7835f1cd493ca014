from harness import *
r = Run(site([unit(1)])); r.plant(); r.fault('bms_limits', 'BESS_01', 'charge_a=40', 'discharge_a=40'); r.daemon(); r.serve(9)
go = True
def wobble():
    k = 0
    while go: k += 1; r2.ask(f'frequency {50.04 + 0.01 * (k % 2)}'); time.sleep(0.1)
class Q: pass
r2 = Run.__new__(Run); r2.dir = r.dir
threading.Thread(target=wobble, daemon=True).start()
got, peak = [], 0
for i in range(5):
    time.sleep(0.5 + 0.037 * i); r.fault('inverter_scale', 'BESS_01'); w = r.watch(3, lambda s: abs(s['units'][0]['pack_current_a']), 0.004)
    over = sum(b[0] - a[0] for a, b in zip(w, w[1:]) if a[1] > 45); got.append(round(over, 2)); peak = max(peak, max(x for _, x in w))
    r.clear('inverter_scale', 'BESS_01'); time.sleep(2)
    if over > 0.5: break
go = False
done(max(got) <= 0.5, f'beyond 45 A for {got} s, at most {peak:.0f} A, where 40 are allowed')
