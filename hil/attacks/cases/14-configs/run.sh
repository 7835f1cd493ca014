#!/bin/bash
# run.sh BIN_DIR: each dangerous configuration is refused, the baseline is accepted
B=$(realpath "$1"); cd "$(dirname "$0")"; bad=(); n=0; why=
timeout 10 $B/ballastd --config 00-baseline-accepted.yaml --check >/tmp/$$.out 2>&1 || { bad+=(baseline-refused); why=" baseline: $(head -c 300 /tmp/$$.out | tr '\n' ' ')"; }
for f in [!0]*.yaml; do
  n=$((n+1)); timeout 10 $B/ballastd --config $f --check >/tmp/$$.out 2>&1 </dev/null && bad+=(${f%.yaml})
  [ -n "$VERBOSE" ] && echo "$f: $(head -c 250 /tmp/$$.out | tr '\n' ' ')"
done
rm -f /tmp/$$.out
if [ ${#bad[@]} = 0 ]; then echo "HOLDS: $n refused, baseline accepted"; else echo "BROKEN: accepted: ${bad[*]} (${#bad[@]} of $n)$why"; exit 1; fi
