from harness import *
r = Run(site([unit(1)], top='schedule: schedule.csv\n'))
open('schedule.csv', 'w').write('start_utc,end_utc,power_kw\n2035-01-01T00:00:00Z,2035-01-01T01:00:00Z,10\n')
r.plant(); r.daemon(notify=True); r.serve(40); time.sleep(1)
os.unlink('schedule.csv'); os.mkfifo('schedule.csv'); a = NOW(); r.d.send_signal(signal.SIGHUP); time.sleep(8)
g = r.notify.gap(a, NOW()); kw = r.kw()
done(g < 2 and abs(kw - 40) < 3 and r.d.poll() is None, f'longest time without feed {g:.2f} s, {kw:.1f} kW')
