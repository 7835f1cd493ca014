/// The kinds of events, by the value of `BALLAST_EVENT`. What each is stands in its row of `EventTable`.
public enum EventName: String, Sendable, CaseIterable {
    // what happens to a unit
    case mode
    case trip
    case contactorFault = "contactor_fault"
    case openedUnderLoad = "opened_under_load"
    case warning
    case warningGone = "warning_gone"
    case reset
    case resetRefused = "reset_refused"
    case resetNeedsService = "reset_needs_service"
    case stoppedWithPower = "stopped_with_power"
    case maintenance
    case maintenanceEnd = "maintenance_end"
    case maintenanceRefused = "maintenance_refused"
    case override
    case overrideEnd = "override_end"
    case overrideRefused = "override_refused"
    case secondSender = "second_sender"
    case secondSenderGone = "second_sender_gone"
    case held
    case holdEnd = "hold_end"
    case resumeRefused = "resume_refused"
    case reversionUnproven = "reversion_unproven"
    case reversionTest = "reversion_test"
    case reversionProven = "reversion_proven"
    case reversionFailed = "reversion_failed"
    case outputWatchdogFailed = "output_watchdog_failed"
    case outputWatchdogProven = "output_watchdog_proven"
    case outputWatchdogTest = "output_watchdog_test"
    case nameplateBelow = "nameplate_below"
    case shortGap = "short_gap"
    case countedAnew = "counted_anew"
    case sensorAgrees = "sensor_agrees"
    case sensorContradicted = "sensor_contradicted"
    // the grid, the frequency and the power that is asked for
    case basePointSet = "base_point_set"
    case basePointRefused = "base_point_refused"
    case basePointRevoked = "base_point_revoked"
    case basePointLapsed = "base_point_lapsed"
    case frequencyLost = "frequency_lost"
    case frequencyBack = "frequency_back"
    case frequencySource = "frequency_source"
    case frequencyDisputed = "frequency_disputed"
    case frequencySettled = "frequency_settled"
    case frequencyMissing = "frequency_missing"
    case gridLost = "grid_lost"
    case gridNotReady = "grid_not_ready"
    case gridSeen = "grid_seen"
    case gridSourceBlind = "grid_source_blind"
    case gridSourceSees = "grid_source_sees"
    case gridUnseen = "grid_unseen"
    case meterGood = "meter_good"
    case meterUnproven = "meter_unproven"
    case meterWrong = "meter_wrong"
    case gridGood = "grid_good"
    case gridEntered = "grid_entered"
    case stop
    case resume
    // buses and devices
    case linkUp = "link_up"
    case linkDown = "link_down"
    case deviceSilent = "device_silent"
    case deviceBack = "device_back"
    case modbusException = "modbus_exception"
    case scanned
    case identified
    case notSunspec = "not_sunspec"
    case notMeasuring = "not_measuring"
    case notControllable = "not_controllable"
    case controlTaken = "control_taken"
    case setpointOverridden = "setpoint_overridden"
    case setpointRefused = "setpoint_refused"
    case mapChanged = "map_changed"
    case reactiveTaken = "reactive_taken"
    case reactiveUnsupported = "reactive_unsupported"
    case reactiveRefused = "reactive_refused"
    case reactiveOverridden = "reactive_overridden"
    case coilsOneByOne = "coils_one_by_one"
    case coilsOverridden = "coils_overridden"
    case frameRejected = "frame_rejected"
    case frameUnknown = "frame_unknown"
    case garbage
    case frameOrder = "frame_order"
    case pmuConfigured = "pmu_configured"
    case busError = "bus_error"
    case keepAliveNotSent = "keep_alive_not_sent"
    case peerRefused = "peer_refused"
    case answerRejected = "answer_rejected"
    case directionRefused = "direction_refused"
    case busState = "bus_state"
    case transmitStalled = "transmit_stalled"
    case transmitResumed = "transmit_resumed"
    case identifierConflict = "identifier_conflict"
    case framesDropped = "frames_dropped"
    case busLoadHigh = "bus_load_high"
    case busLoadNormal = "bus_load_normal"
    case busRestartAsked = "bus_restart_asked"
    case capOverridden = "cap_overridden"
    case capRefused = "cap_refused"
    case capTaken = "cap_taken"
    case capUnsupported = "cap_unsupported"
    // the daemon, its clocks, its threads and its disk
    case unplannedRestart = "unplanned_restart"
    case latchRecord = "latch_record"
    case latchesNotSaved = "latches_not_saved"
    case latchesSaved = "latches_saved"
    case started
    case notStarted = "not_started"
    case stopping
    case stopped
    case realtime
    case eventsLost = "events_lost"
    case recordsLost = "records_lost"
    case spool
    case spoolFailed = "spool_failed"
    case spoolNearlyFull = "spool_nearly_full"
    case spoolHasRoom = "spool_has_room"
    case spoolSetBack = "spool_set_back"
    case safeOutput = "safe_output"
    case safeOutputFailed = "safe_output_failed"
    case safeOutputIdle = "safe_output_idle"
    case clockStep = "clock_step"
    case suspended
    case clockStandsStill = "clock_stands_still"
    case cycleStalled = "cycle_stalled"
    case cycleBack = "cycle_back"
    case cycleLate = "cycle_late"
    case cycleStop = "cycle_stop"
    case stateNotSaved = "state_not_saved"
    case captureKept = "capture_kept"
    case captureNotKept = "capture_not_kept"
    case logLost = "log_lost"
    case threadStalled = "thread_stalled"
    case threadBack = "thread_back"
    // what people and other programs ask for
    case riskAccepted = "risk_accepted"
    case remoteLease = "remote_lease"
    case remoteLeaseRefused = "remote_lease_refused"
    case controlCentre = "control_centre"
    case `operator`
    case operatorRefused = "operator_refused"
    case commission
    case reloaded
    case reloadRefused = "reload_refused"
    case modbusWrite = "modbus_write"
    case proxyRefused = "proxy_refused"
}
