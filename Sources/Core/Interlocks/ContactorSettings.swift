import Plant
import Quantities

/// Limits of one unit's contactors.
public struct ContactorSettings: Sendable, BitwiseCopyable, Equatable {
    /// Who drives the coils.
    public enum Drive: UInt8, Sendable, BitwiseCopyable { case own, battery }

    public var drive: Drive
    /// Share of the battery's voltage at which the DC side counts as charged.
    public var chargedShare: Fraction
    /// Longest precharge.
    public var prechargeLimit: Duration
    /// More than this means a short circuit behind the resistor.
    public var prechargeCurrentMax: Amperes
    /// How often precharge is tried, 1 or more.
    public var attempts: Int
    /// Between two attempts.
    public var pause: Duration
    /// Currents up to this count as none.
    public var zeroCurrent: Amperes
    /// The longest wait for the current to end, where the cause of the opening asks for no shorter one: long
    /// enough for the inverter's own reversion. Zero = a permit that nobody waits with.
    public var openingLimit: Duration
    /// The DC side counts as discharged at this voltage or below.
    public var dischargedVoltage: Volts
    /// Longest discharge of the DC side after opening, and longest wait for it before the first closing.
    public var dischargeLimit: Duration
    /// How long the feedback may differ from the command: longer than the contact's own travel.
    public var feedbackDebounce: Duration
    /// Whether the precharge contactor has an auxiliary contact.
    public var hasPrechargeFeedback: Bool
    /// What the contacts may part without counting as worn; `nil` = nobody says.
    public var breakingCurrent: Amperes?

    public init(
        drive: Drive, prechargeLimit: Duration, prechargeCurrentMax: Amperes, attempts: Int, pause: Duration,
        zeroCurrent: Amperes, openingLimit: Duration, dischargedVoltage: Volts, dischargeLimit: Duration,
        feedbackDebounce: Duration, chargedShare: Fraction = .percent(95), hasPrechargeFeedback: Bool = false
    ) {
        precondition(attempts >= 1)
        self.drive = drive
        self.prechargeLimit = prechargeLimit
        self.prechargeCurrentMax = prechargeCurrentMax
        self.attempts = attempts
        self.pause = pause
        self.zeroCurrent = zeroCurrent
        self.openingLimit = openingLimit
        self.dischargedVoltage = dischargedVoltage
        self.dischargeLimit = dischargeLimit
        self.feedbackDebounce = feedbackDebounce
        self.chargedShare = chargedShare
        self.hasPrechargeFeedback = hasPrechargeFeedback
    }

    /// The battery drives its contactors: nothing is left but a permit.
    public static var ofBattery: ContactorSettings {
        ContactorSettings(
            drive: .battery, prechargeLimit: .zero, prechargeCurrentMax: .zero, attempts: 1, pause: .zero,
            zeroCurrent: .zero, openingLimit: .zero, dischargedVoltage: .zero, dischargeLimit: .zero,
            feedbackDebounce: .zero)
    }
}

/// What one cycle sees of the contactors; `nil` = not fresh, and never healthy.
public struct ContactorReading: Sendable, BitwiseCopyable {
    /// No trip is latched and the unit shall be connected.
    public var isClosingWanted: Bool
    /// An edge: true in one cycle, after somebody with the right role has asked for it.
    public var isReset: Bool
    /// The auxiliary contact.
    public var isMainClosed: Bool?
    /// That of the precharge contactor.
    public var isPrechargeClosed: Bool?
    /// Of the battery.
    public var current: Amperes?
    /// Battery and inverter say together that no current flows, or the inverter has had its reversion and
    /// nobody says that one flows.
    public var isUnloaded = false
    /// The longest that the cause of this opening lets anybody wait; `nil` = as the settings say.
    public var patience: Duration?
    public var packVoltage: Volts?
    /// On the inverter's side of the contactors.
    public var dcVoltage: Volts?

    public init(
        isClosingWanted: Bool, isReset: Bool = false, isMainClosed: Bool?, isPrechargeClosed: Bool? = nil,
        current: Amperes?, packVoltage: Volts?, dcVoltage: Volts?
    ) {
        self.isClosingWanted = isClosingWanted
        self.isReset = isReset
        self.isMainClosed = isMainClosed
        self.isPrechargeClosed = isPrechargeClosed
        self.current = current
        self.packVoltage = packVoltage
        self.dcVoltage = dcVoltage
    }
}
