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

start(); ask(30); h.stubborn = 30.0; t = NOW(); r.ctl('stop', '--reason', 'x')
z = None
while NOW() < t + 16 and z is None:
    if abs(h.power) < 1: z = NOW() - t
    time.sleep(0.02)
w, a = h.writes, h.alive; time.sleep(2)
done(z is not None, f'zero after {z if z is None else round(z, 1)} s; in the 2 s after: {h.writes - w} writes of the setpoint, {h.alive - a} heartbeats, {h.power:.0f} kW; ' + r.ctl('trips')[1][:90])
