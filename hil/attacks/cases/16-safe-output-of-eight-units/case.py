from harness import *
r = Run(site([unit(n, rev=10) for n in range(1, 9)])); r.plant(); r.daemon(); r.serve(240, 8); t = NOW(); r.kill()
p = subprocess.Popen([BIN + '/ballastd', '--safe-output', '--config', 'site.yaml'], stdout=-3, stderr=-3)
z = [None] * 8
while NOW() < t + 6 and None in z:
    for i, u in enumerate(r.truth()['units']):
        if z[i] is None and abs(u['power_w']) < 500: z[i] = round(NOW() - t, 2)
    time.sleep(0.005)
done(None not in z and max(z) <= 4, f'zero after {z} s')
