"""The clock passes the end of 32 bits in 2038: power stands, nothing restarts, times are right, and a trip and its reset are kept."""
import time

PROFILE = "virtual"
END = 1 << 31


def run(rig):
    rig.start_site()
    rig.discharge()
    old = rig.pid()
    rig.sh(f"date -s @{END - 8}")
    powers = []
    while time.time() < END + 8:
        powers.append(rig.plant_unit()["power_w"])
        time.sleep(0.05)
    rig.check(18000 < min(powers) and max(powers) < 19600, "the plant's power stands over the instant", [round(min(powers)), round(max(powers))])
    rig.check(rig.pid() == old, "the same process serves", [old, rig.pid()])
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    rig.until_mode("tripped")
    rig.until(lambda: rig.status()["latches_saved"], "the trip is on disk")
    said = rig.sh("ballastctl trips --utc 2>/dev/null || ballastctl trips")
    rig.check("2038-01-19" in said, "the trip has its date", said[:300])
    first = rig.first_trip()
    rig.sh(f"kill -9 {old}")
    rig.until_restarted(old)
    rig.until_mode("tripped")
    rig.check(first and rig.first_trip() == first, "a restart after the instant knows it", [first, rig.first_trip()])
    rig.check(rig.sh("ballastctl audit verify && echo whole", may_fail=True).endswith("whole"), "the audit is whole")
