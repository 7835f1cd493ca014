"""The real ballast-aggregator with its books, for the commands of this folder: started, asked, killed. Only Python's own library."""

import hashlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time

ADMIN = "admin-token"

TARIFFS = json.dumps({"tariffs": [{
    "id": "t", "regulation": "none", "source": "made up", "mark": "illustrative", "effective_from": "2025-01-01T00:00:00Z",
    "effective_until": "2027-01-01T00:00:00Z", "clock_offset_min": 330, "community_price_inr_per_kwh": 5,
    "bands": [{"name": "night", "from": "00:00", "until": "18:00", "import_inr_per_kwh": 8, "feed_in_inr_per_kwh": 3},
              {"name": "peak", "from": "18:00", "until": "24:00", "import_inr_per_kwh": 9.6, "feed_in_inr_per_kwh": 3.5}],
    "fees": [{"name": "wheeling", "price_inr_per_kwh": 0.10}]}]})


class Gone(Exception):
    """The server went away before it answered."""


class Aggregator:
    def __init__(self, program, folder, sites=1):
        self.program, self.folder = program, folder
        os.makedirs(folder, exist_ok=True)
        self.config = os.path.join(folder, "aggregator.yaml")
        self.database = os.path.join(folder, "books.sqlite")
        sha = lambda text: hashlib.sha256(text.encode()).hexdigest()
        site_lines = "".join(f"  - {{id: s{n}, token_sha256: {sha(f'site-{n}')}}}\n" for n in range(sites))
        with open(self.config, "w") as file:
            file.write(f"listen: {{host: 127.0.0.1, port: 0}}\ndatabase: {self.database}\nsites:\n{site_lines}"
                       f"limits: {{requests_per_s: 100000}}\n"
                       f"books:\n  people:\n    - {{name: admin, role: admin, token_sha256: {sha(ADMIN)}}}\n")
        self.process = self.link = None

    def start(self):
        self.process = subprocess.Popen([self.program, "--config", self.config], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "listening on" in line:
                self.port = int(line.split("127.0.0.1:")[1].split(",")[0])
                self.link = None
                return
        sys.exit("the aggregator did not start")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)

    def ask(self, method, path, body=None, key=None, token=ADMIN, kind="application/json", timeout=120):
        headers = {"Authorization": f"Bearer {token}"}
        if body is not None:
            headers["Content-Type"] = kind
        if key:
            headers["Idempotency-Key"] = key
        try:
            if self.link is None:
                self.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
            self.link.request(method, path, body, headers)
            answer = self.link.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.link = None
            raise Gone(str(error))

    def done(self, path, body, key, **more):
        status, text = self.ask("POST", path, body, key, **more)
        if status != 201:
            sys.exit(f"{path}: {status} {text[:400]}")
        return text

    def run(self, *arguments):
        # What runs longer than a connection may rest would find it closed.
        self.link = None
        return subprocess.run([self.program, *arguments], capture_output=True, text=True)

    def check(self):
        """B1 … B8 by the program itself; anything that does not hold ends everything."""
        done = self.run("check", "--config", self.config)
        lines = [line for line in done.stdout.splitlines() if line.startswith("holds: B")]
        if done.returncode != 0 or len(lines) != 8:
            sys.exit(f"check: {done.stdout}{done.stderr}")


def wait_for(condition, seconds):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return True
