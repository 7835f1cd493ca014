import ConfigText
import DBC
import DeviceCodecs
import Plant
import Quantities
import SiteConfig

/// Turns a profile's sections into flat tables, and reports what does not fit the database.
struct ProfileBuilder {
    let database: DBCDatabase
    let plan: DecodePlan
    let period: Duration
    let options: BatteryProfile.Options
    var map = ProfileMap()
    var sends: [ProfileSend] = []
    var bindings: [ValueBinding] = []
    var sources: [AlarmSource] = []
    /// Of messages, where the profile says it.
    private var periods: [Int: Duration] = [:]
    private var usedMessages: Set<Int> = []
    private var declared: Set<Bool> = []

    /// A signal of the database.
    struct Place {
        var message: Int
        var signal: Int
        /// Among all signals.
        var number: Int
        var mask: UInt64
    }

    init(
        _ database: DBCDatabase, _ plan: DecodePlan, _ period: Duration, _ options: BatteryProfile.Options
    ) {
        self.database = database
        self.plan = plan
        self.period = period
        self.options = options
        map.patience = [Duration](repeating: .zero, count: BatteryQuantity.allCases.count)
    }

    mutating func profile(_ reader: ConfigReader, name: String) -> BatteryProfile? {
        messagePeriods(reader)
        readings(reader)
        map.voltages = cells(reader, "cell_voltages", .cellVoltageMax, options.cellCount)
        map.temperatures = cells(
            reader, "cell_temperatures", .cellTemperatureMax, options.temperatureCount)
        _ = reader.section("alarms") { reader -> Void? in
            for name in reader.names.prefix(16) { _ = reader.section(name) { alarmSource($0) } }
            return ()
        }
        for (isWarning, word) in [(false, "alarm"), (true, "warning")] where !declared.contains(isWarning) {
            reader.refuse("alarms", "say nothing of severity \(word) (kind: absent, where it never comes)")
        }
        if reader.has("permissions") { map.permissions = reader.section("permissions") { permissions($0) } }
        if reader.has("alive") { map.alive = reader.section("alive") { alive($0) } }
        _ = reader.list("protected", count: 0...64) { reader, _ in protection(reader) }
        _ = reader.list("send", count: 0...16) { reader, _ in send(reader) }
        let frozenSamples = reader.value(ProfileKeys.frozenSamples) ?? 0
        let chemistry = reader.value(ProfileKeys.chemistry) ?? nil
        let guesses = reader.value(ProfileKeys.guesses) ?? []
        refuseProblems(reader)
        arrange()
        return BatteryProfile(
            name: name, database: database, period: period, sends: sends,
            hasAlarms: sources.contains { !$0.isWarning }, hasWarnings: sources.contains { $0.isWarning },
            cellCount: map.voltages?.count ?? 0, temperatureCount: map.temperatures?.count ?? 0,
            frozenSamples: frozenSamples, chemistry: chemistry, guesses: guesses, plan: plan, map: map)
    }

    /// What is wrong in messages that nobody uses does no harm.
    private func refuseProblems(_ reader: ConfigReader) {
        let used = Set(usedMessages.map { database.messages[$0].name })
        let all = Set(database.messages.map(\.name))
        for problem in database.problems
        where used.contains(problem.message) || !all.contains(problem.message) {
            reader.refuse("dbc", "\(problem)")
        }
    }

    /// Puts what belongs to one message side by side.
    private mutating func arrange() {
        map.messages = [MessageMap](repeating: MessageMap(), count: database.messages.count)
        for message in map.messages.indices {
            map.messages[message].period = ownPeriod(of: message)
            map.messages[message].takesTurns = database.messages[message].signals.contains { $0.isSwitch }
        }
        map.bindings = bindings.enumerated().sorted { ($0.1.message, $0.0) < ($1.1.message, $1.0) }.map(\.1)
        map.sources = sources.enumerated().sorted { ($0.1.message, $0.0) < ($1.1.message, $1.0) }.map(\.1)
        for (index, binding) in map.bindings.enumerated() {
            if map.messages[binding.message].bindingCount == 0 {
                map.messages[binding.message].firstBinding = index
            }
            map.messages[binding.message].bindingCount += 1
            if binding.indexSignal != nil { map.messages[binding.message].takesTurns = true }
        }
        for (index, source) in map.sources.enumerated() {
            if map.messages[source.message].sourceCount == 0 {
                map.messages[source.message].firstSource = index
            }
            map.messages[source.message].sourceCount += 1
        }
        if let permissions = map.permissions { map.messages[permissions.message].isSpecial = true }
        if let alive = map.alive { map.messages[alive.message].isSpecial = true }
        for (index, protection) in map.protections.enumerated() {
            map.messages[protection.message].protection = index
        }
    }

    // MARK: Signals

    /// The signal that `name` says; reports under `key` where there is none.
    mutating func place(_ name: String, _ key: String, _ reader: ConfigReader) -> Place? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let message = database.messages.firstIndex(where: { $0.name == parts[0] })
        else {
            reader.refuse(key, "\(ConfigWording.quoted(name)): the DBC file has no message \(parts[0])")
            return nil
        }
        let signals = database.messages[message].signals
        guard let signal = signals.firstIndex(where: { $0.name == parts[1] }) else {
            reader.refuse(
                key, "\(ConfigWording.quoted(name)): message \(parts[0]) has no signal \(parts.last ?? "")")
            return nil
        }
        usedMessages.insert(message)
        let length = UInt64(signals[signal].length)
        return Place(
            message: message, signal: signal, number: plan.firstSignals[message] + signal,
            mask: length >= 64 ? .max : (1 << length) - 1)
    }

    func signal(_ place: Place) -> DBCSignal { database.messages[place.message].signals[place.signal] }

    /// How often the message comes.
    func period(of message: Int) -> Duration {
        ownPeriod(of: message) ?? period
    }

    /// Where the profile or the DBC file says it.
    private func ownPeriod(of message: Int) -> Duration? {
        periods[message] ?? database.messages[message].cycleTime.map { Duration.milliseconds($0) }
    }

    /// `periods: {MESSAGE: 2000}`, in milliseconds: goes before what the DBC file says.
    private mutating func messagePeriods(_ reader: ConfigReader) {
        _ = reader.section("periods") { reader -> Void? in
            for name in reader.names {
                let period = reader.value(ProfileKeys.messagePeriod(name))
                guard let message = database.messages.firstIndex(where: { $0.name == name }) else {
                    reader.refuse(name, "the DBC file has no message of this name")
                    continue
                }
                periods[message] = period
            }
            return ()
        }
    }

    func binding(_ place: Place, field: Int, _ quantity: BatteryQuantity) -> ValueBinding {
        let signal = signal(place)
        return ValueBinding(
            message: place.message, field: field, signal: place.number, mask: place.mask,
            end: signal.endByte, isAlwaysThere: signal.condition == nil, low: quantity.plausible.lowerBound,
            high: quantity.plausible.upperBound, isPercent: quantity.isPercent)
    }

    /// What readings and cells have in common.
    mutating func limits(_ binding: inout ValueBinding, _ reader: ConfigReader) {
        typealias Keys = ProfileKeys.Reading
        binding.scale = reader.value(Keys.scale) ?? 1
        binding.offset = reader.value(Keys.offset) ?? 0
        binding.low = reader.value(Keys.low) ?? binding.low
        binding.high = reader.value(Keys.high) ?? binding.high
        binding.validValue = reader.value(Keys.validValue) ?? 1
        if binding.low > binding.high { reader.refuse("min", "is above max") }
        let invalid = reader.value(Keys.invalid) ?? []
        binding.firstInvalid = map.invalid.count
        binding.invalidCount = invalid.count
        map.invalid += invalid
    }

    // MARK: Readings

    private mutating func readings(_ reader: ConfigReader) {
        _ = reader.section("readings") { reader -> Void? in
            for quantity in BatteryQuantity.allCases where reader.has(quantity.name) {
                _ = reader.section(quantity.name) { reading($0, quantity) }
            }
            return ()
        }
    }

    private mutating func reading(_ reader: ConfigReader, _ quantity: BatteryQuantity) -> Void? {
        typealias Keys = ProfileKeys.Reading
        let name = reader.value(Keys.signal)
        let sign = reader.value(Keys.sign)
        let refine = reader.value(Keys.refine)
        let within = reader.value(Keys.refineWithin)
        let checksScale = reader.value(Keys.checksScale)
        let valid = reader.value(Keys.valid)
        if quantity == .packCurrent && !reader.has("sign") {
            reader.refuse("sign", "is missing (required here: negative where + means charging)")
        }
        guard let name, let place = place(name, "signal", reader) else {
            var unused = ValueBinding(
                message: 0, field: 0, signal: 0, mask: 0, end: 0, isAlwaysThere: false, low: 0, high: 0)
            limits(&unused, reader)
            return nil
        }
        var binding = binding(place, field: quantity.rawValue, quantity)
        limits(&binding, reader)
        checkUnit(of: place, quantity, binding, reader)
        binding.sign = sign ?? .positive
        binding.checksScale = checksScale == true
        binding.refinementTolerance = (within ?? 1) + 0.000_01
        binding.refinement = sibling(refine, "refine", of: place, reader)
        binding.validSignal = sibling(valid, "valid", of: place, reader)
        map.isMapped[quantity.rawValue] = true
        map.patience[quantity.rawValue] = period(of: place.message)
        bindings.append(binding)
        return ()
    }

    /// Refuses a signal whose unit, by the DBC file, is another one than what its scale makes of it; one of
    /// something else, °F for °C, needs a scale or an offset that somebody has thought of. A unit that nobody
    /// knows passes: makers write anything there; so does a decade between equal units, since one maker's
    /// battery sends tenths where another sends hundredths.
    func checkUnit(
        of place: Place, _ quantity: BatteryQuantity, _ binding: ValueBinding, _ reader: ConfigReader
    ) {
        let (unit, scale) = (signal(place).unit, binding.scale)
        guard let factor = UnitText.factor(from: unit, to: quantity.unit) else {
            if UnitText.isOther(unit, than: quantity.unit), scale.magnitude == 1, binding.offset == 0 {
                reader.refuse(
                    "scale",
                    "the signal is in \(unit) by the DBC file and \(quantity.unit) is wanted: say scale and offset that"
                        + " make it so, or another unit in the DBC file where that is wrong")
            }
            return
        }
        guard abs(scale.magnitude - factor) > factor * 0.001 else { return }
        if factor == 1, (0.099...10.01).contains(scale.magnitude) { return }
        reader.refuse(
            "scale",
            "the signal is in \(unit) by the DBC file and \(quantity.unit) is wanted: scale: "
                + "\(ConfigWording.shown(factor)), or another unit in the DBC file where that is wrong")
    }

    /// Another signal of the same message.
    mutating func sibling(
        _ name: String?, _ key: String, of place: Place, _ reader: ConfigReader
    ) -> Int? {
        guard let name, let other = self.place(name, key, reader) else { return nil }
        if other.message != place.message { reader.refuse(key, "is not in the message of the value") }
        return other.number
    }

    // MARK: Alarms

    private mutating func alarmSource(_ reader: ConfigReader) -> Void? {
        typealias Keys = ProfileKeys.Alarms
        let isWarning = reader.value(Keys.isWarning)
        let kind = reader.value(Keys.kind)
        let isRequired = reader.value(Keys.isRequired)
        let zerosToClear = reader.value(Keys.zerosToClear)
        let also = reader.value(Keys.also)
        if let isWarning { declared.insert(isWarning) }
        guard kind != .absent else { return () }
        let first = map.items.count
        let places = reader.list("items", count: 1...256) { reader, _ in item(reader) }
        guard let message = places.first?.message, let isWarning, let kind, let isRequired else { return nil }
        for place in places where place.message != message {
            reader.refuse("items", "are in several messages; each message is a source of its own")
            break
        }
        if kind == .edge {
            for place in places where place.mask != 3 {
                reader.refuse("items", "signal \(signal(place).name) has not two bits, as kind edge needs")
            }
        }
        sources.append(
            AlarmSource(
                message: message,
                kind: kind == .edge ? .edge(zerosToClear: zerosToClear ?? nil) : .reported,
                isWarning: isWarning, isRequired: isRequired,
                also: BatteryAlarms(rawValue: also ?? 0), firstItem: first,
                itemCount: map.items.count - first,
                patience: period(of: message)))
        return ()
    }

    private mutating func item(_ reader: ConfigReader) -> Place? {
        typealias Keys = ProfileKeys.Alarms
        let name = reader.value(Keys.signal)
        let alarm = reader.value(Keys.alarm)
        let text = reader.value(Keys.text)
        let active = reader.value(Keys.active) ?? []
        guard let name, let place = place(name, "signal", reader), let alarm, let text else { return nil }
        map.items.append(
            AlarmItem(
                signal: place.number, mask: place.mask, alarm: BatteryAlarms(rawValue: alarm),
                text: map.texts.count, firstActive: map.active.count, activeCount: active.count))
        map.texts.append(text)
        map.active += active
        return place
    }

    // MARK: Permissions and life

    private mutating func permissions(_ reader: ConfigReader) -> PermissionMap? {
        let charge = reader.section("charge") { direction($0) }
        let discharge = reader.section("discharge") { direction($0) }
        guard let charge, let discharge else { return nil }
        if charge.message != discharge.message {
            reader.refuse("discharge", "is not in the message of charge")
        }
        return PermissionMap(
            message: charge.message, charge: charge.map, discharge: discharge.map,
            patience: period(of: charge.message))
    }

    private mutating func direction(
        _ reader: ConfigReader
    ) -> (message: Int, map: PermissionMap.Direction)? {
        typealias Keys = ProfileKeys.Permissions
        let name = reader.value(Keys.signal)
        let allowed = reader.value(Keys.allowed)
        let forbidden = reader.value(Keys.forbidden)
        guard let name, let place = place(name, "signal", reader) else { return nil }
        guard (allowed == nil) != (forbidden == nil), let values = allowed ?? forbidden else {
            reader.refuse("allowed", "or else forbidden must be there, one of the two")
            return nil
        }
        return (
            place.message,
            PermissionMap.Direction(
                signal: place.number, mask: place.mask, values: values, isInverted: forbidden != nil)
        )
    }

    private mutating func alive(_ reader: ConfigReader) -> AliveMap? {
        let name = reader.value(ProfileKeys.Alive.signal)
        let stuckAfter = reader.value(ProfileKeys.Alive.stuckAfter)
        guard let name, let place = place(name, "signal", reader), let stuckAfter else { return nil }
        return AliveMap(message: place.message, signal: place.number, stuckAfter: stuckAfter)
    }
}
