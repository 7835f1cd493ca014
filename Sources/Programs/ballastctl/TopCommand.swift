import ArgumentParser
import ControlSocket
import Glibc
import LinuxIO
import Quantities

/// `ballastctl top`: the site on one screen, each second anew.
struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the site live: units, limits and their causes, links, trips, last events.",
        discussion: """
            q ends it, ? shows the keys. What is not fresh is –; where the controller stops answering, the figures turn old \
            and are then taken away. Without a terminal, and with --once, one screen is printed as plain text.
            """)
    @OptionGroup var socket: SocketOption
    @Flag(help: "Print one screen and end.") var once = false
    @Flag(help: "Print JSON: one object a line, each second; with --once a single one.") var json = false
    @Option(name: .customLong("interval-ms"), help: "Between two questions, 100 … 60000.") var interval = 500

    /// One look, for other programs.
    private struct Look: Encodable {
        /// Since the decision that is shown; absent without one.
        var age_s: Double?
        /// Why there was no answer; absent where there was one.
        var failure: String?
        var status: SiteStatus?
        var trips: [TripStatus]
        /// What happened last, newest first.
        var events: [EventStatus]
    }

    func validate() throws {
        guard (100...60_000).contains(interval) else {
            throw ValidationError("--interval-ms takes 100 … 60000")
        }
    }

    func run() throws {
        var state = TopState()
        if json { return try printJSON(&state) }
        guard !once, let terminal = RawTerminal() else { return try printOnce(&state) }
        let signals = SignalInbox()
        var shown: [TopLine]?
        var size = RawTerminal.size
        var due = MonotonicTime.now()
        while !state.isEnded, signals.wait(timeout: .zero) == nil {
            let now = MonotonicTime.now()
            if now >= due {
                ask(&state)
                due = now + .milliseconds(Int64(interval))
            }
            let newSize = RawTerminal.size
            if newSize != size { (shown, size) = (nil, newSize) }
            let lines = TopScreen(state, columns: size.columns, rows: size.rows, at: .now()).lines
            terminal.show(TopLine.change(from: shown, to: lines))
            shown = lines
            guard let keys = terminal.keys(within: 100) else { return }
            for key in TopKeys.read(keys) { state.press(key) }
        }
    }

    private func ask(_ state: inout TopState) {
        do {
            guard let status = try socket.ask(ControlRequest(.status)).status else {
                return state.miss("the daemon gave no status")
            }
            let told = try socket.ask(ControlRequest(.trips))
            state.take(status, trips: told.trips ?? [], events: told.events ?? [], at: .now())
        } catch {
            state.miss("\(error)")
        }
    }

    private func printOnce(_ state: inout TopState) throws {
        ask(&state)
        guard state.status != nil else { throw Refusal(state.failure ?? "no answer") }
        let columns = isatty(1) == 1 ? RawTerminal.size.columns : 120
        let lines = TopScreen(state, columns: columns, rows: 200, at: .now()).lines
        // The last one names keys.
        for line in lines.dropLast() { print(line.text) }
    }

    private func printJSON(_ state: inout TopState) throws {
        let signals = SignalInbox()
        repeat {
            ask(&state)
            if once, let failure = state.failure { throw Refusal(failure) }
            let look = Look(
                age_s: state.age(at: .now())?.seconds, failure: state.failure, status: state.status,
                trips: state.trips, events: state.events)
            if let bytes = JSONLine.encode(look) {
                print(String(decoding: bytes, as: UTF8.self), terminator: "")
            }
            fflush(nil)
        } while !once && signals.wait(timeout: .milliseconds(Int64(interval))) == nil
    }
}

/// What a terminal sends for keys.
enum TopKeys {
    static func read(_ bytes: [UInt8]) -> [TopState.Key] {
        switch bytes {
        case [0x1B]: return [.escape]
        case [0x1B, 0x5B, 0x41], [0x1B, 0x4F, 0x41]: return [.up]
        case [0x1B, 0x5B, 0x42], [0x1B, 0x4F, 0x42]: return [.down]
        case _: break
        }
        // Any other sequence is a key that means nothing here.
        if bytes.first == 0x1B { return [] }
        return String(decoding: bytes, as: UTF8.self).compactMap { character in
            switch character {
            case "\r", "\n": return .enter
            case "\u{7F}", "\u{8}": return .backspace
            case _:
                return character.unicodeScalars.allSatisfy { $0.value >= 0x20 } ? .character(character) : nil
            }
        }
    }
}
