"""The package is removed and purged: the site ends in zero, state goes only with the purge, and what people wrote stays theirs."""
PROFILE = "virtual"


def run(rig):
    rig.start_site()
    rig.discharge()
    rig.sh("dpkg -r ballast", limit=600)
    rig.until_power(0)
    rig.check(rig.plant_unit()["reversions"] == 0, "the site was taken to zero, not left to its timer")
    rig.check(rig.sh("systemctl is-active ballastd", may_fail=True) != "active", "nothing runs")
    rig.check(rig.sh("test -e /usr/bin/ballastd && echo there", may_fail=True) == "", "the programs are gone")
    rig.check(rig.sh("test -e /var/lib/ballast/latches && echo there", may_fail=True) == "there", "the state stays")
    failed = rig.sh("systemctl list-units --failed --plain --no-legend")
    rig.check(not failed, "no unit is left as failed", failed)
    rig.sh("dpkg -i /rig/packages/ballast_*.deb && systemctl start ballast-can@can0 ballast.target", limit=600)
    rig.until_mode("standby", "running", "offline")
    rig.check(True, "installed again, it goes on with its state")
    rig.sh("dpkg -P ballast", limit=600)
    rig.check(rig.sh("test -e /var/lib/ballast && echo there", may_fail=True) == "", "a purge takes the state")
    rig.check(rig.sh("test -e /etc/ballast/site.yaml && echo there", may_fail=True) == "there", "and leaves the site's file")
    left = rig.sh("find /usr /lib /etc/systemd -newer /etc/hostname \\( -name '*ballast*' \\) | grep -v -e aggregator -e site.conf || true")
    rig.check(not left, "nothing else is left", left)
