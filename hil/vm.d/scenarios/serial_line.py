"""The inverter on Modbus RTU, on real serial ports with the pace of a wire: it is served in time, and a line that is cut ends its power."""
import subprocess
import time

PROFILE = "virtual"
BAUD = 19200


def run(rig):
    rig.sh("cat >/etc/udev/rules.d/61-ballast-site.rules <<'X'\n"
           "SUBSYSTEM==\"tty\", KERNEL==\"ttyS1\", GROUP=\"ballast\", MODE=\"0660\", TAG+=\"systemd\", SYMLINK+=\"ballast/rs485-0\"\nX\n"
           "udevadm control --reload; udevadm trigger --action=add /dev/ttyS1; udevadm settle")
    text = open("/etc/ballast/site.yaml", encoding="utf-8").read()
    tcp = "    modbus:\n      host: 127.0.0.1\n      port: 15021\n    poll_ms: 100\n    timeout_ms: 500\n"
    assert tcp in text

    def with_device(device):
        return text.replace(tcp, f"    modbus:\n      device: {device}\n      baud: {BAUD}\n      unit_id: 1\n"
                                 "    poll_ms: 500\n    timeout_ms: 500\n")
    open("/etc/ballast/site.yaml", "w", encoding="utf-8").write(with_device("/dev/ballast/rs485-0"))
    open("/root/plant.yaml", "w", encoding="utf-8").write(with_device("/run/rig/line"))
    rig.sh("systemctl start ballast-can@can0 ballast-can@can1")
    rig.start_simulator(site="/root/plant.yaml")

    def cable():
        line = subprocess.Popen(["python3", "-u", "/rig/guest/serial_line.py", "/dev/ttyS2", "/run/rig/line", str(BAUD)],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        line.stdout.readline()
        return line
    line = cable()
    rig.sh("systemctl start ballastd")
    rig.until_mode("running")
    _, took = rig.discharge()
    rig.check(took < 2, "49.5 Hz gives 18.8 kW within 2 s", f"{took * 1000:.0f} ms")
    seen = rig.link("rs485-0")
    rig.check(seen["last_round_trip_us"] > 10_000, "the wire takes its time", f"{seen['last_round_trip_us'] / 1000:.1f} ms")
    time.sleep(60)
    after = rig.link("rs485-0")
    rig.check(after["errors"] - seen["errors"] == 0 and after["timeouts"] - seen["timeouts"] == 0, "a minute without an error",
              [after["transactions"] - seen["transactions"], after["errors"], after["timeouts"]])
    # The line is cut.
    line.kill()
    line.wait()
    began = time.monotonic()
    rig.until(lambda: rig.unit()["mode"] != "running", "the unit leaves service")
    rig.until_power(0, within=20)
    took = time.monotonic() - began
    rig.check(took < 7, "the inverter's own timer ends the power, for nobody reaches it: 5 s and its ramp", f"{took:.1f} s")
    status, _ = rig.until(lambda: "rs485-0" in rig.show("StatusText") and rig.show("StatusText"), "systemctl status names the line")
    rig.check(True, "systemctl status names the line", status)
    line = cable()
    rig.until_running_again("the cable is whole again")
    rig.until_power(18.8)
    rig.check(True, "with the cable whole it serves again")
    line.kill()
