"""Writes the manual pages from what the programs say of themselves, so that no page can differ from its program.

  manual.py OUT_DIR VERSION PROGRAM...     PROGRAM: path of a built program
"""

import json
import os
import subprocess
import sys

PAGES = {
    "ballastd": 8,
    "ballast-door": 8,
    "ballast-link": 8,
    "ballast-scada": 8,
    "ballast-aggregator": 8,
    "ballastctl": 1,
    "ballast-sim": 1,
}
MORE = {
    "ballastd": """.SH SIGNALS
.TP
.BR SIGTERM ", " SIGINT
Take the site to zero power and end. A second one ends at once.
.SH FILES
.TP
.I /etc/ballast/site.yaml
The site; see
.BR ballast-site.yaml (5).
.TP
.I /var/lib/ballast/latches
Trips that stand until somebody resets them, and an operator's stop. A restart is no reset; without this file every
unit counts as tripped, and
.B ballastctl commission init
makes the first one.
.TP
.I /var/lib/ballast/spool
Telemetry and events on their way to the aggregator.
.TP
.I /run/ballast/control.sock
Where
.BR ballastctl (1)
asks.
.SH EXIT STATUS
0 after an orderly end, and where
.B \\-\\-check
finds the file good; 78 where the configuration cannot be used (systemd does not try again); 64 where the words of the command
are wrong; another number is said in the journal.
.B \\-\\-safe\\-output
ends with 0 where every output said yes, 1 where one did not, 75 where a daemon lives (nothing was written), 78 with neither plan
nor configuration;
.B \\-\\-replay
with 0 where every decision is the same, 1 where one differs or the recording cannot be read to its end.
""",
    "ballastctl": """.SH ROLES
Members of the group
.B ballast
may look. Members of
.B ballast\\-operator
may also stop and resume, ask for power and reset what the table of interlocks leaves to an operator. Members of
.B ballast\\-service
may also reset the rest, and put a site into operation. Only the local socket takes requests, and each change needs a
reason.
.SH ENVIRONMENT
.TP
.B BALLAST_SOCKET
The control socket to ask where
.B \\-\\-socket
is not given.
.SH EXIT STATUS
0 where it was done; 1 where it was refused, or nobody answered, with the reason on standard error; 64 where the words of
the command are wrong.
.B doctor
ends with 0 fit, 1 with warnings, 2 unfit, 3 where something could not be seen;
.BR "spool verify" ", " "audit verify"
with 1 where something is missing or not as it was written;
.B replay
with 1 where a decision differs. JSON that
.B \\-\\-json
prints has its schema in
.IR /usr/share/ballast/schemas .
""",
    "ballast-door": """.SH EXIT STATUS
It ends by a signal; 1 where it cannot listen, with the reason on standard error; 64 where the words of the command are wrong.
""",
    "ballast-link": """.SH EXIT STATUS
0 after an orderly end, and where
.B \\-\\-check
finds the file good; 78 where the configuration cannot be used (systemd does not try again); 64 where the words of the command
are wrong; 1 otherwise, with the reason in the journal.
""",
    "ballast-scada": """.SH EXIT STATUS
0 after an orderly end, and where
.B \\-\\-check
finds the file good; 78 where the configuration cannot be used (systemd does not try again); 64 where the words of the command
are wrong.
""",
    "ballast-aggregator": """.SH EXIT STATUS
0 after an orderly end, and where a check finds everything as it must be; 1 where it finds something, or a command was refused,
with the reason on standard error; 78 where the configuration cannot be used (systemd does not try again); 64 where the words of
the command are wrong.
""",
    "ballast-sim": """.SH EXIT STATUS
0 where everything that was to happen happened; 1 where something did not, or a file cannot be used; 64 where the words of the
command are wrong; 130 where
.B demo
was ended by Ctrl\\-C.
""",
}
SEE_ALSO = [*PAGES.items(), ("ballast-site.yaml", 5)]


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def argument_name(argument):
    if argument["kind"] == "positional":
        return "\\fI" + escape(argument["valueName"]) + "\\fP"
    names = [("--" if n["kind"] == "long" else "-") + n["name"] for n in argument["names"]]
    text = ", ".join("\\fB" + escape(name) + "\\fP" for name in names)
    return text + (" \\fI" + escape(argument["valueName"]) + "\\fP" if argument["kind"] == "option" else "")


def arguments(command, lines):
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True):
            continue
        lines += [".TP", argument_name(argument)]
        text = escape(argument.get("abstract", ""))
        if argument.get("defaultValue"):
            text += " Default: \\fB" + escape(argument["defaultValue"]) + "\\fP."
        lines.append(text or "\\&")


def subcommands(command, prefix, lines):
    for child in command.get("subcommands", []):
        if not child.get("shouldDisplay", True) or child["commandName"] == "help":
            continue
        name = prefix + " " + child["commandName"]
        lines += [".SS " + escape(name), escape(child.get("abstract", ""))]
        if child.get("discussion"):
            lines += [".PP", paragraphs(child["discussion"])]
        arguments({**child, "arguments": [a for a in child.get("arguments", []) if not is_help(a)]}, lines)
        subcommands(child, name, lines)


def is_help(argument):
    return any(n["name"] == "help" for n in argument.get("names") or [])


def paragraphs(text):
    return "\n.PP\n".join(escape(part) for part in text.strip().split("\n\n"))


def head(name, section, version, what):
    title = f'.TH {escape(name.upper())} {section} "" "Ballast {version}" "Ballast"'
    return [title, ".SH NAME", f"{escape(name)} \\- {escape(what.rstrip('.'))}"]


def foot(name):
    others = [f".BR {escape(other)} ({section})" for other, section in SEE_ALSO if other != name]
    return [".SH SEE ALSO", ",\n".join(others)]


def program_page(path, version):
    name = os.path.basename(path)
    dump = subprocess.run([path, "--experimental-dump-help"], check=True, capture_output=True)
    command = json.loads(dump.stdout)["command"]
    lines = head(name, PAGES[name], version, command["abstract"])
    usage = "[\\fIoptions\\fP]" + (" \\fIcommand\\fP ..." if command.get("subcommands") else "")
    lines += [".SH SYNOPSIS", f"\\fB{escape(name)}\\fP {usage}"]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", paragraphs(command["discussion"])]
    if command.get("subcommands"):
        lines.append(".SH COMMANDS")
        subcommands(command, name, lines)
    lines.append(".SH OPTIONS")
    arguments(command, lines)
    return name, PAGES[name], "\n".join(lines) + "\n" + MORE.get(name, "") + "\n".join(foot(name)) + "\n"


def configuration_page(ballastd, version):
    keys = subprocess.run([ballastd, "--reference"], check=True, capture_output=True, text=True).stdout
    lines = head("ballast-site.yaml", 5, version, "the configuration of a battery storage site")
    lines += [
        ".SH DESCRIPTION",
        "A YAML file, read strictly: a key that does not stand here is an error, and so is a value outside its range;"
        " each error names file, line, key and what is allowed.",
        ".B ballastd \\-\\-check",
        "says what a file means, and prints its interlocks as a matrix of causes and effects.",
        ".SH KEYS",
        "Each line: the key, what is allowed, in brackets what holds without it, and what it is for.",
    ]
    for key in keys.splitlines():
        path, _, rest = key.partition(": ")
        lines += [".TP", "\\fB" + escape(path) + "\\fP", escape(rest.strip()) or "\\&"]
    lines += [".SH FILES", ".I /etc/ballast/site.yaml", ".PP", ".I /usr/share/doc/ballast/examples/", ".PP",
              ".I /usr/share/ballast/schemas/site.schema.json", "(for editors)",
              ".SH EXIT STATUS", "of a check: 0 where the file is good, 78 where it cannot be used."]
    return "ballast-site.yaml", 5, "\n".join(lines + foot("ballast-site.yaml")) + "\n"


def main():
    out, version, programs = sys.argv[1], sys.argv[2], sys.argv[3:]
    pages = [program_page(path, version) for path in programs]
    pages += [configuration_page(path, version) for path in programs if os.path.basename(path) == "ballastd"]
    for name, section, text in pages:
        folder = os.path.join(out, f"man{section}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{name}.{section}"), "w", encoding="utf-8") as file:
            file.write(text)


main()
