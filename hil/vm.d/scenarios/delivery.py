"""Link and aggregator as installed: records arrive once, the mark of delivery is written, and an outage loses nothing."""
PROFILE = "virtual"


def stored(rig):
    text = rig.sh("python3 - <<'X'\nimport json,urllib.request\n"
                  "print(urllib.request.urlopen('http://127.0.0.1:15080/v1/sites', timeout=10).read().decode())\nX",
                  may_fail=True)
    return text


def run(rig):
    rig.sh("cp /usr/share/doc/ballast-aggregator/examples/aggregator.yaml /etc/ballast/aggregator.yaml; "
           "sed -i 's/id: demo/id: rig/; s,^database:.*,database: /var/lib/ballast-aggregator/aggregator.sqlite,' "
           "/etc/ballast/aggregator.yaml; chmod 644 /etc/ballast/aggregator.yaml; "
           "cp /usr/share/doc/ballast/examples/link.yaml /etc/ballast/link.yaml; "
           "sed -i 's/^site: demo/site: rig/; s,^spool:.*,spool: /var/lib/ballast/spool,' /etc/ballast/link.yaml; "
           "chgrp ballast /etc/ballast/link.yaml; chmod 640 /etc/ballast/link.yaml")
    rig.sh("systemctl start ballast-aggregator")
    rig.start_site()
    rig.until(lambda: rig.show("ActiveState", "ballast-link") == "active", "the link runs")
    rig.until(lambda: rig.sh("stat -c %s /var/lib/ballast/spool/delivered", may_fail=True) not in ("", "0"),
              "the mark of delivery is written")
    rig.check(True, "records are delivered and marked")
    said = rig.sh("journalctl -b -q -o cat -u ballast-link -u ballast-aggregator", may_fail=True)
    rig.check("priority" not in said, "nothing complains", said[-300:])
    owner = rig.sh("stat -c '%U:%G %a' /var/lib/ballast/spool/delivered")
    rig.check(owner == "ballast:ballast 660", "the mark belongs to the controller, the link may write it", owner)
    rig.check(rig.show("NRestarts", "ballast-link") == "0", "the link was not restarted")
