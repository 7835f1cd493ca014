"""Everybody asks at once at the controller's door, sense and nonsense: the cycle does not notice, and a stop gets through."""
import time

PROFILE = "virtual"
REQUESTS = 2_000
ASKING = 4
# One request each connection, as any client does; where all have been told to wait the next one is asked at once.
FLOOD = f"""
import itertools, socket
asked = (b'{{"command":"status"}}\\n', b'{{"command":"setpoint","power_kw":1e99}}\\n', b'\\xff\\x00{{{{{{\\n', b'{{"command":"trips"}}\\n')
answered = 0
for request in itertools.islice(itertools.cycle(asked), {REQUESTS // ASKING}):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(10)
        try:
            s.connect('/run/ballast/control.sock')
            s.sendall(request)
            answered += bool(s.recv(65536))
        except OSError:
            pass
print('answered', answered, flush=True)
"""


def run(rig):
    rig.start_site()
    rig.discharge()
    late = rig.status()["overruns"]
    with open("/tmp/flood.py", "w", encoding="utf-8") as file:
        file.write(FLOOD)
    began = time.monotonic()
    rig.sh(f"for n in $(seq {ASKING}); do systemd-run -q --unit=flood$n python3 /tmp/flood.py; done")
    names = " ".join(f"flood{n + 1}" for n in range(ASKING))

    def flooding():
        return rig.sh(f"systemctl is-active {names}", may_fail=True).split().count("active")
    powers = []
    for _ in range(100):
        powers.append(rig.plant_unit()["power_w"])
        time.sleep(0.02)
    rig.check(flooding() == ASKING and 18000 < min(powers) and max(powers) < 19600, "the plant's power stands in the flood",
              [round(min(powers)), round(max(powers))])
    asked = time.monotonic()
    said = rig.sh("ballastctl stop --reason 'in the flood'", may_fail=True)
    rig.until_power(0, within=20)
    took = time.monotonic() - asked
    rig.check(flooding() == ASKING and took < 5, "a stop gets through the flood", [f"{took:.2f} s", said[-200:]])
    rig.until(lambda: not flooding(), "the flood ends", 300, every=0.5)
    lasted = time.monotonic() - began
    answered = [int(line.split()[1]) for line in rig.sh("journalctl --sync; journalctl -b -q -o cat -t python3").splitlines()
                if line.startswith("answered")]
    rig.check(len(answered) == ASKING and sum(answered) > REQUESTS * 0.9, f"each gets an answer, {REQUESTS / lasted:.0f} a second", answered)
    rig.check(rig.status()["overruns"] == late, "no cycle was late", rig.status()["overruns"] - late)
