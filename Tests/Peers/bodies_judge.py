"""Judges the schemas of the books' bodies by jsonschema, which shares nothing with them.

  bodies_judge.py BODIES.json      [{name, schema, example}, …]

Each schema is a schema (2020-12), takes its example, and refuses it without a key that is required, with a key that nobody
knows, and with a value of another kind; each key says what it is.
"""

import copy
import json
import sys

import jsonschema

ANOTHER = {"string": 17.5, "integer": "x", "number": "x", "boolean": "x", "array": 3, "object": 3}


def keys(schema):
    for name, key in schema.get("properties", {}).items():
        yield name, key
        yield from keys(key)
        yield from keys(key.get("items", {}))


def mutants(schema, example):
    """Bodies that are wrong in one place."""
    if schema.get("type") == "object":
        yield "unknown key", {**example, "zzzz": 1}
        for name in schema.get("required", []):
            yield f"without {name}", {k: v for k, v in example.items() if k != name}
        for name, value in example.items():
            for why, wrong in mutants(schema["properties"][name], value):
                yield f"{name}: {why}", {**example, name: wrong}
        return
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    yield "another kind", ANOTHER[kind]
    if kind == "array":
        for index, element in enumerate(example):
            for why, wrong in mutants(schema["items"], element):
                changed = copy.deepcopy(example)
                changed[index] = wrong
                yield f"[{index}] {why}", changed
    if "enum" in schema:
        yield "none of its words", "zzzz"
    if "maximum" in schema:
        yield "above its range", schema["maximum"] * 2 + 1
    if "pattern" in schema and kind == "string":
        yield "no such name, and not on one line", "Not A\nName!"


def main(path):
    failed = count = 0
    bodies = json.load(open(path, encoding="utf-8"))
    for body in bodies:
        schema, example = body["schema"], body["example"]
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for error in validator.iter_errors(example):
            failed += 1
            print(f"{body['name']}: its example: {error.message}")
        for form in schema.get("oneOf", [schema]):
            for name, key in keys(form):
                if "type" not in key or not key.get("description"):
                    failed += 1
                    print(f"{body['name']}: {name} does not say what it is")
            if form.get("type") != "object" or not jsonschema.Draft202012Validator(form).is_valid(example):
                continue
            for why, wrong in mutants(form, example):
                count += 1
                if validator.is_valid(wrong):
                    failed += 1
                    print(f"{body['name']}: takes a body that is wrong: {why}")
    print(f"bodies: {len(bodies)}, {count} wrong ones refused" if not failed else f"{failed} faults")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1])
