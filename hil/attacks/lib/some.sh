#!/bin/bash
# some.sh BIN_DIR CASE...
B=$1; shift
for c in "$@"; do s=$(date +%s); o=$(bash hil/attacks/cases/$c/run.sh $B 2>&1 | tail -3 | tr '\n' ' '); echo "$c rc=${PIPESTATUS[0]} $(( $(date +%s)-s ))s $o"; done
