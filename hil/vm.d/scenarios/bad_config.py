"""A configuration that cannot be used, or not be read: one line says why, nothing tries again and again, and a mended file starts."""
PROFILE = "virtual"
CASES = [
    ("sed -i 's/max_power_kw: 100/max_power_kw: -5/' /etc/ballast/site.yaml", "max_power_kw", "a value out of range"),
    ("echo 'wrong_key: 1' >>/etc/ballast/site.yaml", "wrong_key", "a key that a new version no longer knows"),
    ("chmod 0600 /etc/ballast/site.yaml", "cannot be opened", "the wrong permissions"),
    ("mv /etc/ballast/site.yaml /etc/ballast/gone.yaml", "cannot be opened", "no file"),
    ("head -c 200 /dev/urandom >/etc/ballast/site.yaml", "site.yaml", "bytes that are no text"),
    ("truncate -s 0 /etc/ballast/site.yaml", "site.yaml", "an empty file, as after a power cut"),
]


def run(rig):
    rig.sh("cp -p /etc/ballast/site.yaml /root/good.yaml")
    for command, expected, what in CASES:
        rig.sh(command)
        rig.sh("systemctl start ballastd", may_fail=True)
        rig.until(lambda: rig.show("ActiveState") == "failed", f"{what}: the service ends")
        status = rig.sh("systemctl status --no-pager -n 0 ballastd", may_fail=True)
        line = next((line.strip() for line in status.splitlines() if "Status:" in line), "")
        rig.check("not started" in line and expected in line, f"{what}: systemctl status says it in one line", line)
        rig.check(rig.show("ExecMainStatus") == "78", f"{what}: it ends with 78", rig.show("ExecMainStatus"))
        rig.check(rig.show("NRestarts") == "0", f"{what}: it is not tried again", rig.show("NRestarts"))
        rig.sh("cp -p /root/good.yaml /etc/ballast/site.yaml; systemctl reset-failed ballastd")
    rig.start_site()
    rig.check(True, "with the mended file it starts and serves")
