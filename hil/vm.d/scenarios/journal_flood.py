"""A journal that limits everybody, and a bus that comes and goes: lines may be counted together, a trip is never among the lost."""
PROFILE = "virtual"


def run(rig):
    rig.sh("mkdir -p /etc/systemd/journald.conf.d; "
           "printf '[Journal]\\nRateLimitIntervalSec=10min\\nRateLimitBurst=20\\n' >/etc/systemd/journald.conf.d/limit.conf; "
           "systemctl restart systemd-journald")
    # The limit is live: an ordinary service runs into it.
    rig.sh("systemd-run -q --wait --unit=chatter bash -c 'for i in $(seq 4000); do echo line $i; done'")
    kept = int(rig.sh("journalctl --sync; journalctl -b -q -o cat -u chatter | grep -c '^line'"))
    rig.check(kept < 4000, "the journal drops what a talkative service says", f"{kept} of 4000 lines")
    rig.start_site()
    for _ in range(6):
        rig.simulate("fault bms_silence BESS_01")
        rig.until(lambda: rig.unit()["mode"] != "running", "the battery is silent")
        rig.simulate("clear bms_silence BESS_01")
        rig.until_running_again("the battery speaks again")
    rig.discharge()
    rig.simulate("fault cell_overheat BESS_01 rate_k_per_s=5")
    unit, _ = rig.until_mode("tripped")
    trips = rig.events("trip")
    rig.check(any(entry.get("BALLAST_INTERLOCK") and entry.get("PRIORITY") == "2" for entry in trips), "the trip is in the journal",
              [entry["MESSAGE"] for entry in trips][-1:])
    lost = rig.sh("journalctl -b -q -o cat -t systemd-journald | grep -i suppressed | grep ballastd", may_fail=True)
    rig.check(not lost, "the journal has suppressed nothing of the controller", lost)
    rig.check(len(rig.events()) > 25, "there was a lot to say", f"{len(rig.events())} events")
    shown = [trip for trip in unit["trips"]]
    rig.check(bool(shown), "and the unit stands tripped", shown)
