"""Checks that events stand in the books' history, by the root of their day; needs nothing but Python.

  books_proof.py ROOTS.json PROOF.json...

ROOTS.json is the answer of GET /v1/books/roots, kept from a day on which it was trusted; PROOF.json the answer of
GET /v1/books/events/NUMBER/proof. An event's hash is the SHA-256 of its fields, each on a line, after the hash of the event
before it. The events of a day are the leaves of a tree (RFC 6962: leaves begin with a byte 0, inner nodes with a byte 1),
whose root is the day's. The records that an event stands for (GET …/proof?resource=NAME or ?party=NAME: intervals, bills,
transfers) are the leaves of a tree of their own, whose root stands in the event under one of five names, each for its own kinds
of records: what else stands in an event was named by people, and is no root. A record is its fields, a line each, every text
as a JSON string, so that no text can hold a line break that ends it. Roots from before that have the texts as they are; of such
a record its fields are not told apart here, for a person's line breaks look like them. Whoever changes one event must change the
root, which others have kept.
"""

import hashlib
import json
import sys

ROOTS = {
    "intervals_root": {"interval"}, "registers_root": {"register"}, "bills_root": {"bill"}, "transfers_root": {"transfer"},
    "rows_root": {"party", "zone", "resource", "contract", "batch", "run", "intervals", "registers"},
}


def sha256(data):
    return hashlib.sha256(data).digest()


def event_hash(proof):
    fields = [proof["previous"], proof["seq"], proof["at_s"], proof["who"], proof["kind"], proof["data"]]
    if any("\n" in str(field) for field in fields):
        raise ValueError("an event's field is more than a line")
    return sha256("".join(f"{field}\n" for field in fields).encode()).hex()


def root_of(text, path):
    node = sha256(b"\0" + text.encode())
    for step in path:
        sibling = bytes.fromhex(step["hash"])
        node = sha256(b"\1" + (sibling + node if step["side"] == "left" else node + sibling))
    return node.hex()


def kind_of(text):
    first = text.split("\n")[0]
    return json.loads(first) if first.startswith('"') else first


def wrong_records(proof):
    """Those that are not among what the event noted."""
    noted = json.loads(proof["data"])
    return [one for one in proof.get("records", []) if kind_of(one["text"]) not in ROOTS.get(one["root"], ())
            or root_of(one["text"], one["path"]) != noted.get(one["root"])]


def shown(text):
    """A record on one line, whatever people wrote into it."""
    lines = text.removesuffix("\n").split("\n")
    if text.startswith('"'):
        if not all(isinstance(json.loads(line), (str, int)) for line in lines):
            raise ValueError(f"no record: {text!r}")
        words = " ".join(lines)
    elif lines[0] in ("interval", "register", "bill", "transfer"):
        return f"(old form, fields cannot be told apart) {text!r}"
    else:
        words = " | ".join(lines)
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in words)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    with open(arguments[0]) as file:
        roots = {day["day"]: day for day in json.load(file)["days"]}
    holds = records = 0
    for name in arguments[1:]:
        with open(name) as file:
            proof = json.load(file)
        day = roots.get(proof["day"])
        if day is None:
            print(f"{name}: no root of {proof['day']} was kept")
        elif not day["first"] <= proof["seq"] <= day["last"]:
            print(f"{name}: event {proof['seq']} is none of {proof['day']}")
        elif root_of(event_hash(proof), proof["path"]) != day["root"]:
            print(f"{name}: event {proof['seq']} is NOT in the history of {proof['day']} as it stands here")
        elif wrong_records(proof):
            print(f"{name}: {wrong_records(proof)[0]['text']!r} is NOT what event {proof['seq']} noted")
        else:
            holds += 1
            records += len(proof.get("records", []))
            for one in proof.get("records", []):
                print(f"{name}: noted by event {proof['seq']} of {proof['day']} in its {one['root']}: {shown(one['text'])}")
    print(f"{holds} of {len(arguments) - 1} events hold, with {records} records")
    sys.exit(0 if holds == len(arguments) - 1 else 1)


main(sys.argv[1:])
