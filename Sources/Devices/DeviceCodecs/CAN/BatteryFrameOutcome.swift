/// What became of a battery's frame. A frame with one bad field is rejected, yet its good fields are taken.
public enum BatteryFrameOutcome: Sendable, Equatable, BitwiseCopyable {
    case used
    case ignored(Ignored)
    case rejected(Rejection)

    public enum Ignored: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        case unknownIdentifier
        /// A 29-bit identifier is another message, even with a number we know.
        case extendedIdentifier
        case remote
        case errorFrame
    }

    public enum Rejection: UInt8, Sendable, BitwiseCopyable, CaseIterable {
        /// Too few bytes for any field.
        case tooShort
        case outOfRange
        /// Two fields of the frame exclude each other: minimum above maximum.
        case contradictory
        /// Pack voltage and charge voltage limit differ by a factor of about ten: the configured resolution
        /// is wrong.
        case voltageScale
        /// Of a protected frame: the checksum is wrong.
        case checksum
        /// Of a protected frame: the counter stands still, leaps, or is beyond its end.
        case counter
    }
}
