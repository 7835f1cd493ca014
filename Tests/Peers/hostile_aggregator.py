"""Malicious aggregators: each lies to a real ballast-link in its own way, at the same time, and what the link does is counted.

hostile_aggregator.py LINK FOLDER SECONDS: FOLDER/spool is copied for each. Prints a line of JSON for each of them: its name, how
often it was asked, the link's memory in MB, the mark that the link has kept, whether its log has bytes that no log should have,
how many lines it has and the last of it, its exit status, the numbers of records that it has brought, and how often it brought the last one.
"""
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

link, folder, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
EPOCH = open(f"{folder}/spool/stream", encoding="utf-8").read().split()[1]


def answer(body, status="200 OK", more=""):
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


def stored(number):
    return json.dumps({"epoch": EPOCH, "stored_through": number}).encode()


def drip(peer):
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(1000):
        peer.sendall(b" ")
        time.sleep(0.1)


def hole(peer, head, body):
    """An MTU black hole: whoever sends more than one frame hears nothing; what is small passes."""
    if len(body) > 1400:
        time.sleep(60)
    else:
        peer.sendall(answer(b'{"commands":[]}' if b"/v1/edge/commands" in head else stored(0)))


def flood(peer):
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    piece = b" " * 65536
    for _ in range(100_000):
        peer.sendall(b"10000\r\n" + piece + b"\r\n")


def interim(peer):
    while True:
        peer.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def ahead_when_given(peer, head, body):
    """Agrees when it is asked, and claims more than the spool holds when it is given something."""
    peer.sendall(answer(stored(99 if numbers(head, body) else 0)))


def numbers(head, body):
    """Of the records in a report."""
    text = zlib.decompress(body) if b"content-encoding: deflate" in head.lower() else body
    return [int(number) for number in re.findall(rb'\{"n":(\d+),', text.partition(b'"present":')[0])]


LIES = {
    "has what was never sent": lambda peer: peer.sendall(answer(stored(50))),
    "one ahead": lambda peer: peer.sendall(answer(stored(51))),
    "ahead when given": ahead_when_given,
    "far ahead": lambda peer: peer.sendall(answer(stored(9 * 10**18))),
    "beyond 64 bits": lambda peer: peer.sendall(answer(b'{"epoch":"%s","stored_through":1e999}' % EPOCH.encode())),
    "409 forward": lambda peer: peer.sendall(answer(stored(9 * 10**18), "409 Conflict")),
    "always 409": lambda peer: peer.sendall(answer(stored(0), "409 Conflict")),
    "another epoch": lambda peer: peer.sendall(answer(b'{"epoch":"' + b"f" * 32 + b'","stored_through":7}')),
    "413 for ever": lambda peer: peer.sendall(answer(b"{}", "413 Content Too Large")),
    "415 for ever": lambda peer: peer.sendall(answer(b"{}", "415 Unsupported Media Type")),
    "a screen cleared": lambda peer: peer.sendall(answer(b'{"error":"\\u001b[2J\\nballastd: TRIP \\u202e"}', "403 Forbidden")),
    "a redirect": lambda peer: peer.sendall(answer(b"", "307 Temporary Redirect", "Location: http://127.0.0.1:1/x\r\n")),
    "nothing": lambda peer: None,
    "no HTTP": lambda peer: peer.sendall(b"\x00\xff" * 5000),
    "a drip": drip,
    "a flood": flood,
    "100 Continue without end": interim,
    "a captive portal": lambda peer: peer.sendall(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 44\r\n\r\n<html><body>Pay for the Wi-Fi</body></html>\n"),
    "a portal that wants a log-in": lambda peer: peer.sendall(answer(b"<html>", "511 Network Authentication Required")),
    "a black hole for what is large": hole,
    "deep": lambda peer: peer.sendall(answer(b"[" * 60000)),
    "a head of 10 MB": lambda peer: peer.sendall(b"HTTP/1.1 200 OK\r\nX: " + b"a" * (10 << 20) + b"\r\n\r\n"),
}


class Liar(threading.Thread):
    def __init__(self, name):
        super().__init__(daemon=True)
        self.lie, self.asked, self.socket = LIES[name], 0, socket.create_server(("127.0.0.1", 0), backlog=64)
        self.brought = []
        self.port = self.socket.getsockname()[1]

    def run(self):
        while True:
            peer, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        try:
            peer.settimeout(30)
            content = b""
            while b"\r\n\r\n" not in content:
                piece = peer.recv(65536)
                if not piece:
                    return
                content += piece
            self.asked += 1
            head, _, body = content.partition(b"\r\n\r\n")
            lines = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
            length = int(lines[0].split()[1]) if lines else 0
            while len(body) < length:
                body += peer.recv(65536) or b" " * length
            if b"/v1/edge/report" in head:
                self.brought += numbers(head, body)
            self.lie(peer, head, body) if self.lie in (hole, ahead_when_given) else self.lie(peer)
        except OSError:
            pass
        finally:
            peer.close()


def mark(path):
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError:
        return 0
    slots = [struct.unpack("<Q16sQI", content[place:place + 36]) for place in (0, 4096) if len(content) >= place + 36]
    return max((number for sequence, _, number, _ in slots if sequence), default=0)


running = {}
for name in LIES:
    liar = Liar(name)
    liar.start()
    place = f"{folder}/{name.replace(' ', '-')}"
    shutil.copytree(f"{folder}/spool", f"{place}/spool")
    with open(f"{place}/link.yaml", "w", encoding="utf-8") as file:
        file.write(f'spool: {place}/spool\nsite: demo\naggregator: {{url: "http://127.0.0.1:{liar.port}", token: t}}\n'
                   f"captures: {place}/captures\ncontrol_socket: {place}/none.sock\n")
    log = open(f"{place}/log", "wb")
    running[name] = (liar, place, subprocess.Popen([link, "--config", f"{place}/link.yaml"], stdout=log, stderr=log))
time.sleep(seconds)
for name, (liar, place, process) in running.items():
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        memory = next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS"))
    process.send_signal(signal.SIGTERM)
    begin = time.monotonic()
    try:
        status = process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        status = -9
    with open(f"{place}/log", "rb") as file:
        said = file.read()
    text = said.decode(errors="replace")
    dirty = any(ord(letter) < 32 and letter != "\n" or letter in "\u202e\u2028\x7f" for letter in text) or "\nballastd" in text
    print(json.dumps({"name": name, "asked": liar.asked, "memory_mb": memory, "mark": mark(f"{place}/spool/delivered"),
                      "is_dirty": dirty, "lines": len(text.splitlines()), "status": status,
                      "log": text[-400:], "brought": len(set(liar.brought)), "last_brought": liar.brought.count(50),
                      "end_s": round(time.monotonic() - begin, 1)}), flush=True)
