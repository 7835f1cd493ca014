"""A state directory that cannot be written, a full disk, a record that is damaged, a second daemon: safe, said in one line, and mended."""
import time

PROFILE = "virtual"
STATE = "/var/lib/ballast"


def settle(rig):
    """The service's last word, and its state, once it is either up or has given up."""
    time.sleep(1)
    rig.until(lambda: rig.show("ActiveState") in ("active", "failed") or rig.show("StatusText"), "it says something")
    return rig.show("StatusText"), rig.show("ActiveState")


def run(rig):
    rig.start_site()
    rig.discharge()
    second = rig.sh("systemd-run -q --pipe --wait -p User=ballast -p Group=ballast ballastd --config /etc/ballast/site.yaml",
                    may_fail=True)
    rig.check("another ballastd" in second, "a second daemon is turned away", second[-200:])
    rig.check(rig.unit()["mode"] == "running", "and the first one serves on")
    rig.sh("systemctl stop ballastd")
    rig.until_power(0)

    rig.sh(f"python3 - <<< \"p='{STATE}/latches'; b=bytearray(open(p,'rb').read()); [b.__setitem__(o+40,b[o+40]^1) for o in (0,len(b)//2)]; open(p,'wb').write(b)\"")
    rig.sh("systemctl start ballastd")
    unit, _ = rig.until_mode("tripped")
    rig.check(bool(unit["trips"]), "a damaged record counts as tripped", unit["trips"])
    said = "; ".join(entry["MESSAGE"] for entry in rig.events("latch_record"))
    rig.check("latches" in said, "the journal says which record", said[-200:])
    rig.reset("looked at the site after the damage")
    rig.until_running_again("looked at the site")
    rig.sh("systemctl stop ballastd")

    rig.sh(f"mount -t tmpfs -o size=256k,mode=0750,uid=ballast,gid=ballast full {STATE}; cp -p /dev/null {STATE}/x; "
           f"dd if=/dev/zero of={STATE}/fill bs=4k 2>/dev/null; true")
    rig.sh("systemctl start ballastd", may_fail=True)
    text, state = settle(rig)
    rig.check(state in ("active", "activating", "failed") and bool(text), "a full disk is said in one line", [text, state])
    seen = rig.unit()
    rig.check(not seen or seen["mode"] != "running", "and no unit serves without its record of trips", seen and seen["mode"])
    rig.sh(f"systemctl stop ballastd; umount {STATE}; systemctl reset-failed ballastd", may_fail=True)

    rig.sh(f"mount --bind {STATE} {STATE}; mount -o remount,ro,bind {STATE}")
    rig.sh("systemctl start ballastd", may_fail=True)
    text, state = settle(rig)
    rig.check("state" in text or "read-only" in text.lower(), "a read-only state directory is said in one line", [text, state])
    rig.check(rig.plant_unit()["power_w"] == 0, "no power flows")
    rig.sh(f"umount {STATE}; systemctl reset-failed ballastd; systemctl start ballastd")
    rig.until_running_again("the disk is mended")
    rig.check(True, "with the disk writable it serves again")
