import DeviceCodecs
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

    /// Where one inverter shows whether power flows through it: nothing is opened before that is seen to have
    /// ended, or must have.
    public struct Look: Sendable, Equatable {
        /// Which power it is.
        public enum Side: String, Sendable, CaseIterable { case ac, dc }

        /// The BESS unit that it belongs to.
        public var owner: String
        /// Modbus unit identifier.
        public var device: UInt8
        public var side: Side
        public var place: ModbusValuePlace
        /// Longest wait for the answer.
        public var timeout: Duration
        /// Up to this, either way, is no power.
        public var nearZero: Watts

        public init(
            owner: String, device: UInt8, side: Side, place: ModbusValuePlace, timeout: Duration,
            nearZero: Watts
        ) {
            self.owner = owner
            self.device = device
            self.side = side
            self.place = place
            self.timeout = timeout
            self.nearZero = nearZero
        }
    }

    /// The devices behind one TCP endpoint or on one serial line.
    public struct Link: Sendable, Equatable {
        public var endpoint: ModbusEndpoint
        /// Registers first: power goes before contactors open.
        public private(set) var writes: [Write]
        public private(set) var looks: [Look]

        public init(_ endpoint: ModbusEndpoint, writes: [Write], looks: [Look] = []) {
            self.endpoint = endpoint
            self.writes = writes.filter { !$0.isCoils } + writes.filter(\.isCoils)
            self.looks = looks
        }

        /// Adds a write, in place of the device's former one of its kind.
        mutating func put(_ write: Write) {
            let others = writes.filter { $0.device != write.device || $0.isCoils != write.isCoils }
            self = Link(endpoint, writes: others + [write], looks: looks)
        }

        /// What is looked at at a device, in place of what was.
        mutating func put(_ looks: [Look], of device: UInt8) {
            self.looks = self.looks.filter { $0.device != device } + looks
        }
    }

    public private(set) var links: [Link]

    public init(links: [Link] = []) { self.links = links }

    /// Adds a write, in place of the device's former one of its kind.
    public mutating func put(_ write: Write, on endpoint: ModbusEndpoint) {
        if let index = links.firstIndex(where: { $0.endpoint == endpoint }) {
            links[index].put(write)
        } else {
            links.append(Link(endpoint, writes: [write]))
        }
    }

    /// What is looked at at a device that is in the plan, in place of what was.
    public mutating func put(_ looks: [Look], of device: UInt8, on endpoint: ModbusEndpoint) {
        guard let index = links.firstIndex(where: { $0.endpoint == endpoint }) else { return }
        links[index].put(looks, of: device)
    }

    /// Adds what `other` has and this one lacks.
    public mutating func fill(from other: WirePlan) {
        for link in other.links {
            for write in link.writes where !has(write, on: link.endpoint) {
                put(write, on: link.endpoint)
                let looks = link.looks.filter { $0.device == write.device }
                if !write.isCoils { put(looks, of: write.device, on: link.endpoint) }
            }
        }
    }

    private func has(_ write: Write, on endpoint: ModbusEndpoint) -> Bool {
        links.contains { link in
            link.endpoint == endpoint
                && link.writes.contains { $0.device == write.device && $0.isCoils == write.isCoils }
        }
    }

    /// Only what `isWanted` says of it.
    public func filtered(_ isWanted: (ModbusEndpoint, Write) -> Bool) -> WirePlan {
        let kept = links.map { (link) -> Link in
            let writes = link.writes.filter { isWanted(link.endpoint, $0) }
            let looks = link.looks.filter { look in
                writes.contains { $0.device == look.device && $0.owner == look.owner && !$0.isCoils }
            }
            return Link(link.endpoint, writes: writes, looks: looks)
        }
        return WirePlan(links: kept.filter { !$0.writes.isEmpty })
    }
}
