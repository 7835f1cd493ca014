"""Judges what is written of a recording: every number of the CSV must be in the COMTRADE files as another program reads
them, and the page must be well-formed and ask for nothing from elsewhere.

    incident_judge.py FOLDER        reads values.csv, ascii.cfg … float32.dat, index.html; prints OK and figures, or says what differs
"""
import csv
import datetime
import json
import math
import os
import re
import sys
import xml.etree.ElementTree

import comtrade

FORMS = ("ascii", "binary", "float32")


def fail(text):
    print(text)
    sys.exit(1)


def compare(folder, form, heads, rows):
    record = comtrade.load(f"{folder}/{form}.cfg", f"{folder}/{form}.dat")
    if record.total_samples != len(rows):
        fail(f"{form}: {record.total_samples} samples, the CSV has {len(rows)}")
    begin = datetime.datetime.strptime(rows[0][0], "%Y-%m-%dT%H:%M:%S.%fZ")
    if abs((record.start_timestamp - begin).total_seconds()) > 0.002:
        fail(f"{form}: begins at {record.start_timestamp}, the CSV at {begin}")
    if not record.start_timestamp <= record.trigger_timestamp:
        fail(f"{form}: its trigger comes before its begin")
    analog = [index for index, head in enumerate(heads) if head.endswith("]") and index > 1]
    if len(analog) != len(record.analog):
        fail(f"{form}: {len(record.analog)} channels, the CSV has {len(analog)}")
    for channel, column in enumerate(analog):
        values = [float(row[column]) for row in rows if row[column]]
        # Half of the last place of 16 bits over the channel's own range, and of the CSV's six digits.
        room = (max(values, default=0) - min(values, default=0)) / 65_000 + 1e-4
        for number, row in enumerate(rows):
            found = record.analog[channel][number]
            if not row[column]:
                if not (math.isnan(found) or form == "float32" and found == 0):
                    fail(f"{form}: {heads[column]} of sample {number} is {found}, and nothing was measured")
            elif not abs(float(row[column]) - found) <= room + abs(found) * 1e-6:
                fail(f"{form}: {heads[column]} of sample {number} is {found}, the CSV has {row[column]}")
    first = analog[-1] + 1
    for channel, states in enumerate(record.status):
        for number, row in enumerate(rows):
            if int(row[first + channel]) != states[number]:
                fail(f"{form}: {heads[first + channel]} of sample {number} is {states[number]}")
    for number in range(0, len(rows), 50):
        # A long record's times have steps of several µs.
        if abs(record.time[number] - float(rows[number][1])) > max(2e-6, record.cfg.timemult * 0.6e-6):
            fail(f"{form}: sample {number} at {record.time[number]} s, the CSV has {rows[number][1]}")


def main(folder):
    with open(f"{folder}/values.csv", encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    if not rows or any(len(row) != len(heads) for row in rows):
        fail("values.csv: no rows, or rows of another length than its head")
    for form in FORMS:
        compare(folder, form, heads, rows)
    for name in ("index.html", "incident/index.html"):
        # The second is there where the whole incident was put together.
        if not os.path.exists(f"{folder}/{name}"):
            continue
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            page = file.read()
        xml.etree.ElementTree.fromstring(page.replace("<!DOCTYPE html>", "", 1))
        foreign = re.findall(r"""(?:src|href|url\()\s*=?\s*["']?(?:https?:)?//[^"'\s)]+""", page)
        if foreign or "<script" in page:
            fail(f"{name}: asks for {foreign or 'a script'}")
    with open(f"{folder}/incident.json", encoding="utf-8") as file:
        found = json.load(file)
    first = [happening for happening in found["happenings"] if happening["first_out"]]
    print(f"OK {len(rows)} rows, first out: {first[0]['what'] + ' of ' + first[0]['unit'] if first else 'none'}")


main(sys.argv[1])
