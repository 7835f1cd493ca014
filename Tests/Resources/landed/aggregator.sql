BEGIN TRANSACTION;
CREATE TABLE alarm (
    rule TEXT NOT NULL, site TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL,
    raised_ms INTEGER, since_ms INTEGER, acknowledged_by TEXT, acknowledged_ms INTEGER,
    acknowledged_why TEXT, shelved_by TEXT, shelved_ms INTEGER, shelved_why TEXT,
    shelved_until_ms INTEGER, escalated INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (rule, site, subject));
INSERT INTO "alarm" VALUES('held','demo','','pending',NULL,1795553070368,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,'');
CREATE TABLE alarm_notice (
    id INTEGER PRIMARY KEY, way TEXT NOT NULL, told TEXT NOT NULL, severity TEXT NOT NULL,
    rule TEXT NOT NULL, site TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL,
    at_ms INTEGER NOT NULL, tries INTEGER NOT NULL, due_ms INTEGER NOT NULL, sent_ms INTEGER,
    fault TEXT);
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at_ms INTEGER NOT NULL, who TEXT NOT NULL,
    address TEXT NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, status INTEGER NOT NULL,
    why TEXT NOT NULL, count INTEGER NOT NULL, chain INTEGER NOT NULL DEFAULT 0);
INSERT INTO "audit" VALUES(1,1795553062020,'site demo','127.0.0.1','LOGIN','',200,'',1,2);
INSERT INTO "audit" VALUES(2,1795553073236,'','127.0.0.1','GET','',401,'there is no header "Authorization: Bearer TOKEN"',2,7);
INSERT INTO "audit" VALUES(3,1795553073243,'reader','127.0.0.1','LOGIN','',200,'',1,7);
CREATE TABLE capture (
    site TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
    stored INTEGER NOT NULL, received_at TEXT NOT NULL, chain INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (site, name));
CREATE TABLE capture_part (
    site TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (site, name, at));
CREATE TABLE chain (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, site TEXT NOT NULL,
    epoch TEXT NOT NULL, from_n INTEGER NOT NULL, to_n INTEGER NOT NULL, content TEXT NOT NULL,
    hash TEXT NOT NULL);
INSERT INTO "chain" VALUES(1,'report','demo','2f9ae61db51b66f7cc7f542d0c243717',1,17,'7e375a673c08f44252e0e79f54cd24f7231042861a08c80a9da4ca3e34c7f398','434430c7b06da429ab71bd6813449ffb9e153782122dad2b696d2a920967ff73');
INSERT INTO "chain" VALUES(2,'audit','','',1,1,'ae0b76e2efb01756cc6ecdf2a355d66602a962b740a42a948f3900c98bbf36a5','6894ab173ac08b63cc8763157fd3058fd12b580fc4092486cb616b5bbbb05cd9');
INSERT INTO "chain" VALUES(3,'report','demo','2f9ae61db51b66f7cc7f542d0c243717',18,18,'46f70bf315bc97213a607f6c7afb4b6b668eae2d19effc0139e96c5ec0f07a0c','22af70758b92ab358f4f7d43423464473dec61445a009e6cf7ab0aafd8a10236');
INSERT INTO "chain" VALUES(4,'report','demo','2f9ae61db51b66f7cc7f542d0c243717',19,22,'f4c60276cba15f42e266833d41754ab1801d4b90a62c2854d02cc286f5ac7c1c','221c9e8ab5a2379dc58a780e9e25ac9cb24f3f71b1d19d6f8f0b51a00047612f');
INSERT INTO "chain" VALUES(5,'report','demo','2f9ae61db51b66f7cc7f542d0c243717',23,24,'5522e62d0b8a960143c9daaf2fdf6aba4dfa5fcdee02a9ea440bacdd49e8e118','58a589171aec1689e3b24d9c3cccabd644c557974130fdc59e713358726a7b73');
INSERT INTO "chain" VALUES(6,'report','demo','2f9ae61db51b66f7cc7f542d0c243717',25,25,'1da4802f3177a0640f43381d1fc8b3c2dd3ceb5d9bd74058ca4ee93b7adbc06e','36753a4ccf90f0ccf11664cae08ae2972dc2158773acf794c79ae7411933093d');
INSERT INTO "chain" VALUES(7,'audit','','',2,3,'65d5529539f729281e2124242a4a648f51c29a649bea7c2c1c85e55e6e4a8eac','ed40c0932b6dbc06c7529180d4736a7fc38b033c333f20d19ea028509544a2c9');
INSERT INTO "chain" VALUES(8,'report','demo','2f9ae61db51b66f7cc7f542d0c243717',26,26,'45a1505c9b88c540f74d704a74906ca7ca89b00589d72889c78aa08f426a3f16','5654ac5e332d629d8b0333b97ed4f681f0bb4a28438512b079d08c10a083e969');
INSERT INTO "chain" VALUES(9,'report','demo','2f9ae61db51b66f7cc7f542d0c243717',27,27,'5b7a5f7eaa2b483374b842b4d444ab309b2bcfa3cdfa9b48302ef1d86d6204b7','f9b96e12efa0cda744fb05ab6fc141b42fb75e4ffde8f388a43ce1be95d76947');
CREATE TABLE differing (
    site TEXT NOT NULL, epoch TEXT NOT NULL, n INTEGER NOT NULL, at_ms INTEGER NOT NULL,
    data TEXT NOT NULL, PRIMARY KEY (site, epoch, n));
CREATE TABLE gap (
    site TEXT NOT NULL, epoch TEXT NOT NULL,
    from_n INTEGER NOT NULL, to_n INTEGER NOT NULL, told_ms INTEGER NOT NULL DEFAULT 0, chain INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, epoch, from_n, to_n));
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('v1');
INSERT INTO "grdb_migrations" VALUES('v2');
INSERT INTO "grdb_migrations" VALUES('v3');
INSERT INTO "grdb_migrations" VALUES('v4');
INSERT INTO "grdb_migrations" VALUES('v5');
INSERT INTO "grdb_migrations" VALUES('v6');
INSERT INTO "grdb_migrations" VALUES('alarms');
CREATE TABLE lease (
    site TEXT NOT NULL, sequence INTEGER NOT NULL, dispatch TEXT NOT NULL, power INTEGER,
    until INTEGER NOT NULL, asked_by TEXT NOT NULL, reason TEXT NOT NULL, asked_at TEXT NOT NULL,
    state TEXT NOT NULL, answer TEXT NOT NULL, bytes TEXT NOT NULL,
    PRIMARY KEY (site, sequence), UNIQUE (site, dispatch));
CREATE TABLE minute (
    site TEXT NOT NULL, unit TEXT NOT NULL, channel TEXT NOT NULL, start_ms INTEGER NOT NULL,
    low REAL NOT NULL, high REAL NOT NULL, mean REAL NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (site, unit, channel, start_ms)) WITHOUT ROWID;
INSERT INTO "minute" VALUES('demo','','base_point_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','frequency_hz',1795553040000,50.0,50.0,5.00000000000000071036e+01,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','grid.allowed_percent',1795553040000,100.0,100.0,1.00000000000000014213e+02,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','grid.energy_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','grid.event_shift_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','meter_power_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','response_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','setpoint_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','site_power_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','','target_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','asked_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','cell_temperature_max_c',1795553040000,25.0,25.0,2.50000000000000035518e+01,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','cell_temperature_min_c',1795553040000,25.0,25.0,2.50000000000000035518e+01,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','cell_voltage_max_v',1795553040000,3.311,3.311,3.31099999999999949906e+00,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','cell_voltage_min_v',1795553040000,3.309,3.309,3.309,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','charge_limit_kw',1795553040000,-100.0,0.0,-4.7039772727272733733e+01,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','discharge_limit_kw',1795553040000,0.0,100.0,4.7039772727272733733e+01,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','pack_current_a',1795553040000,0.8,0.8,8.00000000000000155431e-01,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','pack_voltage_v',1795553040000,264.8,264.8,264.8,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','power_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','rating_kw',1795553040000,100.0,100.0,1.00000000000000014213e+02,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','setpoint_kw',1795553040000,0.0,0.0,0.0,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','soc_percent',1795553040000,59.97,59.97,5.99700000000000059668e+01,1.75999999999999978683e+01);
INSERT INTO "minute" VALUES('demo','BESS_01','soh_percent',1795553040000,100.0,100.0,1.00000000000000014213e+02,1.75999999999999978683e+01);
CREATE TABLE record (
    site TEXT NOT NULL, epoch TEXT NOT NULL, n INTEGER NOT NULL,
    kind TEXT NOT NULL, received_at TEXT NOT NULL, data TEXT NOT NULL, t_ms INTEGER NOT NULL DEFAULT 0, event TEXT NOT NULL DEFAULT '', chain INTEGER NOT NULL DEFAULT 0, mark TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (site, epoch, n));
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',1,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"realtime","priority":6,"mono_ms":1605785,"t_ms":1795553059149,"at":"2026-11-24T20:44:19.149Z","mode":"simulation","text":"real time: SCHED_FIFO 50, memory locked (throttled to 95 % of each 1000 ms)"}',1795553059149,'realtime',1,'64b1741a8cf245b3');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',2,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"started","priority":5,"mono_ms":1605790,"t_ms":1795553059154,"at":"2026-11-24T20:44:19.154Z","mode":"simulation","text":"site demo (simulation): 1 units, period 20.0 ms; every unit starts out of service","digest":"0356b48e4660df6ae451496092ad794dcdb0ba60d6f2f0ad99b968a1bd93d1a5"}',1795553059154,'started',1,'0bb0b3ca0d4e6feb');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',3,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"frequency_lost","priority":4,"mono_ms":1605785,"t_ms":1795553059164,"at":"2026-11-24T20:44:19.164Z","mode":"simulation","text":"no fresh frequency; droop is held, then ramps to zero","cycle":1}',1795553059164,'frequency_lost',1,'a89ec7cb65bced3e');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',4,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"frequency_back","priority":5,"mono_ms":1605799,"t_ms":1795553059164,"at":"2026-11-24T20:44:19.164Z","mode":"simulation","text":"frequency is measured again","cycle":2}',1795553059164,'frequency_back',1,'6b55766d20211ac1');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',5,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"link_up","priority":5,"mono_ms":1605800,"t_ms":1795553059165,"at":"2026-11-24T20:44:19.165Z","mode":"simulation","text":"can cannelloni:127.0.0.1:20881: connected","link":"can cannelloni:127.0.0.1:20881"}',1795553059165,'link_up',1,'869d0d6158c9e4da');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',6,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"link_up","priority":5,"mono_ms":1605800,"t_ms":1795553059165,"at":"2026-11-24T20:44:19.165Z","mode":"simulation","text":"modbus 127.0.0.1:15881: connected","link":"modbus 127.0.0.1:15881"}',1795553059165,'link_up',1,'f72ebecc735015be');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',7,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"scanned","priority":6,"mono_ms":1605800,"t_ms":1795553059165,"at":"2026-11-24T20:44:19.165Z","mode":"simulation","text":"modbus 127.0.0.1:15881: device 1: SunSpec models 1, 103, 120, 701, 702, 704, 713, 121, 122, 123, 124, 703, 715, 802 at 40000","link":"modbus 127.0.0.1:15881"}',1795553059165,'scanned',1,'9105b1c0ee2c1eb0');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',8,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"identified","priority":6,"mono_ms":1605800,"t_ms":1795553059165,"at":"2026-11-24T20:44:19.165Z","mode":"simulation","text":"modbus 127.0.0.1:15881: device 1: Ballast Simulated inverter, serial number BESS_01","link":"modbus 127.0.0.1:15881"}',1795553059165,'identified',1,'3fdfb0bc91152f15');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',9,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"link_up","priority":5,"mono_ms":1605800,"t_ms":1795553059165,"at":"2026-11-24T20:44:19.165Z","mode":"simulation","text":"modbus 127.0.0.1:15880: connected","link":"modbus 127.0.0.1:15880"}',1795553059165,'link_up',1,'db04d7f8f13af605');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',10,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"scanned","priority":6,"mono_ms":1605800,"t_ms":1795553059165,"at":"2026-11-24T20:44:19.165Z","mode":"simulation","text":"modbus 127.0.0.1:15880: device 1: SunSpec models 1, 213, 203 at 40000","link":"modbus 127.0.0.1:15880"}',1795553059165,'scanned',1,'d73af20f59ac8746');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',11,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"identified","priority":6,"mono_ms":1605800,"t_ms":1795553059165,"at":"2026-11-24T20:44:19.165Z","mode":"simulation","text":"modbus 127.0.0.1:15880: device 1: Ballast Simulated meter, serial number METER","link":"modbus 127.0.0.1:15880"}',1795553059165,'identified',1,'45c3f8f18124ed37');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',12,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"control_taken","priority":5,"mono_ms":1605811,"t_ms":1795553059175,"at":"2026-11-24T20:44:19.175Z","mode":"simulation","text":"modbus 127.0.0.1:15881: device 1: setpoint control enabled","link":"modbus 127.0.0.1:15881"}',1795553059175,'control_taken',1,'f9a5a0425cbe6dc5');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',13,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"mode","priority":5,"mono_ms":1605859,"t_ms":1795553059226,"at":"2026-11-24T20:44:19.226Z","mode":"simulation","text":"unit BESS_01: offline → standby","unit":"BESS_01","from":"offline","to":"standby","cycle":5}',1795553059226,'mode',1,'a20911b8f5e17fd3');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',14,'snapshot','2026-11-24T20:44:22.025Z','{"v":1,"kind":"snapshot","mono_ms":1605872,"t_ms":1795553059224,"mode":"simulation","site":"demo","values":{"frequency_uhz":[0,50000000],"base_point_w":[1,0],"response_w":[2,0],"target_w":[3,0],"setpoint_w":[4,0],"meter_power_w":[5,0],"site_power_w":[6,0],"energy_w":[7,0],"event_shift_w":[8,0],"allowed_mpercent":[9,100000],"base_point_by":[10,"default"],"stopped":[11,0],"latches_saved":[12,1],"frequency_source":[13,"meter"],"frequency_health":[14,"good"],"grid_state":[15,null],"grid_cause":[16,null],"meter":[17,"unproven"],"realtime":[18,"real time: SCHED_FIFO 50, memory locked (throttled to 95 % of each 1000 ms)"],"threads_still":[19,""],"accepted":[20,""]},"units":[{"id":"BESS_01","values":{"mode":[100,"standby"],"power_w":[101,0],"setpoint_w":[102,0],"asked_w":[103,0],"override_w":[104,null],"charge_limit_w":[105,0],"discharge_limit_w":[106,0],"rating_w":[107,100000],"soc_mpercent":[108,59970],"soh_mpercent":[109,100000],"cell_voltage_min_mv":[110,3309],"cell_voltage_max_mv":[111,3311],"cell_temperature_min_mc":[112,25000],"cell_temperature_max_mc":[113,25000],"pack_voltage_mv":[114,264800],"pack_current_ma":[115,800],"limited_by":[116,"none"],"charge_limited_by":[117,"not_in_service"],"discharge_limited_by":[118,"not_in_service"],"trips":[119,""],"warnings":[120,""],"contactors":[121,null],"holds":[122,""],"locks":[123,""],"missing":[124,""],"reversion":[125,"not proven"],"output_watchdog":[126,null],"inputs":[127,""],"dangers":[128,""]}}],"counters":{"cycle":{"cycles":5,"overruns":3},"can cannelloni:127.0.0.1:20881":{"bus_errors":0,"bus_load_permille":0,"bus_offs":0,"bus_restarts":0,"bus_state":1,"controller_overflows":0,"dropped_frames":0,"frames":7,"garbage_bytes":0,"identifier_conflicts":0,"ignored_frames":0,"keep_alives":1,"link_losses":0,"peak_load_permille":0,"protection_failures":0,"receive_errors":0,"refused_sends":0,"rejected_frames":0,"short_frames":0,"transmit_errors":0,"transmit_stalled":0,"transmit_stalls":0,"unusable_frames":0,"up":1},"modbus 127.0.0.1:15881":{"checksum_errors":0,"device_1_answers":1,"device_1_gap_us":0,"device_1_slowest_answer_us":245,"device_1_timeout_us":250000,"errors":0,"last_round_trip_us":150,"low_latency":0,"malformed_answers":0,"other_transactions":0,"other_units":0,"probes":1,"reconnects":0,"reopenings":0,"setpoint_overrides":0,"setpoint_writes":1,"timeouts":0,"transactions":23,"unexpected_echoes":0,"up":1,"worst_write_delay_us":409},"modbus 127.0.0.1:15880":{"checksum_errors":0,"device_1_answers":1,"device_1_gap_us":0,"device_1_slowest_answer_us":86,"device_1_timeout_us":250000,"errors":0,"last_round_trip_us":46,"low_latency":0,"malformed_answers":0,"other_transactions":0,"other_units":0,"probes":1,"reconnects":0,"reopenings":0,"setpoint_overrides":0,"setpoint_writes":0,"timeouts":0,"transactions":7,"unexpected_echoes":0,"up":1,"worst_write_delay_us":0}}}',1795553059224,'',1,'91bbad1029c28f70');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',15,'event','2026-11-24T20:44:22.025Z','{"v":1,"kind":"event","event":"mode","priority":5,"mono_ms":1606859,"t_ms":1795553060226,"at":"2026-11-24T20:44:20.226Z","mode":"simulation","text":"unit BESS_01: standby → running","unit":"BESS_01","from":"standby","to":"running","cycle":54}',1795553060226,'mode',1,'7b29e606153e5649');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',16,'audit','2026-11-24T20:44:22.025Z','{"v":1,"kind":"audit","mono_ms":1606872,"t_ms":1795553060237,"mode":"simulation","head":"1:61cf454eefe0b23b13a79a505e227eb556dc4d30ebc43eea10bf2e419b0a1579"}',1795553060237,'',1,'3c6dc32b878b4297');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',17,'delta','2026-11-24T20:44:22.025Z','{"v":1,"kind":"delta","mono_ms":1606902,"t_ms":1795553060265,"mode":"simulation","rows":[[0,100,"running",105,-100000,106,100000,117,"rating",118,"rating"]]}',1795553060265,'',1,'f87adaff4872c39e');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',18,'delta','2026-11-24T20:44:25.288Z','{"v":1,"kind":"delta","mono_ms":1610999,"t_ms":1795553064353,"mode":"simulation","rows":[]}',1795553064353,'',3,'1912a7d45ca627b9');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',19,'event','2026-11-24T20:44:28.317Z','{"v":1,"kind":"event","event":"operator","priority":5,"mono_ms":1614651,"t_ms":1795553068015,"at":"2026-11-24T20:44:28.015Z","mode":"simulation","text":"operator (user id 0) asks: stop: a fixture","by":"0","role":"service","reason":"a fixture","asked":"stop","via":"control_socket"}',1795553068015,'operator',4,'674742a8f5385cc6');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',20,'event','2026-11-24T20:44:28.317Z','{"v":1,"kind":"event","event":"stop","priority":5,"mono_ms":1614659,"t_ms":1795553068032,"at":"2026-11-24T20:44:28.032Z","mode":"simulation","text":"site is being taken out of service","cycle":436}',1795553068032,'stop',4,'3e7ff2f837fda390');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',21,'event','2026-11-24T20:44:28.317Z','{"v":1,"kind":"event","event":"mode","priority":5,"mono_ms":1614659,"t_ms":1795553068032,"at":"2026-11-24T20:44:28.032Z","mode":"simulation","text":"unit BESS_01: running → stopping","unit":"BESS_01","from":"running","to":"stopping","cycle":437}',1795553068032,'mode',4,'6405e9f25d17c928');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',22,'event','2026-11-24T20:44:28.317Z','{"v":1,"kind":"event","event":"mode","priority":5,"mono_ms":1614679,"t_ms":1795553068052,"at":"2026-11-24T20:44:28.052Z","mode":"simulation","text":"unit BESS_01: stopping → standby","unit":"BESS_01","from":"stopping","to":"standby","cycle":438}',1795553068052,'mode',4,'84c869846c0e406b');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',23,'delta','2026-11-24T20:44:29.366Z','{"v":1,"kind":"delta","mono_ms":1615197,"t_ms":1795553068544,"mode":"simulation","rows":[[0,11,1,100,"standby",105,0,106,0,117,"not_in_service",118,"not_in_service"]]}',1795553068544,'',5,'1e2fefb7236461e8');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',24,'event','2026-11-24T20:44:29.366Z','{"v":1,"kind":"event","event":"cycle_late","priority":4,"mono_ms":1615852,"t_ms":1795553069216,"at":"2026-11-24T20:44:29.216Z","mode":"simulation","text":"the cycle is late: in the last 10 s 13 periods were missed, 11 cycles began more than 10.0 ms late"}',1795553069216,'cycle_late',5,'a599a18d9344c674');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',25,'delta','2026-11-24T20:44:33.388Z','{"v":1,"kind":"delta","mono_ms":1619337,"t_ms":1795553072684,"mode":"simulation","rows":[]}',1795553072684,'',6,'5442243bcfd22b2b');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',26,'delta','2026-11-24T20:44:37.405Z','{"v":1,"kind":"delta","mono_ms":1623467,"t_ms":1795553076824,"mode":"simulation","rows":[]}',1795553076824,'',8,'de877d3acb219cdd');
INSERT INTO "record" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',27,'event','2026-11-24T20:44:39.413Z','{"v":1,"kind":"event","event":"cycle_late","priority":4,"mono_ms":1625932,"t_ms":1795553079296,"at":"2026-11-24T20:44:39.296Z","mode":"simulation","text":"the cycle is late: in the last 10 s 8 periods were missed, 7 cycles began more than 10.0 ms late, 1 cycles worked more than 10.0 ms"}',1795553079296,'cycle_late',9,'8629e8a8014def64');
CREATE TABLE stream (
    site TEXT NOT NULL, epoch TEXT NOT NULL, stored_through INTEGER NOT NULL,
    first_seen TEXT NOT NULL, last_seen TEXT NOT NULL, rolled_through INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (site, epoch));
INSERT INTO "stream" VALUES('demo','2f9ae61db51b66f7cc7f542d0c243717',27,'2026-11-24T20:44:22.021Z','2026-11-24T20:44:39.413Z',26);
CREATE INDEX record_by_kind ON record (site, epoch, kind, n);
CREATE INDEX record_by_time ON record (site, kind, t_ms);
CREATE INDEX alarm_notice_due ON alarm_notice (sent_ms, due_ms);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('chain',9);
INSERT INTO "sqlite_sequence" VALUES('audit',3);
COMMIT;
