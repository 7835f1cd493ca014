"""Runs the real aggregator and judges its alarms by what arrives at a mail server and a webhook.

    alarm_judge.py PROGRAM FOLDER     PROGRAM: ballast-aggregator; FOLDER: empty; prints OK, or says what is wrong

The mail server is aiosmtpd with STARTTLS and an authority of its own; the webhook checks the signature by itself.
"""
import atexit
import datetime
import email
import hashlib
import hmac
import http.server
import json
import pathlib
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from aiosmtpd.controller import Controller
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
EPOCH = "00112233445566778899aabbccddeeff"
SECRET = b"a webhook's secret"
mails, hooks, complaints, said = [], [], [], []


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def certificate():
    """An authority that is its own server, for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256()))
    (FOLDER / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (FOLDER / "key.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(FOLDER / "ca.pem", FOLDER / "key.pem")
    return context


class Box:
    async def handle_DATA(self, server, session, envelope):
        if session.ssl is None:
            complaints.append("a mail came in the clear")
        parsed = email.message_from_bytes(envelope.content)
        mails.append((envelope.rcpt_tos, parsed["Subject"], parsed.get_payload(decode=True).decode()))
        return "250 taken"


class Hook(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        parts = dict(part.split("=") for part in self.headers["Ballast-Signature"].split(","))
        right = hmac.new(SECRET, parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(right, parts["v1"]):
            complaints.append("a signature is wrong")
        # The first attempt of all fails: it must come again, under the same key.
        hooks.append((self.headers["Idempotency-Key"], json.loads(body)))
        self.send_response(503 if len(hooks) == 1 else 200)
        self.end_headers()


class Aggregator:
    def __init__(self, mail, hook):
        (FOLDER / "secret").write_bytes(SECRET + b"\n")
        (FOLDER / "aggregator.yaml").write_text(f"""
listen: {{host: 127.0.0.1, port: 0}}
database: {FOLDER}/store.sqlite
sites: [{{id: demo, token_sha256: {digest('demo')}}}, {{id: other, token_sha256: {digest('other')}}}]
principals:
  - {{name: ann, token_sha256: {digest('ann')}, sites: all, roles: [read, dispatch]}}
  - {{name: bob, token_sha256: {digest('bob')}, sites: [other], roles: [read, dispatch]}}
  - {{name: eve, token_sha256: {digest('eve')}, sites: all, roles: [read]}}
alarms:
  quiet_hours: {{from: "00:00", until: "23:59"}}
  daily_summary: {{at: "{time.strftime('%H:%M', time.gmtime(time.time() - 60))}"}}
  mail: {{host: localhost, port: {mail}, from: ballast@example.org, to: [night@example.org], ca_file: {FOLDER}/ca.pem,
         escalate_to: [chief@example.org]}}
  webhook: {{url: "http://127.0.0.1:{hook}/", key_file: {FOLDER}/secret}}
  rules:
    - {{id: no_report, when: no_report, severity: critical, for_s: 0, escalate_after_s: 10}}
    - {{id: low, when: below, channel: soc_percent, limit: 10, hysteresis: 2, severity: warning}}
""")
        self.number = 0
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [PROGRAM, "--config", FOLDER / "aggregator.yaml"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True)
        atexit.register(self.process.kill)
        for line in self.process.stderr:
            if "listening on" in line:
                self.url = "http://127.0.0.1:" + line.split("127.0.0.1:")[1].split(",")[0]
                break
        threading.Thread(target=self.listen, args=[self.process.stderr], daemon=True).start()

    def listen(self, lines):
        for line in lines:
            said.append(line.rstrip())

    def ask(self, path, token, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers={
            "Authorization": "Bearer " + token, "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def report(self, **unit):
        self.number += 1
        data = {"kind": "telemetry", "units": [{"id": "BESS_01", "mode": "running", "trips": [], **unit}]}
        status, _ = self.ask("/v1/edge/report", "demo", {
            "site": "demo", "epoch": EPOCH, "records": [{"n": self.number, "data": data}], "gaps": []})
        check(status == 200, "a report is stored")

    def alarm(self, rule, token="ann"):
        return next((alarm for alarm in self.ask("/v1/alarms", token)[1]["alarms"] if alarm["rule"] == rule), None)


def check(truth, what):
    if not truth:
        print("not so: " + what, "mails", mails, "hooks", hooks, "said", said[-8:])
        sys.exit(1)


def wait(what, condition, beat=None):
    end = time.monotonic() + 40
    while time.monotonic() < end:
        if condition():
            return
        if beat:
            beat()
        time.sleep(0.3)
    check(False, what)


def main():
    # Its controller knocks at the port that it is told, so it must be told one.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        mail_port = free.getsockname()[1]
    box = Controller(
        Box(), hostname="127.0.0.1", port=mail_port, tls_context=certificate(), require_starttls=True)
    box.start()
    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    aggregator = Aggregator(mail_port, hook.server_port)
    danger = {"trips": ["smoke"], "dangers": ["smoke: evacuate and call the fire brigade"], "soc_percent": 5}

    def of(rule):
        return [mail for mail in mails if f": {rule}," in mail[1]]

    # One that flickers, and one that never spoke: once each, and the first in the quiet hours too.
    for value in (danger, {}, danger, danger):
        aggregator.report(**value)
        time.sleep(1.2)
    wait("danger is mailed", lambda: of("danger"), lambda: aggregator.report(**danger))
    wait("a site that does not report is mailed", lambda: of("no_report"), lambda: aggregator.report(**danger))
    check(of("danger")[0][0] == ["night@example.org"], "to whom")
    check("life_safety raised" in of("danger")[0][1], "how grave: " + of("danger")[0][1])
    check("evacuate and call the fire brigade" in of("danger")[0][2], "what to do stands in the mail")
    check(any("site other does not report: no data ever" in mail[2] for mail in of("no_report")), "its own words")
    wait("the warning stands", lambda: aggregator.alarm("low"), lambda: aggregator.report(**danger))
    check(not of("low"), "a warning keeps quiet in the quiet hours")

    # What people may do, and who.
    key = {"rule": "danger", "site": "demo", "subject": "BESS_01"}
    status, _ = aggregator.ask("/v1/alarms", "eve", {**key, "do": "acknowledge", "reason": "x"})
    check(status == 403, "who only reads acknowledges nothing")
    status, _ = aggregator.ask("/v1/alarms", "bob", {**key, "do": "acknowledge", "reason": "x"})
    check(status == 403, "nor does who has another site")
    check(aggregator.alarm("danger", "bob") is None, "who sees it not at all")
    status, answer = aggregator.ask("/v1/alarms", "ann", {**key, "do": "shelve", "for_s": 3600, "reason": "x"})
    check(status == 409 and "life safety" in answer["detail"], "life safety is never shelved")
    status, _ = aggregator.ask("/v1/alarms", "ann", {**key, "do": "shelve", "reason": "x"})
    check(status == 400, "a shelf without an end")
    status, _ = aggregator.ask("/v1/alarms", "ann", {**key, "do": "acknowledge", "reason": "on my way"})
    check(status == 200, "acknowledged")
    check(aggregator.alarm("danger")["acknowledged"]["by"] == "ann", "by whom")
    low = {"rule": "low", "site": "demo", "subject": "BESS_01", "do": "shelve", "for_s": 3600, "reason": "balancing"}
    check(aggregator.ask("/v1/alarms", "ann", low)[0] == 200, "shelved")

    # A kill forgets and repeats nothing.
    before = len(of("danger"))
    aggregator.process.send_signal(signal.SIGKILL)
    aggregator.process.wait()
    aggregator.start()
    for _ in range(3):
        aggregator.report(**danger)
        time.sleep(1.1)
    wait("it stands after a kill", lambda: aggregator.alarm("danger"))
    check(aggregator.alarm("danger")["acknowledged"]["reason"] == "on my way", "with who and why")
    check(aggregator.alarm("low")["shelved"]["by"] == "ann", "and what is shelved")
    check(len(of("danger")) == before == 1, "once, over a flicker and a kill")

    # What nobody acknowledges in its time is told again, to more people; a day is summed up once, over a kill.
    wait("what nobody acknowledged is told again", lambda: any("critical escalated" in mail[1] for mail in of("no_report")))
    escalated = next(mail for mail in of("no_report") if "critical escalated" in mail[1])
    check(escalated[0] == ["night@example.org", "chief@example.org"], f"to whom: {escalated[0]}")
    check(all(mail[0] == ["night@example.org"] for mail in mails if "escalated" not in mail[1]), "the others to the first alone")
    days = [mail for mail in mails if "daily summary" in mail[1]]
    check(len(days) == 1, f"{len(days)} days were summed up")
    check("2 sites" in days[0][2] and "in the last 24 h" in days[0][2], "a day in its words: " + days[0][2])

    # A test goes every way; the webhook's first failure is brought again under its key, in a minute.
    check(aggregator.ask("/v1/alarms/test", "ann", {})[1] == {"sent": 2}, "two ways")
    wait("the test is mailed", lambda: any("a test of the alarms" in mail[2] for mail in mails))
    wait("the test is posted", lambda: any("asked for by ann" in body["text"] for _, body in hooks))
    check(not complaints, "; ".join(complaints))
    aggregator.process.send_signal(signal.SIGTERM)
    check(aggregator.process.wait(timeout=10) == 0, "it ends in order")
    box.stop()
    print("OK")


main()
