"""What the service may not read or open: it says so in one line, nothing has power, and the right alone mends it."""
PROFILE = "virtual"
STATE = "/var/lib/ballast"


def run(rig):
    rig.start_site()
    rig.sh("systemctl stop ballastd")

    rig.sh(f"chown root:root {STATE}/latches; chmod 600 {STATE}/latches; systemctl start ballastd", may_fail=True)
    unit, _ = rig.until_mode("tripped", "standby", "offline")
    rig.check(unit["mode"] == "tripped", "a record of trips that may not be read counts as tripped", unit["mode"])
    said = "; ".join(entry["MESSAGE"] for entry in rig.events("latch_record"))
    rig.check("latches" in said and "ermission" in said, "the journal says why", said[-200:])
    rig.sh(f"systemctl stop ballastd; chown ballast:ballast {STATE}/latches; systemctl start ballastd")
    rig.until_running_again("the record belongs to ballast again")
    rig.check(True, "with the right back, and a reset, it serves")
    rig.sh("systemctl stop ballastd")

    rig.sh(f"chown -R root:root {STATE}; chmod 700 {STATE}; systemctl start ballastd")
    rig.until_running_again("the folder was root's")
    owner = rig.sh(f"stat -c '%U %a' {STATE}")
    rig.check(owner == "ballast 750", "a state directory of somebody else is taken back by the unit", owner)
    rig.sh("systemctl stop ballastd")

    # A port without the site's udev rule belongs to root.
    rig.sh("cp /etc/ballast/site.yaml /root/good.yaml; chmod 600 /dev/ttyS1; chown root:root /dev/ttyS1; "
           "python3 - <<'X'\n"
           "p='/etc/ballast/site.yaml'; t=open(p).read()\n"
           "t=t.replace('    modbus:\\n      host: 127.0.0.1\\n      port: 15021\\n    poll_ms: 100', "
           "'    modbus:\\n      device: /dev/ttyS1\\n      unit_id: 1\\n    poll_ms: 500')\n"
           "open(p,'w').write(t)\nX\n"
           "grep -q ttyS1 /etc/ballast/site.yaml; systemctl start ballastd")
    status, _ = rig.until(lambda: "ttyS1" in rig.show("StatusText") and rig.show("StatusText"), "the port is named")
    rig.check(True, "systemctl status names the port", status)
    rig.check(rig.unit()["mode"] != "running", "nothing serves", rig.unit()["mode"])
    said = "; ".join(entry["MESSAGE"] for entry in rig.events("link_down"))
    rig.check("ermission" in said, "the journal says that it is a matter of rights", said[-200:])
    rig.sh("cat >/etc/udev/rules.d/61-ballast-site.rules <<'X'\n"
           "SUBSYSTEM==\"tty\", KERNEL==\"ttyS1\", GROUP=\"ballast\", MODE=\"0660\"\nX\n"
           "udevadm control --reload; udevadm trigger --action=add /dev/ttyS1; udevadm settle")
    rig.until(lambda: "ttyS1" in rig.sh(f"ls -l /proc/{rig.pid()}/fd", may_fail=True), "the port is open")
    rig.check(rig.show("NRestarts") == "0", "with the site's udev rule the port opens without a restart", rig.show("StatusText"))
