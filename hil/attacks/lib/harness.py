"""Real ballastd beside a real ballast-sim plant, in a private namespace. Judges by the plant's truth."""
import json, os, signal, socket, subprocess, sys, threading, time, fcntl, re
BIN = sys.argv[1]
NOW = time.monotonic
def unit(n, extra=(), io=False, rev=4, power=100, period=200, rtu=None, modbus=None):
    can, mod, iop = 20300 + n, 15320 + 2 * n, 15340 + n
    t = f"""  - id: BESS_0{n}
    campus_id: T
    capacity_kwh: 250
    max_power_kw: {power}
    bms: {{transport: "cannelloni:127.0.0.1:{can}", period_ms: {period}}}
    modbus: {modbus or ('{device: ./' + rtu + ', baud: 115200, unit_id: 1}' if rtu else '{host: 127.0.0.1, port: %d}' % mod)}
    reversion_s: {rev}
    response_ms: 500
"""
    for e in extra: t += f"    {e}\n"
    if io: t += f"""    contactor_open_ms: 80
    contactors: {{drive: own, precharge_current_max_a: 10, discharged_v: 60, precharge_pause_ms: 3000, discharge_limit_ms: 10000}}
    io_module:
      modbus: {{host: 127.0.0.1, port: {iop}}}
      watchdog_ms: 5000
      inputs: [{{number: 1, name: emergency_stop}}, {{number: 2, name: smoke}}, {{number: 7, name: main_contactor}}, {{number: 8, name: precharge_contactor}}]
      coils: [{{number: 1, drives: main_contactor}}, {{number: 2, drives: precharge_contactor}}, {{number: 3, drives: permit}}]
"""
    return t
def site(units, control='enter_service_s: 2, ramp_kw_per_s: 400, resume_after_restart: true', top='', state='./run/state', sitekeys=''):
    return (f"mode: simulation\n{top}site: {{id: acc{sitekeys}}}\ncontrol: {{{control}}}\n"
            "grid_meter: {modbus: {host: 127.0.0.1, port: 15320}, poll_ms: 50}\nbess_units:\n" + ''.join(units)
            + f"paths: {{state_directory: {state}, control_socket: ./run/control.sock}}\n")
class Notify(threading.Thread):
    """systemd's end of NOTIFY_SOCKET: remembers when the watchdog was fed."""
    def __init__(self, path):
        super().__init__(daemon=True); self.path, self.feeds, self.ready = path, [], None
        self.s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); self.s.bind(path); self.start()
    def run(self):
        while True:
            m = self.s.recv(65536).decode(errors='replace')
            if 'WATCHDOG=1' in m: self.feeds.append(NOW())
            if 'READY=1' in m: self.ready = NOW()
    def gap(self, a, b):
        t = [a] + [x for x in self.feeds if a <= x <= b] + [b]
        return max(y - x for x, y in zip(t, t[1:]))
class Run:
    def __init__(self, text, dir='/tmp/w', plant_text=None):
        self.dir = dir; os.makedirs(dir + '/run', exist_ok=True); os.chdir(dir)
        open('site.yaml', 'w').write(text)
        open('plant.yaml', 'w').write(plant_text or text)
        self.d = None; self.lines = []; self.notify = None
    def plant(self, *args):
        self.p = subprocess.Popen([BIN + '/ballast-sim', 'plant', '--site', 'plant.yaml', '--control', 'run/sim.sock', '--start', *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if 'ready' not in self.p.stdout.readline(): sys.exit('plant does not start')
    def ask(self, line):
        s = getattr(self, '_s', None)
        for _ in (1, 2):
            try:
                if s is None:
                    s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(self.dir + '/run/sim.sock')
                s.sendall((line + '\n').encode()); b = b''
                while not b.endswith(b'\n'):
                    c = s.recv(65536)
                    if not c: raise OSError
                    b += c
                self._s = None; s.close()
                return json.loads(b)
            except OSError: s = None
        return {}
    def truth(self): return self.ask('truth')
    def u(self, i=0): return self.truth()['units'][i]
    def kw(self, i=0): return self.u(i)['power_w'] / 1000
    def fault(self, *w):
        a = self.ask('fault ' + ' '.join(w))
        if 'error' in a: sys.exit('fault: ' + str(a))
    def clear(self, *w): self.ask('clear ' + ' '.join(w))
    def journal(self):
        """journald's end of its socket; takes what comes while self.journal_reads."""
        os.makedirs('/run/systemd/journal', exist_ok=True); self.journal_reads = True; self.journalled = 0
        j = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); j.bind('/run/systemd/journal/socket'); j.settimeout(0.05)
        def take():
            while True:
                if not self.journal_reads: time.sleep(0.02); continue
                try: m = j.recv(1 << 18); self.journalled += 1; self.lines.append((NOW(), m.decode(errors='replace')))
                except OSError: pass
        threading.Thread(target=take, daemon=True).start(); self.j = j
    def daemon(self, stderr='read', env=None, notify=False, extra=()):
        e = dict(os.environ, **(env or {}))
        if notify:
            path = f'/tmp/notify{time.time_ns()}'; self.notify = Notify(path)
            e.update(NOTIFY_SOCKET=path, WATCHDOG_USEC='2000000')
        r, w = os.pipe(); fcntl.fcntl(w, 1031, 4096)
        self.err_w = os.open(f'/proc/self/fd/{w}', os.O_WRONLY | os.O_NONBLOCK)
        self.reading = True; self.err_r = r
        if hasattr(self, 'j'): st = os.fstat(w); e['JOURNAL_STREAM'] = f'{st.st_dev}:{st.st_ino}'
        self.d = subprocess.Popen([BIN + '/ballastd', '--config', 'site.yaml', *extra], stdout=w, stderr=w, env=e, pass_fds=())
        os.close(w)
        self.on_line = None
        def reader():
            buf = b''
            while True:
                if not self.reading: time.sleep(0.005); continue
                try: c = os.read(r, 4096)
                except OSError: return
                if not c: return
                if not self.reading: continue
                buf += c
                *ls, buf = buf.split(b'\n')
                for l in ls:
                    t = l.decode(errors='replace'); self.lines.append((NOW(), t))
                    if self.on_line: self.on_line(t)
        self.t = threading.Thread(target=reader, daemon=True); self.t.start()
    def stand_still(self):
        """Nobody reads the log any more, and its pipe is full."""
        self.reading = False
        os.write(self.err_w, b'\n')  # the reader is waiting in read(): this is the last it takes
        time.sleep(0.2)
        for n in (4096, 512, 64, 8, 1):
            try:
                while True: os.write(self.err_w, b'x' * (n - 1) + b'\n')
            except BlockingIOError: pass
    def ctl(self, *a, timeout=20):
        p = subprocess.run([BIN + '/ballastctl', *a, '--socket', self.dir + '/run/control.sock'], capture_output=True, text=True, timeout=timeout)
        return p.returncode, (p.stdout + p.stderr).strip()
    def status(self):
        rc, t = self.ctl('status', '--json')
        try: return json.loads(t) if rc == 0 else None
        except ValueError: return None
    def modes(self):
        s = self.status()
        return {x['id']: x['mode'] for x in s['units']} if s else {}
    def wait(self, f, limit=30, what='condition', every=0.05):
        end = NOW() + limit
        while NOW() < end:
            v = f()
            if v: return v
            time.sleep(every)
        print('SETUP: never:', what, self.tail()); sys.exit(3)
    def tail(self): return ' | '.join(t for _, t in self.lines[-8:])[-900:]
    def serve(self, kw=None, units=1):
        self.wait(lambda: (m := self.modes()) and len(m) >= units and all(v == 'running' for v in m.values()), 60, 'running', 0.2)
        if kw is not None:
            rc, t = self.ctl('setpoint', str(kw), '--for', '1h', '--reason', 't')
            if rc: sys.exit('setpoint: ' + t)
            self.wait(lambda: abs(self.truth()['meter_power_w'] / 1000 - kw) < 3, 20, f'{kw} kW')
    def kill(self, sig=signal.SIGKILL):
        self.d.send_signal(sig); self.d.wait()
    def watch(self, seconds, f=lambda s: s['units'][0]['power_w'] / 1000, every=0.01):
        out, end = [], NOW() + seconds
        while NOW() < end:
            out.append((NOW(), f(self.truth()))); time.sleep(every)
        return out
    def time_to_zero(self, since, limit=10, i=0, kw=1.0):
        while NOW() < since + limit:
            if abs(self.kw(i)) <= kw: return NOW() - since
            time.sleep(0.005)
        return None
def done(ok, text):
    print(('HOLDS: ' if ok else 'BROKEN: ') + text, flush=True); os._exit(0 if ok else 1)
