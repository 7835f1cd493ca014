import Quantities

/// Every sample of a run as a table (CSV): the plant's truth, and beside it what the controller says. It is
/// what somebody who looks into a failed run wants to see.
public enum RunSamples {
    /// A row for each sample, three columns for the site and a group of columns for each unit, which begin
    /// with the unit's name.
    public static func csv(_ history: RunHistory) -> String {
        let names = [
            "delivered_kw", "setpoint_kw", "written_kw", "written_age_s", "current_a", "allowed_charge_a",
            "allowed_discharge_a", "closed", "faults", "mode", "trips", "warnings", "limited_by",
        ]
        let units = history.units.flatMap { unit in names.map { "\(unit.id)_\($0)" } }
        let head = ["t_s", "frequency_hz", "point_kw", "others_kw", "program", "faults"] + units
        var text = head.joined(separator: ",") + "\n"
        for sample in history.samples {
            let program = !sample.isDaemonRunning ? "gone" : sample.isAttended ? "runs" : "stands"
            var row = [
                Figure.text(sample.time.seconds), Figure.text(sample.frequency.value),
                kilowatts(sample.pointPower), kilowatts(-sample.load), program,
                words(sample.siteFaults.map(\.rawValue)),
            ]
            for unit in sample.units { row += columns(unit) }
            text += row.joined(separator: ",") + "\n"
        }
        return text
    }

    private static func columns(_ unit: UnitSample) -> [String] {
        let allowed = unit.truth?.allowedCurrent
        return [
            kilowatts(unit.delivered), kilowatts(unit.setpoint), unit.written.map(kilowatts) ?? "",
            unit.writtenAge.map { Figure.text($0.seconds) } ?? "", Figure.text(unit.current.value),
            allowed.map { Figure.text($0.lowerBound) } ?? "",
            allowed.map { Figure.text($0.upperBound) } ?? "", unit.isContactorClosed ? "1" : "0",
            words(unit.faults.map(\.rawValue)), unit.mode ?? "", words(unit.trips), words(unit.warnings),
            unit.limitedBy ?? "",
        ]
    }

    private static func kilowatts(_ power: Watts) -> String { Figure.text(power.kilowatts) }
    private static func words(_ words: [String]) -> String { words.joined(separator: " ") }
}
