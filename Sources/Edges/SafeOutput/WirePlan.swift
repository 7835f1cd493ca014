import ModbusBus
import Quantities

/// What takes every output of a site to zero, and how each is reached: enough without the site's
/// configuration.
public struct WirePlan: Sendable, Equatable {
    /// One request that makes one device safe.
    public struct Write: Sendable, Equatable {
        public enum Values: Sendable, Equatable {
            /// With function 16.
            case registers([UInt16])
            /// With function 6, for devices that know no other.
            case register(UInt16)
            /// So many coils off, with function 15.
            case coilsOff(Int)
        }

        /// The BESS unit that it belongs to.
        public var owner: String
        /// Modbus unit identifier.
        public var device: UInt8
        /// Protocol address (zero-based).
        public var address: UInt16
        public var values: Values
        /// Longest wait for the answer.
        public var timeout: Duration
        /// Of coils: how long the inverter may keep its power after our last write, acknowledged or not;
        /// whole seconds. Contacts part none of it.
        public var wait: Duration

        public init(
            owner: String, device: UInt8, address: UInt16, values: Values, timeout: Duration,
            wait: Duration = .zero
        ) {
            self.owner = owner
            self.device = device
            self.address = address
            self.values = values
            self.timeout = timeout
            self.wait = wait
        }

        /// Whether it opens coils, and does not take power away.
        public var isCoils: Bool {
            switch values {
            case .registers, .register: false
            case .coilsOff: true
            }
        }
    }

    /// The devices behind one TCP endpoint or on one serial line.
    public struct Link: Sendable, Equatable {
        public var address: ModbusAddress
        /// Registers first: power goes before contactors open.
        public private(set) var writes: [Write]

        public init(_ address: ModbusAddress, writes: [Write]) {
            self.address = address
            self.writes = writes.filter { !$0.isCoils } + writes.filter(\.isCoils)
        }

        /// Adds a write, in place of the device's former one of its kind.
        mutating func put(_ write: Write) {
            let others = writes.filter { $0.device != write.device || $0.isCoils != write.isCoils }
            self = Link(address, writes: others + [write])
        }
    }

    public private(set) var links: [Link]

    public init(links: [Link] = []) { self.links = links }

    /// Adds a write, in place of the device's former one of its kind.
    public mutating func put(_ write: Write, on address: ModbusAddress) {
        if let index = links.firstIndex(where: { $0.address == address }) {
            links[index].put(write)
        } else {
            links.append(Link(address, writes: [write]))
        }
    }

    /// Adds what `other` has and this one lacks.
    public mutating func fill(from other: WirePlan) {
        for link in other.links {
            for write in link.writes where !has(write, on: link.address) { put(write, on: link.address) }
        }
    }

    private func has(_ write: Write, on address: ModbusAddress) -> Bool {
        links.contains { link in
            link.address == address
                && link.writes.contains { $0.device == write.device && $0.isCoils == write.isCoils }
        }
    }

    /// Only what `isWanted` says of it.
    public func filtered(_ isWanted: (ModbusAddress, Write) -> Bool) -> WirePlan {
        let kept = links.map { link in
            Link(link.address, writes: link.writes.filter { isWanted(link.address, $0) })
        }
        return WirePlan(links: kept.filter { !$0.writes.isEmpty })
    }
}
