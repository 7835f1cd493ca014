"""A program that dies at each start is tried twenty times in a minute, then no more, and it is said; a person starts it again."""
PROFILE = "virtual"


def run(rig):
    rig.start_site()
    rig.discharge()
    rig.sh("printf '#!/bin/sh\\nlogger -t on-failure told of $1\\n' >/etc/ballast/on-failure; chmod 755 /etc/ballast/on-failure")
    rig.sh("mount --bind /bin/false /usr/bin/ballastd; systemctl kill -s KILL ballastd")
    rig.until(lambda: rig.show("ActiveState") == "failed", "it is given up", 120)
    rig.until(lambda: "told of ballastd.service" in rig.sh("journalctl -b -q -o cat -t on-failure", may_fail=True), "it is told")
    rig.check(True, "the site's own program is told")
    count = int(rig.show("NRestarts"))
    rig.check(15 <= count <= 25, "after about twenty restarts", count)
    _, took = rig.until_power(0, within=20)
    rig.check(True, "the plant is at zero by its own timer")
    status = rig.sh("systemctl status --no-pager -n 3 ballastd", may_fail=True)
    rig.check("failed" in status, "systemctl status says so", status[:300])
    rig.sh("umount /usr/bin/ballastd; systemctl reset-failed ballastd; systemctl start ballastd")
    rig.until_running_again("the program is back")
    rig.check(True, "mended and started, it serves")
