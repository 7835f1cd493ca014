import LinuxIO
import Quantities

/// How punctual the cycle is and what it spends its time on. The cycle's thread records; anybody reads.
final class CycleTiming: Sendable {
    /// From the planned instant to the first instruction.
    let lateness = Histogram()
    /// From there to the end of the work.
    let execution = Histogram()
    /// Parts of it: taking the plant image, deciding, handing the setpoints over, telling the onlookers.
    let image = Histogram()
    let step = Histogram()
    let actuation = Histogram()
    let publication = Histogram()
    /// Age of the samples when the cycle takes them, of all units together.
    let batteryAge = Histogram()
    let inverterAge = Histogram()
    let meterAge = Histogram()
    let phasorAge = Histogram()
}

extension Histogram {
    func record(age: Duration?) { if let age { record(age.nanoseconds) } }
}
