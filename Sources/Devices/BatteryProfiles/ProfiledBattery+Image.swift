import Plant
import Quantities

// The image that the control cycle sees.

extension ProfiledBattery {
    /// Everything received so far, each with the time its frame came.
    ///
    /// What the battery sends less often than its period is dated later by three times the difference, at
    /// most to `now`: its age then passes the unit's one budget when its own three periods have passed.
    public func image(at now: MonotonicTime) -> BatteryImage {
        var image = BatteryImage()
        image.cellVoltageMax = reading(.cellVoltageMax, now)
        image.cellVoltageMin = reading(.cellVoltageMin, now)
        image.cellTemperatureMax = reading(.cellTemperatureMax, now)
        image.cellTemperatureMin = reading(.cellTemperatureMin, now)
        image.packVoltage = reading(.packVoltage, now)
        image.packCurrent = reading(.packCurrent, now)
        image.stateOfCharge = reading(.stateOfCharge, now)
        image.stateOfHealth = reading(.stateOfHealth, now)
        image.chargeCurrentLimit = reading(.chargeCurrentLimit, now)
        image.dischargeCurrentLimit = reading(.dischargeCurrentLimit, now)
        image.chargeVoltageLimit = reading(.chargeVoltageLimit, now)
        image.dischargeVoltageLimit = reading(.dischargeVoltageLimit, now)
        image.insulation = reading(.insulation, now)
        image.contactors = reading(.contactors, now)
        if let map = profile.map.permissions, let permissions {
            image.permissions =
                isFrozen
                ? .bad(.frozen, since: now)
                : .good(permissions, at: date(permissionsTime, patience(map.patience), now))
        }
        image.alarms = alarms(isWarning: false, at: now)
        image.warnings = alarms(isWarning: true, at: now)
        return image
    }

    /// Whether the battery's contactors are closed, where it tells.
    public func contactors(at now: MonotonicTime) -> Reading<Fraction> { reading(.contactors, now) }

    /// Volts of each cell as they came last; `nil` where there is no good value.
    public var cellVoltages: [Double?] { cells(profile.map.voltages) }
    /// °C of each as they came last; `nil` where there is no good value.
    public var cellTemperatures: [Double?] { cells(profile.map.temperatures) }

    private func cells(_ map: CellMap?) -> [Double?] {
        guard let map else { return [] }
        return (map.first..<(map.first + map.count)).map { fields[$0].fault == nil ? fields[$0].value : nil }
    }

    /// Texts of the alarms, or the warnings, that stand.
    public func activeTexts(isWarning: Bool) -> [String] {
        var texts: [String] = []
        for source in profile.map.sources where source.isWarning == isWarning {
            for place in source.firstItem..<(source.firstItem + source.itemCount) where items[place].isActive
            {
                texts.append(profile.map.texts[profile.map.items[place].text])
            }
        }
        return texts
    }

    /// A number of the profile; cells give what no signal says: their extremes.
    func field(_ quantity: BatteryQuantity) -> Field {
        if profile.map.isMapped[quantity.rawValue] { return fields[quantity.rawValue] }
        switch quantity {
        case .cellVoltageMax: return extreme(profile.map.voltages) { $0 > $1 }
        case .cellVoltageMin: return extreme(profile.map.voltages) { $0 < $1 }
        case .cellTemperatureMax: return extreme(profile.map.temperatures) { $0 > $1 }
        case .cellTemperatureMin: return extreme(profile.map.temperatures) { $0 < $1 }
        case .packVoltage, .packCurrent, .stateOfCharge, .stateOfHealth, .chargeCurrentLimit,
            .dischargeCurrentLimit, .chargeVoltageLimit, .dischargeVoltageLimit, .insulation, .contactors,
            .packTemperature:
            return Field()
        }
    }

    /// The most extreme of all cells, as old as the oldest of them; none while one is missing or bad.
    private func extreme(_ map: CellMap?, _ isBeyond: (Double, Double) -> Bool) -> Field {
        guard let map, map.count > 0 else { return Field() }
        var result = fields[map.first]
        for index in map.first..<(map.first + map.count) {
            let cell = fields[index]
            if cell.fault != nil { return cell }
            if cell.time < result.time { result.time = cell.time }
            if isBeyond(cell.value, result.value) { result.value = cell.value }
        }
        return result
    }

    /// Three times what a frame's own period is longer than the unit's.
    private func patience(_ own: Duration) -> Duration { own > period ? (own - period) * 3 : .zero }

    private func date(_ time: MonotonicTime, _ patience: Duration, _ now: MonotonicTime) -> MonotonicTime {
        let later = time + patience
        return later < now ? later : (time < now ? now : time)
    }

    private func reading<Unit: Quantity>(_ quantity: BatteryQuantity, _ now: MonotonicTime) -> Reading<Unit> {
        let field = field(quantity)
        if let fault = field.fault { return .bad(fault, since: field.time) }
        if isFrozen { return .bad(.frozen, since: now) }
        let value = quantity.isPercent ? field.value / 100 : field.value
        return .good(Unit(value), at: date(field.time, patience(profile.ownPeriod(of: quantity)), now))
    }

    /// What any source raises stands; the oldest of those that must speak, or do report, gives the age.
    private func alarms(isWarning: Bool, at now: MonotonicTime) -> Reading<BatteryAlarms> {
        var alarms: BatteryAlarms = []
        var oldest: MonotonicTime?
        var edge: MonotonicTime?
        var isSilent = false
        for (index, source) in profile.map.sources.enumerated() where source.isWarning == isWarning {
            alarms = alarms.union(active(of: source))
            guard let time = sources[index].time else {
                if source.isRequired { return .neverSeen }
                continue
            }
            let dated = date(time, patience(source.patience), now)
            switch source.kind {
            case .reported: oldest = oldest.map { min($0, dated) } ?? dated
            case .edge(let zerosToClear):
                if source.isRequired { oldest = oldest.map { min($0, dated) } ?? dated }
                edge = dated
                if zerosToClear == nil && !sources[index].hasSpoken { isSilent = true }
            }
        }
        if isFrozen { return .bad(.frozen, since: now) }
        if let since = blank(isWarning: isWarning) { return .bad(.notImplemented, since: since) }
        let isReported = profile.map.sources.indices.contains { index in
            let source = profile.map.sources[index]
            return source.isWarning == isWarning && source.kind == .reported && sources[index].time != nil
        }
        if let edge, isSilent && !isReported { return .bad(.notImplemented, since: edge) }
        guard let time = oldest ?? edge else {
            let isDeclared = isWarning ? profile.hasWarnings : profile.hasAlarms
            return isDeclared ? .neverSeen : .bad(.notImplemented, since: now)
        }
        return .good(alarms, at: time)
    }

    /// When the newest word of a severity was a frame with all bits set; `nil` where one that counts came
    /// after it.
    private func blank(isWarning: Bool) -> MonotonicTime? {
        var (blank, spoken): (MonotonicTime?, MonotonicTime?)
        for (index, source) in profile.map.sources.enumerated() where source.isWarning == isWarning {
            if let since = sources[index].blankSince { blank = blank.map { max($0, since) } ?? since }
            if let time = sources[index].time { spoken = spoken.map { max($0, time) } ?? time }
        }
        guard let blank, spoken.map({ $0 < blank }) ?? true else { return nil }
        return blank
    }

    private func active(of source: AlarmSource) -> BatteryAlarms {
        var alarms: BatteryAlarms = []
        for place in source.firstItem..<(source.firstItem + source.itemCount) where items[place].isActive {
            alarms.insert(profile.map.items[place].alarm)
        }
        if !alarms.isEmpty { alarms.insert(source.also) }
        return alarms
    }
}
