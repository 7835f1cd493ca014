"""A running site is upgraded: power ends first, configuration and trips are kept, and the new version takes over."""
PROFILE = "virtual"


def newer(rig):
    """The same package with a higher version."""
    rig.sh("cd /tmp && dpkg-deb -R /rig/packages/ballast_*.deb new && sed -i 's/^Version: .*/&.1/' new/DEBIAN/control && "
           "dpkg-deb -Znone -b new new.deb", limit=600)


def run(rig):
    newer(rig)
    rig.start_site()
    rig.discharge()
    rig.sh("echo '# of the site' >>/etc/ballast/site.yaml; systemctl edit --help >/dev/null; "
           "mkdir -p /etc/systemd/system/ballastd.service.d; "
           "printf '[Service]\\nIPAddressAllow=192.0.2.0/24\\n' >/etc/systemd/system/ballastd.service.d/site.conf")
    before = rig.pid()
    rig.sh("dpkg -i /tmp/new.deb", limit=600)
    rig.check(rig.pid() not in (0, before), "the new version runs", [before, rig.pid()])
    rig.check(any("zero power" in entry["MESSAGE"] for entry in rig.events("stopping")), "the old one took the site to zero first")
    rig.check(rig.sh("tail -1 /etc/ballast/site.yaml") == "# of the site", "the configuration is kept")
    rig.check("192.0.2.0/24" in rig.show("IPAddressAllow"), "the site's drop-in is kept")
    rig.until_running_again("upgraded")
    rig.until_power(18.8)
    rig.check(rig.sh("systemctl is-enabled ballast.target") == "enabled", "it still starts at boot")
    # A version that cannot use the site's file does not end a site that serves.
    before = rig.pid()
    rig.sh("echo 'key_of_another_version: 1' >>/etc/ballast/site.yaml")
    said = rig.sh("dpkg -i /tmp/new.deb", limit=600)
    rig.check("key_of_another_version" in said and "still runs" in said, "the installer is told what does not fit", said[-300:])
    rig.check(rig.pid() == before and rig.unit()["mode"] == "running", "the version before serves on")
    # Somebody restarts it all the same.
    rig.sh("systemctl restart ballastd", may_fail=True)
    rig.until(lambda: rig.show("ActiveState") == "failed", "the new version refuses the file")
    rig.check("key_of_another_version" in rig.show("StatusText"), "systemctl status says it in one line", rig.show("StatusText"))
    rig.until_power(0)
    rig.check(rig.plant_unit()["reversions"] == 0, "the site was taken to zero, not left to its timer", rig.plant_unit()["reversions"])
    rig.sh("sed -i /key_of_another/d /etc/ballast/site.yaml; systemctl start ballastd")
    rig.until_mode("running")
    rig.check(True, "mended and started, it serves: what was stopped in order is not held")
    # A tripped unit stays tripped through an upgrade.
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_mode("tripped")
    rig.until(lambda: rig.status()["latches_saved"], "the trip is on disk")
    said = rig.sh("dpkg -i --force-downgrade /rig/packages/ballast_*.deb 2>&1 || true", limit=600)
    rig.check("is older than" in said, "an older version is not put back over a newer one", said[-300:])
    rig.sh("dpkg-deb -f /rig/packages/ballast_*.deb Version >/etc/ballast/older-version; "
           "dpkg -i --force-downgrade /rig/packages/ballast_*.deb", limit=600)
    unit, _ = rig.until_mode("tripped")
    rig.check(bool(unit["trips"]), "an upgrade, or the way back, is no reset", unit["trips"])
