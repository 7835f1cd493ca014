import Quantities

/// What the station tells by itself, and how values are written.
extension Outstation {
    /// ASDUs without times for some points, as few as hold them.
    ///
    /// - Parameter group: of the masters that ask, whose view of counters it is.
    func pages(of indices: [Int], _ cause: Cause, group: Int) -> [ASDU] {
        var pages: [ASDU] = []
        for kind in MonitoredPoint.Kind.allCases {
            let type = kind.typeID
            let most = min(127, (APDU.longestASDU - ASDU.headerLength) / (3 + type.elementLength))
            let objects = indices.filter { table.points[$0].kind == kind }.map { index in
                InformationObject(table.points[index].address, element(index, group))
            }
            for start in stride(from: 0, to: objects.count, by: most) {
                let part = Array(objects[start..<min(start + most, objects.count)])
                pages.append(ASDU(type, cause, commonAddress: table.commonAddress, objects: part))
            }
        }
        return pages
    }

    /// The element of a point as it stands, and of a counter as a group of masters sees it.
    private func element(_ index: Int, _ group: Int) -> InformationValue {
        let point = table.points[index]
        switch (point.kind, values[index]) {
        case (.single, .flag(let isOn)): return .single(isOn, .good)
        case (.double, .flag(let isOn)): return .double(isOn ? .on : .off, .good)
        case (.single, _): return .single(false, .invalid)
        case (.double, _): return .double(.intermediate, .invalid)
        case (.float, .number(let value)): return .float(Float(value * point.scale), .good)
        case (.float, _): return .float(0, .invalid)
        case (.scaled, .number(let value)):
            let (number, quality) = Self.whole(value * point.scale)
            return .scaled(number, quality)
        case (.scaled, _): return .scaled(0, .invalid)
        case (.normalised, .number(let value)):
            let (number, quality) = Self.whole(value / point.scale * 32_768)
            return .normalised(number, quality)
        case (.normalised, _): return .normalised(0, .invalid)
        case (.counter, _): return total(index, group)
        }
    }

    /// The nearest number of sixteen bits; what does not fit is marked.
    private static func whole(_ value: Double) -> (Int16, Quality) {
        let rounded = value.rounded()
        var quality = Quality.good
        quality.isOverflow = !(-32_768.0...32_767.0).contains(rounded)
        return (Int16(min(max(rounded, -32_768), 32_767)), quality)
    }

    /// Makes an event of every value that has moved beyond its deadband since it was told.
    mutating func noteChanges(_ moment: OutstationMoment) {
        let time = CP56Time(milliseconds1970: moment.wall, isInvalid: !moment.isSynchronised)
        for index in table.points.indices where isMoved(index) {
            told[index] = values[index]
            let point = table.points[index]
            for group in groups.indices {
                let value = point.kind == .counter ? running(index, group) : element(index, group)
                let event = ASDU(
                    point.kind.timedTypeID, .spontaneous, commonAddress: table.commonAddress,
                    objects: [InformationObject(point.address, value, time: time)])
                keep(event, group)
            }
        }
    }

    private func isMoved(_ index: Int) -> Bool {
        guard let deadband = table.points[index].deadband else { return false }
        switch (told[index], values[index]) {
        case (.number(let before), .number(let now)):
            return before != now && abs(now - before) >= deadband
        case (.flag(let before), .flag(let now)): return before != now
        case (.unknown, .unknown): return false
        case (.number, .flag), (.number, .unknown), (.flag, .number), (.flag, .unknown),
            (.unknown, .number), (.unknown, .flag):
            return true
        }
    }

    /// The oldest event that is not under way makes room for a new one.
    private mutating func keep(_ event: ASDU, _ group: Int) {
        if groups[group].events.count >= Self.eventsMax {
            groups[group].events.remove(at: min(groups[group].underWay, groups[group].events.count - 1))
            outputs.append(.note(.eventsLost(group: group, count: 1)))
        }
        groups[group].events.append(event)
    }

    /// Sends what is due to every started link that has answered all it was asked.
    mutating func sendCycles(_ moment: OutstationMoment) {
        let now = moment.monotonic
        var due: [Int] = []
        for index in table.points.indices {
            guard let cycle = table.points[index].cycle else { continue }
            if let time = cycleDue[index], now < time { continue }
            due.append(index)
            cycleDue[index] = now + cycle
        }
        guard !due.isEmpty else { return }
        for group in groups.indices {
            // A master that is behind gets the next round.
            guard let link = groups[group].active, connections[link]?.replies.isEmpty == true else {
                continue
            }
            for page in pages(of: due, .periodic, group: group) { reply(page, link) }
        }
    }
}
