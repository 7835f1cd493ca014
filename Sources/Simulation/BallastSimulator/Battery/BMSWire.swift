import CANBus
import DeviceCodecs
import LinuxIO
import Quantities
import Scenario

/// When the simulated BMS speaks.
public enum BMSSpeech: Sendable {
    /// As many do: only while one of the frames that it wants to hear came within the last 10 s.
    case whileKeptAlive
    case always
}

/// Which BMS a wire plays, and how.
struct BMSRole {
    var plant: SimulatedPlant
    var unit: Int
    var speech: BMSSpeech
    var voice: BMSVoice
}

/// One BMS on its CAN link: sends its frames every period and listens for the keep-alive. Belongs to one
/// thread.
final class BMSWire {
    private static let keepAliveLimit = Duration.seconds(10)
    private static let reopenPause = Duration.milliseconds(200)

    private var role: BMSRole
    private let address: CANAddress?
    private var transport: CANTransport
    /// Keeps a pseudo-terminal's line up.
    private let heldOpen: FileDescriptor?

    /// A link that can be opened again by its address. One that cannot be reached yet is tried again later.
    init(opening address: CANAddress, _ role: BMSRole) throws(CANError) {
        transport = try CANTransport.open(address)
        self.address = address
        heldOpen = nil
        self.role = role
    }

    /// The adapter's side of slcan on a pseudo-terminal.
    init(adapter terminal: consuming PseudoTerminal, _ role: BMSRole) throws(CANError) {
        transport = try CANTransport(slcanAdapter: terminal.controller)
        heldOpen = consume terminal.device
        address = nil
        self.role = role
    }

    func run(until stop: StopFlag) {
        while !stop.isRaised {
            speak(at: MonotonicTime.now())
            let wait = role.voice.next.map { $0 - MonotonicTime.now() } ?? .milliseconds(50)
            receive(timeout: wait < .milliseconds(50) ? wait : .milliseconds(50))
        }
    }

    private func receive(timeout: Duration) {
        var isKeptAlive = false
        let wanted = role.voice.keepAlives
        do throws(CANError) {
            try transport.receive(timeout: timeout < .milliseconds(1) ? .milliseconds(1) : timeout) { frame in
                if frame.kind == .data, wanted.contains(BMSVoice.key(frame)) { isKeptAlive = true }
            }
        } catch {
            reopen()
        }
        if isKeptAlive {
            let now = MonotonicTime.now()
            role.plant.with { [unit = role.unit] in $0.keepAlives[unit] = now }
        }
    }

    private func reopen() {
        guard transport.isBroken else { return }
        (MonotonicTime.now() + Self.reopenPause).sleep()
        guard let address else { return }
        // Not there yet: the next round tries again.
        if let fresh = try? CANTransport.open(address) { transport = fresh }
    }

    private func speak(at now: MonotonicTime) {
        let (snapshot, heard) = role.plant.with { [unit = role.unit] in
            ($0.site.units[unit], $0.keepAlives[unit])
        }
        // What nobody may hear is spoken all the same: its time goes by.
        let frames = role.voice.frames(snapshot, at: now)
        guard transport.isUp, maySpeak(lastKeepAlive: heard, at: now) else { return }
        for frame in frames {
            // A frame that the link does not take is lost, as on a bus; a lost link shows itself at the next
            // read.
            try? transport.send(frame)
        }
        guard !frames.isEmpty, !snapshot.isBatterySpoilt,
            let allowed = role.voice.said?.allowed
        else { return }
        // What comes late says what was true some time ago.
        let known = snapshot.has(.bmsJitter) || role.voice.hasFramesToCome ? nil : allowed
        role.plant.with { [unit = role.unit] in $0.batteryWords[unit] = (now, known) }
    }

    private func maySpeak(lastKeepAlive: MonotonicTime?, at now: MonotonicTime) -> Bool {
        switch role.speech {
        case .always: return true
        case .whileKeptAlive:
            if role.voice.keepAlives.isEmpty { return true }
            guard let lastKeepAlive else { return false }
            return now - lastKeepAlive <= Self.keepAliveLimit
        }
    }
}
