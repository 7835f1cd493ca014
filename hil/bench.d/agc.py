"""AGC: from the control centre's setpoint (c104 by IEC 60870-5-104) to the register of the inverter (Modbus TCP), and a general
interrogation of 1,000 points; see hil/bench agc.

    agc.py PROGRAMS FOLDER STEPS
"""
import os
import sys
import time

import c104

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../demo.d"))
import layers

SCADA = """
listen: {{address: 127.0.0.1, port: {port}}}
control_socket: {folder}/control
redundancy_groups: [{{name: main, commands: true, masters: [{{address: 127.0.0.1}}]}}]
commanding: {{validity_s: 20}}
common_address: 47
points:
{points}
commands: [{{address: 5001, type: setpoint_float, action: agc_setpoint, scale: 1000}}]
"""


def main():
    programs, folder, steps = sys.argv[1:]
    fleet = layers.Fleet(programs, os.path.abspath(folder), 2, 1)
    site = fleet.sites[0]
    fleet.key(fleet.top)
    try:
        play(fleet, site, int(steps))
    finally:
        for process in list(site.running.values()):
            process.terminate()


def play(fleet, site, steps):
    here = f"{fleet.folder}/{site.id}"
    os.makedirs(here)
    text = layers.SITE.format(
        id=site.id, above="none", key=fleet.top.key, folder=here, meter=layers.Ports.next(), can=layers.Ports.next(),
        inverter=layers.Ports.next()).replace("ramp_kw_per_s: 400", "ramp_kw_per_s: 1000")
    text += "control_centre: {charge_max_kw: 80, discharge_max_kw: 80, longest_s: 60, most_per_min: 600}\n"
    path = fleet.write(f"{site.id}/site.yaml", text)
    site.plant = f"{here}/plant"
    fleet.start(site, "ballast-sim", ["plant", "--site", path, "--control", site.plant])
    fleet.wait(lambda: os.path.exists(site.plant), "the plant", 20)
    fleet.start(site, "ballastd", ["--config", path])
    fleet.wait(lambda: os.path.exists(f"{here}/control"), "the controller")
    port = layers.Ports.next()
    points = "\n".join(
        f"  - {{address: {1000 + number}, type: float, source: power_kw, scale: 0.001}}" for number in range(1000))
    scada = fleet.write(f"{site.id}/scada.yaml", SCADA.format(port=port, folder=here, points=points))
    fleet.start(site, "ballast-scada", ["--config", scada])
    client = c104.Client(tick_rate_ms=50, command_timeout_ms=3000)
    connection = client.add_connection(ip="127.0.0.1", port=port, init=c104.Init.NONE)
    station = connection.add_station(common_address=47)
    setpoint = station.add_point(io_address=5001, type=c104.Type.C_SE_NC_1)
    setpoint.command_mode = c104.CommandMode.DIRECT
    client.start()
    connection.connect()
    for turn in range(1000):
        if connection.state == c104.ConnectionState.OPEN:
            break
        if turn % 100 == 99 and connection.state == c104.ConnectionState.OPEN_MUTED:
            connection.unmute()
        time.sleep(0.02)
    time.sleep(5)
    whole = []
    for _ in range(50):
        begin = time.monotonic()
        # Ends with the activation termination, which comes behind all points.
        if connection.interrogation(common_address=47):
            whole.append((time.monotonic() - begin) * 1e3)
    report("general interrogation of 1,000 points", whole)
    times, lost = [], 0
    for number in range(steps):
        kilowatts = 10 + 3 * (number % 20)
        setpoint.value = kilowatts / 1000
        begin = time.monotonic()
        if not setpoint.transmit(cause=c104.Cot.ACTIVATION):
            lost += 1
            continue
        end = begin + 2
        while abs(fleet.registers([site]) - kilowatts * 1000) > 100:
            if time.monotonic() > end:
                lost += 1
                break
        else:
            times.append((time.monotonic() - begin) * 1e3)
        time.sleep(0.12 + 0.0137 * (number % 7))
    report(f"AGC step to the inverter's register, {lost} of {steps} lost", times)
    client.stop()


def report(text, times):
    times.sort()
    if not times:
        return print(f"{text}: nothing measured")
    def share(part):
        return times[min(len(times) - 1, int(len(times) * part))]
    print(f"{text}: {len(times)} times, p50 {share(0.5):.0f} ms, p99 {share(0.99):.0f} ms, at most {times[-1]:.0f} ms")


main()
