import CycleRecord
import Incident
import Plant
import Quantities
import SiteConfig

/// What other settings would have decided on the same measurements. The plant's own answer is not in it: what
/// was measured stays what it was.
///
/// Both sides begin anew with the recording's first cycle, in service at once and with nothing latched, so
/// that what differs comes from the settings alone.
public struct WhatIf {
    public private(set) var recorded: Trace
    public private(set) var other: Trace
    public private(set) var fault: String?

    /// Less is a difference of rounding, kW.
    private static let noticed = 0.1

    public init(_ bytes: [UInt8], with site: CheckedSite) {
        (recorded, other) = (Trace(site: "", units: []), Trace(site: "", units: []))
        do {
            var reader = try RecordingReader(bytes)
            var files: [(path: String, bytes: [UInt8])] = []
            var sides: (Side, Side)?
            while fault == nil, let record = try reader.next() {
                switch record {
                case .file(let path, let bytes): files.append((path, bytes))
                case .command(let command, let now):
                    sides?.0.run.handle(command, at: now)
                    sides?.1.run.handle(command, at: now)
                case .cycle(let inputs, _):
                    if sides == nil {
                        let own = try RecordedSite(files)
                        guard own.config.units.count == site.config.units.count else {
                            fault =
                                "the other site has \(site.config.units.count) units, the recorded one \(own.config.units.count)"
                            return
                        }
                        let theirs = RecordedSite(config: site.config, profiles: site.profiles)
                        sides = (Side(own, inputs), Side(theirs, inputs))
                    }
                    sides?.0.turn(inputs)
                    sides?.1.turn(inputs)
                case .about, .start, .checkpoint, .capture, .endAsked, .end: break
                }
            }
            if let (own, theirs) = sides {
                recorded = own.trace
                other = theirs.trace
            } else if fault == nil {
                fault = "it holds no cycle"
            }
        } catch {
            fault = "\(error)"
        }
    }

    /// One controller on the recorded measurements.
    private struct Side {
        let run: CoreRun
        private var builder: TraceBuilder
        private let inputCount: Int
        private let site: String
        private let units: [String]

        init(_ site: RecordedSite, _ inputs: CycleInputs) {
            var config = site.config
            config.control.enterService = .zero
            units = config.units.map(\.id)
            self.site = config.siteID
            builder = TraceBuilder(units)
            inputCount = CycleNames.inputs(units.count).count
            run = CoreRun(
                config, profiles: site.profiles, state: CoreState(), wallSeconds: inputs.wallSeconds,
                at: inputs.now,
                recorder: CycleRecorder(unitCount: units.count, about: "what if", files: []))
        }

        mutating func turn(_ inputs: CycleInputs) {
            _ = run.turn(grid: inputs.grid, units: inputs.units.span, at: inputs.now)
            guard let words = run.recorder?.words else { return }
            builder.add(inputs, Array(words[inputCount...]))
            _ = run.recorder?.drain()
        }

        var trace: Trace {
            var trace = Trace(site: site, units: units)
            builder.finish(into: &trace)
            return trace
        }
    }

    // MARK: For people

    /// What differs, in lines.
    public var text: String {
        if let fault { return "not compared: \(fault)" }
        var lines = [
            "on the same \(recorded.times.count) cycles of measurements (the plant's own answer is not in it):"
        ]
        lines += trips
        for unit in recorded.units { lines += power(unit) + limits(unit) }
        return lines.count == 1 ? lines[0] + "\n  nothing differs" : lines.joined(separator: "\n")
    }

    /// Something differs.
    public var differs: Bool {
        fault == nil && !(trips.isEmpty && recorded.units.allSatisfy { power($0).isEmpty })
    }

    private var trips: [String] {
        func found(_ trace: Trace) -> [Trace.Happening] { trace.happenings.filter(\.isTrip) }
        func lines(_ from: Trace, without: Trace, _ name: String) -> [String] {
            var rest = found(without)
            var lines: [String] = []
            for trip in found(from) {
                if let place = rest.firstIndex(where: { $0.unit == trip.unit && $0.text == trip.text }) {
                    let moved = rest[place].time - trip.time
                    if name == "other", moved.magnitude > 0.0005 {
                        lines.append(
                            "  \(trip.unit ?? "site"): \(trip.text) at \(Self.seconds(trip.time)), recorded settings: "
                                + Self.seconds(rest[place].time))
                    }
                    rest.remove(at: place)
                } else {
                    lines.append(
                        "  \(trip.unit ?? "site"): \(trip.text) at \(Self.seconds(trip.time)) with the \(name) settings alone"
                            + (trip.isFirstOut ? " (first out)" : ""))
                }
            }
            return lines
        }
        return lines(recorded, without: other, "recorded") + lines(other, without: recorded, "other")
    }

    private func values(_ trace: Trace, _ unit: String, _ name: String) -> [Double] {
        let index = trace.units.firstIndex(of: unit) ?? recorded.units.firstIndex(of: unit)
        guard let index, trace.units.indices.contains(index) else { return [] }
        return trace.analog.first { $0.owner == trace.units[index] && $0.name == name }?.values ?? []
    }

    private func power(_ unit: String) -> [String] {
        guard let index = recorded.units.firstIndex(of: unit), other.units.indices.contains(index) else {
            return []
        }
        let (old, new) = (values(recorded, unit, "setpoint"), values(other, other.units[index], "setpoint"))
        let gaps = zip(old, new).map { ($1 - $0).magnitude }
        guard let first = gaps.firstIndex(where: { $0 > Self.noticed }), let most = gaps.max(),
            let place = gaps.firstIndex(of: most)
        else { return [] }
        func one(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
        return [
            "  \(unit): setpoint differs from \(Self.seconds(recorded.times[first])) on; most at "
                + "\(Self.seconds(recorded.times[place])): \(one(new[place])) kW, recorded settings \(one(old[place])) kW"
        ]
    }

    private func limits(_ unit: String) -> [String] {
        func longest(_ trace: Trace, _ unit: String) -> [String: Double] {
            var sums: [String: Double] = [:]
            for stretch in trace.bars.first(where: { $0.owner == unit && $0.name == "limited by" })?.stretches
                ?? []
            {
                sums[stretch.text, default: 0] += stretch.to - stretch.from
            }
            return sums
        }
        guard let index = recorded.units.firstIndex(of: unit), other.units.indices.contains(index) else {
            return []
        }
        let (old, new) = (longest(recorded, unit), longest(other, other.units[index]))
        return Set(old.keys).union(new.keys).sorted().compactMap { cause in
            let (before, after) = (old[cause] ?? 0, new[cause] ?? 0)
            guard cause != "none", (before - after).magnitude > 0.1 else { return nil }
            return
                "  \(unit): limited by \(cause) for \(Self.seconds(after)), recorded settings \(Self.seconds(before))"
        }
    }

    private static func seconds(_ time: Double) -> String { "\((time * 1_000).rounded() / 1_000) s" }
}
