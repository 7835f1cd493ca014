from harness import *
import ctypes
libc = ctypes.CDLL(None, use_errno=True); libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
TIDS = []
def reap():  # a traced thread that has died keeps its process from being reaped
    for t in TIDS:
        try: os.waitpid(t, 0x40000000 | 1)
        except OSError: pass
def hold(names):
    n = 0
    for t in os.listdir(f'/proc/{r.d.pid}/task'):
        if open(f'/proc/{r.d.pid}/task/{t}/comm').read().strip() in names:
            if libc.ptrace(0x4206, int(t), None, None) < 0: sys.exit('ptrace')
            libc.ptrace(0x4207, int(t), None, None); n += 1; TIDS.append(int(t))
    return n
def watchdog_sec():
    for l in open('./systemd/ballastd.service'):
        m = re.match(r'WatchdogSec=([0-9.]+)(ms|s)?', l)
        if m: return float(m[1]) / (1000 if m[2] == 'ms' else 1)
    return 2.0
W = watchdog_sec(); T = {}
def run(names):
    global r
    t0 = NOW(); n = hold(names); z = None; stage = 0; end = t0 + 12
    while NOW() < end:
        if abs(r.kw()) < 1: z = NOW() - t0; break
        if stage == 0 and NOW() - r.notify.feeds[-1] > W:
            stage = 1; r.d.send_signal(signal.SIGABRT); tk = NOW(); T['abort'] = tk - t0
        if stage == 1:
            if r.d.poll() is None and NOW() - tk > 1: r.d.send_signal(signal.SIGKILL)
            reap()
            if r.d.poll() is not None:
                T['dead'] = NOW() - t0; stage = 2; subprocess.Popen([BIN + '/ballastd', '--safe-output', '--config', 'site.yaml'], stdout=-3, stderr=-3)
        time.sleep(0.005)
    return n, z
r = Run(site([unit(1, rev=10)])); r.plant(); r.daemon(notify=True); r.serve(80); time.sleep(1)

names = {open(f'/proc/{r.d.pid}/task/{t}/comm').read().strip() for t in os.listdir(f'/proc/{r.d.pid}/task')}
want = [n for n in names if n == 'control' or 'socket' in n]
n0 = len(r.lines); a = NOW(); n = hold(want); time.sleep(8); g = r.notify.gap(a, NOW()); kw = r.kw()
told = [l for _, l in r.lines[n0:] if re.search(r'(?i)stand|held|stall|hang|not saved|control socket|control thread|behind|answer', l) and 'cycle_late' not in l]
done(n > 0 and g < 2 and abs(kw - 80) < 3 and bool(told), f'{n} threads {want} of {sorted(names)} held; longest time without feed {g:.2f} s; {kw:.1f} kW; told: {told[:1]}')
