"""The kernel itself stands still: nobody feeds the hardware watchdog, it resets the gateway, and nothing has power afterwards."""
# A kernel that stands still burns the host's time: virtual time would take minutes.
PROFILE = "real"


def run(rig):
    rig.sh("mkdir -p /etc/systemd/system.conf.d; "
           "printf '[Manager]\\nRuntimeWatchdogSec=10\\n' >/etc/systemd/system.conf.d/watchdog.conf; systemctl daemon-reexec")
    rig.until(lambda: "i6300ESB" in rig.sh("journalctl -b -q -o cat | grep 'hardware watchdog'", may_fail=True),
              "systemd holds the hardware watchdog")
    rig.start_site()
    rig.discharge()
    rig.check(True, "the hardware watchdog is fed, and power flows")
    rig.sh("sync")
    # Without this the kernel would restart by itself after its panic.
    rig.sh("echo 0 >/proc/sys/kernel/panic; echo 1 >/proc/sys/kernel/sysrq")
    rig.reboot("echo c >/proc/sysrq-trigger")


def after(rig):
    rig.until(lambda: rig.show("ActiveState") == "active", "the controller starts by itself", 300)
    seen, _ = rig.until(rig.unit, "it answers", 120)
    rig.check(seen["mode"] != "running", "every unit starts out of service", seen["mode"])
    rig.sh("systemctl start ballast-can@can0 ballast-can@can1")
    rig.start_simulator()
    held, _ = rig.until(lambda: (rig.unit() or {}).get("holds") and rig.unit(), "it is held", 120)
    rig.check(held["mode"] != "running" and rig.plant_unit()["power_w"] == 0, "an unplanned restart is a person's to end",
              [held["mode"], held["holds"]])
    rig.until_running_again("looked at after the reset")
    rig.check(True, "looked at and resumed, it serves")
