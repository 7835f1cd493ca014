import ControlSocket
import Quantities
import Scenario
import SiteConfig

/// What the demonstration has seen so far, and whether it is what was to happen.
struct DemoObservation {
    struct Verdict {
        var text: String
        var isPassed: Bool
    }

    let site: SiteConfig
    /// The unit that the scenario makes trip.
    let victim: String
    /// Nadir of the played part of the profile.
    let nadir: Hertz

    private(set) var haveRun: Set<String> = []
    private(set) var lowestFrequency: Double?
    /// Worst distance between what droop asked and the closed form of the frequency used, kW.
    private(set) var droopError = 0.0
    private(set) var lastBeforeTrip: SiteStatus?
    private(set) var tripped: SiteStatus?
    /// Power that the plant itself measures at the tripped unit, kW.
    var victimTruePower: Double?
    /// Whether the daemon's log names the trip and its cause.
    var isTripLogged = false
    /// What the aggregator holds: last number, and whether the trip is among its events.
    var stored: (through: Int, hasTrip: Bool)?
    /// The incident page of the trip as the aggregator shows it, and the file that it was written to.
    var incident: (page: String, file: String)?
    var exits: [(name: String, status: Int)] = []

    init(site: SiteConfig, victim: String, nadir: Hertz) {
        self.site = site
        self.victim = victim
        self.nadir = nadir
    }

    mutating func see(_ status: SiteStatus) {
        for unit in status.units where unit.mode == "running" { haveRun.insert(unit.id) }
        if let frequency = status.frequency_hz {
            lowestFrequency = min(lowestFrequency ?? frequency, frequency)
            droopError = max(droopError, (status.response_kw - expectedResponse(frequency)).magnitude)
        }
        let isTripped = status.units.contains { $0.id == victim && !$0.trips.isEmpty }
        if isTripped, tripped == nil { tripped = status }
        if !isTripped, tripped == nil { lastBeforeTrip = status }
    }

    /// Droop with its deadband subtracted, written here once more, independently of the controller.
    private func expectedResponse(_ frequency: Double) -> Double {
        let droop = site.gridIntegration.droop
        let rated = site.units.reduce(0) { $0 + $1.maxPower.kilowatts }
        let full = site.gridIntegration.nominalFrequency.value * (droop.droop?.value ?? .infinity)
        if frequency < droop.deadbandLow.value { return rated * (droop.deadbandLow.value - frequency) / full }
        if frequency > droop.deadbandHigh.value {
            return rated * (droop.deadbandHigh.value - frequency) / full
        }
        return 0
    }

    var verdicts: [Verdict] {
        [
            Verdict(
                text: "every unit entered service by itself: \(haveRun.sorted().joined(separator: ", "))",
                isPassed: haveRun == Set(site.units.map(\.id))),
            Verdict(
                text:
                    "the controller saw the nadir: \(DemoText.number(lowestFrequency)) Hz (profile \(nadir.value) Hz)",
                isPassed: lowestFrequency.map { $0 <= nadir.value + 0.02 } ?? false),
            Verdict(
                text: "droop followed the closed form within \(DemoText.number(droopError)) kW",
                isPassed: droopError <= 0.01),
            trip, zero, share, logged, storedVerdict, shown, ended,
        ]
    }

    private var trip: Verdict {
        let first = tripped?.units.first { $0.id == victim }?.first_out
        return Verdict(
            text: "\(victim) tripped, first cause \(first ?? "none")",
            isPassed: first == "cell_overtemperature_discharge")
    }

    private var zero: Verdict {
        Verdict(
            text: "\(victim) stands at \(DemoText.number(victimTruePower)) kW in the plant itself",
            isPassed: victimTruePower.map { $0.magnitude < 1 } ?? false)
    }

    private var share: Verdict {
        guard let first = tripped, let before = lastBeforeTrip else {
            return Verdict(text: "the share of \(victim) moved to the others: never seen", isPassed: false)
        }
        let others = first.units.filter { $0.id != victim }.reduce(0) { $0 + $1.setpoint_kw }
        return Verdict(
            text:
                "its share moved to the others: site setpoint \(DemoText.number(before.setpoint_kw)) kW before,"
                + " \(DemoText.number(others)) kW on the others after",
            isPassed: (others - first.target_kw).magnitude < 0.1 && first.target_kw.magnitude > 1)
    }

    private var logged: Verdict {
        Verdict(text: "the trip stands in the daemon's log with its cause", isPassed: isTripLogged)
    }

    private var storedVerdict: Verdict {
        let text = stored.map { "\($0.through) records" } ?? "nothing"
        return Verdict(
            text: "the aggregator holds \(text), the trip among them",
            isPassed: stored.map { $0.through > 20 && $0.hasTrip } ?? false)
    }

    private var shown: Verdict {
        guard let incident else {
            return Verdict(text: "the aggregator shows no incident", isPassed: false)
        }
        let isOfTrip =
            incident.page.contains("cell_overtemperature_discharge") && incident.page.contains("first out")
        return Verdict(text: "the incident of its trip is drawn: \(incident.file)", isPassed: isOfTrip)
    }

    private var ended: Verdict {
        let bad = exits.filter { $0.status != 0 }.map { "\($0.name) (\($0.status))" }
        return Verdict(
            text: bad.isEmpty
                ? "every process ended in order" : "ended badly: \(bad.joined(separator: ", "))",
            isPassed: bad.isEmpty && exits.count == 4)
    }
}
