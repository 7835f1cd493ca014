from harness import *
from peer import *
DRV = lambda: unit(1, extra=['driver: ./config/drivers/hybrid-inverter.yaml'], power=50, rev=4, modbus='{host: 127.0.0.1, port: 15360}')
def start(rated=50, control='enter_service_s: 2, ramp_kw_per_s: 400'):
    global r, h
    h = Hybrid(15360, rated); t = site([DRV()], control=control)
    r = Run(t, plant_text=t.replace('driver: ./config/drivers/hybrid-inverter.yaml', '').replace('port: 15360', 'port: 15361')); r.plant(); r.daemon()
    r.wait(lambda: r.modes().get('BESS_01') == 'running', 40, 'running', 0.2)
def ask(kw):
    r.fault('bms_current_offset', 'BESS_01', f'offset_a={kw * 1000 / 264:.1f}')  # the battery agrees with the inverter
    rc, t = r.ctl('setpoint', str(kw), '--for', '1h', '--reason', 'x')
    r.wait(lambda: abs(h.power - kw) < 1, 15, f'{kw} kW')

start(control='enter_service_s: 20, ramp_kw_per_s: 100'); ask(30)
worst, low = 0, None
for i in range(10):
    h.silent = True; time.sleep(0.12); h.silent = False
    end = NOW() + 3 + 0.031 * i
    while NOW() < end:
        if h.power < 15: low = low or NOW(); worst = max(worst, NOW() - low)
        else: low = None
        time.sleep(0.01)
    if worst > 1.5: break
done(worst <= 1.5 and 'no trip' in r.ctl('trips')[1], f'longest time below 15 kW {worst:.2f} s in {i + 1} gaps; {r.modes()}; ' + r.ctl('trips')[1][:100])
