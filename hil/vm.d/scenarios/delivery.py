"""Link and aggregator as installed, the aggregator behind a network of its own: records arrive once, an outage loses nothing, and
the token is read by nobody but process 1."""
import json
import time

PROFILE = "virtual"
AGGREGATOR = "/etc/ballast-aggregator/aggregator.yaml"


def install(rig):
    """The aggregator as another machine: its own network, two addresses and a cable between."""
    rig.sh("ip netns add far; ip link add cable type veth peer name cable-far; ip link set cable-far netns far; "
           "ip address add 10.77.0.1/24 dev cable; ip link set cable up; ip netns exec far ip link set lo up; "
           "ip netns exec far ip address add 10.77.0.2/24 dev cable-far; ip netns exec far ip link set cable-far up")
    rig.sh("mkdir -p /etc/systemd/system/ballast-aggregator.service.d; "
           "printf '[Service]\\nNetworkNamespacePath=/run/netns/far\\n' >/etc/systemd/system/ballast-aggregator.service.d/far.conf; "
           f"cp /usr/share/doc/ballast-aggregator/examples/aggregator.yaml {AGGREGATOR}; "
           "sed -i 's/id: demo/id: rig/; s/host: 127.0.0.1/host: 10.77.0.2/; "
           f"s,^database:.*,database: /var/lib/ballast-aggregator/aggregator.sqlite,' {AGGREGATOR}; "
           f"printf 'read_token_sha256: %s\\n' $(printf reader | sha256sum | cut -c1-64) >>{AGGREGATOR}; "
           f"chgrp ballast-aggregator {AGGREGATOR}; chmod 640 {AGGREGATOR}")
    # The token on disk is root's alone.
    rig.sh("sed -e 's/^site: demo/site: rig/; s,^spool:.*,spool: /var/lib/ballast/spool,; s,127.0.0.1,10.77.0.2,' "
           "-e 's,^  token: .*,  token_file: /run/credentials/ballast-link.service/link.token,' "
           "/usr/share/doc/ballast/examples/link.yaml >/etc/ballast/link.yaml; "
           "chgrp ballast /etc/ballast/link.yaml; chmod 640 /etc/ballast/link.yaml; systemctl daemon-reload")


def site(rig):
    """What the aggregator has of the site, or nothing while it does not answer."""
    text = rig.sh("ip netns exec far python3 -c \"import urllib.request as u; "
                  "print(u.urlopen(u.Request('http://10.77.0.2:15080/v1/sites', headers={'Authorization': 'Bearer reader'}), "
                  "timeout=10).read().decode())\" 2>/dev/null", may_fail=True)
    try:
        return json.loads(text)["sites"][0]
    except (ValueError, LookupError, TypeError):
        return None


def mark(rig):
    return rig.sh("stat -c %Y.%s /var/lib/ballast/spool/delivered 2>/dev/null", may_fail=True)


def run(rig):
    install(rig)
    rig.sh("systemctl start ballast-aggregator")
    rig.until(lambda: site(rig) or rig.show("ActiveState", "ballast-aggregator") == "failed", "the aggregator answers")
    rig.start_site()
    rig.until(lambda: "no token" in rig.sh("journalctl -b -q -o cat -u ballast-link", may_fail=True), "the link misses its token")
    rig.check(True, "without a token the link says so, and does not end", rig.show("ActiveState", "ballast-link"))
    rig.sh("printf demo-token >/etc/ballast/link.token; chmod 600 /etc/ballast/link.token; systemctl restart ballast-link")
    rig.until(lambda: (site(rig) or {}).get("stored_through"), "records arrive")
    rig.say(json.dumps(site(rig))[:300])
    owner = rig.sh("stat -c '%U:%G %a' /var/lib/ballast/spool/delivered")
    rig.check(owner == "ballast:ballast 660", "the mark of delivery belongs to the controller, the link may write it", owner)
    rig.check(rig.sh("stat -c '%U %a' /etc/ballast/link.token") == "root 600", "the token on disk is root's alone")
    before = site(rig)["stored_through"]
    # The cable is cut for half a minute, and the link killed in between.
    rig.sh("ip link set cable down")
    time.sleep(15)
    rig.sh("systemctl kill -s KILL ballast-link")
    time.sleep(15)
    rig.check(rig.unit()["mode"] == "running", "the controller does not notice that the network is gone", rig.unit()["mode"])
    rig.sh("ip link set cable up")
    _, took = rig.until(lambda: (site(rig) or {}).get("stored_through", 0) > before + 25, "what was kept back arrives", 180)
    rig.check(True, "what was kept back arrives", f"{took:.0f} s after the cable")
    rig.sh("systemctl stop ballastd")
    counted, highest, gaps = json.loads(rig.sh(
        "python3 -c \"import json, sqlite3; "
        "c = sqlite3.connect('file:/var/lib/ballast-aggregator/aggregator.sqlite?mode=ro', uri=True); "
        "print(json.dumps([*c.execute('select count(*), max(n) from record').fetchone(), "
        "c.execute('select count(*) from gap').fetchone()[0]]))\""))
    rig.check(counted == highest > 30 and gaps == 0, "every number arrived once, and none is missing", [counted, highest, gaps])
    said = rig.sh("journalctl -b -q -o cat -p warning -u ballast-link -u ballast-aggregator", may_fail=True)
    rig.check("priority" not in said, "nothing else complains", said[-300:])
