"""Two inverters answer at one address of the field network, now the one, now the other: it is told who answers, by serial number, and together
they never give more power than was asked for."""
import time

from rig import asked

PROFILE = "virtual"
ASKED = 18800
OTHER = "/run/ballast-sim-other.sock"


def answer_by(rig, name):
    """What a switch does that has learned the address at another port."""
    rig.sh(f"ip route replace 10.9.0.2/32 dev to-{name} src 10.9.0.1")


def hosts(rig):
    """Two namespaces with the inverter's address in each; the battery's bus and the meter are the first one's alone."""
    rig.sh("sysctl -qw net.ipv4.conf.all.rp_filter=0; ip addr add 10.9.0.1/32 dev lo; "
           "for n in first other; do ip netns add $n; ip link add to-$n type veth peer name field netns $n; ip link set to-$n up; "
           "ip -n $n addr add 10.9.0.2/32 dev field; ip -n $n addr add 10.9.0.3/32 dev field; ip -n $n link set field up; "
           "ip -n $n link set lo up; ip -n $n route add 10.9.0.1/32 dev field; done; "
           "ip route add 10.9.0.3/32 dev to-first src 10.9.0.1; ip link set can1 netns first; "
           "nsenter --net=/run/netns/first ballastctl can up can1 --bitrate 500000")
    text = open("/etc/ballast/site.yaml", encoding="utf-8").read()
    text = text.replace("host: 127.0.0.1\n    port: 15020", "host: 10.9.0.3\n    port: 15020")
    text = text.replace("host: 127.0.0.1\n      port: 15021", "host: 10.9.0.2\n      port: 15021")
    open("/etc/ballast/site.yaml", "w", encoding="utf-8").write(text)
    open("/root/other.yaml", "w", encoding="utf-8").write(text.replace("socketcan:can0", "cannelloni:127.0.0.1:20001"))


def powers(rig):
    """What both deliver, in watts."""
    return [rig.plant_unit()["power_w"], asked(OTHER, "truth")["units"][0]["power_w"]]


def serial_numbers(rig):
    return [entry["MESSAGE"].rsplit(" ", 1)[1] for entry in rig.events("identified") if "inverter" in entry["MESSAGE"]]


def run(rig):
    rig.sh("systemctl start ballast-can@can0")
    hosts(rig)
    answer_by(rig, "first")
    rig.sh(f"systemd-run -q --unit=other --collect -p NetworkNamespacePath=/run/netns/other "
           f"ballast-sim plant --site /root/other.yaml --control {OTHER} --start --bms-free-running")
    rig.until(lambda: asked(OTHER, "truth"), "the other plant answers")
    asked(OTHER, "fault inverter_exchanged BESS_01")
    rig.start_simulator(properties="-p NetworkNamespacePath=/run/netns/first")
    rig.sh("systemctl start ballastd")
    rig.until_mode("running")
    rig.discharge()
    mine = serial_numbers(rig)
    answer_by(rig, "other")
    _, took = rig.until_power(0, within=30)
    rig.check(took < 6, "the one that is no longer spoken to ends its power by its own timer", f"{took:.2f} s")
    rig.until(lambda: len(serial_numbers(rig)) > len(mine), "it is told who answers now")
    seen = serial_numbers(rig)
    rig.check(seen[-1] != mine[-1], "by another serial number", seen)
    sums, began = [], time.monotonic()
    while time.monotonic() - began < 8:
        answer_by(rig, "first" if len(sums) // 20 % 2 else "other")
        both = powers(rig)
        sums.append(sum(both))
        time.sleep(0.05)
    rig.check(-500 < min(sums) and max(sums) < ASKED + 500, "while they answer in turn both together give no more than was asked for",
              [round(min(sums)), round(max(sums))])
    rig.check(len(set(serial_numbers(rig))) == 2, "both have been named", sorted(set(serial_numbers(rig))))
    answer_by(rig, "first")
    rig.until_running_again("the other one was taken off the network")
    rig.until_power(18.8)
    rig.check(abs(powers(rig)[1]) < 500, "with one of them gone the site serves", powers(rig))
