"""14-configs: one YAML a dangerous configuration of issue 14.7, each derived from a production site that is accepted."""
import copy, yaml, os
D = 'hil/attacks/cases/14-configs'; os.makedirs(D, exist_ok=True)
for f in os.listdir(D):
    if f.endswith('.yaml'): os.unlink(f'{D}/{f}')
def unit(n):
    return {'id': f'BESS_0{n}', 'campus_id': 'C', 'capacity_kwh': 250, 'max_power_kw': 100, 'min_soc_percent': 10, 'max_soc_percent': 90,
            'bms': {'transport': f'socketcan:can{n-1}', 'period_ms': 1000, 'profile': './config/profiles/pylontech-hv.yaml', 'frozen_samples': 120},
            'modbus': {'host': f'10.0.0.{10*n}', 'port': 502}, 'reversion_s': 3, 'contactor_open_ms': 80,
            'contactors': {'drive': 'own', 'precharge_current_max_a': 10, 'discharged_v': 60},
            'io_module': {'modbus': {'host': f'10.0.0.{10*n+1}', 'port': 502}, 'watchdog_ms': 5000,
                          'inputs': [{'number': 1, 'name': 'emergency_stop'}, {'number': 2, 'name': 'smoke'}, {'number': 7, 'name': 'main_contactor'}],
                          'coils': [{'number': 1, 'drives': 'main_contactor'}, {'number': 2, 'drives': 'precharge_contactor'}]}}
BASE = {'mode': 'production', 'site': {'id': 'p', 'import_limit_kw': 250, 'export_limit_kw': 250, 'site_load_max_kw': 20},
        'control': {'enter_service_s': 300},
        'grid_integration': {'frequency_source': 'meter', 'supervision': {'preset': 'vde4105', 'nominal_voltage_v': 400}},
        'grid_meter': {'modbus': {'host': '10.0.0.2', 'port': 502}, 'poll_ms': 50},
        'bess_units': [unit(1), unit(2)], 'interlocks': {'chemistry': 'lfp'},
        'paths': {'state_directory': '/var/lib/ballast', 'control_socket': '/run/ballast/control.sock'}}
def write(name, change=None, base=BASE):
    c = copy.deepcopy(base)
    if change: change(c)
    yaml.safe_dump(c, open(f'{D}/{name}.yaml', 'w'), sort_keys=False)
U = lambda c: c['bess_units'][0]
def row(i, **k): return lambda c: c['interlocks'].update(rows=[dict(id=i, source='x', **k)])
def s(*path_value):
    *path, value = path_value
    def f(c):
        for p in path[:-1]: c = c[p]
        if value is None: c.pop(path[-1], None)
        else: c[path[-1]] = value
    return f
write('00-baseline-accepted')
write('400-c-unit', lambda c: (U(c).update(max_power_kw=100000), c['site'].update(import_limit_kw=200000, export_limit_kw=200000)))
write('capacity-in-wh', lambda c: U(c).update(capacity_kwh=250000))
write('soc-as-share', lambda c: U(c).update(min_soc_percent=0.1, max_soc_percent=0.9))
write('accept-chemistry-nmc-beside-lfp-profile', s('interlocks', 'chemistry', 'nmc'))
write('accept-lfp-cell-trip-3.8', row('cell_overvoltage', trip_v=3.8))
for r in ['thermal_runaway', 'insulation', 'inverter_fault', 'pack_overvoltage', 'smoke']: write(f'{r}-off', row(r, enabled=False))
write('accept-cell_spread-off', row('cell_spread', enabled=False))
write('thermal_runaway-reset-by-operator', row('thermal_runaway', reset='operator'))
write('accept-supervision-meter-each-60-s', s('grid_meter', 'poll_ms', 60000))
write('nominal-voltage-137', s('grid_integration', 'supervision', 'nominal_voltage_v', 137))
write('frozen_samples-0', lambda c: U(c)['bms'].update(frozen_samples=0))
write('frequency_stale_ms-10000', s('grid_integration', 'frequency_stale_ms', 10000))
def no_stop(c, units):
    for i in units: c['bess_units'][i]['io_module']['inputs'] = [x for x in c['bess_units'][i]['io_module']['inputs'] if x['name'] != 'emergency_stop']
write('no-emergency-stop', lambda c: no_stop(c, [0, 1]))
write('emergency-stop-at-one-unit-only', lambda c: no_stop(c, [1]))
def no_module(c):
    for u in c['bess_units']:
        for k in ('io_module', 'contactors', 'contactor_open_ms'): u.pop(k)
write('no-emergency-stop-no-module', no_module)
write('zero_current_a-100', lambda c: U(c)['contactors'].update(zero_current_a=100))
write('precharge-without-pause', lambda c: U(c)['contactors'].update(precharge_pause_ms=0))
write('opening-under-load-after-100-ms', lambda c: U(c)['contactors'].update(open_under_load_after_ms=100))
write('state-in-tmp', s('paths', 'state_directory', '/tmp/ballast'))
write('state-in-var-tmp-by-dots', s('paths', 'state_directory', '/var/lib/../../tmp/ballast'))
write('state-relative', s('paths', 'state_directory', './state'))
write('simulation-with-foreign-addresses', s('mode', 'simulation'))
write('power-far-beyond-the-limits', lambda c: c['site'].update(import_limit_kw=5, export_limit_kw=5))
write('accept-site_load_max_kw-left-out', s('site', 'site_load_max_kw', None))
write('watchdog-shorter-than-reversion', lambda c: (U(c).update(reversion_s=10), U(c)['io_module'].update(watchdog_ms=500)))
open(D + '/WHAT.md', 'w').write("""One dangerous configuration of issue 14.7 a file, each by one change of `00-baseline-accepted.yaml` (production, two units, own
contactors, LFP, supervised). `ballastd --config FILE --check` must refuse each (exit != 0); the baseline must be accepted, else
the refusals prove nothing. Those named accept-… are the ones marked * (they need a named person's `accept:`, which is not there).
`watchdog-shorter-than-reversion` is 13.3's ("outlast the inverter's reversion, or --check refuses").
`nameplate` is judged when the inverter is seen: 07-nameplate-of-the-inverter.

Base: see ../BASE.md
""")
open(D + '/run.sh', 'w').write('''#!/bin/bash
# run.sh BIN_DIR: each dangerous configuration is refused, the baseline is accepted
B=$(realpath "$1"); cd "$(dirname "$0")"; bad=(); n=0; why=
timeout 10 $B/ballastd --config 00-baseline-accepted.yaml --check >/tmp/$$.out 2>&1 || { bad+=(baseline-refused); why=" baseline: $(head -c 300 /tmp/$$.out | tr '\\n' ' ')"; }
for f in [!0]*.yaml; do
  n=$((n+1)); timeout 10 $B/ballastd --config $f --check >/tmp/$$.out 2>&1 </dev/null && bad+=(${f%.yaml})
  [ -n "$VERBOSE" ] && echo "$f: $(head -c 250 /tmp/$$.out | tr '\\n' ' ')"
done
rm -f /tmp/$$.out
if [ ${#bad[@]} = 0 ]; then echo "HOLDS: $n refused, baseline accepted"; else echo "BROKEN: accepted: ${bad[*]} (${#bad[@]} of $n)$why"; exit 1; fi
''')
os.chmod(D + '/run.sh', 0o755)
