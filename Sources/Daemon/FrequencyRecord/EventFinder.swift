/// Cuts a row of samples into events: from leaving the deadband until back inside for the settle time.
struct EventFinder {
    struct Span: Equatable {
        /// The first sample outside.
        var first: Int
        /// The first sample back inside; `nil` where it was not seen.
        var back: Int?
        /// The last sample that belongs to the event.
        var last: Int
        var begin: FrequencyEvent.Begin
        var end: FrequencyEvent.End
    }

    private let rules: FrequencyRules
    private var open: Span?
    private(set) var spans: [Span] = []

    /// - Parameter samples: their times strictly rising.
    static func spans(_ samples: [FrequencySample], _ rules: FrequencyRules) -> [Span] {
        var finder = EventFinder(rules: rules)
        for index in samples.indices { finder.take(index, samples) }
        if let open = finder.open { finder.close(open, .endOfData) }
        return finder.spans
    }

    private init(rules: FrequencyRules) { self.rules = rules }

    private mutating func take(_ index: Int, _ samples: [FrequencySample]) {
        let now = samples[index].milliseconds
        let step = index > 0 ? now - samples[index - 1].milliseconds : nil
        if let span = open, let step, step > max(rules.settle, rules.longestStep) { close(span, .gap) }
        let isOutside = rules.isOutside(samples[index])
        guard var span = open else {
            guard isOutside == true else { return }
            let before = index > 0 ? rules.isOutside(samples[index - 1]) : nil
            let isSeen = before == false && (step ?? .max) <= rules.longestStep
            open = Span(first: index, last: index, begin: isSeen ? .seen : .beforeData, end: .returned)
            return
        }
        span.last = index
        switch isOutside {
        case true?: span.back = nil
        case false? where span.back == nil: span.back = index
        case false?, nil: break
        }
        open = span
        if let back = span.back, now - samples[back].milliseconds >= rules.settle { close(span, .returned) }
    }

    private mutating func close(_ span: Span, _ end: FrequencyEvent.End) {
        var span = span
        span.end = end
        spans.append(span)
        open = nil
    }
}
