"""Whoever comes to a control centre's door by TLS, by Python's ssl and by openssl: `iec104_tls.py PORT`.

It obeys lines on standard input, one JSON line each; AUTHORITY, CERTIFICATE and KEY are files, the last two may be empty:

    try AUTHORITY,CERTIFICATE,KEY,SUITE     starts a link, by TLS 1.2 with SUITE as openssl names it, or by TLS_1_3: "started", or why not
    plain                                   the same without TLS
    renegotiate AUTHORITY,CERTIFICATE,KEY   starts a link by TLS 1.2 with `openssl s_client`, asks for a new handshake in it and then
                                            for a test frame: whether the link was started, and whether it goes on or ends
"""

import json
import os
import select
import socket
import ssl
import subprocess
import sys
import time

PORT = int(sys.argv[1])
START, STARTED = bytes.fromhex("680407000000"), bytes.fromhex("68040b000000")
TEST, TESTED = bytes.fromhex("680443000000"), bytes.fromhex("680483000000")
PATIENCE = 20


def answered(link):
    """Whether the link is started: the answer comes, or the other side ends it."""
    link.sendall(START)
    read = b""
    while STARTED not in read:
        part = link.recv(4096)
        if not part:
            return "ended"
        read += part
    return "started"


def attempt(words):
    authority, certificate, key, suite = words
    context = ssl.create_default_context(cafile=authority)
    if certificate:
        context.load_cert_chain(certificate, key)
    version = ssl.TLSVersion.TLSv1_3 if suite == "TLS_1_3" else ssl.TLSVersion.TLSv1_2
    context.minimum_version = context.maximum_version = version
    if suite != "TLS_1_3":
        context.set_ciphers(suite)
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE) as near:
            with context.wrap_socket(near, server_hostname="127.0.0.1") as link:
                return answered(link)
    except TimeoutError:
        return "no answer"
    except OSError as error:
        return str(error)


def plain():
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE) as link:
            return answered(link)
    except TimeoutError:
        return "no answer"
    except OSError as error:
        return str(error)


class Client:
    """`openssl s_client`: a line that begins with R asks for a new handshake."""

    def __init__(self, authority, certificate, key):
        self.process = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{PORT}", "-tls1_2", "-CAfile", authority, "-cert", certificate, "-key", key],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.read = b""

    def send(self, octets):
        try:
            self.process.stdin.write(octets)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def wait(self, wanted):
        """Until it comes ("came"), the process ends ("ended"), or neither ("hangs")."""
        limit = time.monotonic() + PATIENCE
        while wanted not in self.read:
            if time.monotonic() > limit:
                return "hangs"
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                part = os.read(self.process.stdout.fileno(), 65536)
                if not part:
                    return "ended"
                self.read += part
        return "came"


def renegotiate(words):
    client = Client(*words)
    try:
        # It reads what it is to send once it has said what was agreed on.
        client.wait(b"Verify return code")
        client.send(START)
        before = client.wait(STARTED)
        client.send(b"R\n")
        asked = client.wait(b"RENEGOTIATING")
        client.send(TEST)
        return {"before": before, "asked": asked, "after": client.wait(TESTED), "said": client.read[-300:].decode(errors="replace")}
    finally:
        client.process.kill()
        client.process.wait()


def obey(line):
    word, _, rest = line.strip().partition(" ")
    if word == "try":
        return attempt(rest.split(","))
    if word == "plain":
        return plain()
    if word == "renegotiate":
        return renegotiate(rest.split(","))
    return "unknown"


print("READY", flush=True)
for line in sys.stdin:
    print(json.dumps(obey(line)), flush=True)
