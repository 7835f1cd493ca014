"""Hostile Modbus TCP devices, by hand: no code of the project and no library in them."""
import socket, struct, threading, time
class Server(threading.Thread):
    def __init__(self, port):
        super().__init__(daemon=True); self.lock = threading.Lock(); self.delay = 0; self.silent = False
        self.s = socket.create_server(('127.0.0.1', port)); self.start()
    def run(self):
        while True:
            c, _ = self.s.accept(); c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(c,), daemon=True).start()
    def serve(self, c):
        b = b''
        try:
            while True:
                x = c.recv(4096)
                if not x: return
                b += x
                while len(b) >= 6 and len(b) >= 6 + struct.unpack('>H', b[4:6])[0]:
                    n = 6 + struct.unpack('>H', b[4:6])[0]; req, b = b[:n], b[n:]
                    with self.lock: pdu = self.answer(req[7], req[8:])
                    if self.delay: time.sleep(self.delay)
                    if pdu and not self.silent: c.sendall(req[:4] + struct.pack('>HB', len(pdu) + 1, req[6]) + pdu)
        except OSError: pass
        finally: c.close()
class Hybrid(Server):
    """config/drivers/hybrid-inverter.yaml, + = charging in its registers; self.power is kW, + = discharge.
    stubborn: follows no setpoint any more, but its watchdog (13053) ends its power, unless it is written to."""
    def __init__(self, port, rated=50):
        self.reg = {13049: 0, 13050: 0, 13051: 0, 13052: 0, 13053: 0, 13054: 0, 13058: 100}
        self.rated, self.power, self.stubborn, self.reverts = rated, 0.0, None, True
        self.writes, self.alive, self.last, self.wishes = 0, 0, time.monotonic(), []
        self.dc = 264.0; super().__init__(port)
        threading.Thread(target=self.work, daemon=True).start()
    def setpoint(self):
        v = self.reg[13052] << 16 | self.reg[13051]; v = v - 2**32 if v >= 2**31 else v
        return -v / 1000
    def work(self):
        while True:
            with self.lock:
                w = self.reg[13053]
                if w and self.reverts and time.monotonic() - self.last > w: self.reg[13051] = self.reg[13052] = 0; self.dead = True
                else: self.dead = False
                want = 0 if self.dead else self.stubborn if self.stubborn is not None else self.setpoint() if self.reg[13049] == 3 else 0
                self.power += max(-2.5, min(2.5, want - self.power))
            time.sleep(0.01)
    def answer(self, f, d):
        a, n = struct.unpack('>HH', d[:4])
        if f in (3, 4):
            if f == 3: v = [self.reg.get(a + i, 0) for i in range(n)]
            else:
                p = int(-self.power * 1000) & 0xFFFFFFFF
                t = {13021: p & 0xFFFF, 13022: p >> 16, 13035: 5000, 13019: int(self.dc * 10), 13000: 2 if self.reg[13049] == 3 else 0, 5000: self.rated * 10}
                v = [t.get(a + i, 0) for i in range(n)]
            return struct.pack('>BB', f, 2 * n) + struct.pack(f'>{n}H', *v)
        if f == 6: self.put(a, [n]); return bytes([f]) + d[:4]
        if f == 16: self.put(a, list(struct.unpack(f'>{n}H', d[5:5 + 2 * n]))); return bytes([f]) + d[:4]
        return bytes([f | 0x80, 1])
    def put(self, a, vs):
        for i, v in enumerate(vs): self.reg[a + i] = v
        touched = range(a, a + len(vs))
        if 13051 in touched: self.writes += 1; self.last = time.monotonic(); self.wishes.append((self.last, self.setpoint()))
        if 13054 in touched: self.alive += 1; self.last = time.monotonic()
