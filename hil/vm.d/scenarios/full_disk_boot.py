"""The gateway starts with a full disk and without its batteries: no power, one line that says why, and service once it is mended."""
PROFILE = "virtual"


def run(rig):
    rig.start_site()
    rig.discharge()
    rig.sh("sed -i s/socketcan:can0/socketcan:can7/ /etc/ballast/site.yaml")
    # To the last block, right before the service starts: what ends at a shutdown, and journald, would make room again.
    rig.sh("mkdir -p /etc/systemd/journald.conf.d; printf '[Journal]\\nStorage=volatile\\n' >/etc/systemd/journald.conf.d/volatile.conf; "
           "printf '[Unit]\\nBefore=ballastd.service\\n[Service]\\nType=oneshot\\nRemainAfterExit=yes\\nExecStart=/bin/sh -c \"dd "
           "if=/dev/zero of=/var/fill bs=1M; dd if=/dev/zero of=/var/fill2 bs=1k; sync; dd if=/dev/zero of=/var/fill3 bs=1k; true\"\\n"
           "[Install]\\nWantedBy=ballastd.service\\n' >/etc/systemd/system/fill.service; systemctl enable fill")
    rig.reboot()


def after(rig):
    rig.until(lambda: rig.show("ActiveState") in ("active", "failed"), "it has started, or given up", 180)
    # Where not even its sandbox can be made, process 1 is the one to say it.
    lines = rig.sh("systemctl status --no-pager -n 30 ballastd", may_fail=True).splitlines()
    said = [line.strip() for line in lines if "space" in line or "not on disk" in line]
    rig.check(bool(said), "systemctl status says in one line that the disk is full", [rig.show("ActiveState"), *said[:2]])
    unit = rig.unit()
    rig.check(not unit or unit["mode"] != "running", "nothing serves", unit and unit["mode"])
    rig.say(rig.sh("df -k / | tail -1; journalctl -b -q -o cat -u ballastd | tail -5"))
    rig.sh("systemctl disable fill; rm /var/fill*")
    rig.sh("systemctl reset-failed ballastd; systemctl start ballast.target ballastd", may_fail=True)
    rig.until(lambda: rig.show("ActiveState") == "active", "it starts once there is room")
    status, _ = rig.until(lambda: "can7" in rig.show("StatusText") and rig.show("StatusText"), "it names the interface that is missing")
    rig.check(True, "systemctl status names the interface that is missing", status)
    rig.sh("sed -i s/socketcan:can7/socketcan:can0/ /etc/ballast/site.yaml; systemctl restart ballastd")
    rig.until(lambda: rig.sh("systemctl is-active ballast-can@can0", may_fail=True) == "active", "can0 is brought up by itself")
    rig.start_simulator()
    rig.until_running_again("the disk has room, the interface its name")
    rig.discharge()
    rig.check(True, "mended, it serves")
