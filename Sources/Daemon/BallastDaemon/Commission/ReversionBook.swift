import LinuxIO
import ModbusBus
import Quantities
import Recorder
import SiteConfig
import Synchronization

/// Who has proven to be safe by itself, and what that allows.
///
/// In production no power is taken from outside the site while a device has proven nothing: when the gateway
/// dies, nobody is there to notice.
struct ReversionBook: Equatable {
    private(set) var record: ReversionRecord
    private let config: SiteConfig

    init(_ config: SiteConfig, _ record: ReversionRecord) {
        self.config = config
        self.record = record
    }

    init(_ config: SiteConfig) {
        self.init(config, ReversionRecord.read(in: config.paths.stateDirectory))
    }

    /// What was tested: the device's address and the time that it was given.
    private static func device(_ unit: UnitConfig) -> String {
        let address = "\(unit.inverter.endpoint)/\(unit.inverter.unitID)"
        return address.split(separator: " ").joined(separator: ",")
            + "/\(unit.reversion.components.seconds)s"
    }

    func proof(of unit: UnitConfig) -> ReversionRecord.Proof? {
        record.proof(of: unit.id, device: Self.device(unit))
    }

    /// Which device has proven it; `nil` where nobody has, or it does not say who it is.
    func provenIdentity(of unit: UnitConfig) -> UInt64? {
        proof(of: unit).flatMap { $0.identity == 0 ? nil : $0.identity }
    }

    /// How long after our last write the inverter is at zero by itself; `nil` where nothing says that it ever
    /// is.
    ///
    /// It is what the test on site has seen, and no less than the timer and the way to zero as they are
    /// configured: one test shows one case. In simulation nobody commissions anything, and the timer of a
    /// SunSpec 704 reverts to zero by its definition; devices by a driver file have proven nothing there.
    /// A proof counts from the next start on.
    func provenReversion(of unit: UnitConfig) -> Duration? {
        let configured = unit.reversion + unit.response
        if let proof = proof(of: unit) { return max(.milliseconds(proof.milliseconds), configured) }
        return config.mode.rules.inverter == .asConfigured && unit.inverter.driver == nil ? configured : nil
    }

    /// - Parameter result: `nil` after a test that failed.
    /// - Parameter identity: which device it was; zero where it does not say.
    mutating func note(
        _ result: (after: Duration, power: Watts)?, of unit: UnitConfig, identity: UInt64, wallSeconds: Int64
    ) {
        let proof = result.map {
            ReversionRecord.Proof(
                unit: unit.id, device: Self.device(unit), identity: identity,
                milliseconds: Int64($0.after.milliseconds),
                watts: Int64($0.power.value.rounded()), at: wallSeconds)
        }
        record.set(proof, of: unit.id)
    }

    // MARK: I/O modules

    /// A module with coils: where it is, and the watchdog that is set in it; `nil` without coils.
    private static func module(_ unit: UnitConfig) -> (name: String, device: String)? {
        guard let module = unit.ioModule, !module.coils.isEmpty, let watchdog = module.watchdog else {
            return nil
        }
        let address = "\(module.modbus.endpoint)/\(module.modbus.unitID)"
        return (
            "\(unit.id)/io_module",
            address.split(separator: " ").joined(separator: ",") + "/\(Int(watchdog.milliseconds))ms"
        )
    }

    func watchdogProof(of unit: UnitConfig) -> ReversionRecord.Proof? {
        Self.module(unit).flatMap { record.proof(of: $0.name, device: $0.device) }
    }

    /// - Parameter time: of silence after which the outputs had fallen; `nil` after a test that failed.
    mutating func noteWatchdog(_ time: Duration?, of unit: UnitConfig, wallSeconds: Int64) {
        guard let module = Self.module(unit) else { return }
        let proof = time.map {
            ReversionRecord.Proof(
                unit: module.name, device: module.device, milliseconds: Int64($0.milliseconds), watts: 0,
                at: wallSeconds)
        }
        record.set(proof, of: module.name)
    }

    /// For `--check` and the status; `nil` without coils.
    func watchdogText(_ unit: UnitConfig) -> String? {
        guard Self.module(unit) != nil else { return nil }
        guard let proof = watchdogProof(of: unit) else { return "not proven" }
        let time = Self.seconds(.milliseconds(proof.milliseconds))
        return "proven: off within \(time) s (\(WallClock.text(milliseconds: proof.at * 1_000)))"
    }

    // MARK: What it allows

    /// Why no power may be taken from outside the site; `nil` where it may.
    var remoteRefusal: String? {
        guard config.mode.rules.remoteCommands == .rightClockAndProofs else { return nil }
        let unproven = config.units.filter { proof(of: $0) == nil }.map(\.id)
        let modules = config.units.filter { Self.module($0) != nil && watchdogProof(of: $0) == nil }
            .map(\.id)
        let rest = "no power from outside the site in mode production before "
        if !unproven.isEmpty {
            return rest + unproven.joined(separator: ", ")
                + " has proven its reversion: ballastctl commission reversion UNIT"
        }
        guard !modules.isEmpty else { return nil }
        return rest + "the I/O module of \(modules.joined(separator: ", "))"
            + " has proven its watchdog: ballastctl commission reversion UNIT --io-module"
    }

    /// For `--check` and the status.
    func text(_ unit: UnitConfig) -> String {
        guard let proof = proof(of: unit) else { return "not proven" }
        let time = Self.seconds(.milliseconds(proof.milliseconds))
        return "proven: zero after \(time) s (\(WallClock.text(milliseconds: proof.at * 1_000)))"
    }

    static func seconds(_ time: Duration) -> String { "\((time.seconds * 10).rounded() / 10)" }
}

/// Between the control socket's thread, which asks for a test, and the main thread, which carries it out.
final class ReversionDesk: Sendable {
    struct Wish: Sendable {
        var unit: Int
        var power: Watts
        /// The unit's I/O module, not its inverter.
        var isModule = false
    }

    private struct State: Sendable {
        var wish: Wish?
        var isBusy = false
        var remoteRefusal: String?
    }

    private let state = Mutex(State())

    /// - Returns: `false` where a test is under way.
    func ask(_ wish: Wish) -> Bool {
        state.withLock { state in
            if state.isBusy { return false }
            state.wish = wish
            state.isBusy = true
            return true
        }
    }

    func take() -> Wish? {
        state.withLock { state in
            let wish = state.wish
            state.wish = nil
            return wish
        }
    }

    func finished() { state.withLock { $0.isBusy = false } }

    var remoteRefusal: String? {
        get { state.withLock { $0.remoteRefusal } }
        set { state.withLock { $0.remoteRefusal = newValue } }
    }
}
