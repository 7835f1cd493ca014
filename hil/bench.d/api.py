"""The aggregator's OpenAPI document, walked by schemathesis; see hil/api.

    api.py PROGRAMS FOLDER SCHEMATHESIS
"""
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

PORT = 15884
FILE = """
listen: {{host: 127.0.0.1, port: {port}}}
database: ./aggregator.sqlite
sites: [{{id: demo, token_sha256: {site}}}]
principals: [{{name: judge, token_sha256: {judge}, sites: all, roles: [read, dispatch]}}]
signing: {{key_file: lease.key, key_id: aggregator-1}}
limits: {{requests_per_s: 100000, body_s: 5}}
books:
  people:
    - {{name: office, role: admin, token_sha256: {office}}}
"""
# What the document cannot say: that a site, a name or a lease is there, and that two people's acts meet.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,unsupported_method"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def ask(path, token=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", headers=headers), timeout=5) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def main(programs, folder, schemathesis):
    os.chdir(folder)
    subprocess.run([f"{programs}/ballast-aggregator", "lease", "key", "--out", "lease.key"], check=True, stdout=subprocess.DEVNULL)
    with open("aggregator.yaml", "w", encoding="utf-8") as file:
        file.write(FILE.format(port=PORT, site=digest("site"), judge=digest("judge"), office=digest("office")))
    log = open("aggregator.log", "wb")
    aggregator = subprocess.Popen([f"{programs}/ballast-aggregator", "--config", "aggregator.yaml"], stdout=log, stderr=log)
    for _ in range(200):
        if b"listening" in open("aggregator.log", "rb").read():
            break
        time.sleep(0.05)
    document = json.loads(ask("/v1/openapi.json", "judge")[1])
    # Streams do not end; whoever waits for a lease waits for twenty seconds.
    endless = [path for path, item in document["paths"].items()
               if any("event-stream" in json.dumps(operation) for operation in item.values())] + ["/v1/edge/commands"]
    wrong, count = 0, 0
    for path, item in document["paths"].items():
        for method in item:
            count += 1
            plain = re.sub(r"\{.*?\}", "demo", path)
            request = urllib.request.Request(f"http://127.0.0.1:{PORT}{plain}", method=method.upper(),
                                             data=b"{}" if method == "post" else None)
            try:
                with urllib.request.urlopen(request, timeout=5) as answer:
                    status = answer.status
            except urllib.error.HTTPError as error:
                status = error.code
            if status != 401:
                wrong += 1
                print(f"WITHOUT A TOKEN {method} {path}: {status}")
    print(f"{count} operations without a token: {count - wrong} are 401")
    for name in ("judge", "office", "site"):
        own = {"openapi": document["openapi"], "info": document["info"], "components": document["components"],
               "security": document["security"],
               "paths": {path: item for path, item in document["paths"].items() if path not in endless}}
        with open(f"{name}.json", "w", encoding="utf-8") as file:
            json.dump(own, file)
        run = subprocess.run(
            [schemathesis, "run", f"{name}.json", "--url", f"http://127.0.0.1:{PORT}", "-H", f"Authorization: Bearer {name}",
             "--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--max-examples", "15", "--seed", "1",
             "--suppress-health-check", "all", "--warnings", "off", "--workers", "1", "--max-time", "18",
             "--continue-on-failure"],
            stdout=open(f"{name}.txt", "w", encoding="utf-8"), stderr=subprocess.STDOUT, timeout=300)
        text = open(f"{name}.txt", encoding="utf-8").read()
        found = re.findall(r"^\s*(\d+ generated.*|.*[Tt]est cases:.*|.*No issues found.*|.*unique failures.*)$", text, re.M)
        print(f"as {name}: {'no fault' if run.returncode == 0 else 'FAULTS, see ' + name + '.txt'}; " + "; ".join(line.strip() for line in found))
        wrong += run.returncode != 0
    is_alive = aggregator.poll() is None and ask("/v1/sites", "judge")[0] == 200
    aggregator.send_signal(signal.SIGTERM)
    ended = aggregator.wait(30)
    verify = subprocess.run([f"{programs}/ballast-aggregator", "verify", "--config", "aggregator.yaml"], capture_output=True, text=True)
    print(f"afterwards it {'serves' if is_alive else 'DOES NOT SERVE'}, ends with {ended}; {verify.stdout.strip() or verify.stderr.strip()}")
    sys.exit(1 if wrong or not is_alive or ended or verify.returncode else 0)


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2]), os.path.realpath(sys.argv[3]))
