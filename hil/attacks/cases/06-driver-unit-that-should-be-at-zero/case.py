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

start(); ask(-4); h.stubborn = -4.0; h.reverts = False; n = len(r.lines); t = NOW(); r.ctl('stop', '--reason', 'x')
hit = None; PAT = r'not_following|[-−]?(3\.[89]|4(\.[01])?\d*) ?kW'
while NOW() < t + 12 and not hit:
    said = [l for _, l in r.lines[n:] if 'asks' not in l and 'base point' not in l]
    hit = next((l for l in said if re.search(PAT, l)), None)
    if not hit:
        o = r.ctl('trips')[1] + r.ctl('why')[1]; m = re.search(PAT, o); hit = m and o[:200]
    time.sleep(0.3)
done(bool(hit), f'{h.power:.1f} kW flow; told: {hit and hit[:200]}')
