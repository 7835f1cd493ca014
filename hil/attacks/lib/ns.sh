#!/bin/bash
# ns.sh CMD...: runs CMD in namespaces of its own (mounts, net with lo, ipc, pids) and a /tmp of its own. All ends with it.
exec unshare -mnipf --mount-proc --propagation private bash -c 'ip link set lo up; mount -t tmpfs -o size=256m tmpfs /tmp; mount -t tmpfs -o size=16m tmpfs /run; cd /tmp; export SWIFT_BACKTRACE=enable=no PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=hil/attacks/lib:./Tests/Peers; "$@"; exit $?' ns "$@"
