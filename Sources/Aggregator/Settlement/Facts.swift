import Contracts
import ExactAmounts
import Metering

/// Somebody who has energy or money.
public struct Party: Equatable, Sendable {
    /// Who gets which part of its revenue.
    public struct Owner: Equatable, Sendable {
        public var party: String
        public var share: Int64

        public init(party: String, share: Int64) {
            self.party = party
            self.share = share
        }
    }

    public var id: String
    public var name: String
    /// What its wallet holds before the period.
    public var wallet: MinorUnits
    /// A cooperative's owners; empty where it keeps its revenue.
    public var owners: [Owner]
    public var bitcoinAddress: String?

    public init(
        id: String, name: String, wallet: MinorUnits = .zero, owners: [Owner] = [],
        bitcoinAddress: String? = nil
    ) {
        self.id = id
        self.name = name
        self.wallet = wallet
        self.owners = owners
        self.bitcoinAddress = bitcoinAddress
    }
}

/// What has energy, and a meter.
public struct Resource: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        case pv, wind, load, battery, meter
        case gridConnection = "grid_connection"

        /// Whether its export may be certified. A battery's may not: what it gives was generated elsewhere.
        public var isRenewable: Bool {
            switch self {
            case .pv, .wind: true
            case .load, .battery, .meter, .gridConnection: false
            }
        }
    }

    public var id: String
    public var party: String
    public var zone: String
    public var kind: Kind
    /// The most it can give.
    public var exportMax: WholeWatts
    /// It belongs to its zone from then on; `nil` = always did.
    public var from: UTCInstant?
    /// Up to then; `nil` = still does.
    public var until: UTCInstant?

    public init(
        id: String, party: String, zone: String, kind: Kind, exportMax: WholeWatts, from: UTCInstant? = nil,
        until: UTCInstant? = nil
    ) {
        self.id = id
        self.party = party
        self.zone = zone
        self.kind = kind
        self.exportMax = exportMax
        self.from = from
        self.until = until
    }

    /// Whether a block that starts then waits for it.
    public func belongs(at start: UTCInstant) -> Bool {
        (from.map { $0 <= start } ?? true) && (until.map { start < $0 } ?? true)
    }

    /// What it can give in a block.
    public func capacity(_ length: BlockLength) -> WattHours {
        WattHours(Int64(Int128(exportMax.count) * Int128(length.seconds) / 3_600))
    }
}

/// Where surplus pays deficit before the grid does.
public struct Zone: Equatable, Sendable {
    public var id: String
    /// The party that gives and takes the rest.
    public var grid: String
    /// The party that gets the fees and bears the losses.
    public var operatingParty: String
    /// Zones of one name share what is left of each before the grid has it; `nil` = it stands alone.
    public var cooperative: String?

    public init(id: String, grid: String, operatingParty: String, cooperative: String? = nil) {
        self.id = id
        self.grid = grid
        self.operatingParty = operatingParty
        self.cooperative = cooperative
    }
}

/// A contract and when it is in force.
public struct ContractInForce: Equatable, Sendable {
    public var terms: Contract
    /// Up to its window's end, or where it was ended earlier; `nil` where it never came into force.
    public var active: Period?

    public init(terms: Contract, active: Period?) {
        self.terms = terms
        self.active = active
    }
}

/// Everything a settlement rests on.
public struct Facts: Sendable {
    public var period: Period
    public var length: BlockLength
    public var parties: [Party]
    public var zones: [Zone]
    public var resources: [Resource]
    public var contracts: [ContractInForce]
    public var tariffs: TariffBook
    public var incentives: [Incentive]
    public var intervals: IntervalBook

    public init(
        period: Period, length: BlockLength, parties: [Party], zones: [Zone], resources: [Resource],
        contracts: [ContractInForce], tariffs: TariffBook, incentives: [Incentive], intervals: IntervalBook
    ) {
        self.period = period
        self.length = length
        self.parties = parties
        self.zones = zones
        self.resources = resources
        self.contracts = contracts
        self.tariffs = tariffs
        self.incentives = incentives
        self.intervals = intervals
    }
}
