import Quantities

/// Whether a battery's frames come as often as they should: one of which every second frame is lost has no
/// reading that is too old, and half of what is lost besides is a drop-out.
///
/// Counted in windows of ten seconds: its samples against its nominal period, and all of its frames against
/// the best window so far.
struct FrameRhythm: Sendable {
    enum Finding: Sendable, Equatable { case missing(percent: UInt32), whole }

    private static let window = Duration.seconds(10)
    /// Fewer are missing; that many are whole again.
    private static let (least, enough) = (0.7, 0.9)

    private let period: Duration
    private var begun: MonotonicTime?
    private var frames = 0
    private var samples = 0
    private var lastSample: MonotonicTime?
    private var bestFrames = 0
    private var isMissing = false

    /// - Parameter period: between two samples of the battery, as it should be.
    init(period: Duration) { self.period = period }

    /// The link is new: nothing is compared over the gap.
    mutating func restart() { (begun, lastSample) = (nil, nil) }

    mutating func frame() { frames += 1 }

    /// - Parameter sample: when its newest one was taken; `nil` = there is none.
    mutating func look(sample: MonotonicTime?, at now: MonotonicTime) -> Finding? {
        guard let begun else {
            (begun, frames, samples, lastSample) = (now, 0, 0, sample)
            return nil
        }
        if let sample, sample != lastSample { (samples, lastSample) = (samples + 1, sample) }
        guard now - begun >= Self.window else { return nil }
        let wanted = (now - begun).seconds / period.seconds
        var share = wanted > 0 ? Double(samples) / wanted : 1
        if bestFrames > 0 { share = min(share, Double(frames) / Double(bestFrames)) }
        // Nothing at all is a silence, which somebody else tells.
        let isSilent = samples == 0
        bestFrames = max(bestFrames, frames)
        (self.begun, frames, samples) = (now, 0, 0)
        return isSilent ? nil : finding(share)
    }

    private mutating func finding(_ share: Double) -> Finding? {
        if !isMissing, share < Self.least {
            isMissing = true
            return .missing(percent: UInt32(share * 100))
        }
        guard isMissing, share >= Self.enough else { return nil }
        isMissing = false
        return .whole
    }
}
