import ConfigText
import Quantities

/// The site as a SunSpec device for others: read by whom the network lets in, written by a few, for a time.
public struct ModbusServerConfig: Sendable, Equatable {
    /// An IPv4 address of this machine, or 0.0.0.0.
    public var address: String
    public var port: UInt16
    public var unitID: UInt8
    /// At most so many clients at once.
    public var connections: Int
    /// IPv4 addresses that may ask for a power; none = nobody.
    public var writers: [String]
    /// The longest that a written power holds, and how long it holds where the writer does not say.
    public var lease: Duration
}

extension SiteKeys {
    enum ModbusServer {
        static let address = ConfigKey<String>.text(
            "address", allowed: "an IPv4 address", .fixed("127.0.0.1"), shown: "127.0.0.1",
            "where it listens; 0.0.0.0 = everywhere", read: ipv4)
        static let port = ConfigKey.whole("port", 1...65_535, "", .fixed(1_502), "where it listens") {
            UInt16(clamping: $0)
        }
        static let unitID = ConfigKey.whole("unit_id", 1...247, "", .fixed(1), "Modbus unit identifier") {
            UInt8(clamping: $0)
        }
        static let connections = ConfigKey.whole(
            "connections", 1...32, "", .fixed(4), "most clients at once"
        ) { $0 }
        static let writers = ConfigKey<[String]>(
            "writers", allowed: "a list of IPv4 addresses", .fixed([]), shown: "none",
            "who may ask for a power (SunSpec 704), as a lease"
        ) { (node) throws(ConfigComplaint) in
            guard case .sequence(let elements) = node.content, elements.count <= 16 else {
                throw ConfigComplaint("expected a list of at most 16 IPv4 addresses", at: node.position)
            }
            var list: [String] = []
            for element in elements {
                guard let address = ipv4(try element.text("an IPv4 address")) else {
                    throw ConfigComplaint("expected an IPv4 address", at: element.position)
                }
                list.append(address)
            }
            return list
        }
        static let lease = ConfigKey.whole(
            "lease_s", 1...3_600, "s", .fixed(60), "longest time that a written power holds"
        ) { Duration.seconds($0) }

        static var reference: [any ReferenceEntry] {
            [address, port, unitID, connections, writers, lease]
        }

        @Sendable private static func ipv4(_ text: String) -> String? {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            let isGood = parts.count == 4 && parts.allSatisfy { UInt8($0).map { "\($0)" } == String($0) }
            return isGood ? text : nil
        }
    }
}

extension SiteReader {
    static func modbusServer(_ reader: ConfigReader) -> ModbusServerConfig? {
        typealias Keys = SiteKeys.ModbusServer
        guard reader.has("modbus_server") else { return nil }
        return reader.section("modbus_server") { reader in
            let (address, port) = (reader.value(Keys.address), reader.value(Keys.port))
            let (unitID, connections) = (reader.value(Keys.unitID), reader.value(Keys.connections))
            let (writers, lease) = (reader.value(Keys.writers), reader.value(Keys.lease))
            guard let address, let port, let unitID, let connections, let writers, let lease else {
                return nil
            }
            return ModbusServerConfig(
                address: address, port: port, unitID: unitID, connections: connections, writers: writers,
                lease: lease)
        }
    }
}
