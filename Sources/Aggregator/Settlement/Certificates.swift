import ExactAmounts

/// A certificate for renewable energy of one resource in one block.
public struct Certificate: Equatable, Sendable {
    public enum State: String, Sendable { case issued, retired, withdrawn }

    public internal(set) var energy: WattHours
    public internal(set) var owner: String
    public internal(set) var state: State
}

/// Why a certificate does not change.
public enum CertificateRefusal: Error, Equatable {
    case notRenewable
    /// One for this resource and block exists.
    case issuedAlready
    case aboveExport(final: WattHours)
    case notPositive
    case unknown
    case notTheOwner
    /// Retired or withdrawn: it never moves again.
    case isOver
    /// Its energy was taken back after it was used up.
    case retiredAboveExport(final: WattHours)
}

/// One certificate at most for a resource and block, never above the final export; a retired one never moves.
public struct CertificateBook: Sendable {
    public struct Slot: Hashable, Comparable, Sendable {
        public var resource: String
        public var start: UTCInstant

        public init(resource: String, start: UTCInstant) {
            self.resource = resource
            self.start = start
        }

        public static func < (a: Slot, b: Slot) -> Bool { (a.resource, a.start) < (b.resource, b.start) }
    }

    public private(set) var certificates: [Slot: Certificate] = [:]

    public init() {}

    public func certificate(_ slot: Slot) -> Certificate? { certificates[slot] }

    public mutating func issue(
        _ slot: Slot, energy: WattHours, final: WattHours, isRenewable: Bool, to owner: String
    ) throws(CertificateRefusal) {
        if !isRenewable { throw .notRenewable }
        if certificates[slot] != nil { throw .issuedAlready }
        if energy <= .zero { throw .notPositive }
        if energy > final { throw .aboveExport(final: final) }
        certificates[slot] = Certificate(energy: energy, owner: owner, state: .issued)
    }

    public mutating func transfer(
        _ slot: Slot, from owner: String, to other: String
    ) throws(CertificateRefusal) {
        try own(slot, owner)
        certificates[slot]?.owner = other
    }

    public mutating func retire(_ slot: Slot, by owner: String) throws(CertificateRefusal) {
        try own(slot, owner)
        certificates[slot]?.state = .retired
    }

    /// Later data says that the export was another.
    public mutating func correct(_ slot: Slot, final: WattHours) throws(CertificateRefusal) {
        guard let certificate = certificates[slot] else { throw .unknown }
        switch certificate.state {
        case .issued, .withdrawn:
            certificates[slot]?.energy = final
            certificates[slot]?.state = final > .zero ? .issued : .withdrawn
        case .retired: if certificate.energy > final { throw .retiredAboveExport(final: final) }
        }
    }

    private func own(_ slot: Slot, _ owner: String) throws(CertificateRefusal) {
        guard let certificate = certificates[slot] else { throw .unknown }
        switch certificate.state {
        case .issued: if certificate.owner != owner { throw .notTheOwner }
        case .retired, .withdrawn: throw .isOver
        }
    }
}
