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
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <fcntl.h>
static int held(const char *p) { return strstr(p, "/run/state") && access("/tmp/hang", F_OK) == 0; }
static void wait_path(const char *p) { while (held(p)) { struct timespec t = {0, 20000000}; nanosleep(&t, 0); } }
static void wait_fd(int fd) { char l[64], p[4096]; snprintf(l, 64, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(l, p, 4095); if (n <= 0) return; p[n] = 0; if (strstr(p, "/run/state")) wait_path(p); }
#define F(name, ret, args, call, fd) ret name args { static ret (*real) args; if (!real) real = dlsym(RTLD_NEXT, #name); wait_fd(fd); return real call; }
F(fsync, int, (int fd), (fd), fd)
F(fdatasync, int, (int fd), (fd), fd)
F(write, ssize_t, (int fd, const void *b, size_t n), (fd, b, n), fd)
F(writev, ssize_t, (int fd, const struct iovec *b, int n), (fd, b, n), fd)
F(pwrite, ssize_t, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o), fd)
F(pwrite64, ssize_t, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o), fd)
F(ftruncate, int, (int fd, off_t o), (fd, o), fd)
F(syncfs, int, (int fd), (fd), fd)
"""
open('/tmp/s.c', 'w').write(SHIM)
if os.system('gcc -shared -fPIC -O1 -o /tmp/s.so /tmp/s.c -ldl 2>/tmp/gcc.err'): sys.exit(open('/tmp/gcc.err').read())
r = Run(site([unit(1)])); r.plant(); r.daemon(env={'LD_PRELOAD': '/tmp/s.so'}); r.serve(80)
open('/tmp/hang', 'w').close(); time.sleep(0.02)
t = NOW(); r.fault('cell_overvoltage', 'BESS_01', 'voltage_v=3.7'); z = r.time_to_zero(t, 5)
time.sleep(1.5)
try: s = json.loads(subprocess.run([BIN + '/ballastctl', 'status', '--json', '--socket', '/tmp/w/run/control.sock'], capture_output=True, text=True, timeout=3).stdout)
except Exception: s = {}
told = s.get('latches_saved') is False or any('NOT SAVED' in l or 'not saved' in l.lower() for _, l in r.lines)
r.kill(); os.unlink('/tmp/hang'); r.clear('cell_overvoltage', 'BESS_01')
ok, text = not_resumed(r)
done(ok and told and z is not None and z < 1.5, f'zero after {z if z is None else round(z, 3)} s; told as not saved: {told}; {text}')
