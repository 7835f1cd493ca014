import Quantities

/// Main and precharge contactor between a battery and its inverter, and the capacitor on the inverter's side.
///
/// Coils move the contacts after their travel; the precharge contactor charges the capacitor through a
/// resistor; with both open the inverter discharges it. A main contact that closes on an empty capacitor
/// welds.
public struct ContactorModel: Sendable {
    public static let travel = Duration.milliseconds(30)
    static let prechargeResistance = Ohms(50)
    /// Farad; with the resistor a time constant of 0.2 s.
    static let capacitance = 0.004
    /// Time constant of the discharge.
    static let dischargeSeconds = 1.0
    /// Below this share of the battery's voltage a closing main contact welds.
    static let inrushShare = Fraction(0.8)

    /// A contact that follows its coil.
    struct Contact: Sendable {
        var isEnergised = false
        var isClosed = false
        private var left: Duration?

        mutating func advance(by step: Duration, holds: Bool) {
            guard isEnergised != isClosed, !holds else {
                left = nil
                return
            }
            let rest = (left ?? ContactorModel.travel) - step
            left = rest
            if rest <= .zero {
                isClosed = isEnergised
                left = nil
            }
        }
    }

    private var main = Contact()
    private var precharge = Contact()
    /// On the inverter's side.
    public private(set) var dcVoltage: Volts = .zero
    /// Has closed on an empty capacitor; stays so.
    public private(set) var isBurnt = false
    /// A closed main contact stays closed.
    var isWelded = false
    /// No coil moves an open contact.
    var refusesToClose = false

    public init() {}

    public var isMainClosed: Bool { main.isClosed }
    public var isPrechargeClosed: Bool { precharge.isClosed }

    /// Levels of the two coils.
    public mutating func drive(main isMainOn: Bool, precharge isPrechargeOn: Bool) {
        main.isEnergised = isMainOn
        precharge.isEnergised = isPrechargeOn
    }

    /// - Parameter pack: the battery's voltage; zero where its own switch is open.
    /// - Returns: the power that the precharge resistor and the capacitor draw from the battery.
    mutating func advance(by step: Duration, pack: Volts) -> Watts {
        let wasClosed = main.isClosed
        main.advance(by: step, holds: main.isClosed ? isWelded || isBurnt : refusesToClose)
        precharge.advance(by: step, holds: !precharge.isClosed && refusesToClose)
        if main.isClosed && !wasClosed && dcVoltage < pack * Self.inrushShare.value { isBurnt = true }
        let seconds = step.seconds
        if main.isClosed && pack > .zero {
            dcVoltage = pack
        } else if precharge.isClosed && pack > dcVoltage {
            let amperes = (pack - dcVoltage).value / Self.prechargeResistance.value
            dcVoltage += Volts(amperes / Self.capacitance * seconds)
            return Watts(pack.value * amperes)
        } else {
            dcVoltage -= dcVoltage * (seconds / Self.dischargeSeconds)
        }
        return .zero
    }
}
