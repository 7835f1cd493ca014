"""A field network that loses, delays and reorders, and one that swallows connections: zero power where nothing is known, no more than was
asked for at any time, and service when it is well again."""
import time

PROFILE = "virtual"
ASKED = 18800


def watched(rig, seconds):
    """The plant's power over a time, in watts."""
    powers, began = [], time.monotonic()
    while time.monotonic() - began < seconds:
        powers.append(rig.plant_unit()["power_w"])
        time.sleep(0.05)
    return powers


def lossy(rig):
    rig.sh("tc qdisc add dev lo root netem delay 100ms 100ms loss 30% reorder 25%")
    powers = watched(rig, 30)
    rig.check(-500 < min(powers) and max(powers) < ASKED + 500, "with loss and jitter power stays between zero and what is asked",
              [round(min(powers)), round(max(powers))])
    turns = sum(1 for a, b in zip(powers, powers[1:]) if (a < ASKED / 2) != (b < ASKED / 2))
    rig.check(turns <= 8, "and does not swing", f"{turns} crossings of half in 30 s")
    rig.sh("tc qdisc del dev lo root")
    rig.until_running_again("the network is well again")
    rig.until_power(18.8)
    rig.check(True, "well again, the site serves")


def swallowed(rig):
    """Nothing that is sent to the inverter arrives, and nobody refuses it: a black hole."""
    late = rig.status()["overruns"]
    rig.sh("tc qdisc add dev lo clsact; tc filter add dev lo egress protocol ip flower ip_proto tcp dst_port 15021 action drop")
    _, took = rig.until_power(0, within=30)
    rig.check(took < 6, "behind a black hole the inverter's timer ends its power", f"{took:.2f} s")
    seen = rig.link("15020")["transactions"]
    _, took = rig.until(lambda: rig.link("15020")["transactions"] - seen >= 200, "the meter is asked two hundred times")
    rig.check(took < 15, "the meter's connection is served at its pace meanwhile", f"200 answers in {took:.1f} s")
    rig.check(rig.status()["overruns"] == late, "no cycle waits for a connection", rig.status()["overruns"] - late)
    rig.sh("tc qdisc del dev lo clsact")
    rig.until_running_again("the switch was replaced")
    rig.until_power(18.8)
    rig.check(True, "when connections are taken again, the site serves")


def run(rig):
    rig.start_site()
    rig.discharge()
    lossy(rig)
    swallowed(rig)
