/// Something of a good configuration that a person should know, and what to do about it.
struct Remark: Equatable {
    /// The gravest first.
    enum Weight: Int, CaseIterable, Comparable {
        /// A protection that is not there.
        case grave
        /// It runs, and will surprise somebody.
        case warning
        /// It changes nothing, or is only good to know.
        case note

        static func < (one: Weight, other: Weight) -> Bool { one.rawValue < other.rawValue }

        var word: String {
            switch self {
            case .grave: "GRAVE"
            case .warning: "WARNING"
            case .note: "note"
            }
        }
    }

    var weight: Weight
    /// `bess_units[1].bms.period_ms`.
    var key: String
    /// What is so, and what would do.
    var text: String

    init(_ weight: Weight, _ key: String, _ text: String) {
        self.weight = weight
        self.key = key
        self.text = text
    }
}

extension CheckedSite {
    private var places: SitePlaces {
        files.first.map { SitePlaces(file: $0.path, bytes: $0.bytes) } ?? SitePlaces()
    }

    /// The gravest first, and of one weight in the order of the file's lines.
    var remarks: [Remark] {
        let places = places
        let all = protection + links + evidence + operation + IdleKeys(config, places).remarks
        return all.enumerated().sorted { one, other in
            let (a, b) = (one.element, other.element)
            let (first, second) = (places.line(of: a.key) ?? 0, places.line(of: b.key) ?? 0)
            return (a.weight, first, one.offset) < (b.weight, second, other.offset)
        }.map(\.element)
    }

    /// With the lines at which they stand in the site's file.
    var remarkLines: [(remark: Remark, line: Int?)] {
        let places = places
        return remarks.map { ($0, places.line(of: $0.key)) }
    }

    /// The last thing that `--check` says.
    var remarksText: String {
        let (all, places) = (remarks, places)
        guard !all.isEmpty else { return "nothing to look at" }
        let counts = Remark.Weight.allCases.compactMap { weight -> String? in
            let count = all.count { $0.weight == weight }
            return count > 0 ? "\(count) \(weight.word)" : nil
        }
        return
            (["what to look at, the gravest first: \(counts.joined(separator: ", "))"]
            + all.map { remark in
                let word = remark.weight.word + String(repeating: " ", count: 8 - remark.weight.word.count)
                return "  \(word) \(places.text(remark.key)): \(remark.text)"
            }).joined(separator: "\n")
    }

    private func unitKey(_ index: Int, _ key: String? = nil) -> String {
        "bess_units[\(index)]" + (key.map { ".\($0)" } ?? "")
    }

    /// What does not protect.
    private var protection: [Remark] {
        var remarks = config.accepted.map { risk in
            Remark(
                .grave, "accept.\(risk.risk.rawValue)", "a risk that \(risk.by) answers for: \(risk.reason)")
        }
        let matrix = InterlockMatrix(self)
        remarks += matrix.notInForce.map {
            Remark(.grave, "interlocks", "the shipped row \($0) is not in force: nothing watches it here")
        }
        remarks += matrix.rows.flatMap(\.times).filter { !$0.isMet }.map { time in
            let index = config.units.firstIndex { $0.id == time.unit } ?? 0
            return Remark(
                .grave, unitKey(index),
                "unit \(time.unit), row \(time.rule): not safe in time: \(time.explanation)")
        }
        for (index, unit) in config.units.enumerated() {
            if unit.ioModule?.has(.emergencyStop) != true {
                remarks.append(
                    Remark(
                        .warning, unitKey(index, "io_module"), "unit \(unit.id) has no input emergency_stop"))
            }
        }
        return remarks + unwired(matrix)
    }

    /// Rows that stand in the matrix and see nothing, for no wire of theirs comes here.
    private func unwired(_ matrix: InterlockMatrix) -> [Remark] {
        matrix.rows.compactMap { row in
            // Of those that people's lives hang on; the emergency stop has its own line.
            guard [.smokeInput, .gasInput].contains(row.rule.signal) else { return nil }
            let blind = config.units.indices.filter { !config.units[$0].isWired(row.rule.signal) }
            guard let first = blind.first else { return nil }
            let names = blind.map { config.units[$0].id }.joined(separator: ", ")
            return Remark(
                .warning, unitKey(first, "io_module"),
                "row \(row.rule.name) has no wire at \(names): it never trips there")
        }
    }

    /// What goes over wires, and what happens when nobody speaks.
    private var links: [Remark] {
        var remarks: [Remark] = []
        let book = ReversionBook(config)
        for (index, unit) in config.units.enumerated() {
            let control = drivers.map(of: unit.inverter)?.control
            if let control, control.reversion != .zero {
                remarks.append(
                    Remark(
                        .grave, unitKey(index, "driver"),
                        "unit \(unit.id): by its driver it has no safe reversion: after silence it"
                            + (control.reversion == .absent ? " goes on for ever" : " is on its own")))
            }
            if config.mode.rules.inverter != .asConfigured, book.proof(of: unit) == nil {
                remarks.append(
                    Remark(
                        .warning, unitKey(index, "reversion_s"),
                        "unit \(unit.id) has not proven that it goes to zero by itself:"
                            + " ballastctl commission reversion \(unit.id) --reason …"))
            }
        }
        for load in config.busLoads where load.devices.count > 1 && load.lostAnswer > load.freshness {
            let least = ((load.lostAnswer - load.period).milliseconds / 3).rounded(.up)
            let key = load.devices[0].path + ".poll_ms"
            remarks.append(
                Remark(
                    .warning, key,
                    "on \(load.endpoint.name) one lost answer makes the others stale: poll_ms: \(Int(least)) of all on"
                        + " it would do, or a shorter timeout_ms"))
        }
        return remarks
    }

    /// What is not seen, or only guessed.
    private var evidence: [Remark] {
        var remarks: [Remark] = []
        for (index, profile) in profiles.enumerated() {
            guard let profile else {
                // What the built-in battery's frames have no place for.
                remarks.append(
                    Remark(
                        .note, unitKey(index, "bms"),
                        "unit \(config.units[index].id): the built-in battery does not tell insulation: insulation is not watched"
                    ))
                continue
            }
            let (key, id) = (unitKey(index, "bms.profile"), config.units[index].id)
            for lack in profile.lacks {
                remarks.append(
                    Remark(
                        lack.isRequired ? .grave : .note, key,
                        "unit \(id): \(profile.name) does not tell \(lack.name): \(lack.text)"))
            }
            for guess in profile.guesses {
                remarks.append(Remark(.warning, key, "unit \(id): nobody has seen it yet: \(guess)"))
            }
        }
        if let meter = config.gridMeter, meter.frequencyResolution == nil,
            config.gridIntegration.frequencySources != [.simulated]
        {
            remarks.append(
                Remark(
                    .warning, "grid_meter.frequency_resolution_hz",
                    "is not said: a meter that stands still shows by its power alone; the step in its manual would do,"
                        + " such as 0.01"))
        }
        return remarks
    }

    /// What people may be surprised by.
    private var operation: [Remark] {
        var remarks: [Remark] = []
        if let preset = config.gridIntegration.droop.preset?.preset, preset.mark != .verified {
            remarks.append(
                Remark(
                    .warning, "grid_integration.droop_settings",
                    "\(preset.name) is \(preset.mark.name): compare its numbers with \(preset.source)"))
        }
        let margins = FrequencySummary.margins(of: config)
        if margins.contains(where: { $0.contains("it hunts") || $0.contains("may hunt") }) {
            remarks.append(
                Remark(
                    .warning, "grid_integration.droop_settings",
                    "on a weak grid the response may hunt with it: a flatter droop or a faster inverter"))
        }
        if config.control.resumesAfterRestart {
            remarks.append(
                Remark(
                    .warning, "control.resume_after_restart",
                    "units run again by themselves after an unplanned restart; false would wait for a person")
            )
        }
        if config.paths.recordingMegabytes == 0 {
            remarks.append(
                Remark(
                    .warning, "paths.recording_max_mb",
                    "nobody can say later why anything happened; 32 would do"))
        }
        if let refusal = ReversionBook(config).remoteRefusal,
            config.remoteLeases != nil || config.controlCentre != nil
        {
            remarks.append(
                Remark(
                    .warning, config.remoteLeases != nil ? "remote_leases" : "control_centre", refusal))
        }
        if let limits = config.limits, limits.loadMax == nil {
            remarks.append(
                Remark(
                    .warning, "site.site_load_max_kw",
                    "is not said: without the meter the limits hold only where nothing else draws"))
        }
        if let meter = MeterRemark(config)?.remark { remarks.append(meter) }
        return remarks
    }
}
