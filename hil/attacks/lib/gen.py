#!/usr/bin/env python3
"""Writes the virtual cases: scenario, site and judge.json of each, and WHAT.md (result filled in by hand/run)."""
import os, json, textwrap
ROOT = 'hil/attacks/cases'

def unit(n, can, mod, extra='', bms='', io=None, power=100):
    text = f"""  - id: BESS_0{n}
    campus_id: T
    capacity_kwh: 250
    max_power_kw: {power}
    bms: {{transport: "cannelloni:127.0.0.1:{can}", period_ms: 200{bms}}}
    modbus: {{host: 127.0.0.1, port: {mod}}}
"""
    for line in extra.strip().splitlines():
        text += '    ' + line.strip() + '\n'
    if io:
        text += f"""    contactor_open_ms: 80
    contactors: {{drive: own, precharge_current_max_a: 10, discharged_v: 60, precharge_pause_ms: 3000, discharge_limit_ms: 10000}}
    io_module:
      modbus: {{host: 127.0.0.1, port: {io}}}
      watchdog_ms: 5000
      inputs:
        - {{number: 1, name: emergency_stop}}
        - {{number: 2, name: smoke}}
        - {{number: 3, name: gas}}
        - {{number: 4, name: door}}
        - {{number: 7, name: main_contactor}}
        - {{number: 8, name: precharge_contactor}}
      coils:
        - {{number: 1, drives: main_contactor}}
        - {{number: 2, drives: precharge_contactor}}
        - {{number: 3, drives: permit}}
"""
    return text

def site(units, control='enter_service_s: 2, ramp_kw_per_s: 200', sitekeys='', grid='', meter=True, interlocks=''):
    t = "mode: simulation\n" + f"site: {{id: acc{', ' + sitekeys if sitekeys else ''}}}\n" + f"control: {{{control}}}\n"
    if grid: t += "grid_integration:\n" + textwrap.indent(textwrap.dedent(grid).strip(), '  ') + "\n"
    if meter: t += "grid_meter: {modbus: {host: 127.0.0.1, port: 15320}, poll_ms: 20}\n"
    t += interlocks
    t += "bess_units:\n" + ''.join(units)
    t += "paths: {state_directory: ./run/state, control_socket: ./run/control.sock}\n"
    return t

REV4 = 'reversion_s: 4\nresponse_ms: 500'
def io2(**k):  # first unit's contactors ours; reversion 4 s < watchdog 5 s
    return site([unit(1, 20301, 15321, REV4, io=15322), unit(2, 20302, 15323, REV4)], **k)
def io1(**k): return site([unit(1, 20301, 15321, REV4, io=15322)], **k)
def one(extra='', **k): return site([unit(1, 20301, 15321, extra)], **k)
def two(extra='', **k): return site([unit(1, 20301, 15321, extra), unit(2, 20302, 15323, extra)], **k)

def case(name, why, site_text, scenario, what, judge=None):
    d = f'{ROOT}/{name}'; os.makedirs(d, exist_ok=True)
    open(f'{d}/site.yaml', 'w').write(site_text)
    s = f"why: {json.dumps(why)}\ntiers: [virtual]\nsite: site.yaml\n" + textwrap.dedent(scenario).strip() + "\n"
    open(f'{d}/scenario.yaml', 'w').write(s)
    if judge: json.dump(judge, open(f'{d}/judge.json', 'w'), indent=1)
    open(f'{d}/WHAT.md', 'w').write(what.strip() + "\n\nBase: see ../BASE.md\n")

# ------------------------------------------------------------------ 03 contactors under load
ORDER = [{'why': 'load-gone', 'before': 'contact-open'}]
case('03-all-ones-at-full-load', 'A battery that says nothing but 0xFF is no evidence of zero current.', io2(), """
    duration_s: 30
    steps:
      - {at_s: 0.5, operator: setpoint 190 --for 600s}
      - {at_s: 5, name: ones, fault: bms_not_available, unit: BESS_01}
    expect:
      - {from_s: 3, until_s: 4.9, unit: BESS_01, power_kw: [80, 100]}
      - {after: ones, within_s: 12, until_s: end, unit: BESS_01, current_a: 0, why: load-gone}
      - {after: ones, within_s: 24, unit: BESS_01, contactors: open, why: contact-open}
    """, """
Attack: at ~350 A of discharge the BMS of a unit whose contactors we drive sends every byte 0xFF; its current decodes as 0.1 A.
Must be true: the plant's own current is gone (<= 3 A: idle draw is 1.1 A) *before* the main contact parts: t(load gone) < t(contact open), sampled by the cycle. (13.3: "A BMS that sends all 0xFF reads as 0.1 A: opened at 350 A"; "no load needs evidence".) If a contact parts the load, both instants are the same sample.
""", {'order': ORDER})
case('03-inverter-cable-pulled', 'The load of an inverter that cannot be told zero ends by its own reversion, not by our contact.', io2(), """
    duration_s: 40
    steps:
      - {at_s: 0.5, operator: setpoint 190 --for 600s}
      - {at_s: 5, name: pulled, fault: inverter_silence, unit: BESS_01}
    expect:
      - {from_s: 3, until_s: 4.9, unit: BESS_01, power_kw: [80, 100]}
      - {after: pulled, until_s: 8.4, unit: BESS_01, contactors: closed, why: "reversion_s is 4, counted from the last write"}
      - {after: pulled, within_s: 12, until_s: end, unit: BESS_01, current_a: 0, why: load-gone}
      - {after: pulled, within_s: 34, unit: BESS_01, contactors: open, why: contact-open}
    """, """
Attack: the inverter's cable is pulled at ~390 A of discharge; its reversion (4 s here, below the module's watchdog of 5 s) ends the power by itself.
Must be true: the main contact stays closed until the reversion has ended the current: closed to 3.4 s after the pull at least, and t(load gone <= 3 A) < t(contact open). (13.3: "The inverter's cable pulled: open_under_load_after_ms 3 s is shorter than reversion_s, opened at 390 A"; half the process safety time of lost_inverter is 15 s, so nothing declares an emergency before.)
""", {'order': ORDER})
case('03-current-sensor-stuck-at-zero', 'A current sensor that shows nothing is no evidence of no load while the inverter says otherwise.', io1(), """
    duration_s: 40
    steps:
      - {at_s: 0.5, operator: setpoint 95 --for 600s}
      - {at_s: 5, fault: bms_current_offset, unit: BESS_01, offset_a: -369.9}
      - {at_s: 5.2, fault: inverter_disobeys, unit: BESS_01}
      - {at_s: 6, name: cell, fault: cell_overvoltage, unit: BESS_01, voltage_v: 3.7}
    expect:
      - {from_s: 3, until_s: 4.9, unit: BESS_01, current_a: [360, 380]}
      - {after: cell, within_s: 2, unit: BESS_01, event: trip}
      - {after: cell, until_s: 9.9, unit: BESS_01, contactors: closed}
      - {after: cell, until_s: 9.9, unit: BESS_01, current_a: [360, 380]}
    """, """
Attack: the BMS's current sensor reads 0 at ~370 A of true current and the inverter acknowledges zero and goes on; then a cell's overvoltage trips the unit.
Must be true: the main contact stays closed for 3.9 s at least (13.3: "A current sensor stuck at zero: 350 A"): the inverter's DC power contradicts the sensor, so the wait is the reversion, 4 s from a write that comes >= 0.3 s after the cell; half the process safety time of cell_overvoltage is 5 s, so that no declared emergency comes before either.
""")
case('03-silent-bms-and-disobeying-inverter', 'Neither BMS nor obedience: the wait is the reversion, not "stale means zero".', io2(), """
    duration_s: 40
    steps:
      - {at_s: 0.5, operator: setpoint -180 --for 600s}
      - {at_s: 5, fault: inverter_silence, unit: BESS_01}
      - {at_s: 5.1, name: both, fault: bms_silence, unit: BESS_01}
    expect:
      - {from_s: 3, until_s: 4.9, unit: BESS_01, power_kw: [-100, -80]}
      - {after: both, until_s: 8.4, unit: BESS_01, contactors: closed}
      - {after: both, within_s: 12, until_s: end, unit: BESS_01, current_a: 0, why: load-gone}
      - {after: both, within_s: 34, unit: BESS_01, contactors: open, why: contact-open}
    """, """
Attack: while charging at ~330 A the inverter and the BMS of one unit fall silent within 0.1 s (one switch loses power).
Must be true: contacts stay closed until the inverter's own reversion (4 s from the last write) has ended the current; t(load gone) < t(contact open). Half of the shortest process safety time involved (lost_bms 20 s) is 10 s. (13.3)
""", {'order': ORDER})

case('03-battery-stands-still-at-rest', 'A current that stood still at zero is no evidence of no load.', site([unit(1, 20301, 15321, REV4, io=15322)], control='enter_service_s: 2, ramp_kw_per_s: 30'), """
    duration_s: 40
    steps:
      - {at_s: 1, fault: bms_stuck, unit: BESS_01}
      - {at_s: 2, operator: setpoint 95 --for 600s}
      - {at_s: 8, name: off, operator: mode BESS_01 maintenance --for 1h}
    expect:
      - {from_s: 6, until_s: 7.9, unit: BESS_01, current_a: [340, 400]}
      - {after: off, within_s: 10, until_s: end, unit: BESS_01, current_a: 0, why: load-gone}
      - {after: off, within_s: 24, unit: BESS_01, contactors: open, why: contact-open}
    """, """
Attack: the BMS's measured values stand still at rest (0 A; its frames go on); 95 kW are asked for, and 6 s later (before any frozen_samples) a person asks for maintenance on a ramp of 30 kW/s.
Must be true: t(load gone <= 3 A) < t(contact open) (13.3 "A current sensor stuck at zero: 350 A"). The inverter obeys and says its DC current all the time.
""", {'order': ORDER})

# ------------------------------------------------------------------ 04 grid supervision
VDE = "frequency_source: meter\nsupervision: {preset: vde4105, delay_s: 20, ramp_s: 10}"
BP = 'enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: 40'
for nm, fault, word in [('silent', 'meter_silence', 'silent'), ('nan', 'meter_not_available', 'NaN'), ('frozen', 'meter_frozen', 'frozen')]:
    case(f'04-meter-{nm}-into-46-hz', 'Supervision does not depend on the meter alone: the inverter measures too.', one(control=BP, grid=VDE), f"""
    start: cold
    duration_s: 100
    steps:
      - {{at_s: 45, name: blind, fault: {fault}}}
      - {{at_s: 50, name: out, frequency_hz: 46}}
    expect:
      - {{within_s: 40, until_s: 44.9, power_kw: 40}}
      - {{after: out, within_s: 3, until_s: end, power_kw: 0, time_to_safe: true, why: "vde4105 leaves below 47.5 Hz within 0.2 s"}}
    """, f"""
Attack: supervised site at 40 kW; the meter is {word}; 5 s later the grid goes to 46 Hz for 50 s. The inverter's own 701 Hz shows it.
Must be true: power of the plant 0 within 3 s of 46 Hz and to the end (13.4: 40 kW flowed for 300 s; "any fresh source outside counts"; vde4105's time is 0.1-0.2 s, plus 0.3 s of polling, 0.2 s of ramp: 3 s is generous).
""")
case('04-everything-blind', 'Blind for longer than the code allows is no good grid.', one(control=BP, grid=VDE), """
    start: cold
    duration_s: 90
    steps:
      - {at_s: 45, name: blind, fault: meter_not_available}
      - {at_s: 45, fault: inverter_not_available, unit: BESS_01}
    expect:
      - {within_s: 40, until_s: 44.9, power_kw: 40}
      - {after: blind, within_s: 5, until_s: end, power_kw: 0}
    """, """
Attack: meter and inverter measure nothing any more ('not a number', 'not implemented') at 40 kW.
Must be true: zero within 5 s and to the end (13.4 "All blind for longer than the code's time: zero on the comfort ramp, response off"; also 13.10). Likely right on the base already by the inverter's own staleness: a regression case.
""")
case('04-sight-back-no-reentry', 'A short blindness without an excursion costs the ramp, not the re-entry delay.',
     one(control=BP, grid="frequency_source: meter\nsupervision: {preset: vde4105, delay_s: 60, ramp_s: 10}"), """
    start: cold
    duration_s: 140
    steps:
      - {at_s: 90, name: blind, fault: meter_silence}
      - {at_s: 94, name: back, clear: meter_silence}
    expect:
      - {within_s: 85, until_s: 89.9, power_kw: 40}
      - {after: back, within_s: 14, until_s: end, power_kw: 40, why: "ramp_s 10, not delay_s 60"}
    """, """
Attack: the meter is silent for 4 s in a calm grid, while the inverter's own Hz is fresh and in range.
Must be true: told, no trip; 40 kW again at most ramp_s (10 s) + 4 s after its return, not after delay_s 60 s (13.4 "One blind source while another is fresh and in range: told, no trip ... the ramp, no re-entry delay"). Regression: passes on the base, because there it is not noticed at all.
""")
case('04-remote-stream-lost-nobody-leaves', 'A lost remote stream takes no site off the grid.',
     one(control=BP, grid="""
       frequency_sources:
         - {source: pmu, name: north, host: 127.0.0.1, port: 15330, id_code: 7, frames_per_s: 50}
         - {source: meter}
         - {source: inverter, unit: BESS_01}
       supervision: {preset: vde4105, delay_s: 20, ramp_s: 10}"""), """
    start: cold
    duration_s: 90
    steps:
      - {at_s: 45, name: lost, fault: pmu_silence}
      - {at_s: 70, name: off, fault: pmu_offset, offset_hz: -4}
    expect:
      - {within_s: 40, until_s: end, power_kw: 40}
    """, """
Attack: the remote PMU stream falls silent, later it would show 46 Hz while meter and inverter see 50 Hz.
Must be true: 40 kW throughout (13.4 "never a remote stream ... a hundred sites lose a remote stream: none leaves").
""")
case('04-remote-stream-lies-about-an-excursion', 'A remote stream that shows 46 Hz is no local evidence.',
     one(control=BP, grid="""
       frequency_sources:
         - {source: pmu, name: north, host: 127.0.0.1, port: 15330, id_code: 7, frames_per_s: 50}
         - {source: meter}
         - {source: inverter, unit: BESS_01}
       supervision: {preset: vde4105, delay_s: 20, ramp_s: 10}"""), """
    start: cold
    duration_s: 80
    steps:
      - {at_s: 45, name: off, fault: pmu_offset, offset_hz: -4}
    expect:
      - {within_s: 40, until_s: 44.9, power_kw: 40}
      - {after: off, until_s: end, grid: in_service}
    """, """
Attack: the PMU's frequency is off by -4 Hz while the meter and the inverter see 50 Hz.
Must be true: the supervision stays in_service (13.4 "judges with every local source, never a remote stream"). (The PMU here is configured as frequency source; a project that counts a PMU of 127.0.0.1 as local may argue: 13.4 names "a local PMU". Read the figure with that in mind.)
""")

# ------------------------------------------------------------------ 05 import/export
LIM50 = 'import_limit_kw: 50, export_limit_kw: 50, site_load_max_kw: 0'
for nm, f, at, sp in [('meter-reversed-export', 'meter_reversed', 0.2, 190), ('meter-frozen-import', 'meter_frozen', 0.2, -190)]:
    lo, hi = (-53, 53)
    case(f'05-{nm}', 'A limit at the meter does not switch itself off when the meter lies.', two(sitekeys=LIM50), f"""
    duration_s: 40
    steps:
      - {{at_s: {at}, name: lies, fault: {f}}}
      - {{at_s: 1, name: ask, operator: setpoint {sp} --for 600s}}
    expect:
      - {{after: ask, within_s: 5, until_s: end, power_kw: [{lo}, {hi}]}}
      - {{after: ask, until_s: end, power_kw: [-110, 110], why: "never far beyond, not even for seconds"}}
    """, f"""
Attack: the meter is {'the wrong way round' if 'rev' in nm else 'frozen at zero'}; then {sp} kW are asked for at a limit of 50 kW.
Must be true: true site power within +-53 kW (50 + 3 of rounding/regulation) from 5 s after the request to the end, and never beyond 110 kW (13.5: "190 kW at a limit of 50"; "named within seconds, and the limit then holds on our own sum").
""")
case('05-silent-inverter-window', 'A silent unit counts with its last command; the window does not vanish with it.',
     two('reversion_s: 10', sitekeys='import_limit_kw: 110, export_limit_kw: 110, site_load_max_kw: 0'), """
    duration_s: 30
    steps:
      - {at_s: 0.5, operator: setpoint 200 --for 600s}
      - {at_s: 8, name: silent, fault: inverter_silence, unit: BESS_01}
    expect:
      - {from_s: 4, until_s: 7.9, power_kw: [100, 113]}
      - {after: silent, until_s: end, power_kw: [-1, 116]}
    """, """
Attack: export limit 110 kW, two units at 55 kW; one inverter falls silent and goes on until its reversion (10 s).
Must be true: true power at the point of connection never above 116 kW (limit + 5 %: one regulation step) (13.5: "over 150 kW for seconds at 110"; the fresh meter is there; "a silent unit counts with its last command until its reversion is over").
""")
case('05-silent-inverter-import', 'The same in the other direction.',
     two('reversion_s: 10', sitekeys='import_limit_kw: 110, export_limit_kw: 110, site_load_max_kw: 0'), """
    duration_s: 30
    steps:
      - {at_s: 0.5, operator: setpoint -200 --for 600s}
      - {at_s: 8, name: silent, fault: inverter_silence, unit: BESS_02}
    expect:
      - {from_s: 4, until_s: 7.9, power_kw: [-113, -100]}
      - {after: silent, until_s: end, power_kw: [-116, 1]}
    """, "Attack: as 05-silent-inverter-window, charging, the second unit silent.\nMust be true: never below -116 kW at a limit of 110 (13.5).")

# ------------------------------------------------------------------ 06 power that ignores us
case('06-tripped-unit-charges-on-9-kw', 'A tripped unit is at zero; 9 kW of charging are told.', two(), """
    duration_s: 60
    steps:
      - {at_s: 0.5, operator: setpoint -9 --unit BESS_01 --for 3600s}
      - {at_s: 5, fault: inverter_disobeys, unit: BESS_01}
      - {at_s: 6, name: trip, fault: cell_overvoltage, unit: BESS_01, voltage_v: 3.7}
    expect:
      - {from_s: 3, until_s: end, unit: BESS_01, power_kw: -9, tolerance_kw: 0.5}
      - {after: trip, within_s: 3, until_s: end, unit: BESS_01, mode: tripped}
    """, """
Attack: a unit charges at 9 kW (9 % of nameplate, under the 10 % of not_following), its inverter acknowledges and goes on; a cell's overvoltage trips it.
Must be true: within 10 s of the trip something is told of this unit that names the power it was not asked for: an event with cause not_following, or a text with the measured ~9 kW (13.6: "A tripped unit charges on at 9 kW unseen for 200 s"; zero = 2 % of nameplate; "told with both numbers").
""", {'told': {'after': 'trip', 'within': 10, 'unit': 'BESS_01', 'any': r'not_following|\b(8\.\d+|9(\.\d+)?) ?kW'}})
case('06-reversed-at-4-5-kw', 'The wrong direction is told at any size.', one(), """
    duration_s: 60
    steps:
      - {at_s: 0.5, fault: inverter_reversed, unit: BESS_01}
      - {at_s: 2, name: ask, operator: setpoint 4.5 --for 3600s}
    expect:
      - {after: ask, within_s: 1, for_s: 1, power_kw: -4.5, tolerance_kw: 0.5}
    """, """
Attack: charge and discharge swapped at the inverter, 4.5 kW asked (4.5 % of nameplate): 4.5 kW flow the other way.
Must be true: told within 10 s (event with cause not_following, or a text of the unit with -4.5 kW) (13.6: "a reversed inverter at 4.5 kW for 10 min"; "direction by itself").
""", {'told': {'after': 'ask', 'within': 10, 'unit': 'BESS_01', 'any': r'not_following|[-−]4\.\d+ ?kW|direction|wrong way|revers'}})
turn = '\n'.join(f"      - {{at_s: {2+i}, operator: setpoint {'-' if i%2 else ''}4.5 --for 3600s{', name: ask' if i==0 else ''}}}" for i in range(55))
case('06-reversed-and-turning-each-second', 'A direction that is wrong each second anew is still wrong.', one(), f"""
    duration_s: 60
    steps:
      - {{at_s: 0.5, fault: inverter_reversed, unit: BESS_01}}
{turn}
    expect:
      - {{after: ask, within_s: 2, power_kw: -4.5, tolerance_kw: 0.5}}
    """, """
Attack: as before, and the setpoint turns its sign every second (+-4.5 kW), so that no debounce ever ends.
Must be true: told within 30 s (13.6: "reversed with the setpoint turning each second: never").
""", {'told': {'after': 'ask', 'within': 30, 'unit': 'BESS_01', 'any': r'not_following|[-−]4\.\d+ ?kW|direction|wrong way|revers'}})
case('06-reset-while-power-flows', 'Entering service asks for zero power seen.', one(), """
    duration_s: 50
    steps:
      - {at_s: 0.5, operator: setpoint 9.5 --for 3600s}
      - {at_s: 4, fault: inverter_disobeys, unit: BESS_01}
      - {at_s: 5, name: step, operator: setpoint 60 --for 3600s}
      - {at_s: 15, name: reset, operator: reset BESS_01}
      - {at_s: 16, name: resume, operator: resume}
    expect:
      - {after: step, within_s: 8, unit: BESS_01, event: trip, cause: not_following}
      - {from_s: 6, until_s: end, unit: BESS_01, power_kw: 9.5, tolerance_kw: 0.5}
      - {after: resume, within_s: 1, until_s: end, unit: BESS_01, mode: [tripped, standby, offline, maintenance]}
      - {after: resume, within_s: 1, until_s: end, unit: BESS_01, setpoint_kw: 0}
    """, """
Attack: an inverter stands at 9.5 kW whatever it is told; it trips not_following; a person resets and resumes while the 9.5 kW still flow.
Must be true: the unit is not in service again and nothing but zero is asked of it while 9.5 kW flow unasked (13.6: "a reset is taken within 0.5 s while 10 kW still flow, and the unit runs 2.5 s later"; "entering service asks for zero power seen").
""")

# ------------------------------------------------------------------ 07 battery's own terms
for nm, sp, lim in [('discharge', 95, 'charge_a: 200, discharge_a: 10'), ('charge', -95, 'charge_a: 10, discharge_a: 200')]:
    case(f'07-ten-amperes-{nm}', 'A limit in amperes is a limit of the battery\'s own current, losses included.', one(), f"""
    duration_s: 60
    steps:
      - {{at_s: 0.5, fault: bms_limits, unit: BESS_01, {lim}}}
      - {{at_s: 2, name: ask, operator: setpoint {sp} --for 3600s}}
    expect:
      - {{after: ask, within_s: 3, until_s: end, current_a: [0, 10.3]}}
      - {{until_s: end, no_event: trip}}
    """, f"""
Attack: the BMS allows 10 A, {sp} kW are asked for.
Must be true: the battery's own true current <= 10.3 A (10 A + 0.3 A of its sensor's noise and resolution 0.1 A) from 3 s on, and no trip of our own (13.7: "a limit of 10 A gives 11.6 A and we trip ourselves"; the plant's idle loss is 0.3 % = 1.1 A).
""")
case('07-empty-battery-at-rest', 'The idle draw of the inverter trips no empty battery.', site([unit(1, 20301, 15321, power=500)], control='enter_service_s: 2, ramp_kw_per_s: 500'), """
    initial_soc_percent: 12
    duration_s: 90
    steps:
      - {at_s: 1, name: empty, fault: bms_limits, unit: BESS_01, charge_a: 200, discharge_a: 0}
      - {at_s: 60, name: charge, operator: setpoint -40 --for 600s}
    expect:
      - {after: empty, until_s: end, no_event: trip}
      - {after: charge, within_s: 3, until_s: end, power_kw: -40, tolerance_kw: 2, why: "it can be charged again"}
    """, """
Attack: discharge limit 0 (empty), nothing asked; the running inverter draws its idle loss (0.3 % of 500 kW = 1.5 kW = 5.8 A). After a minute charging is asked for.
Must be true: no trip in 90 s, and 40 kW of charging within 3 s of the request (13.7: "with discharge limit 0 the idle loss trips an empty battery for good").
""")

# ------------------------------------------------------------------ 08 scale
for nm, sg, st in [('discharge', '', one()), ('charge-two-units', '-', two())]:
    eps = [6.0, 14.013, 22.029, 30.041, 38.067]
    steps = ''.join(f"      - {{at_s: {e}, name: scale{i}, fault: inverter_scale, unit: BESS_01}}\n      - {{at_s: {e+5}, clear: inverter_scale, unit: BESS_01}}\n" for i, e in enumerate(eps))
    exp = ''.join(f"      - {{after: scale{i}, within_s: 0.5, until_s: {e+4.9}, unit: BESS_01, current_a: [0, 45], time_to_safe: true}}\n" for i, e in enumerate(eps))
    case(f'08-scale-changes-{nm}', 'A changed scale factor lets no tenfold power flow.', st, f"""
    duration_s: 44
    steps:
      - {{at_s: 0.5, operator: setpoint {sg}9 --unit BESS_01 --for 3600s}}
      - {{at_s: 1, fault: bms_limits, unit: BESS_01, charge_a: 40, discharge_a: 40}}
      - {{at_s: 4.0, operator: setpoint {sg}8.5 --unit BESS_01 --for 3600s, times: 200, every_s: 0.2}}
      - {{at_s: 4.1, operator: setpoint {sg}9 --unit BESS_01 --for 3600s, times: 200, every_s: 0.2}}
{steps}
    expect:
      - {{from_s: 3, until_s: 3.9, unit: BESS_01, current_a: [25, 41]}}
{exp}
    """, """
Attack: at ~9 kW (35 A, 40 A allowed, the setpoint moves by 0.5 kW each 0.1 s) the inverter's power registers change to ten times the step (firmware); five times, at different phases of the cycle.
Must be true: true battery current <= 45 A (limit + 10 %) from 0.5 s after each change (13.8: "90 kW / 340 A flow where 40 A are allowed, up to 0.96 s"; read with the value or verified before it counts leaves one write + one answer = 100 + 250 ms; 0.5 s is generous). Figure: measured_s is when it was inside again.
""")

# ------------------------------------------------------------------ 09 hiccup
RE60 = 'enter_service_s: 60, ramp_kw_per_s: 50'
for nm, ms in [('0.3-s', 0.3), ('0.7-s', 0.7)]:
    case(f'09-inverter-gap-{nm}', 'A hiccup is no loss: back on the ramp, without the re-entry time.', two(control=RE60), f"""
    duration_s: 40
    steps:
      - {{at_s: 0.5, operator: setpoint 60 --for 3600s}}
      - {{at_s: 6, name: gap, fault: inverter_silence, unit: BESS_01}}
      - {{at_s: {6+ms}, name: back, clear: inverter_silence, unit: BESS_01}}
    expect:
      - {{from_s: 4, until_s: 5.9, unit: BESS_01, power_kw: 30, tolerance_kw: 2}}
      - {{after: gap, until_s: end, no_event: trip}}
      - {{after: back, within_s: 6, until_s: end, unit: BESS_01, power_kw: 30, tolerance_kw: 2}}
    """, f"""
Attack: an inverter gives no answer for {ms} s in 40 s, enter_service_s 60, ramp 50 kW/s.
Must be true: no trip is latched and the unit delivers its 30 kW again within 6 s of its return (<= 5 s of gap are "back on the ramp without the grid's re-entry time": 0.6 s of ramp + 5 s to be asked again and seen), not 60 s later (13.9: "One lost Modbus answer takes a unit to zero and through the whole of enter_service_s"; "0.64 s of silence latches lost_inverter until a person comes").
""")
case('09-answer-of-200-ms', 'An answer inside the configured time-out is no silence.', two(control=RE60), """
    duration_s: 30
    steps:
      - {at_s: 0.5, operator: setpoint 60 --for 3600s}
      - {at_s: 6, name: slow, fault: inverter_slow, unit: BESS_01, delay_ms: 200}
      - {at_s: 6.25, name: back, clear: inverter_slow, unit: BESS_01}
    expect:
      - {from_s: 4, until_s: 5.9, unit: BESS_01, power_kw: 30, tolerance_kw: 2}
      - {after: slow, until_s: end, unit: BESS_01, mode: running}
      - {after: slow, until_s: end, unit: BESS_01, power_kw: 30, tolerance_kw: 3}
    """, """
Attack: an inverter on Modbus TCP answers after 200 ms for a quarter of a second (timeout_ms is 250).
Must be true: the unit stays in service with its 30 kW (13.9: "The configured time-out holds"). The RTU case is 09-rtu-answer-of-200-ms.
""")
case('09-bms-gap', 'A battery that pauses for 0.9 s is not gone for a minute.', two(control=RE60), """
    duration_s: 40
    steps:
      - {at_s: 0.5, operator: setpoint 60 --for 3600s}
      - {at_s: 6, name: gap, fault: bms_silence, unit: BESS_01}
      - {at_s: 6.9, name: back, clear: bms_silence, unit: BESS_01}
    expect:
      - {after: gap, until_s: end, no_event: trip}
      - {after: back, within_s: 6, until_s: end, unit: BESS_01, power_kw: 30, tolerance_kw: 2}
    """, """
Attack: a battery (period 200 ms) sends nothing for 0.9 s.
Must be true: no trip, 30 kW again within 6 s of its return, not after enter_service_s 60 s (13.9 "a short gap of a device that shows the same identity and state comes back on the ramp without the grid's re-entry time": a device, battery or inverter).
""")

# ------------------------------------------------------------------ 10 truth of silence
case('10-not-available-is-not-silence', 'A battery that sends "not available" every period is not silent.', one(), """
    duration_s: 30
    steps:
      - {at_s: 3, name: ones, fault: bms_not_available, unit: BESS_01}
    expect:
      - {after: ones, within_s: 3, until_s: end, mode: [offline, tripped]}
    """, """
Attack: the battery sends its frames every 200 ms, all bytes 0xFF.
Must be true: nothing that is told of the unit after it says "silent"/"silence" (13.10: "battery silent for 6.04 s while frames came every second"), and something is told.
""", {'told': {'after': 'ones', 'within': 10, 'unit': 'BESS_01', 'any': r'.', 'none': r'[Ss]ilen(t|ce)'}})
case('10-inverter-nan-is-not-silence', 'An inverter that answers "not implemented" is not silent.', one(), """
    duration_s: 30
    steps:
      - {at_s: 3, name: nan, fault: inverter_not_available, unit: BESS_01}
    expect:
      - {after: nan, within_s: 3, until_s: end, mode: [offline, tripped]}
    """, """
Attack: the inverter answers every request; its measured values are "not implemented".
Must be true: nothing told of the unit says "silent"; something is told within 10 s (13.10: "inverter silent 0.66 s while it answered NaN").
""", {'told': {'after': 'nan', 'within': 10, 'unit': 'BESS_01', 'any': r'.', 'none': r'[Ss]ilen(t|ce)'}})
case('10-refused-is-not-silence', 'An inverter that refuses every request is not silent.', one(), """
    duration_s: 30
    steps:
      - {at_s: 3, name: no, fault: inverter_refuses, unit: BESS_01, code: 4}
    expect:
      - {after: no, within_s: 3, until_s: end, mode: [offline, tripped]}
    """, """
Attack: the inverter answers every request with exception 4.
Must be true: nothing told of the unit says "silent" (13.10 "Silent, refused, missing by name").
""", {'told': {'after': 'no', 'within': 10, 'unit': 'BESS_01', 'any': r'.', 'none': r'[Ss]ilen(t|ce)'}})

# ------------------------------------------------------------------ 11 people
case('11-trip-does-not-end-maintenance', 'Maintenance ends by its person, a word that names it, or its time.', two(control='enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: 80'), """
    duration_s: 60
    steps:
      - {at_s: 2, name: work, operator: mode BESS_01 maintenance --for 1h}
      - {at_s: 10, name: plug, fault: inverter_silence, unit: BESS_01}
      - {at_s: 20, clear: inverter_silence, unit: BESS_01}
      - {at_s: 25, operator: reset BESS_01}
      - {at_s: 26, name: resume, operator: resume BESS_01}
    expect:
      - {after: work, within_s: 4, until_s: end, unit: BESS_01, power_kw: 0}
      - {after: resume, within_s: 2, until_s: end, unit: BESS_01, mode: [maintenance, tripped, offline]}
    """, """
Attack: a unit is booked for maintenance for 1 h; the technician pulls the inverter's plug (trip); a colleague resets and resumes the unit; the site asks for 80 kW.
Must be true: the unit's power stays 0 within the booked hour and it does not come back to service (13.11: "A trip ends maintenance: ... power within the booked hour").
""")
case('11-site-resume-and-maintenance', 'A site-wide resume ends no maintenance and no standby.', two(control='enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: 80'), """
    duration_s: 60
    steps:
      - {at_s: 2, name: work, operator: mode BESS_01 maintenance --for 1h}
      - {at_s: 3, name: rest, operator: mode BESS_02 standby --for 2h}
      - {at_s: 10, operator: stop}
      - {at_s: 15, name: resume, operator: resume}
    expect:
      - {after: rest, within_s: 4, until_s: end, power_kw: 0}
    """, "Attack: one unit in maintenance, one in a standby of 2 h; somebody stops and resumes the site.\nMust be true: both stay at zero (13.11). Probably right on the base: regression.")
case('11-override-set-while-tripped', 'A power asked for while tripped does not lie in wait.', two(), """
    duration_s: 50
    steps:
      - {at_s: 2, name: trip, fault: inverter_fault, unit: BESS_01}
      - {at_s: 6, clear: inverter_fault, unit: BESS_01}
      - {at_s: 8, name: ask, operator: setpoint 50 --unit BESS_01 --for 1h}
      - {at_s: 20, operator: reset BESS_01}
      - {at_s: 22, name: resume, operator: resume BESS_01}
    expect:
      - {after: trip, within_s: 2, unit: BESS_01, mode: tripped}
      - {after: resume, until_s: end, unit: BESS_01, power_kw: 0}
    """, """
Attack: somebody asks a tripped unit for 50 kW; later another one resets and resumes it, with nothing else asking for power.
Must be true: no power flows after reset and resume: 0 +- 1 kW to the end (13.11: "An override set while tripped acts after reset and resume").
""")
case('11-two-hours-of-standby-survive-a-freeze', 'A pause of the machine does not shorten a standby.', two(control='enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: 80'), """
    duration_s: 60
    steps:
      - {at_s: 2, name: rest, operator: mode BESS_01 standby --for 2h}
      - {at_s: 10, daemon: stop}
      - {at_s: 20, name: on, daemon: continue}
    expect:
      - {after: rest, within_s: 4, until_s: end, unit: BESS_01, power_kw: 0}
    """, "Attack: standby for 2 h, the process stands still for 10 s, goes on.\nMust be true: the unit stays at zero (13.11 \"After a suspension a 10 s standby replaces an operator's two hours\"). needs: a fault \"suspend\" (CLOCK_BOOTTIME ahead of CLOCK_MONOTONIC) for the true attack; SIGSTOP is the nearest the format has.")
case('11-door-shuts-and-power-comes-back', 'A door that shuts is nobody\'s word that the hands are out (only where the row asks for it).', io2(control='enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: 80'), """
    duration_s: 30
    steps:
      - {at_s: 4, name: open, fault: door, unit: BESS_01}
      - {at_s: 12, name: shut, clear: door, unit: BESS_01}
    expect:
      - {after: open, within_s: 2.5, until_s: 12, unit: BESS_01, power_kw: 0}
    """, "Attack: the door is opened and shut.\nMust be true: zero within 2.5 s while open (regression). needs: the name of the new key by which the door row asks for open contactors and a hold (13.11 \"may ask\"); not expressible before it exists.")

# ------------------------------------------------------------------ 12 flicker
def flick(fault, unit, on, every, n, start=5, more='', tail=''):
    return (f"      - {{at_s: {start}, name: flicker, fault: {fault}, unit: {unit}{more}, times: {n}, every_s: {every}}}\n"
            f"      - {{at_s: {start+on:.3f}, clear: {fault}, unit: {unit}, times: {n}, every_s: {every}}}")
case('12-smoke-0.9-s-of-each-3-s', 'Smoke that flickers under its debounce is smoke.', io2(), f"""
    duration_s: 70
    steps:
      - {{at_s: 0.5, operator: setpoint 60 --for 3600s}}
{flick('smoke', 'BESS_01', 0.9, 3, 20)}
    expect:
      - {{after: flicker, within_s: 30, unit: BESS_01, event: trip, cause: smoke}}
      - {{from_s: 36, until_s: end, unit: BESS_01, power_kw: 0}}
      - {{from_s: 36, until_s: end, unit: BESS_01, mode: tripped}}
    """, """
Attack: the smoke detector's circuit opens for 0.9 s of every 3 s (debounce 1 s).
Must be true: smoke is latched within 30 s = 10 flickers, power 0 (13.12: ">= 3 in 10 min, latching for smoke, gas, contacts, drop-outs").
""")
case('12-main-contact-flickers-at-load', 'A main contact that reports open 0.4 s of each second at load is a fault.', io2(), f"""
    duration_s: 50
    steps:
      - {{at_s: 0.5, operator: setpoint 60 --for 3600s}}
{flick('wire_break', 'BESS_01', 0.4, 1, 40, more=', input: main_contactor')}
    expect:
      - {{after: flicker, within_s: 20, unit: BESS_01, event: trip}}
      - {{from_s: 30, until_s: end, unit: BESS_01, power_kw: 0}}
    """, """
Attack: the auxiliary contact of the main contactor reads open for 0.4 s of each second while 30 kW flow (debounce 500 ms).
Must be true: a trip within 20 s (20 flickers), power 0 (13.12: "a main contact open 0.4 s of each second at load"; contacts latch).
""")
case('12-forty-battery-drop-outs', 'Forty drop-outs in ten minutes are not forty first ones.', io2(), f"""
    duration_s: 400
    steps:
      - {{at_s: 0.5, operator: setpoint 60 --for 3600s}}
{flick('bms_silence', 'BESS_01', 0.9, 15, 25)}
    expect:
      - {{after: flicker, within_s: 200, unit: BESS_01, event: trip}}
      - {{from_s: 300, until_s: end, unit: BESS_01, power_kw: 0}}
    """, """
Attack: the battery of a unit with contactors of our own sends nothing for 0.9 s every 15 s (40 an hour-quarter; each under the 1.24 s of lost_bms).
Must be true: latched within 200 s (13 drop-outs; the text's default is >= 3 in 10 min, "latching for ... drop-outs; precharge cycles bounded"), power 0 from 300 s on.
""")
case('12-cell-at-3.75-v-a-fifth-of-the-time', 'A cell beyond its limit for a fifth of the time is told.', one(), f"""
    duration_s: 130
    steps:
      - {{at_s: 0.5, operator: setpoint -60 --for 3600s}}
{flick('cell_overvoltage', 'BESS_01', 0.19, 1, 110, more=', voltage_v: 3.75')}
    expect:
      - {{after: flicker, within_s: 100, unit: BESS_01, event: trip, cause: cell_overvoltage}}
    """, """
Attack: one cell shows 3.75 V (limit 3.65, BMS's own 3.80) for 0.19 s of each second while the unit is asked to charge; the row's debounce is 300 ms.
Must be true: cell_overvoltage trips within 100 s = 20 s of time beyond the limit in total, 60 times its debounce (13.12: "a cell at 3.75 V for 20 % of the time" under its debounce for ever; "a leaky sum of time beyond the limit, and counts over a window").
""")
flap = '\n'.join(f"      - {{at_s: {5+i*0.5}, fault: bms_limits, unit: BESS_01, charge_a: 200, discharge_a: {'20' if i%2==0 else '280'}{', name: flap' if i==0 else ''}}}" for i in range(70))
case('12-limits-flap', 'Limits that flap do not make the power flap.', one(), f"""
    duration_s: 42
    steps:
      - {{at_s: 0.5, operator: setpoint 70 --for 3600s}}
{flap}
    expect:
      - {{from_s: 10, until_s: 39, power_kw: [-1, 40]}}
    """, """
Attack: the BMS's discharge limit changes between 20 A (5 kW) and 280 A (70 kW) every 0.5 s, endless; 70 kW are asked for.
Must be true: from 5 s on power stays below 40 kW: limits close at once and "widen slowly" (13.12: "Limits that flap (5 to 70 kW inside 0.5 s, endless) widen slowly"); 40 = more than half of the way is not slow.
""")

# ------------------------------------------------------------------ 14 second opinion
case('14-second-sender', 'The strictest of two senders wins.', one(), """
    duration_s: 40
    steps:
      - {at_s: 1, fault: bms_limits, unit: BESS_01, charge_a: 0, discharge_a: 0}
      - {at_s: 2, name: twin, fault: bms_second_sender, unit: BESS_01}
      - {at_s: 5, name: ask, operator: setpoint 90 --for 3600s}
    expect:
      - {after: ask, until_s: end, power_kw: 0}
    """, """
Attack: the true battery says 0 A in both directions; a second sender on the bus says 200 kW are welcome.
Must be true: true power 0 +- 1 kW to the end (13.14: "90 kW while the true battery says 0"; "the strictest value wins").
""")
case('14-second-sender-two-units', 'Also where it begins in the middle of power.', two(), """
    duration_s: 40
    steps:
      - {at_s: 0.5, operator: setpoint 120 --for 3600s}
      - {at_s: 5, fault: bms_second_sender, unit: BESS_02}
      - {at_s: 10, name: zero, fault: bms_limits, unit: BESS_02, charge_a: 0, discharge_a: 0}
    expect:
      - {after: zero, within_s: 1, until_s: end, unit: BESS_02, power_kw: 0}
    """, "Attack: a second sender appears at 60 kW; then the true battery closes both directions.\nMust be true: its power is 0 +- 1 within 1 s and to the end (13.14).")
case('14-current-sensor-off-by-200-a', 'Battery current against the inverter\'s.', one(), """
    duration_s: 60
    steps:
      - {at_s: 0.5, operator: setpoint 60 --for 3600s}
      - {at_s: 6, name: off, fault: bms_current_offset, unit: BESS_01, offset_a: -200}
    expect:
      - {from_s: 3, until_s: 5.9, power_kw: 60, tolerance_kw: 2}
    """, """
Attack: at 60 kW (230 A) the BMS's current sensor reads 200 A too little.
Must be true: something about it is told of the unit within 30 s (an event whose text or cause names the current) (13.14 "battery current against the inverter's").
""", {'told': {'after': 'off', 'within': 30, 'unit': 'BESS_01', 'any': r'(?i)current|sensor|implausib|contradict|disagree'}})
case('14-pack-voltage-against-cells', 'Cells against pack voltage.', one(), """
    duration_s: 60
    steps:
      - {at_s: 0.5, operator: setpoint 60 --for 3600s}
      - {at_s: 6, name: off, fault: bms_pack_voltage, unit: BESS_01, share_percent: 88}
    expect:
      - {from_s: 3, until_s: 5.9, power_kw: 60, tolerance_kw: 2}
    """, """
Attack: the BMS's pack voltage shows 88 % of the sum of its cells and of the inverter's DC voltage.
Must be true: told of the unit within 30 s (13.14 "cells against pack voltage").
""", {'told': {'after': 'off', 'within': 30, 'unit': 'BESS_01', 'any': r'.'}})
case('14-state-of-charge-jumps', 'A state of charge that jumps is told.', one(), """
    duration_s: 60
    steps:
      - {at_s: 0.5, operator: setpoint -60 --for 3600s}
      - {at_s: 6, name: jump, fault: bms_soc, unit: BESS_01, percent: 30}
    expect:
      - {from_s: 3, until_s: 5.9, power_kw: -60, tolerance_kw: 2}
    """, """
Attack: the BMS's state of charge jumps from 60 to 30 % in one period at 60 kW of charging.
Must be true: told of the unit within 30 s (13.14 "state of charge that jumps": 30 % of 250 kWh in 0.2 s is 1.35 GW).
""", {'told': {'after': 'jump', 'within': 30, 'unit': 'BESS_01', 'any': r'.'}})

# ------------------------------------------------------------------ 15 ramp
R2 = 'enter_service_s: 2, ramp_kw_per_s: 2'
case('15-return-after-maintenance', 'A unit that returns follows the ramp.', two(control=R2), """
    duration_s: 110
    steps:
      - {at_s: 0.5, operator: setpoint 90 --for 3600s}
      - {at_s: 60, operator: mode BESS_01 maintenance --for 1h}
      - {at_s: 80, name: back, operator: mode BESS_01 auto}
    expect:
      - {from_s: 55, until_s: 59.9, unit: BESS_01, power_kw: 45, tolerance_kw: 3}
      - {from_s: 64, until_s: 79.9, unit: BESS_01, power_kw: 0}
      - {after: back, until_s: 86, unit: BESS_01, power_kw: [-1, 13], why: "6 s at 2 kW/s, and a kilowatt"}
    """, """
Attack: two units at 45 kW each on a ramp of 2 kW/s; one comes back from maintenance.
Must be true: its true power <= 13 kW for 6 s after the word (13.15: "a returning one takes 0 -> 45 kW at once on a 2 kW/s ramp").
""")
case('15-return-after-a-trip', 'Also after reset and resume.', two(control=R2), """
    duration_s: 120
    steps:
      - {at_s: 0.5, operator: setpoint -90 --for 3600s}
      - {at_s: 60, fault: bms_silence, unit: BESS_02}
      - {at_s: 70, clear: bms_silence, unit: BESS_02}
      - {at_s: 80, operator: reset BESS_02}
      - {at_s: 85, name: back, operator: resume BESS_02}
    expect:
      - {from_s: 55, until_s: 59.9, unit: BESS_02, power_kw: -45, tolerance_kw: 3}
      - {after: back, until_s: 91, unit: BESS_02, power_kw: [-13, 1]}
      - {after: back, within_s: 30, until_s: end, unit: BESS_02, power_kw: -45, tolerance_kw: 4}
    """, "Attack: two units charging at 45 kW each, ramp 2 kW/s; one is lost for 10 s, reset and resumed.\nMust be true: its true power stays above -13 kW for 6 s after the resume, and reaches -45 within 30 s (13.15).")
case('15-return-with-own-contactors', 'Also behind a precharge.', io2(control=R2), """
    duration_s: 130
    steps:
      - {at_s: 0.5, operator: setpoint 90 --for 3600s}
      - {at_s: 60, operator: mode BESS_01 maintenance --for 1h}
      - {at_s: 85, name: back, operator: mode BESS_01 auto}
    expect:
      - {from_s: 55, until_s: 59.9, unit: BESS_01, power_kw: 45, tolerance_kw: 3}
      - {after: back, until_s: 91, unit: BESS_01, power_kw: [-1, 13]}
      - {after: back, within_s: 40, until_s: end, unit: BESS_01, power_kw: 45, tolerance_kw: 4}
    """, "Attack: as 15-return-after-maintenance, the unit's contactors are ours (precharge first).\nMust be true: <= 13 kW for 6 s after the word; 45 kW within 40 s (13.15).")

# ------------------------------------------------------------------ 16
case('16-zero-behind-a-refused-write', 'A refused write does not hold back the zero behind it.', one(control='enter_service_s: 2, ramp_kw_per_s: 5000'), """
    duration_s: 30
    steps:
      - {at_s: 0.5, operator: setpoint 90 --for 3600s}
      - {at_s: 6, fault: inverter_refuses, unit: BESS_01, code: 6}
      - {at_s: 6, fault: estop_is_not_here, unit: BESS_01}
    expect:
      - {within_s: 1, mode: running}
    """.replace("      - {at_s: 6, fault: estop_is_not_here, unit: BESS_01}\n", "      - {at_s: 6.1, name: stop, operator: stop}\n      - {at_s: 6.15, name: free, clear: inverter_refuses, unit: BESS_01}\n").replace("{within_s: 1, mode: running}", "{after: free, within_s: 0.35, until_s: end, power_kw: 0, time_to_safe: true}").replace("operator: stop", "operator: mode BESS_01 maintenance --for 1h"), """
Attack: the inverter refuses (exception 6, busy) for 0.15 s; in the middle of it the unit is taken to zero (maintenance).
Must be true: true power 0 within 0.35 s of the first moment at which the device takes writes again: a cycle (20 ms) + write + 0.2 s of the inverter's own ramp; 250 ms more would break it (13.16 "a refused write that delays zero by 250 ms"). The virtual tier has no link of the daemon on the base (hil/README): it may pass there.
""")

case('03-io-module-dies-at-full-load', 'A module that dies takes its coils with it only when nothing flows.', io2(), """
    duration_s: 30
    steps:
      - {at_s: 0.5, operator: setpoint 190 --for 600s}
      - {at_s: 5, name: dead, fault: io_silence, unit: BESS_01}
    expect:
      - {from_s: 3, until_s: 4.9, unit: BESS_01, power_kw: [80, 100]}
      - {after: dead, within_s: 5, until_s: end, unit: BESS_01, current_a: 0, why: load-gone}
      - {after: dead, within_s: 20, unit: BESS_01, contactors: open, why: contact-open}
    """, """
Attack: the I/O module stops answering at 95 kW; its own watchdog (5 s) drops the coils.
Must be true: the current is gone before the contact parts (13.3 "Permit, I/O watchdog ... outlast the inverter's reversion"). With a watchdog of 5 s probably right on the base: regression.
""", {'order': ORDER})
case('04-two-units-frozen-meter-52-hz', 'The same upwards, with two units and a frozen meter.', two(control='enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: -80', grid=VDE), """
    start: cold
    duration_s: 100
    steps:
      - {at_s: 45, name: blind, fault: meter_frozen}
      - {at_s: 50, name: out, frequency_hz: 53}
    expect:
      - {within_s: 40, until_s: 44.9, power_kw: -80, tolerance_kw: 2}
      - {after: out, within_s: 3, until_s: end, power_kw: 0, time_to_safe: true}
    """, """
Attack: two units charge at 80 kW, the meter stands still, the grid goes to 53 Hz (vde4105 leaves above 51.5 Hz).
Must be true: 0 within 3 s and to the end (13.4; both inverters show 53 Hz).
""")
case('11-standby-ends-by-time', 'An end by time starts nothing.', two(control='enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: 80'), """
    duration_s: 50
    steps:
      - {at_s: 2, name: rest, operator: mode BESS_01 standby --for 10s}
      - {at_s: 40, name: word, operator: mode BESS_01 auto}
    expect:
      - {after: rest, within_s: 3, until_s: 39.9, unit: BESS_01, power_kw: 0}
    """, """
Attack: an operator's standby of 10 s runs out with nobody there, while the site asks for 80 kW.
Must be true: no power before somebody's word (13.11: "Maintenance, a standby and a hold end by that person, an explicit word that names them, or their time ...; an end by time starts nothing", taken by the letter).
""")
case('14-second-sender-hides-a-hot-cell', 'The hottest of two senders wins.', io1(), """
    duration_s: 40
    steps:
      - {at_s: 0.5, operator: setpoint 60 --for 3600s}
      - {at_s: 4, fault: bms_second_sender, unit: BESS_01}
      - {at_s: 8, name: hot, fault: cell_temperature, unit: BESS_01, temperature_c: 64}
    expect:
      - {after: hot, within_s: 5, until_s: end, unit: BESS_01, power_kw: 0}
    """, """
Attack: a second sender says 25 degrees in the battery's name; then a cell of the true battery is at 64 (trip at 60; its own BMS opens at 68).
Must be true: power 0 within 5 s (debounce 1 s, period 0.2 s, ramp; 4 times that) and to the end (13.14 "the strictest value wins").
""")
AUTO = 'enter_service_s: 2, ramp_kw_per_s: 200, base_point_kw: 80, resume_after_restart: true'
for nm, words, extra in [('maintenance', 'mode BESS_01 maintenance --for 1h', ''), ('standby', 'mode BESS_01 standby --for 2h', ''), ('stop', 'stop', '')]:
    for end in ['kill', 'terminate']:
        case(f'11-{nm}-survives-{end}', f'A {nm} is a person\'s word; the end of a process does not end it.', two(control=AUTO), f"""
    duration_s: 40
    steps:
      - {{at_s: 2, name: word, operator: {words}}}
      - {{at_s: 8, daemon: {end}}}
      - {{at_s: 10, name: start, daemon: restart}}
    expect:
      - {{after: word, within_s: 4, until_s: end, unit: BESS_01, power_kw: 0}}
{'' if nm == 'stop' else '      - {after: start, within_s: 20, until_s: end, unit: BESS_02, power_kw: [40, 100], why: "the other one proves that units resume here"}'}
    """, f"""
Attack: a {nm} is asked for; then the daemon {'is killed' if end == 'kill' else 'is ended in order (an upgrade)'} and started again with resume_after_restart: true, while the site asks for 80 kW.
Must be true: the unit's power is 0 to the end, long before the booked time is over (13.11: "Maintenance, a standby and a hold end by that person, an explicit word that names them, or their time, and by nothing else").
""")
print('written')
