#!/usr/bin/env python3
"""Holds one thread of a process by ptrace, as a debugger or a lost processor would: PID NAME.

Lines on standard input: hold, keep, free. After keep, a thread that is killed stays where it is, as one that waits in
the kernel for a device: the process has ended, and its files are not closed. Each is answered with a line that ends in the instant on the monotonic clock, in
milliseconds, after which the thread did not run, or before which it did.
"""

import ctypes
import os
import sys
import threading
import time

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
TRACE_EXIT = 0x40
WALL = 0x40000000
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def thread(pid, name):
    for entry in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{entry}/comm", encoding="utf-8") as file:
            if file.read().strip() == name:
                return int(entry)
    raise SystemExit(f"process {pid} has no thread {name}")


def call(request, tid, data=None):
    if libc.ptrace(request, tid, None, data) < 0:
        raise SystemExit(f"ptrace: {os.strerror(ctypes.get_errno())}")


def end_with_parent(parent):
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(0)


def main():
    tid = thread(int(sys.argv[1]), sys.argv[2])
    threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
    print("READY", tid, flush=True)
    for line in sys.stdin:
        if line.strip() == "hold":
            call(SEIZE, tid)
            call(INTERRUPT, tid)
            os.waitpid(tid, WALL)
            print(f"held {time.monotonic() * 1000:.3f}", flush=True)
        elif line.strip() == "keep":
            call(SEIZE, tid, TRACE_EXIT)
            print(f"kept {time.monotonic() * 1000:.3f}", flush=True)
        elif line.strip() == "free":
            print(f"free {time.monotonic() * 1000:.3f}", flush=True)
            call(DETACH, tid)


main()
