#!/bin/bash
# run-all.sh BIN_DIR VIRTUAL_BIN: all cases, virtual ones first, one line each; exit 1 if any fails.
# BIN_DIR has ballastd, ballastctl, ballast-sim; VIRTUAL_BIN is a ballast-sim (release). ONLY=pattern picks cases.
BIN=$(realpath "${1:?BIN_DIR}"); SIM=$(realpath "${2:?VIRTUAL_BIN}"); C=hil/attacks/cases; bad=0; n=0; t0=$SECONDS
line() { n=$((n+1)); case "$1" in *": pass"*) ;; *) bad=$((bad+1));; esac; echo "$1"; }
while read -r l; do line "$l"; done < <(
  dirs=(); for s in $C/*/scenario.yaml; do d=${s%/scenario.yaml}; [[ -z $ONLY || ${d##*/} == $ONLY ]] && dirs+=("$d"); done
  [ ${#dirs[@]} -gt 0 ] && hil/attacks/lib/ns.sh python3 hil/attacks/lib/virtual.py "$SIM" "${dirs[@]}")
one() { local d=$1 s=$SECONDS o rc; o=$(LIMIT=100 bash $C/$d/run.sh "$BIN" </dev/null 2>&1); rc=$?
  o=$(tail -3 <<<"$o" | tr '\n' ' '); if [ $rc = 0 ]; then echo "$d: pass $o ($((SECONDS-s)) s)"; else
  case "$o" in *SETUP:*) echo "$d: FAIL (setup, judge by hand) $o";; *) echo "$d: FAIL $o ($((SECONDS-s)) s)";; esac; fi; }
# two at a time: each has a network and processes of its own; those that judge by a few ms run alone, at the end
ALONE="08-scale-on-real-wires 16-safe-output-of-eight-units 13-requests-that-are-never-read 03-safe-output-at-full-load 03-permit-drops-at-load 02-bus-threads-held 02-cycle-thread-held 09-rtu-answer-of-200-ms 09-driver-lost-answers 13-thousand-requests-a-second"
list=(); for s in $C/*/run.sh; do d=$(basename ${s%/run.sh}); [[ -z $ONLY || $d == $ONLY ]] && [[ " $ALONE " != *" $d "* ]] && list+=($d); done
alone=(); for d in $ALONE; do [[ -z $ONLY || $d == $ONLY ]] && alone+=($d); done
export -f one; export C BIN
while read -r l; do line "$l"; done < <([ ${#list[@]} -gt 0 ] && printf '%s\n' "${list[@]}" | xargs -P ${JOBS:-2} -I{} bash -c 'one {}'; for d in "${alone[@]}"; do one $d; done)
echo "$((n-bad)) of $n hold, $bad broken, $((SECONDS-t0)) s"; [ $bad = 0 ]
