import ControlSocket
import DeviceCodecs
import ModbusBus
import Quantities
import SiteConfig

/// The site as the registers of one SunSpec device, and what a client's write asks of it.
///
/// Models 1, 701, 702, 704 and 713. A write of `WSet` is a lease: it holds for `WSetRvrtTms`, at most for
/// `lease_s`, then the site does what its own configuration says; `WSetEna` shows it. Nothing else is
/// written.
struct SunSpecProxy: Sendable {
    static let base: UInt16 = 40_000

    /// What a write asks for.
    enum Order: Equatable {
        case ask(Watts, for: Duration)
        case release
    }

    enum Verdict: Equatable {
        /// With this exception code.
        case refused(UInt8)
        case taken(Order?)
    }

    private let config: ModbusServerConfig
    private let siteID: String
    private let rating: Watts
    private let capacity: WattHours
    private var wanted = Watts.zero
    private var isEnabled = false
    private var reversion: UInt32 = 0
    private var until = MonotonicTime(nanoseconds: 0)
    private let powerScale: Int
    private let energyScale: Int
    private let controlsOffset: Int

    init(_ config: ModbusServerConfig, site: SiteConfig) {
        self.config = config
        siteID = site.siteID
        rating = site.ratedPower
        capacity = site.units.reduce(.zero) { $0 + $1.capacity }
        powerScale = Self.scale(for: rating.value)
        energyScale = Self.scale(for: capacity.value / 2)
        controlsOffset = 2 + 68 + 155 + 52
    }

    /// The finest power of ten at which one and a half times `largest` fits a signed register.
    private static func scale(for largest: Double) -> Int {
        var (exponent, step) = (0, 1.0)
        while largest * 1.5 / step > 32_000, exponent < 10 { (exponent, step) = (exponent + 1, step * 10) }
        return exponent
    }

    // MARK: Registers

    /// Everything from the marker to the end.
    ///
    /// - Parameter status: `nil` where it is too old: then every measurement is "not implemented".
    mutating func registers(_ status: SiteStatus?, at now: MonotonicTime) -> [UInt16] {
        if isEnabled && now >= until { isEnabled = false }
        var all: [UInt16] = [0x5375, 0x6E53]
        for image in [common, measurement(status), capacities, controls(at: now), storage(status)] {
            all += image?.registers ?? []
        }
        return all + [0xFFFF, 0]
    }

    private var common: SunSpecImage? {
        var image = SunSpecDefinition(1).map { SunSpecImage($0) }
        image?.set("Mn", text: "Ballast")
        image?.set("Md", text: "Site")
        image?.set("SN", text: siteID)
        image?.set("DA", Double(config.unitID))
        return image
    }

    private func measurement(_ status: SiteStatus?) -> SunSpecImage? {
        guard var image = SunSpecDefinition(701).map({ SunSpecImage($0) }) else { return nil }
        image.setScale("W_SF", powerScale)
        image.setScale("Hz_SF", -3)
        image.set("ACType", 2)
        guard let status else { return image }
        let modes = status.units.map(\.mode)
        let isRunning = modes.contains("running")
        let isFaulty = !modes.isEmpty && modes.allSatisfy { $0 == "tripped" }
        image.set("St", isRunning ? 1 : 0)
        image.set("InvSt", isRunning ? 3 : (isFaulty ? 6 : 7))
        image.set("ConnSt", isRunning ? 1 : 0)
        // MANUFACTURER_ALRM: a unit has tripped.
        image.set("Alrm", modes.contains("tripped") ? 65_536 : 0)
        image.set("W", status.site_power_kw.map { $0 * 1_000 })
        image.set("Hz", status.frequency_hz)
        return image
    }

    private var capacities: SunSpecImage? {
        guard var image = SunSpecDefinition(702).map({ SunSpecImage($0) }) else { return nil }
        image.setScale("W_SF", powerScale)
        for point in ["WMaxRtg", "WChaRteMaxRtg", "WDisChaRteMaxRtg", "WMax", "WChaRteMax", "WDisChaRteMax"] {
            image.set(point, rating.value)
        }
        // FIXED_W.
        image.set("CtrlModes", 2)
        return image
    }

    private func controls(at now: MonotonicTime) -> SunSpecImage? {
        guard var image = SunSpecDefinition(704).map({ SunSpecImage($0) }) else { return nil }
        image.setScale("WSet_SF", 0)
        image.setScale("WSetPct_SF", -2)
        image.set("WSetEna", isEnabled ? 1 : 0)
        image.set("WSetMod", 1)
        image.set("WSet", wanted.value)
        image.set("WSetRvrt", 0)
        image.set("WSetPct", 0)
        image.set("WSetPctRvrt", 0)
        image.set("WSetEnaRvrt", 0)
        image.set("WSetRvrtTms", Double(reversion))
        image.set("WSetRvrtRem", isEnabled ? ((until - now).seconds).rounded(.up) : 0)
        return image
    }

    private func storage(_ status: SiteStatus?) -> SunSpecImage? {
        guard var image = SunSpecDefinition(713).map({ SunSpecImage($0) }) else { return nil }
        image.setScale("WH_SF", energyScale)
        image.setScale("Pct_SF", -2)
        image.set("WHRtg", capacity.value)
        guard let units = status?.units, !units.isEmpty else { return image }
        let charges = units.compactMap(\.soc_percent)
        // Of all units or of none: a mean without the one that is silent would lie.
        guard charges.count == units.count else { return image }
        let mean = zip(charges, units).reduce(0) { $0 + $1.0 * $1.1.rating_kw }
        let weight = units.reduce(0) { $0 + $1.rating_kw }
        image.set("SoC", weight > 0 ? mean / weight : nil)
        image.set("WHAvail", weight > 0 ? capacity.value * mean / weight / 100 : nil)
        image.set("Sta", units.contains { $0.mode == "tripped" } ? 2 : 0)
        return image
    }

    // MARK: Writes

    /// What a write means; it changes nothing where it is refused.
    mutating func write(_ write: ModbusWrite, at now: MonotonicTime) -> Verdict {
        guard config.writers.contains(write.client) else { return .refused(1) }
        let first = Int(write.address) - Int(Self.base) - controlsOffset
        let range = first..<(first + write.values.count)
        guard write.table == .registers, first >= 22, range.upperBound <= 33 else { return .refused(2) }
        func word(_ offset: Int) -> UInt16? { range.contains(offset) ? write.values[offset - first] : nil }
        func long(_ offset: Int) -> UInt32?? {
            switch (word(offset), word(offset + 1)) {
            case (let high?, let low?): .some(UInt32(high) << 16 | UInt32(low))
            case (nil, nil): .some(nil)
            // Half a number.
            case (_?, nil), (nil, _?): nil
            }
        }
        guard let power = long(24), let back = long(26), let time = long(31) else { return .refused(3) }
        let isPlain =
            (word(22) ?? 0) <= 1 && (word(23) ?? 1) == 1 && (back ?? 0) == 0
            && [28, 29, 30].allSatisfy { (word($0) ?? 0) == 0 }
        let asked = power.map { Watts(Double(Int32(bitPattern: $0))) } ?? wanted
        let seconds = time ?? reversion
        guard isPlain, asked.magnitude <= rating, Duration.seconds(Int64(seconds)) <= config.lease else {
            return .refused(3)
        }
        let wasEnabled = isEnabled
        (wanted, reversion) = (asked, seconds)
        isEnabled = word(22).map { $0 == 1 } ?? (isEnabled && now < until)
        if wasEnabled && !isEnabled { return .taken(.release) }
        guard isEnabled, power != nil || word(22) != nil else { return .taken(nil) }
        let hold = seconds > 0 ? Duration.seconds(Int64(seconds)) : config.lease
        until = now + hold
        return .taken(.ask(asked, for: hold))
    }
}
