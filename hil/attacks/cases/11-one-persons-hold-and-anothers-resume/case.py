from harness import *
p, g = open('/etc/passwd').read(), open('/etc/group').read()
for n in ('ballast', 'ballast-operator', 'ballast-service'): g = ''.join(l for l in g.splitlines(True) if not l.startswith(n + ':'))
open('/tmp/passwd', 'w').write(p + 'alice:x:7001:7001::/tmp:/bin/sh\nbob:x:7002:7002::/tmp:/bin/sh\n')
open('/tmp/group', 'w').write(g + 'alice:x:7001:\nbob:x:7002:\nballast:x:7900:alice,bob\nballast-operator:x:7901:alice,bob\nballast-service:x:7902:alice,bob\n')
for f in ('passwd', 'group'):
    if os.system(f'mount --bind /tmp/{f} /etc/{f}'): sys.exit('mount')
def who(name, *a):
    u = {'alice': 7001, 'bob': 7002}[name]
    p = subprocess.run(['setpriv', f'--reuid={u}', f'--regid={u}', '--init-groups', BIN + '/ballastctl', *a, '--reason', name, '--socket', '/tmp/w/run/control.sock'], capture_output=True, text=True, timeout=20)
    return p.returncode, (p.stdout + p.stderr).strip()[:120]
r = Run(site([unit(1), unit(2)], control='enter_service_s: 2, ramp_kw_per_s: 400, base_point_kw: 60')); r.plant(); r.daemon(); os.system('chmod -R a+rX /tmp/w; chmod a+rwx /tmp/w/run; sleep 1; chmod a+rw /tmp/w/run/control.sock'); r.serve(None, 2)
r.fault('inverter_fault', 'BESS_01'); r.wait(lambda: r.modes().get('BESS_01') == 'tripped', 10, 'trip'); r.clear('inverter_fault', 'BESS_01'); time.sleep(2)
a = who('alice', 'reset', 'BESS_01')
if a[0]: print('SETUP: reset', a); sys.exit(3)
b = who('bob', 'resume'); ran, end = False, NOW() + 8
while NOW() < end and not ran: ran = r.modes().get('BESS_01') == 'running' or abs(r.kw()) > 1; time.sleep(0.2)
c = who('alice', 'resume', 'BESS_01'); back = False; end = NOW() + 10
while NOW() < end and not back: back = r.kw() > 20; time.sleep(0.2)
done(not ran and back, f'bob: {b}; unit ran: {ran}; alice: {c}; runs after her word: {back}')
