import ConfigText

/// A configuration that is dangerous unless somebody who knows the site says that it is meant.
public enum Risk: String, Sendable, CaseIterable {
    /// A cell's trip lies beyond what its chemistry stands.
    case cellOvervoltage = "cell_overvoltage"
    /// Nobody watches how far the cells have drifted apart.
    case cellSpread = "cell_spread"
    /// The battery's profile is of another chemistry than the interlocks.
    case chemistry
    /// The grid is judged by a meter that is asked too seldom.
    case slowMeter = "slow_meter"
    /// The limits at the point of connection know of no other load.
    case siteLoad = "site_load"
}

/// A named person's word for a risk.
public struct AcceptedRisk: Sendable, Equatable {
    public var risk: Risk
    public var by: String
    public var reason: String

    public init(_ risk: Risk, by: String, reason: String) {
        self.risk = risk
        self.by = by
        self.reason = reason
    }

    /// `cell_spread: accepted by J. Doe (the BMS watches it)`.
    public var text: String { "\(risk.rawValue): accepted by \(by) (\(reason))" }
}

extension SiteKeys {
    enum Accept {
        static let by = sentence("by", "who answers for it: a person's name")
        static let reason = sentence("reason", "why it is right here")
        static var reference: [any ReferenceEntry] { [by, reason] }

        private static func sentence(_ name: String, _ note: String) -> ConfigKey<String> {
            ConfigKey<String>.text(
                name, allowed: "3 … 200 printable characters, letters among them", .required, note
            ) { text in
                let isPrintable = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
                let letters = text.unicodeScalars.count { $0.properties.isAlphabetic }
                return isPrintable && letters >= 2 && (3...200).contains(text.count) ? text : nil
            }
        }
    }
}

extension AcceptedRisk {
    /// Reads `accept`.
    static func all(_ reader: ConfigReader) -> [AcceptedRisk] {
        guard reader.has("accept") else { return [] }
        return reader.section("accept") { reader in
            Risk.allCases.compactMap { risk -> AcceptedRisk? in
                guard reader.has(risk.rawValue) else { return nil }
                return reader.section(risk.rawValue) { reader -> AcceptedRisk? in
                    let by = reader.value(SiteKeys.Accept.by)
                    let reason = reader.value(SiteKeys.Accept.reason)
                    guard let by, let reason else { return nil }
                    return AcceptedRisk(risk, by: by, reason: reason)
                }
            }
        } ?? []
    }
}
