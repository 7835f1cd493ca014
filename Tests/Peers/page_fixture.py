"""Sites as the page sees them: an aggregator of its own, and sites that report a day and then go on, without a gateway.

Records are written here by their documented layout (Sources/README.md, "What goes up"), not by our encoder.
"""
import atexit
import hashlib
import json
import math
import pathlib
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

RUN = "ran = window.wasRun = 1"
BAD = f"<script>{RUN}</script>"
IMG = f"<img src=x onerror='{RUN}'>"
SITE = {"frequency_uhz": 0, "setpoint_w": 4, "site_power_w": 6}
UNIT = {"mode": 0, "power_w": 1, "setpoint_w": 2, "charge_limit_w": 5, "discharge_limit_w": 6, "rating_w": 7, "soc_mpercent": 8, "soh_mpercent": 9,
        "cell_voltage_min_mv": 10, "cell_voltage_max_mv": 11, "cell_temperature_min_mc": 12, "cell_temperature_max_mc": 13,
        "charge_limited_by": 17, "discharge_limited_by": 18, "trips": 19, "warnings": 20, "holds": 22, "missing": 24, "dangers": 28}
SECOND = 1_000


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


def now_ms():
    return int(time.time() * 1000)


class Aggregator:
    """The real program, with `sites`, and people: ann may dispatch, eve reads, bob reads the first site alone."""

    def __init__(self, program, folder, sites, extra="", signing=True, local=False):
        self.program, self.folder, self.sites = program, pathlib.Path(folder), sites
        self.extra, self.port, self.said = extra, 0, []
        # Where its figures are, once it runs.
        self.local = 0 if local else None
        if signing and not (self.folder / "lease.key").exists():
            subprocess.run([program, "lease", "key", "--out", self.folder / "lease.key"], check=True, stdout=subprocess.DEVNULL)
        self.signing = f"signing: {{key_file: {self.folder}/lease.key, key_id: aggregator-1}}" if signing else ""
        self.start()

    def start(self):
        listed = ", ".join(f"{{id: {site}, token_sha256: {digest(site)}}}" for site in self.sites)
        (self.folder / "aggregator.yaml").write_text(f"""
listen: {{host: 127.0.0.1, port: {self.port}{'' if self.local is None else f', local_port: {self.local}'}}}
database: {self.folder}/store.sqlite
sites: [{listed}]
principals:
  - {{name: ann, token_sha256: {digest('ann')}, sites: all, roles: [read, dispatch]}}
  - {{name: eve, token_sha256: {digest('eve')}, sites: all, roles: [read]}}
  - {{name: bob, token_sha256: {digest('bob')}, sites: [{self.sites[0]}], roles: [read]}}
{self.signing}
{self.extra}
""")
        self.process = subprocess.Popen([self.program, "--config", self.folder / "aggregator.yaml"],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        for line in self.process.stderr:
            self.said.append(line.rstrip())
            if "figures on" in line:
                self.local = int(line.split("127.0.0.1:")[1])
            if "listening on" in line:
                self.port = int(line.split("127.0.0.1:")[1].split(",")[0])
            if self.port and self.local != 0 and any("listening on" in said for said in self.said):
                break
        else:
            raise SystemExit("the aggregator does not start: " + "; ".join(self.said[-5:]))
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=lambda: [self.said.append(line.rstrip()) for line in self.process.stderr], daemon=True).start()

    def ask(self, path, token, body=None, kind="application/json", headers=None):
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        head = {"Content-Type": kind, **({"Authorization": "Bearer " + token} if token else {}), **(headers or {})}
        request = urllib.request.Request(self.url + path, data=data, headers=head)
        try:
            with urllib.request.urlopen(request, timeout=40) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def pause(self, isPaused):
        self.process.send_signal(signal.SIGSTOP if isPaused else signal.SIGCONT)

    def bring(self, site, name, content):
        where = f"/v1/edge/captures?site={site}&name={name}&sha256={hashlib.sha256(content).hexdigest()}&bytes={len(content)}&offset=0"
        return self.ask(where, site, content, "application/octet-stream")


class Site:
    """A site: `look(t)` gives its values at a time; `begin` tells the past, `live` goes on until `kill`."""

    def __init__(self, aggregator, name, units=2, place=0):
        self.aggregator, self.name, self.place = aggregator, name, place
        self.units = [f"BESS_0{number + 1}" for number in range(units)]
        self.epoch = hashlib.md5(name.encode()).hexdigest()
        self.number, self.lock, self.changes, self.alive, self.answers = 0, threading.Lock(), {}, False, True
        self.counters = {"can socketcan:can0": {"up": 1, "frames": 128_443}, "modbus 10.0.0.5:502": {"up": 1, "transactions": 90_112, "timeouts": 3}}

    def look(self, t_ms):
        """As channels' whole numbers."""
        t, k = t_ms / 1000, self.place
        wave, slow = math.sin(t / 47 + k), math.sin(t / 5200 + k)
        frequency = 50 + 0.018 * wave + 0.012 * math.sin(t / 9) - (0.21 if 0 <= t % 21600 - 9000 < 180 else 0)
        power = 22 * slow + (18 if frequency < 49.95 else 0)
        values = {"frequency_uhz": int(frequency * 1e6), "setpoint_w": int(power * 1000), "site_power_w": int(power * 1000 + 150 * wave)}
        units = []
        for index, name in enumerate(self.units):
            heat = 27 + 4 * abs(slow) + index + 0.5 * math.sin(t / 333 + index)
            charge = 55 + 25 * math.cos(t / 5200 + k)
            share = power / len(self.units)
            unit = {"mode": "running", "power_w": int(share * 1000), "setpoint_w": int(share * 1000), "charge_limit_w": -30000,
                    "discharge_limit_w": 30000, "rating_w": 35000, "soc_mpercent": int(charge * 1000), "cell_voltage_min_mv": int(3210 + charge),
                    "cell_voltage_max_mv": int(3235 + charge * 1.4), "cell_temperature_min_mc": int(heat * 1000 - 2600),
                    "cell_temperature_max_mc": int(heat * 1000), "charge_limited_by": "rating", "discharge_limited_by": "rating",
                    "trips": "", "warnings": "", "holds": "", "missing": "", "dangers": ""}
            units.append({**unit, **self.changes.get(name, {})})
        return {**values, **self.changes.get("", {})}, units

    def snapshot(self, t_ms):
        values, units = self.look(t_ms)
        own = {name: [SITE[name], value] for name, value in values.items() if name in SITE}
        own["stopped"] = [11, self.changes.get("", {}).get("stopped", 0)]
        own["links"] = [21, "\n".join(f"{name} {'up' if counts['up'] else 'down'}" for name, counts in self.counters.items())]
        list_ = [{"id": name, "values": {key: [100 * (index + 1) + UNIT[key], value] for key, value in unit.items()}}
                 for index, (name, unit) in enumerate(zip(self.units, units))]
        return {"v": 1, "kind": "snapshot", "mono_ms": t_ms % 10**9, "t_ms": t_ms, "mode": "production", "site": self.name,
                "values": own, "units": list_, "counters": self.counters}

    def rows(self, begin, times):
        rows = []
        for at in times:
            values, units = self.look(at)
            row = [at - begin] + [part for name, value in values.items() if name in SITE for part in (SITE[name], value)]
            for index, unit in enumerate(units):
                row += [part for key, value in unit.items() if key in UNIT for part in (100 * (index + 1) + UNIT[key], value)]
            rows.append(row)
        return {"v": 1, "kind": "delta", "mono_ms": begin % 10**9, "t_ms": begin, "mode": "production", "rows": rows}

    def tell(self, *records):
        with self.lock:
            list_ = []
            for record in records:
                self.number += 1
                list_.append({"n": self.number, "data": record})
            return self.aggregator.ask("/v1/edge/report", self.name, {"site": self.name, "epoch": self.epoch, "records": list_, "gaps": []})

    def begin(self, hours):
        """What it told in so many hours until now."""
        end = now_ms()
        start = end - hours * 3600 * SECOND
        self.tell(self.snapshot(start))
        for hour in range(hours):
            base = start + hour * 3600 * SECOND
            self.tell(self.rows(base, range(base, base + 3600 * SECOND, 10 * SECOND)))
        for start_s in range((start // 900_000 + 1) * 900, end // 1000 - 900, 900):
            self.tell(self.energy(start_s), self.frequency_time(start_s))

    def energy(self, start_s):
        out = max(0, int(2600 * math.sin(start_s / 5200 + self.place)))
        into = max(0, int(-2600 * math.sin(start_s / 5200 + self.place)))
        is_part = start_s % 21_600 == 9_000
        point = {"import_wh": into, "export_wh": out, "import_counter_wh": 1, "export_counter_wh": 1,
                 "measured_s": 431 if is_part else 900, "quality": "partial" if is_part else "measured"}
        return {"v": 1, "kind": "energy", "mono_ms": 1, "t_ms": (start_s + 900) * 1000, "mode": "production", "start_s": start_s,
                "length_s": 900, "clock": "good", "points": {"meter": point, **{name: point for name in self.units}}}

    def frequency_time(self, start_s):
        """A quarter of an hour of which the site was in service for nine parts of ten."""
        return {"v": 1, "kind": "frequency_time", "t_ms": (start_s + 900) * 1000, "mode": "production", "from_ms": start_s * 1000,
                "until_ms": (start_s + 900) * 1000, "covered_s": 900, "in_service_s": 810, "without_frequency_s": 0, "without_power_s": 0}

    def cells(self, unit, volts, celsius):
        return {"v": 1, "kind": "cells", "mono_ms": 1, "t_ms": now_ms(), "mode": "production", "unit": unit, "voltages_mv": volts, "temperatures_mc": celsius}

    def event(self, kind, text, at=None, **rest):
        return {"v": 1, "kind": "event", "mono_ms": 1, "t_ms": at or now_ms(), "mode": "production", "event": kind, "text": text, **rest}

    def live(self, every=1.0):
        self.alive = True
        self.tell(self.snapshot(now_ms()))

        def run():
            while self.alive:
                time.sleep(every)
                if self.alive:
                    self.tell(self.rows(now_ms(), [now_ms()]))
        threading.Thread(target=run, daemon=True).start()
        threading.Thread(target=self.serve, daemon=True).start()

    def change(self, unit="", **values):
        self.changes.setdefault(unit, {}).update(values)
        self.tell(self.snapshot(now_ms()))

    def kill(self):
        self.alive = False

    def serve(self):
        """As the link does: fetches leases, and says what the site made of each: more than 50 kW is refused. Of 20 kW it takes its word back."""
        while self.alive and self.answers:
            status, answer = self.aggregator.ask("/v1/edge/commands", self.name)
            for command in answer.get("commands", []) if status == 200 else []:
                # Its power stands behind heading, kind and four numbers (RemoteLease.canonicalBytes).
                watts = int.from_bytes(bytes.fromhex(command["lease"])[40:48], "big", signed=True)
                is_large = abs(watts) > 50_000
                self.aggregator.ask(f"/v1/edge/results?site={self.name}", self.name, {
                    "sequence": command["sequence"], "state": "refused" if is_large else "granted",
                    "answer": "beyond what the site may be asked for: 50 kW" if is_large else "granted until its end"})
                if watts == 20_000:
                    self.aggregator.ask(f"/v1/edge/results?site={self.name}", self.name, {
                        "sequence": command["sequence"], "state": "refused", "answer": f"never heard of it {BAD}"})


def description(site):
    """The record that a gateway tells at its start (BallastDaemon/Tell/SiteDescription.swift)."""
    def row(name, signal, unit, relation, warn, trip, ms, wired, action="trip", reset="operator", total=900, limit=5000):
        return {"id": name, "signal": signal, "unit": unit, "relation": relation, "warn": warn, "derate_from": None, "derate_to": None, "trip": trip,
                "debounce_ms": ms, "closes": "both", "action": action, "reset": reset, "mandatory": True, "wired": wired,
                "slowest_ms": total, "slowest_limit_ms": limit, "slowest_unit": site.units[0]}
    all_ = site.units
    return {"v": 1, "kind": "site", "mono_ms": 1, "t_ms": now_ms(), "mode": "production", "site": site.name, "table": "LFP, shipped table",
            "digest": "5e1f0c" * 10, "not_in_force": ["gas"], "units": [
                {"id": name, "battery": "socketcan:can0, profile pylontech-hv.yaml", "inverter": "modbus 10.0.0.5:502, unit 1", "io_module": "modbus 10.0.0.9:502, unit 1",
                 "wires": ["input 1: emergency_stop, normally closed", "input 2: smoke, normally closed", "coil 1: main_contactor"],
                 "contactors": "driven by this gateway", "capacity_kwh": 100, "rating_kw": 35} for name in all_],
            "rows": [row("cell_overvoltage", "cell_voltage_max", "V", "≥", 3.6, 3.65, 1000, all_), row("cell_undervoltage", "cell_voltage_min", "V", "≤", 2.8, 2.5, 1000, all_),
                     row("cell_overtemperature_discharge", "cell_temperature_max", "°C", "≥", 50, 55, 2000, all_, total=4100),
                     row("cell_undertemperature_charge", "cell_temperature_min", "°C", "≤", 3, 0, 2000, all_, total=5200),
                     row("emergency_stop", "emergency_stop_input", "", "≥", None, 1, 0, all_, "emergency_stop", "service", 240, 500),
                     row("smoke", "smoke_input", "", "≥", None, 1, 100, all_[:1], "emergency_stop", "service", 420, 2500),
                     row(BAD, "gas_input", "", "≥", None, 1, 100, [], "emergency_stop", "service", None, None)]}


def frequency_event(begin, asked, delivered):
    return {"v": 1, "kind": "frequency_event", "t_ms": begin, "mode": "production", "event": {
        "begin": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin / 1000)), "begin_seen": True, "end": "returned", "duration_s": 183.0,
        "nadir_hz": 49.771, "zenith_hz": 49.98, "expected_peak_kw": asked, "delivered_peak_kw": delivered, "energy_ratio": delivered / asked,
        "response": "reached", "response_s": 1.4, "accuracy": 0.97, "delay": 1.0, "sustained": 0.99, "accuracy_weight_s": 150.0,
        "sustained_weight_s": 150.0}}
