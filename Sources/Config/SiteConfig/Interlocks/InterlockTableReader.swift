import ConfigText
import Plant

/// The rows of a table's file, as `ballastd --interlocks lfp` prints one.
public struct InterlockRules: Sendable, Equatable {
    public var chemistry: Chemistry
    public var rules: [InterlockRule]

    public init(chemistry: Chemistry, rules: [InterlockRule]) {
        self.chemistry = chemistry
        self.rules = rules
    }

    /// The table that `tree` says, or everything that is wrong with it.
    ///
    /// - Parameter file: the name that errors carry.
    public static func read(_ tree: ConfigNode, file: String) throws(ConfigErrors) -> InterlockRules {
        try read(tree, file: file, against: nil, .simulation)
    }

    /// - Parameter shipped: the law for the site's chemistry; `nil` where only the table is asked about.
    static func read(
        _ tree: ConfigNode, file: String, against shipped: InterlockRules?, _ mode: SiteConfig.Mode
    ) throws(ConfigErrors) -> InterlockRules {
        try ConfigReader.read(tree, file: file) { reader -> InterlockRules? in
            let own = reader.value(InterlockKeys.tableChemistry)
            if let own, let shipped, own != shipped.chemistry {
                reader.refuse(
                    "chemistry", "\(own.rawValue) is not the site's chemistry, \(shipped.chemistry.rawValue)")
            }
            var names: [InterlockID: String] = [:]
            let rules = reader.list("rows", count: 1...InterlocksConfig.limit) { reader, _ in
                row(reader, &names, shipped: shipped, mode)
            }
            if mode.rules.isWhole, let shipped {
                MandatoryRows.refuseMissing(in: names, shipped, reader, key: "rows")
            }
            return own.map { InterlockRules(chemistry: $0, rules: rules) }
        }
    }

    private static func row(
        _ reader: ConfigReader, _ names: inout [InterlockID: String], shipped: InterlockRules?,
        _ mode: SiteConfig.Mode
    ) -> InterlockRule? {
        let rows = InterlockRowReader(base: nil)
        guard let id = claimID(reader, &names) else { return nil }
        var rule = rows.row(reader, id: id)
        let signal = rule?.signal
        let floor = signal == nil ? nil : rows.floor(reader, signal: signal)
        if signal == nil {
            for entry in reader.names where entry.hasPrefix("absolute_") || entry == "mandatory" {
                _ = reader.has(entry)
            }
        }
        guard let shipped else {
            rule?.floor = floor
            return rule
        }
        let law = shipped.rule(id)
        // The document is copied with its floors; they stay what they were shipped as.
        let denies = reader.has("mandatory") && floor == nil && law?.floor != nil
        if denies || floor != nil && floor != law?.floor {
            reader.refuse(
                "mandatory", "row \(id.word): what is mandatory and absolute is shipped; a site cannot set it"
            )
        }
        rule?.floor = law?.floor
        if mode.rules.isWhole, let rule { MandatoryRows.check(rule, against: law, reader) }
        return rule
    }

    /// The row's name, once; `nil` after something was reported.
    static func claimID(_ reader: ConfigReader, _ names: inout [InterlockID: String]) -> InterlockID? {
        if !reader.has("id") {
            reader.refuse("id", "is missing (required: the row's name)")
            reader.acceptAll()
            return nil
        }
        guard let id = reader.value(InterlockKeys.id).flatMap({ InterlockID(named: $0) }) else {
            reader.acceptAll()
            return nil
        }
        if let other = names.updateValue(reader.path, forKey: id) {
            reader.refuse("id", "row \(id.word) is already in \(other)")
        }
        reader.label(id.word)
        return id
    }

    public func rule(_ id: InterlockID) -> InterlockRule? { rules.first { $0.id == id } }
}

/// Where the interlock table of a site comes from.
public struct InterlockSources {
    /// The table that is law, and holds where the site has none of its own.
    public var shipped: (Chemistry) -> InterlockRules
    /// Gives the tree of a table's file; the path is as the site's file says it.
    public var own: (String) throws(ConfigError) -> ConfigNode

    public init(
        shipped: @escaping (Chemistry) -> InterlockRules,
        own: @escaping (String) throws(ConfigError) -> ConfigNode
    ) {
        self.shipped = shipped
        self.own = own
    }
}

/// Reads the section `interlocks` of a site's file.
struct InterlocksReader {
    var mode: SiteConfig.Mode?
    var sources: InterlockSources

    func interlocks(_ reader: ConfigReader) -> InterlocksConfig? {
        let chemistry = reader.value(InterlockKeys.chemistry)
        let file = reader.value(InterlockKeys.table)
        let shipped = chemistry.map { sources.shipped($0) }
        let table = shipped.flatMap { self.table($0, file, reader) }
        guard let shipped, let table else {
            _ = reader.has("rows")
            return nil
        }
        let rules = changed(table, shipped, reader)
        if rules.count > InterlocksConfig.limit {
            reader.refuse("rows", "make \(rules.count) rows, not at most \(InterlocksConfig.limit)")
        }
        return InterlocksConfig(tableFile: file, rules: rules, shipped: shipped)
    }

    private func table(
        _ shipped: InterlockRules, _ file: String?, _ reader: ConfigReader
    ) -> InterlockRules? {
        guard let file else { return reader.has("table") ? nil : shipped }
        let tree: ConfigNode
        do throws(ConfigError) {
            tree = try sources.own(file)
        } catch {
            reader.refuse("table", "\(error)")
            return nil
        }
        do throws(ConfigErrors) {
            return try InterlockRules.read(tree, file: file, against: shipped, mode ?? .simulation)
        } catch {
            reader.include(error)
            return nil
        }
    }

    /// The table with the site's own rows and changes.
    private func changed(
        _ table: InterlockRules, _ shipped: InterlockRules, _ reader: ConfigReader
    ) -> [InterlockRule] {
        var rules = table.rules
        var names: [InterlockID: String] = [:]
        _ = reader.list("rows", count: 0...InterlocksConfig.limit) { reader, _ -> Void? in
            guard let id = InterlockRules.claimID(reader, &names) else { return nil }
            let index = rules.firstIndex { $0.id == id }
            let law = shipped.rule(id)
            let isEnabled = reader.value(InterlockKeys.isEnabled)
            if isEnabled == false {
                reader.acceptAll()
                if mode?.rules.isWhole ?? false, law?.floor != nil {
                    reader.refuse(
                        "enabled", "row \(id.word) is mandatory in mode production and cannot be disabled")
                }
                if let index { rules.remove(at: index) }
                return ()
            }
            let base = index.map { rules[$0] }
            guard let rule = InterlockRowReader(base: base).row(reader, id: id) else { return nil }
            if mode?.rules.isWhole ?? false { MandatoryRows.check(rule, against: law, reader) }
            if let index { rules[index] = rule } else { rules.append(rule) }
            return ()
        }
        return rules
    }
}
