"""The file system of the state has no inode left: control goes on, a trip is on disk all the same, and a restart knows it."""
import os

PROFILE = "virtual"


def fill(folder):
    """Empty files until the file system takes none."""
    os.mkdir(folder)
    number = 0
    try:
        while True:
            os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
            number += 1
    except OSError:
        pass


def run(rig):
    rig.sh("systemctl stop ballast.target ballastd; mkdir -p /var/lib/ballast; cp -a /var/lib/ballast /var/kept; "
           "mount -t tmpfs -o size=96M,nr_inodes=2000 tmpfs /var/lib/ballast; cp -a /var/kept/. /var/lib/ballast/; "
           "chown --reference=/var/kept /var/lib/ballast; chmod --reference=/var/kept /var/lib/ballast")
    rig.start_site()
    rig.discharge()
    late = rig.status()["overruns"]
    fill("/var/lib/ballast/full")
    rig.check(os.statvfs("/var/lib/ballast").f_favail == 0, "no inode is left")
    rig.simulate("frequency 50.0")
    rig.until_power(0)
    rig.discharge()
    rig.check(True, "droop follows without an inode")
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_mode("tripped")
    _, took = rig.until_power(0)
    rig.check(took < 1.0, "the plant stands at zero within 1 s of the trip", f"{took * 1000:.0f} ms")
    rig.until(lambda: rig.status()["latches_saved"], "the trip is on disk", within=5)
    rig.check(rig.status()["overruns"] == late, "no cycle was late", rig.status()["overruns"] - late)
    first = rig.first_trip()
    old = rig.pid()
    rig.sh(f"kill -9 {old}")
    rig.until_restarted(old)
    rig.until_mode("tripped")
    rig.check(first and rig.first_trip() == first, "a restart without an inode knows the trip", [first, rig.first_trip()])
    rig.sh("rm -rf /var/lib/ballast/full")
    rig.start_simulator()
    rig.reset("cold again, looked at")
    rig.until_running_again("cold again, looked at")
    rig.check(True, "with inodes again the site serves")
