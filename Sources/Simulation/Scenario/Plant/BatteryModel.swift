import Quantities

/// What a simulated battery is made of.
public struct BatterySpecification: Sendable, Equatable {
    /// Energy from full to empty at nominal voltage.
    public var capacity: WattHours
    /// Cells (or groups of parallel cells) in series; 80 or more.
    public var cellCount: Int
    /// Largest magnitude of power at the terminals of the inverter; the current limits follow from it.
    public var maxPower: Watts
    public var stateOfCharge: Fraction
    public var ambient: Celsius

    public init(
        capacity: WattHours, cellCount: Int = 80, maxPower: Watts, stateOfCharge: Fraction = Fraction(0.6),
        ambient: Celsius = Celsius(25)
    ) {
        precondition(cellCount >= 80 && capacity > .zero && maxPower > .zero)
        self.capacity = capacity
        self.cellCount = cellCount
        self.maxPower = maxPower
        self.stateOfCharge = stateOfCharge
        self.ambient = ambient
    }
}

/// The lowest and the highest of one quantity over all cells; cells count from 0.
public struct CellExtremes<Value: Quantity>: Sendable, Equatable {
    public var min: Value
    public var minCell: Int
    public var max: Value
    public var maxCell: Int
}

/// A string of LFP cells with small differences between them: charge, terminal voltage, losses and heat.
///
/// One current flows through all cells. Each cell is an open-circuit voltage behind a resistance, and a
/// thermal mass that is warmed by its losses and cooled towards ambient. No hysteresis, no diffusion.
public struct BatteryModel: Sendable {
    struct Cell {
        private(set) var stateOfCharge: Double
        var temperature: Double
        let capacityAh: Double
        let resistanceOhm: Double
        /// Of its state of charge; kept, since everything asks for it.
        private(set) var openVolts: Double

        init(stateOfCharge: Double, temperature: Double, capacityAh: Double, resistanceOhm: Double) {
            self.stateOfCharge = stateOfCharge
            self.temperature = temperature
            self.capacityAh = capacityAh
            self.resistanceOhm = resistanceOhm
            openVolts = OpenCircuitVoltage.lfp(at: stateOfCharge)
        }

        mutating func discharge(_ share: Double) {
            guard share != 0 else { return }
            stateOfCharge -= share
            openVolts = OpenCircuitVoltage.lfp(at: stateOfCharge)
        }
    }

    static let nominalCellVoltage = 3.2
    /// Resistance of one cell times its capacity, Ω·Ah: 0.25 mΩ for 280 Ah.
    static let resistanceAmpereHours = 0.07
    /// Thermal mass per energy: 1040 J/(kg·K) at 160 Wh/kg.
    static let joulesPerKelvinPerWattHour = 6.5
    /// Time in which the cooling takes away 63 % of a difference to ambient.
    public static let coolingTimeConstant = Duration.seconds(3_000)
    /// A heated cell gets no hotter; its vent has opened long before.
    static let hottest = 200.0

    public let specification: BatterySpecification
    private(set) var cells: [Cell]
    /// Positive = discharge.
    public private(set) var current: Amperes = .zero
    /// Positive = given off at the terminals so far.
    public private(set) var energyDelivered: WattHours = .zero
    /// Turned into heat inside the cells so far.
    public private(set) var energyLost: WattHours = .zero
    /// The battery's own switch; open means no current, whatever is asked for.
    public internal(set) var isContactorClosed = true

    var heating: (cell: Int, rate: KelvinPerSecond)?
    var forcedVoltage: (cell: Int, voltage: Volts)?
    var forcedTemperature: (cell: Int, temperature: Celsius)?
    /// What the BMS takes for the state of charge.
    var forcedCharge: Fraction?

    /// Cells differ by at most ±0.5 % of charge, ±1 % of capacity and ±5 % of resistance.
    public init(_ specification: BatterySpecification, random: inout SplitMix64) {
        self.specification = specification
        let ampereHours =
            specification.capacity.value / (Double(specification.cellCount) * Self.nominalCellVoltage)
        var cells: [Cell] = []
        for _ in 0..<specification.cellCount {
            let charge = specification.stateOfCharge.value + 0.005 * random.nextSpread()
            let capacity = ampereHours * (1 + 0.01 * random.nextSpread())
            let resistance = Self.resistanceAmpereHours / ampereHours * (1 + 0.05 * random.nextSpread())
            cells.append(
                Cell(
                    stateOfCharge: charge, temperature: specification.ambient.value, capacityAh: capacity,
                    resistanceOhm: resistance))
        }
        self.cells = cells
        resistance = Ohms(cells.reduce(0) { $0 + $1.resistanceOhm })
    }

    public var cellCapacity: AmpereHours {
        AmpereHours(
            specification.capacity.value / (Double(specification.cellCount) * Self.nominalCellVoltage))
    }
    public var cellHeatCapacity: JoulesPerKelvin {
        JoulesPerKelvin(
            specification.capacity.value / Double(specification.cellCount) * Self.joulesPerKelvinPerWattHour)
    }

    /// Sum over all cells, Ω.
    public let resistance: Ohms
    public var openCircuitVoltage: Volts { Volts(cells.reduce(0) { $0 + $1.openVolts }) }

    /// Lets `power` flow at the terminals for `step`; positive = discharge. More than the string can give
    /// (its maximum-power point) is cut to that.
    public mutating func advance(power: Watts, by step: Duration) {
        let amperes = isContactorClosed ? current(for: power) : 0
        current = Amperes(amperes)
        let seconds = step.seconds
        var lost = 0.0
        let heatCapacity = cellHeatCapacity.value
        let cooling = seconds / Self.coolingTimeConstant.seconds
        for index in cells.indices {
            let heat = amperes * amperes * cells[index].resistanceOhm * seconds
            lost += heat
            cells[index].discharge(amperes * seconds / (3_600 * cells[index].capacityAh))
            cells[index].temperature +=
                heat / heatCapacity
                - (cells[index].temperature - specification.ambient.value) * cooling
        }
        if let heating, cells[heating.cell].temperature < Self.hottest {
            cells[heating.cell].temperature += heating.rate.value * seconds
        }
        let delivered = (openCircuitVoltage.value - amperes * resistance.value) * amperes * seconds
        energyDelivered += WattHours(delivered / 3_600)
        energyLost += WattHours(lost / 3_600)
    }

    /// The current at which `(ocv − I·R)·I` is the power asked for.
    private func current(for power: Watts) -> Double {
        let voltage = openCircuitVoltage.value
        let resistance = resistance.value
        let discriminant = voltage * voltage - 4 * resistance * power.value
        if discriminant <= 0 { return voltage / (2 * resistance) }
        return (voltage - discriminant.squareRoot()) / (2 * resistance)
    }

    func voltage(ofCell index: Int) -> Double {
        if let forcedVoltage, forcedVoltage.cell == index { return forcedVoltage.voltage.value }
        let cell = cells[index]
        return cell.openVolts - current.value * cell.resistanceOhm
    }

    /// At the terminals of each cell.
    public var allCellVoltages: [Volts] { cells.indices.map { Volts(voltage(ofCell: $0)) } }
    public var allCellTemperatures: [Celsius] { cells.indices.map { Celsius(temperature(ofCell: $0)) } }

    private func temperature(ofCell index: Int) -> Double {
        if let forced = forcedTemperature, forced.cell == index { return forced.temperature.value }
        return cells[index].temperature
    }

    public var packVoltage: Volts { Volts(cells.indices.reduce(0) { $0 + voltage(ofCell: $1) }) }

    /// Turned into heat in the cells now.
    var heat: Watts { Watts(current.value * current.value * resistance.value) }

    /// Voltages (V) and temperatures (°C) of the cells as they are, whatever sensors say.
    var physicalCells: (voltages: ClosedRange<Double>, temperatures: ClosedRange<Double>) {
        var voltages = (Double.infinity, -Double.infinity)
        var temperatures = voltages
        for cell in cells {
            let voltage = cell.openVolts - current.value * cell.resistanceOhm
            voltages = (Swift.min(voltages.0, voltage), Swift.max(voltages.1, voltage))
            temperatures = (
                Swift.min(temperatures.0, cell.temperature), Swift.max(temperatures.1, cell.temperature)
            )
        }
        return (voltages.0...voltages.1, temperatures.0...temperatures.1)
    }

    /// Mean over all cells.
    public var stateOfCharge: Fraction {
        Fraction(cells.reduce(0) { $0 + $1.stateOfCharge } / Double(cells.count))
    }

    /// As the BMS tells it.
    public var shownStateOfCharge: Fraction { forcedCharge ?? stateOfCharge }

    public var cellVoltages: CellExtremes<Volts> { extremes { voltage(ofCell: $0) } }
    public var cellTemperatures: CellExtremes<Celsius> { extremes { temperature(ofCell: $0) } }

    private func extremes<Value: Quantity>(_ value: (Int) -> Double) -> CellExtremes<Value> {
        var low = (cell: 0, value: value(0))
        var high = low
        for index in cells.indices.dropFirst() {
            let candidate = value(index)
            if candidate < low.value { low = (index, candidate) }
            if candidate > high.value { high = (index, candidate) }
        }
        return CellExtremes(
            min: Value(low.value), minCell: low.cell, max: Value(high.value), maxCell: high.cell)
    }
}

/// Open-circuit voltage of one LFP cell at 25 °C over its state of charge; the usual flat plateau, steep at
/// both ends.
enum OpenCircuitVoltage {
    private static let table: [(charge: Double, volts: Double)] = [
        (-0.05, 1.80), (0.00, 2.60), (0.02, 2.90), (0.05, 3.08), (0.10, 3.20), (0.20, 3.25), (0.30, 3.285),
        (0.40, 3.295), (0.50, 3.30), (0.60, 3.31), (0.70, 3.325), (0.80, 3.33), (0.90, 3.335), (0.97, 3.36),
        (0.99, 3.42), (1.00, 3.50), (1.02, 3.90),
    ]

    /// Any charge; beyond the ends of the table the end's value holds.
    static func lfp(at charge: Double) -> Double {
        var before = table[0]
        if charge <= before.charge { return before.volts }
        for point in table.dropFirst() {
            if charge <= point.charge {
                let share = (charge - before.charge) / (point.charge - before.charge)
                return before.volts + (point.volts - before.volts) * share
            }
            before = point
        }
        return before.volts
    }
}
