"""With the field network in a namespace of its own the controller serves as before, and has no way out of it."""
PROFILE = "virtual"


def run(rig):
    rig.sh("mkdir -p /etc/systemd/system/ballastd.service.d; "
           "cp /usr/share/ballast/field-netns.conf /etc/systemd/system/ballastd.service.d/; "
           "printf 'INTERFACES=\"can0 can1\"\\nCAN=\"can0 can1\"\\nBITRATE=500000\\nRESTART_MS=200\\n' >/etc/ballast/field.env; "
           "systemctl disable ballast-can@can0 ballast-can@can1; systemctl daemon-reload; systemctl start ballast-field")
    rig.check("can0" not in rig.sh("ls /sys/class/net"), "the host sees the CAN interfaces no more")
    rig.start_simulator(more="", properties="-p PrivateNetwork=yes -p JoinsNamespaceOf=ballast-field.service")
    rig.sh("systemctl start ballast.target")
    rig.until_mode("running")
    rig.discharge()
    rig.check(True, "the site serves in its namespace, and ballastctl reaches it from outside")
    inside = rig.sh(f"nsenter --net=/proc/{rig.pid()}/ns/net ip -o link | cut -d: -f2")
    rig.check(set(inside.split()) == {"lo", "can0", "can1"}, "nothing else is in there", inside)
    score = float(rig.sh("systemd-analyze security --no-pager ballastd | tail -1").split(": ")[1].split()[0])
    rig.check(score <= 1.0, "ballastd is exposed at most 1.0", score)
    rig.sh("systemctl stop ballast.target ballastd ballast-sim ballast-field")
    rig.until(lambda: "can0" in rig.sh("ls /sys/class/net"), "the interfaces go back to the host")
    rig.check(True, "the interfaces go back to the host when all has ended")
