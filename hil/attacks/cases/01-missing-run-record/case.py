from harness import *
def not_resumed(r, seconds=10):
    """After the restart: is the unit kept from running, by a trip or a hold? Judged by the plant (no power) and its mode."""
    r.daemon()
    r.wait(lambda: r.status(), 15, 'status after the restart', 0.1)
    end, ran = NOW() + seconds, None
    while NOW() < end and not ran:
        m = r.modes().get('BESS_01'); ran = m == 'running' or abs(r.kw()) > 1
        time.sleep(0.2)
    s = r.status()['units'][0]
    return not ran, f"after the restart mode {s['mode']}, trips {s.get('trips')}, holds {s.get('holds', s.get('hold'))}, {r.kw():.1f} kW"

r = Run(site([unit(1)], control='enter_service_s: 2, ramp_kw_per_s: 400')); r.plant(); r.daemon(); r.serve(30); r.kill()
before = os.listdir('run/state')
for n in before:
    if n.startswith('run'): os.unlink('run/state/' + n)
subprocess.run('rm -rf /run/ballast*', shell=True)
ok, text = not_resumed(r)
done(ok, f'{text}; files before {sorted(before)}')
