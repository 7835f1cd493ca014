#!/bin/bash
# run.sh BIN_DIR
D=$(realpath "$(dirname "$0")"); B=$(realpath "$1"); exec hil/attacks/lib/ns.sh bash -c "cd /tmp; timeout 60 $B/ballast-sim random --seed 50099 --site $D/mixed.yaml"
