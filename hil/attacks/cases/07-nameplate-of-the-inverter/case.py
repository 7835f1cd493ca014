from harness import *
t = lambda p: site([unit(1, power=p)]).replace('capacity_kwh: 250', 'capacity_kwh: 60')
r = Run(t(24), plant_text=t(15)); r.plant(); r.fault('bms_limits', 'BESS_01', 'charge_a=200', 'discharge_a=200'); r.daemon()
end = NOW() + 20
while NOW() < end and r.modes().get('BESS_01') != 'running': time.sleep(0.2)
if r.modes().get('BESS_01') != 'running':
    w = r.ctl('why')[1]; done(re.search(r'nameplate|rat(ed|ing)|15', w) is not None, 'not in service: ' + w[:200])
r.ctl('setpoint', '24', '--for', '1h', '--reason', 'x')
w = r.watch(12, lambda s: s['units'][0]['setpoint_w'] / 1000, 0.02); most = max(x for _, x in w); m = r.modes()
done(most <= 15.15 and m.get('BESS_01') == 'running', f'largest setpoint {most:.2f} kW for a device of 15; {m}; ' + r.ctl('trips')[1][:120])
