import Quantities

/// What `ballastctl top` knows: the newest answer, what came before it, and what a person has chosen to see.
/// It reads no clock and asks nobody.
public struct TopState: Sendable {
    /// A key that was pressed.
    public enum Key: Sendable, Equatable { case up, down, enter, escape, backspace, character(Character) }

    /// In what order the units stand.
    public enum Order: String, Sendable, CaseIterable { case trouble, name, power, charge, temperature }

    /// What fills the screen.
    public enum View: Sendable, Equatable { case site, unit(String), links, help }

    /// Something that changed while somebody looked.
    struct Change: Sendable, Equatable {
        var at: String
        var text: String
    }

    /// A figure is shown as if it were now for so long, then as old; after `blankAge` not at all.
    static let oldAge = Duration.seconds(2)
    static let blankAge = Duration.seconds(10)
    private static let longestHistory = 240
    private static let longestChanges = 200

    public private(set) var status: SiteStatus?
    public private(set) var trips: [TripStatus] = []
    /// What happened last, newest first.
    public private(set) var events: [EventStatus] = []
    /// When the newest answer that had moved on came.
    private(set) var movedAt: MonotonicTime?
    /// Why the newest question had no answer; `nil` where it had one.
    public private(set) var failure: String?
    private(set) var frequencies: [Double?] = []
    private(set) var powers: [Double?] = []
    private(set) var changes: [Change] = []
    public private(set) var order = Order.trouble
    public private(set) var view = View.site
    public private(set) var filter = ""
    public private(set) var isTyping = false
    private var chosen = 0
    /// Of the shown units.
    var chosenIndex: Int { min(chosen, max(0, shownUnits.count - 1)) }
    public private(set) var isEnded = false

    public init() {}

    // MARK: What comes in

    /// Takes an answer; one whose cycle has not moved on is no new one.
    public mutating func take(
        _ status: SiteStatus, trips: [TripStatus], events: [EventStatus] = [], at now: MonotonicTime
    ) {
        failure = nil
        self.events = events
        guard self.status?.cycle != status.cycle else { return }
        if let before = self.status { note(before, status) }
        self.status = status
        self.trips = trips
        movedAt = now
        keep(status.frequency_hz, status.site_power_kw)
    }

    /// Takes that nobody answered, and why.
    public mutating func miss(_ reason: String) {
        failure = reason
        keep(nil, nil)
    }

    private mutating func keep(_ frequency: Double?, _ power: Double?) {
        frequencies = Array((frequencies + [frequency]).suffix(Self.longestHistory))
        powers = Array((powers + [power]).suffix(Self.longestHistory))
    }

    private mutating func note(_ before: SiteStatus, _ now: SiteStatus) {
        var texts: [String] = []
        if before.stopped != now.stopped {
            texts.append(now.stopped ? "site stopped \(now.stopped_by ?? "")" : "site may run again")
        }
        for unit in now.units {
            guard let former = before.units.first(where: { $0.id == unit.id }) else { continue }
            if former.mode != unit.mode { texts.append("\(unit.id): \(former.mode) → \(unit.mode)") }
            texts += unit.trips.filter { !former.trips.contains($0) }.map { "\(unit.id): TRIP \($0)" }
            texts += unit.warnings.filter { !former.warnings.contains($0) }.map {
                "\(unit.id): warning \($0)"
            }
        }
        for link in now.links {
            let former = before.links.first { $0.name == link.name }
            if let up = link.counters["up"], let was = former?.counters["up"], up != was {
                texts.append("\(link.name): \(up == 0 ? "down" : "up")")
            }
        }
        changes = (texts.map { Change(at: now.at, text: $0) } + changes).prefix(Self.longestChanges).map {
            $0
        }
    }

    // MARK: What a person does

    public mutating func press(_ key: Key) {
        if isTyping { return type(key) }
        switch key {
        case .character("q"): isEnded = true
        case .character("s"): order = Order.allCases[(index(of: order) + 1) % Order.allCases.count]
        case .character("/"): (view, isTyping, filter) = (.site, true, "")
        case .character("l"): view = view == .links ? .site : .links
        case .character("?"), .character("h"): view = view == .help ? .site : .help
        case .up, .character("k"): chosen = max(0, chosen - 1)
        case .down, .character("j"): chosen = min(max(0, shownUnits.count - 1), chosen + 1)
        case .enter:
            let units = shownUnits
            if view == .site, !units.isEmpty { view = .unit(units[min(chosen, units.count - 1)].id) }
        case .escape, .backspace: if view == .site { filter = "" } else { view = .site }
        case .character: break
        }
    }

    private mutating func type(_ key: Key) {
        switch key {
        case .enter: isTyping = false
        case .escape: (isTyping, filter) = (false, "")
        case .backspace: filter = String(filter.dropLast())
        case .character(let character): if filter.count < 40 { filter.append(character) }
        case .up, .down: break
        }
        chosen = 0
    }

    private func index(of order: Order) -> Int { Order.allCases.firstIndex(of: order) ?? 0 }

    // MARK: What follows

    /// How old what is shown is; `nil` where there is nothing.
    public func age(at now: MonotonicTime) -> Duration? { movedAt.map { now - $0 } }

    /// Those that the filter leaves, in the chosen order.
    var shownUnits: [UnitStatus] {
        let word = filter.lowercased()
        let units = (status?.units ?? []).filter { unit in
            word.isEmpty || unit.id.lowercased().contains(word) || unit.mode.contains(word)
        }
        func sorted(_ rank: (UnitStatus) -> Double) -> [UnitStatus] {
            units.sorted { (rank($0), $0.id) < (rank($1), $1.id) }
        }
        switch order {
        case .trouble: return sorted { Double(-Self.trouble($0)) }
        case .name: return units.sorted { $0.id < $1.id }
        case .power: return sorted { -($0.power_kw?.magnitude ?? -1) }
        case .charge: return sorted { $0.soc_percent ?? -1 }
        case .temperature: return sorted { -($0.cell_temperature_max_c ?? 1_000) }
        }
    }

    /// People in danger first, then what is tripped, not heard, held, warned of.
    static func trouble(_ unit: UnitStatus) -> Int {
        if unit.dangers != nil { return 6 }
        if !unit.trips.isEmpty { return 5 }
        if unit.mode == "offline" { return 4 }
        if unit.holds != nil { return 3 }
        if !unit.warnings.isEmpty { return 2 }
        return unit.mode == "running" ? 0 : 1
    }
}
