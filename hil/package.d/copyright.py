"""Writes a package's copyright file: our own words, and the licence and notices of everything that its programs hold.

  copyright.py CHECKOUTS SWIFT_SHARE NAME     NAME: ballast or ballast-aggregator; prints the file

What is loaded from Debian's libraries at run time has its own copyright file there.
"""

import json
import pathlib
import sys

CHECKOUTS, SHARE, NAME = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
FOLDER = pathlib.Path(__file__).resolve().parent
# Of the controller's package only ballast-link speaks HTTP.
AGGREGATOR_ALONE = {
    "hummingbird", "grdb.swift", "swift-certificates", "swift-asn1", "swift-async-algorithms", "swift-configuration",
}
# Code of others inside those packages: BoringSSL (OpenSSL, SSLeay and ISC licences), llhttp (MIT).
INSIDE = {"swift-nio": ["Sources/CNIOLLHTTP/LICENSE"]}


def folded(text):
    """As a field of several lines (DEP-5): one space before each, a dot where a line is empty."""
    return "\n".join(" " + line.rstrip() if line.strip() else " ." for line in text.strip().splitlines())


def one(folder, patterns):
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            return path.read_text(encoding="utf-8", errors="replace")
    return None


def kind(text):
    return "Apache-2.0" if "Apache License" in text[:400] else "Expat"


def packages():
    pins = json.loads((CHECKOUTS.parents[1] / "Package.resolved").read_text())["pins"]
    places = {path.name.lower(): path for path in CHECKOUTS.iterdir() if path.is_dir()}
    for pin in sorted(pins, key=lambda pin: pin["identity"]):
        identity = pin["identity"]
        if NAME == "ballast" and identity in AGGREGATOR_ALONE:
            continue
        folder = places.get(identity) or places.get(identity.removesuffix(".git"))
        if folder is None:
            raise SystemExit(f"copyright: {identity} is linked and not in {CHECKOUTS}: its licence is not known")
        yield identity, pin["state"].get("version", "?"), pin["location"], folder


def headers(folder):
    """The terms in the heads of BoringSSL's files: it has no file of its own for them here. Each once."""
    found = {}
    for path in sorted(folder.glob("Sources/*BoringSSL*/**/*")):
        if path.suffix not in (".c", ".cc", ".h", ".S"):
            continue
        lines = []
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            word = line.strip().removeprefix("/*").removeprefix("//").removesuffix("*/").strip().removeprefix("*").strip()
            if line.strip() and not line.strip().startswith(("//", "/*", "*")):
                break
            if not word.lower().startswith("copyright"):
                lines.append(word)
        text = "\n".join(lines).strip()
        if "licen" in text.lower() or "permission" in text.lower():
            found.setdefault(" ".join(text.split())[:400], text)
    return [(f"BoringSSL terms {number}", text) for number, text in enumerate(found.values(), 1)][:8]


def main():
    print((FOLDER / "copyright").read_text().strip())
    texts = []
    for identity, version, place, folder in packages():
        licence = one(folder, ["LICENSE*", "LICENCE*"])
        if licence is None:
            raise SystemExit(f"copyright: {identity} has no licence file")
        notice = one(folder, ["NOTICE*"])
        line = next((line.strip() for line in licence.splitlines() if line.strip().startswith("Copyright")), "its authors")
        if kind(licence) == "Apache-2.0":
            line = f"the authors of {identity}"
        print(f"\nFiles: usr/bin/*\nCopyright: {line}\nLicense: {kind(licence)}")
        print(f"Comment: {identity} {version}, {place}, is inside.")
        if notice:
            print(" Its notice:\n" + folded(notice))
        if kind(licence) == "Expat":
            texts.append((f"Expat, of {identity}", licence))
        for inside in INSIDE.get(identity, []):
            path = folder / inside
            if path.exists():
                texts.append((f"{inside.split('/')[1]} inside {identity}", path.read_text()))
        texts += [(f"{name}, inside {identity}", text) for name, text in headers(folder)]
    runtime = one(SHARE, ["swift/LICENSE.txt", "doc/swift/LICENSE.txt"])
    print("\nFiles: usr/bin/*\nCopyright: Apple Inc. and the Swift project authors\nLicense: Apache-2.0 with Runtime Library Exception")
    print("Comment: the Swift runtime, Dispatch and FoundationEssentials are inside.")
    if runtime and "Runtime Library Exception" in runtime:
        start = runtime.index("## Runtime Library Exception") if "## Runtime Library Exception" in runtime else 0
        print(folded(runtime[start:] if start else "see the exception at https://swift.org/LICENSE.txt"))
    print("\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.")
    for title, text in texts:
        print(f"\nLicense: {title}\n{folded(text)}")


main()
