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

h = Hybrid(15360, 15); t = site([DRV()], control='enter_service_s: 2, ramp_kw_per_s: 400')
r = Run(t, plant_text=t.replace('driver: ./config/drivers/hybrid-inverter.yaml', '').replace('port: 15360', 'port: 15361')); r.plant(); r.daemon()
end = NOW() + 15
while NOW() < end and r.modes().get('BESS_01') != 'running': time.sleep(0.2)
if r.modes().get('BESS_01') != 'running':
    w = r.ctl('why')[1]; done(re.search(r'nameplate|rat(ed|ing)|15', w) is not None, 'not in service: ' + w[:200])
r.fault('bms_current_offset', 'BESS_01', f'offset_a={15e3 / 264:.1f}'); r.ctl('setpoint', '40', '--for', '1h', '--reason', 'x')
end = NOW() + 10
while NOW() < end:
    w = h.setpoint()
    if w > 15: h.stubborn = 15.0
    time.sleep(0.05)
most = max([w for _, w in h.wishes] or [0]); m = r.modes()
done(most <= 15.15 and m.get('BESS_01') == 'running', f'largest setpoint {most:.1f} kW for a device of 15; {m}; ' + r.ctl('trips')[1][:120])
