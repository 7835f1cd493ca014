from harness import *
t = site([unit(1)]); r = Run(t.replace('cannelloni:127.0.0.1:20301', 'cannelloni-listen:127.0.0.1:20399'), plant_text=t); r.plant(); r.daemon()
open('/tmp/peer.py', 'w').write("""import can, time, can_frames
F = [f for f in can_frames.FRAMES if f[0] != 0x373]
for i in range(100):
    try: bus = can.Bus(interface='cannelloni', channel='127.0.0.1:20399'); break
    except Exception: time.sleep(0.2)
while True:
    for a, d in F: bus.send(can.Message(arbitration_id=a, data=bytes.fromhex(d), is_extended_id=False))
    time.sleep(0.1)
""")
p = subprocess.Popen([sys.executable, '/tmp/peer.py'], stderr=open('/tmp/peer.err', 'w'))
time.sleep(12)
s = r.status(); frames = [l['counters'].get('frames') for l in s['links'] if l['name'].startswith('can')]
if not frames or not frames[0]: print('SETUP: no frames', open('/tmp/peer.err').read()[-300:]); sys.exit(3)
unit_json = json.dumps([u for u in s['units']])
said = ' '.join([r.ctl('why')[1], r.ctl('status')[1], unit_json, r.ctl('trips')[1]] + [l for _, l in r.lines if 'BESS_01' in l or 'battery' in l.lower()])
names = re.search(r'(?i)373|cell[_ ](voltage|temperature)|missing', said); lie = re.search(r'(?i)(CAN )?wiring[^.|]{0,60}|silent[^.|]{0,40}', said)
done(bool(names) and not lie, f'{frames[0]} frames came; names the missing reading: {names and names[0]}; says falsely: {lie and lie[0]}')
