#!/bin/bash
# run.sh BIN_DIR: exits 0 only if the sentence holds
exec hil/attacks/lib/ns.sh timeout -k 2 ${LIMIT:-110} ./.venv/bin/python "$(realpath "$(dirname "$0")")/case.py" "$(realpath "$1")"
