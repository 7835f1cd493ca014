import DBC
import DeviceCodecs
import Plant
import Quantities
import SiteConfig

/// How one make of battery speaks: its DBC file, which signals are which readings, and what it wants to hear.
public struct BatteryProfile: Sendable {
    /// Most cells, and most temperatures, of one unit.
    public static let cellLimit = 400

    public let name: String
    public let database: DBCDatabase
    /// Of the frames that come most often and that silence is judged by.
    public let period: Duration
    /// Frames that the battery wants to hear.
    public let sends: [ProfileSend]
    /// Which alarms the battery never sends.
    public let hasAlarms: Bool
    public let hasWarnings: Bool
    public let cellCount: Int
    public let temperatureCount: Int
    /// Samples without any change while power flows, after which the battery counts as frozen; zero = never.
    public let frozenSamples: Int
    /// Of its cells; `nil` where it may be any.
    public let chemistry: Chemistry?
    /// What of the profile nobody has seen on a real battery yet.
    public let guesses: [String]
    let plan: DecodePlan
    let map: ProfileMap
}

/// What a profile says, as flat tables by the messages of the database.
struct ProfileMap: Sendable {
    var messages: [MessageMap] = []
    var bindings: [ValueBinding] = []
    /// Raw values that mean "no value".
    var invalid: [UInt64] = []
    var sources: [AlarmSource] = []
    var items: [AlarmItem] = []
    /// Raw values of an alarm item that mean "active".
    var active: [UInt64] = []
    var texts: [String] = []
    /// Which quantities have a signal of their own.
    var isMapped = [Bool](repeating: false, count: BatteryQuantity.allCases.count)
    /// By field: how much longer than the battery's period the field may take, three times over.
    var patience: [Duration] = []
    var permissions: PermissionMap?
    var alive: AliveMap?
    var protections: [FrameProtection] = []
    var voltages: CellMap?
    var temperatures: CellMap?
}

struct MessageMap: Sendable, BitwiseCopyable {
    var firstBinding = 0
    var bindingCount = 0
    var firstSource = 0
    var sourceCount = 0
    /// It carries the permissions or the alive counter.
    var isSpecial = false
    /// Where the profile or the DBC file says it.
    var period: Duration?
    /// Frames that follow each other say different things, by a switch or the number of a cell.
    var takesTurns = false
    /// Place among the protections.
    var protection: Int?
}

/// One signal that goes into one field.
struct ValueBinding: Sendable, BitwiseCopyable {
    enum Sign: UInt8, Sendable, BitwiseCopyable { case positive, negative, magnitude }

    var message: Int
    /// Place among the fields; with an index signal, of the first cell.
    var field: Int
    /// Place among all signals of the database.
    var signal: Int
    var mask: UInt64
    /// Bytes that a frame must have.
    var end: Int
    /// Not multiplexed: a frame without it is too short.
    var isAlwaysThere: Bool
    var sign = Sign.positive
    var scale = 1.0
    var offset = 0.0
    var low: Double
    var high: Double
    var isPercent = false
    var firstInvalid = 0
    var invalidCount = 0
    /// A finer gauge of the same, which counts where it agrees.
    var refinement: Int?
    var refinementTolerance = 0.0
    /// Another signal that must have `validValue`, or the device calls this one bad.
    var validSignal: Int?
    var validValue: UInt64 = 1
    /// A signal that names the cell; values of `firstCell ..< firstCell + cellCount` count.
    var indexSignal: Int?
    var firstCell = 0.0
    var cellCount = 0
    /// About ten times the charge voltage limit, or a tenth, is a wrong scale.
    var checksScale = false
}

struct CellMap: Sendable, BitwiseCopyable {
    /// Place of the first among the fields.
    var first: Int
    var count: Int
}

struct AlarmSource: Sendable, BitwiseCopyable {
    enum Kind: Sendable, BitwiseCopyable, Equatable {
        /// Each frame says the whole state.
        case reported
        /// 1 raises, 2 clears, 0 and 3 say nothing; more than so many zeros in a row clear as well.
        case edge(zerosToClear: UInt8?)
    }

    var message: Int
    var kind: Kind
    var isWarning: Bool
    /// Without it nothing is known of the alarms.
    var isRequired: Bool
    /// Stands besides every other of this source.
    var also: BatteryAlarms
    var firstItem: Int
    var itemCount: Int
    var patience: Duration
}

struct AlarmItem: Sendable, BitwiseCopyable {
    var signal: Int
    var mask: UInt64
    var alarm: BatteryAlarms
    /// Place among the texts.
    var text: Int
    /// None: any value but zero is active.
    var firstActive: Int
    var activeCount: Int
}

struct PermissionMap: Sendable {
    struct Direction: Sendable {
        var signal: Int
        var mask: UInt64
        /// Raw values that allow; with `isInverted`, that forbid.
        var values: [UInt64]
        var isInverted: Bool

        func allows(_ raw: UInt64) -> Bool { values.contains(raw & mask) != isInverted }
    }

    var message: Int
    var charge: Direction
    var discharge: Direction
    var patience: Duration
}

/// A counter or toggle bit that shows whether the battery's program still runs.
struct AliveMap: Sendable, BitwiseCopyable {
    var message: Int
    var signal: Int
    /// So many frames in a row with one value: frozen.
    var stuckAfter: Int
}
