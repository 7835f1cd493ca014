"""Judges an aggregator's TLS from outside, with Python's ssl, openssl and certificates made by `cryptography`.

tls_judge.py FOLDER PORT PID REVOKED: FOLDER holds what `ballast-aggregator certificate` made (ca, server, demo, other).
Prints one line for each case: its name, a colon, and what came of it.
"""

import datetime
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

folder, port, pid, revoked = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
EMPTY = json.dumps({"site": "demo", "epoch": "0" * 32, "records": []})


def context(certificate=None, key=None, ca=f"{folder}/ca.pem"):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.load_verify_locations(ca)
    if certificate:
        made.load_cert_chain(certificate, key)
    return made


def ask(made, token="demo-token", path="/v1/edge/report", body=EMPTY, connection=None):
    """Status and what the problem says; the kind of error where TLS does not come about."""
    try:
        connection = connection or http.client.HTTPSConnection("127.0.0.1", port, context=made, timeout=20)
        headers = {"Authorization": f"Bearer {token}"}
        if body:
            headers["Content-Type"] = "application/json"
        connection.request("POST" if body else "GET", path, body, headers)
        answer = connection.getresponse()
        text = json.loads(answer.read())
        return f"{answer.status} {text.get('detail', '')}".strip()
    except (ssl.SSLError, ConnectionError, http.client.HTTPException, TimeoutError) as error:
        return "no TLS" if isinstance(error, (ssl.SSLError, ConnectionError, http.client.HTTPException)) else repr(error)


def say(name, what):
    print(f"{name}: {what}", flush=True)


def load_key(path):
    return serialization.load_pem_private_key(open(path, "rb").read(), None)


def load(path):
    return x509.load_pem_x509_certificate(open(path, "rb").read())


def forge(name, issuer, issuer_key, uris, begin=-1, end=10, chain=()):
    """A client certificate with the names `uris`, signed by `issuer_key`; gives the paths of certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "demo")]))
        .issuer_name(issuer.subject if issuer else x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "demo")]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=begin))
        .not_valid_after(now + datetime.timedelta(days=end))
        .add_extension(x509.SubjectAlternativeName([x509.UniformResourceIdentifier(uri) for uri in uris]), False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False)
    )
    made = builder.sign(issuer_key or key, hashes.SHA256())
    paths = (f"{folder}/{name}.pem", f"{folder}/{name}.key")
    pem = serialization.Encoding.PEM
    with open(paths[0], "wb") as file:
        file.write(made.public_bytes(pem) + b"".join(one.public_bytes(pem) for one in chain))
    with open(paths[1], "wb") as file:
        file.write(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return paths


demo = (f"{folder}/demo.pem", f"{folder}/demo.key")
other = (f"{folder}/other.pem", f"{folder}/other.key")
server = (f"{folder}/127.0.0.1.pem", f"{folder}/127.0.0.1.key")
ca, ca_key = load(f"{folder}/ca.pem"), load_key(f"{folder}/ca.key")

say("its own certificate and token", ask(context(*demo)))
say("no certificate", ask(context()))
say("a person needs none", ask(context(), "read-token", "/v1/sites", None).split()[0])
say("another site's certificate", ask(context(*other)))
say("another site's token", ask(context(*demo), "other-token"))
say("the server's certificate", ask(context(*server)))
say("signed by itself", ask(context(*forge("self", None, None, ["ballast:site:demo"]))))
foreign_key = ec.generate_private_key(ec.SECP256R1())
say("signed by another of the same name", ask(context(*forge("twin", ca, foreign_key, ["ballast:site:demo"]))))
device = load(demo[0])
say("signed by another site", ask(context(*forge("child", load(other[0]), load_key(other[1]), ["ballast:site:demo"],
                                                chain=[load(other[0])]))))
say("ended", ask(context(*forge("ended", ca, ca_key, ["ballast:site:demo"], begin=-3, end=-1))))
say("not begun", ask(context(*forge("early", ca, ca_key, ["ballast:site:demo"], begin=2, end=9))))
say("two names", ask(context(*forge("two", ca, ca_key, ["ballast:site:demo", "ballast:site:other"]))))
say("a name that looks alike", ask(context(*forge("alike", ca, ca_key, ["ballast:site:demo%00"]))))
old = context(*demo)
old.maximum_version = ssl.TLSVersion.TLSv1_2
say("TLS 1.2", ask(old))
elsewhere = context(*demo)
try:
    with socket.create_connection(("127.0.0.1", port), 20) as plain:
        elsewhere.wrap_socket(plain, server_hostname="elsewhere.example")
    say("another host's name", "taken")
except ssl.SSLCertVerificationError:
    say("another host's name", "refused here")
with socket.create_connection(("127.0.0.1", port), 20) as plain:
    plain.sendall(b"GET /v1/sites HTTP/1.1\r\nHost: x\r\n\r\n")
    say("in the clear", plain.recv(64)[:4] == b"HTTP" and "answered" or "not answered")
said = subprocess.run(
    ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-CAfile", f"{folder}/ca.pem", "-verify_ip", "127.0.0.1",
     "-cert", demo[0], "-key", demo[1], "-brief"], input=b"", capture_output=True, timeout=30)
text = (said.stdout + said.stderr).decode()
say("openssl", f"{'TLSv1.3' in text} {'Verification: OK' in text} {'Verified peername' in text or 'OK' in text}")
verified = subprocess.run(["openssl", "verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", f"{folder}/ca.pem", demo[0]],
                          capture_output=True, timeout=30)
say("openssl's strict look", verified.stdout.decode().strip().split(": ")[-1])

# A connection that is open, and the session of another one, when the certificate is revoked.
open_one = http.client.HTTPSConnection("127.0.0.1", port, context=context(*demo), timeout=20)
say("open before", ask(None, connection=open_one))
resumed = context(*demo)
first = http.client.HTTPSConnection("127.0.0.1", port, context=resumed, timeout=20)
ask(None, connection=first)
session = first.sock.session
print(device.fingerprint(hashes.SHA256()).hex(":").upper(), "# demo, lost", file=open(revoked, "a"))
os.kill(pid, signal.SIGHUP)
limit = time.monotonic() + 30
while (answer := ask(None, connection=open_one)).startswith("200") and time.monotonic() < limit:
    pass
say("open when revoked", answer)
say("anew when revoked", ask(context(*demo)))
with socket.create_connection(("127.0.0.1", port), 20) as plain:
    try:
        again = resumed.wrap_socket(plain, server_hostname="127.0.0.1", session=session)
        again.sendall(f"POST /v1/edge/report HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo-token\r\n"
                      f"Content-Type: application/json\r\nContent-Length: {len(EMPTY)}\r\n\r\n{EMPTY}".encode())
        say("a session taken up when revoked", again.recv(4096).split(b" ")[1].decode())
    except ssl.SSLError:
        say("a session taken up when revoked", "no TLS")
say("another site's, still", ask(context(*other), "other-token", body=EMPTY.replace("demo", "other")))
