import ConfigText
import DeviceCodecs
import Plant
import Quantities
import SiteConfig

/// A device's register map, as its driver file says it.
public typealias DeviceDriver = RegisterMap

extension RegisterMap {
    /// The register map that `tree` says, or everything that is wrong with it.
    ///
    /// - Parameter file: the name that errors carry.
    public static func read(_ tree: ConfigNode, file: String) throws(ConfigErrors) -> RegisterMap {
        try ConfigReader.read(tree, file: file) { DriverReader(reader: $0).map() }
    }

    /// Reads the driver at `path`.
    ///
    /// - Parameters:
    ///   - bytes: what stands in a file.
    ///   - parse: the tree in a file's bytes; is given the file's name.
    public static func load(
        path: String, bytes: (String) throws(ConfigError) -> [UInt8],
        parse: ([UInt8], String) throws(ConfigError) -> ConfigNode
    ) throws(ConfigErrors) -> RegisterMap {
        let tree: ConfigNode
        do throws(ConfigError) {
            tree = try parse(try bytes(path), path)
        } catch {
            throw ConfigErrors(error)
        }
        return try read(tree, file: path)
    }
}

/// Reads a driver's file, and checks what no single key can tell.
struct DriverReader {
    private typealias Keys = DriverKeys
    let reader: ConfigReader

    func map() -> RegisterMap? {
        let name = reader.value(Keys.name)
        let kind = reader.value(Keys.kind)
        let lowFirst = reader.value(Keys.wordOrder)
        let forbidden = reader.value(Keys.forbidden)
        let longest = reader.value(Keys.longestRead)
        let singly = reader.value(Keys.writesSingly)
        let ratedPower = reader.value(Keys.ratedPower) ?? nil
        let registers = registers(lowFirst: lowFirst ?? false)
        _ = reader.has("control")
        let io = reader.has("io") ? reader.section("io") { Self.io($0) } : nil
        guard let name, let kind, let forbidden, let longest, let singly else { return nil }
        var map = RegisterMap(name: name, kind: kind, registers: registers)
        map.forbidden = forbidden
        map.longestRead = longest
        map.writesSingly = singly
        map.ratedPower = ratedPower
        map.io = io
        map.control = reader.has("control") ? reader.section("control") { control($0, map) } : nil
        check(map)
        return map
    }

    // MARK: Registers

    private func registers(lowFirst: Bool) -> [RegisterDefinition] {
        var names: [String: String] = [:]
        return reader.list("registers", count: 0...512) { reader, _ in
            let register = Self.register(reader, lowFirst: lowFirst)
            if let register {
                if let other = names.updateValue(reader.path, forKey: register.name) {
                    reader.refuse("name", "\(register.name) is already the name of \(other)")
                }
                check(register, reader)
            }
            return register
        }
    }

    private static func register(_ reader: ConfigReader, lowFirst: Bool) -> RegisterDefinition? {
        typealias Keys = DriverKeys.Register
        let name = reader.value(Keys.name)
        let address = reader.value(Keys.address)
        let table = reader.value(Keys.table)
        let type = reader.value(Keys.type)
        let order = reader.has("word_order") ? reader.value(DriverKeys.wordOrder) : lowFirst
        let (scale, offset) = (reader.value(Keys.scale), reader.value(Keys.offset))
        let (unit, absent) = (reader.value(Keys.unit), reader.value(Keys.absent))
        let (access, poll) = (reader.value(Keys.access), reader.value(Keys.poll))
        let nonVolatile = reader.value(Keys.nonVolatile)
        let protection = reader.value(Keys.protection)
        let texts = texts(reader)
        guard let name, let address, let table, let type, let order, let scale, let offset, let unit,
            let absent, let access, let poll, let nonVolatile, let protection
        else { return nil }
        var register = RegisterDefinition(name: name, table: table, address: address, type: type)
        (register.isLowWordFirst, register.scale, register.offset) = (order, scale, offset)
        (register.unit, register.absent, register.poll) = (unit, absent, poll)
        (register.isReadable, register.isWritable) = access
        (register.isNonVolatile, register.isProtection) = (nonVolatile, protection)
        register.texts = texts
        return register
    }

    private static func texts(_ reader: ConfigReader) -> [UInt32: String] {
        guard reader.has("texts") else { return [:] }
        var texts: [UInt32: String] = [:]
        _ = reader.section("texts") { reader -> Bool? in
            for key in reader.names {
                let text = reader.value(ConfigKey<String>.identifier(key, .required, ""))
                guard let number = RawNumber.parse(key) else {
                    reader.refuse(key, "is no raw value: 3, 0x0003")
                    continue
                }
                texts[number] = text
            }
            return true
        }
        return texts
    }

    /// Where the file says a unit, it is the wanted one: a scale that makes kilowatts is a slip of a
    /// thousand.
    private func checkUnit(of register: RegisterDefinition, _ wanted: String, _ reader: ConfigReader) {
        guard !register.unit.isEmpty else { return }
        let factor = UnitText.factor(from: register.unit, to: wanted)
        guard factor != 1 else { return }
        let scale = factor.map { ", with scale: \(ConfigWording.shown(register.scale * $0))" } ?? ""
        reader.refuse(
            "unit",
            "\(ConfigWording.quoted(register.unit)): \(register.name) is wanted in \(wanted) after its scale; say"
                + " unit: \(wanted)\(scale)")
    }

    private func check(_ register: RegisterDefinition, _ reader: ConfigReader) {
        if register.scale == 0 { reader.refuse("scale", "0 makes every value the same") }
        if let wanted = RegisterMap.Quantity(rawValue: register.name)?.unit {
            checkUnit(of: register, wanted, reader)
        }
        if Int(register.address) + register.type.size > 0x1_0000 {
            reader.refuse("address", "\(register.address) and the next pass address 65535")
        }
        if register.table == .input && register.isWritable {
            reader.refuse("access", "an input register cannot be written")
        }
        if register.poll != .never && !register.isReadable {
            reader.refuse("poll", "the register cannot be read")
        }
        if register.name == RegisterMap.Quantity.state.rawValue {
            for text in Set(register.texts.values) where InverterState(word: text) == nil {
                reader.refuse(
                    "texts", "\(text) is none of \(InverterState.words.joined(separator: ", "))")
            }
        }
    }

    // MARK: Control

    private func control(_ reader: ConfigReader, _ map: RegisterMap) -> RegisterMap.Control? {
        typealias Keys = DriverKeys.Control
        let setpoint = reader.value(Keys.setpoint)
        let reversion = reader.value(Keys.reversion)
        let hold = reader.value(Keys.hold) ?? nil
        let timer = reader.value(Keys.reversionTime) ?? nil
        let heartbeat = reader.value(Keys.heartbeat) ?? nil
        let interval = reader.value(Keys.heartbeatInterval)
        var takeover: [RegisterMap.Fixed] = []
        _ = reader.list("takeover", count: 0...16) { reader, _ -> Bool? in
            let name = reader.value(ConfigKey<String>.identifier("register", .required, "is written"))
            let value = reader.value(
                ConfigKey<Double>.number("value", -1e9...1e9, "", .required, "in its unit") { $0 })
            guard let name, let value, let index = cyclic(name, "register", reader, map) else { return nil }
            if map.registers[index].bits(of: value) == nil {
                reader.refuse("value", "\(value) does not fit the register")
            }
            takeover.append(RegisterMap.Fixed(register: index, value: value))
            return true
        }
        guard let setpoint, let reversion, let interval,
            let index = cyclic(setpoint, "setpoint", reader, map)
        else { return nil }
        var control = RegisterMap.Control(setpoint: index, reversion: reversion)
        control.takeover = takeover
        control.hold = hold
        control.reversionTime = timer.flatMap { cyclic($0, "reversion_register", reader, map) }
        // A dead-man's timer in minutes would wait sixty times too long.
        if let timer = control.reversionTime { checkUnit(of: map.registers[timer], "s", reader) }
        control.heartbeatRegister = heartbeat.flatMap { cyclic($0, "heartbeat", reader, map) }
        control.heartbeatInterval = interval
        if reversion != .absent && hold == nil && timer == nil {
            reader.refuse("hold_s", "is missing (required without reversion_register: the device's own time)")
        }
        if map.registers[index].bits(of: 0) == nil { reader.refuse("setpoint", "cannot hold zero") }
        checkUnit(of: map.registers[index], "W", reader)
        return control
    }

    /// The register of that name, which the driver writes again and again.
    private func cyclic(
        _ name: String, _ key: String, _ reader: ConfigReader, _ map: RegisterMap
    ) -> Int? {
        guard let index = map.registers.firstIndex(where: { $0.name == name }) else {
            reader.refuse(key, "no register is called \(name)")
            return nil
        }
        let register = map.registers[index]
        if !register.isWritable { reader.refuse(key, "\(name) cannot be written (access)") }
        if register.isNonVolatile {
            reader.refuse(key, "\(name) is nonvolatile: it must not be written in a cycle")
        }
        if register.isProtection { reader.refuse(key, "\(name) is a protection: it is not ours to write") }
        if map.writesSingly && register.type.size > 1 {
            reader.refuse(key, "\(name) has two registers, which write_single cannot write at once")
        }
        return index
    }

    private static func io(_ reader: ConfigReader) -> RegisterMap.DigitalIO? {
        typealias Keys = DriverKeys.IO
        let (input, inputs) = (reader.value(Keys.inputAddress), reader.value(Keys.inputCount))
        let (coil, coils) = (reader.value(Keys.coilAddress), reader.value(Keys.coilCount))
        let singly = reader.value(Keys.writesSingly)
        guard let input, let inputs, let coil, let coils, let singly else { return nil }
        return RegisterMap.DigitalIO(
            firstInput: input, inputCount: inputs, firstCoil: coil, coilCount: coils, writesSingly: singly)
    }

    // MARK: The whole

    private func check(_ map: RegisterMap) {
        for register in map.registers {
            for range in map.forbidden where range.overlaps(register.range) {
                reader.refuse(
                    "forbidden", "\(range.lowerBound)-\(range.upperBound) holds the register \(register.name)"
                )
            }
        }
        func isPolled(_ quantity: RegisterMap.Quantity, _ poll: RegisterMap.Poll) -> Bool {
            map.index(of: quantity).map { map.registers[$0].poll == poll } ?? false
        }
        switch map.kind {
        case .inverter:
            if !isPolled(.activePower, .fast) {
                reader.refuse("registers", "an inverter needs active_power with poll: fast")
            }
            if map.index(of: .ratedPower) == nil && map.ratedPower == nil {
                reader.refuse("registers", "an inverter needs rated_power, or the key rated_power_kw")
            }
            if map.control == nil { reader.refuse("control", "is missing (required for an inverter)") }
        case .meter:
            if !isPolled(.activePower, .fast) {
                reader.refuse("registers", "a meter needs active_power with poll: fast")
            }
        case .ioModule: if map.io == nil { reader.refuse("io", "is missing (required for an io_module)") }
        }
        if map.kind != .inverter && map.control != nil {
            reader.refuse("control", "stands only with an inverter")
        }
        if map.kind != .ioModule && map.io != nil { reader.refuse("io", "stands only with an io_module") }
    }
}
