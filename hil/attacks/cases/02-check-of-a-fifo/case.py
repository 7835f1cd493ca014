from harness import *
os.makedirs('/tmp/w', exist_ok=True); os.chdir('/tmp/w'); os.mkfifo('f')
with open('big', 'wb') as f: f.truncate(3 << 30)
def texts():
    for bad in ('f', 'big'):
        yield f'schedule {bad}', site([unit(1)], top=f'schedule: {bad}\n')
        yield f'table {bad}', site([unit(1)]) + f'interlocks: {{table: {bad}}}\n'
        yield f'profile {bad}', site([unit(1)]).replace('period_ms: 200', f'period_ms: 200, profile: {bad}')
        yield f'driver {bad}', site([unit(1, extra=[f'driver: {bad}'])])
bad, n = [], 0
for name, text in list(texts()) + [('site f', None), ('site big', None)]:
    path = 'x.yaml'
    if text is None: path = name.split()[1]
    else: open(path, 'w').write(text)
    n += 1
    try:
        p = subprocess.run([BIN + '/ballastd', '--config', path, '--check'], capture_output=True, timeout=5)
        if p.returncode == 0: bad.append(name + ' accepted')
    except subprocess.TimeoutExpired: bad.append(name + ' hangs')
done(not bad, f'{n - len(bad)} of {n} refused in 5 s' + (': ' + ', '.join(bad) if bad else ''))
