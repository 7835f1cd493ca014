import Quantities

/// What is selected, asked and accepted.
struct CommandDesk: Sendable {
    struct Selection: Sendable {
        var link: Int
        var asdu: ASDU
        var until: MonotonicTime
    }

    struct Question: Sendable {
        var link: Int
        var asdu: ASDU
        var point: CommandPoint
        var wish: Outstation.Wish
        var until: MonotonicTime
    }

    /// By the address of their point.
    var selections: [UInt32: Selection] = [:]
    var questions: [UInt64: Question] = [:]
    var nextNumber: UInt64 = 1
    var isEnabled = false
    /// When the control centre's heartbeat came last.
    var heartbeatAt: MonotonicTime?
    var accepted: (kilowatts: Double, until: MonotonicTime)?

    /// Nothing that was selected on a link holds on another, and no answer of the controller goes there.
    mutating func forget(link: Int) {
        selections = selections.filter { $0.value.link != link }
        for number in questions.keys where questions[number]?.link == link { questions[number]?.link = -1 }
    }
}

/// Commands: each is checked, and becomes a question to the controller, or a refusal.
extension Outstation {
    /// Why a command was refused, for people; the master sees its negative confirmation.
    enum Refusal: String {
        case test = "its test bit is set"
        case qualifier = "its qualifier means nothing here"
        case manyObjects = "it names several objects"
        case notTimed = "it has no time"
        case tooOld = "its time is too old, too new or not valid, or our clock is not disciplined"
        case notFinite = "it is no number"
        case noPoint = "it is neither on nor off"
        case notSelected = "it was not selected, or as something else"
        case needsNoSelection = "it takes no selection"
        case notEnabled = "setpoints are not enabled"
        case noHeartbeat = "the control centre's heartbeat is not heard"
        case notThisGroup = "its group may not command"
        case busy = "another one waits for its answer"
        case nothingSelected = "nothing is selected"
        case negative = "it is marked as a refusal"
        case sequence = "it is a sequence"
        case stoodStill = "the program stood still: ask again"
    }

    mutating func command(_ asdu: ASDU, _ object: InformationObject, _ link: Int, _ moment: OutstationMoment)
    {
        let point = table.commands.first { $0.address == object.address }
        guard let point, [point.kind.typeID, point.kind.timedTypeID].contains(asdu.type) else {
            note(asdu, object, link, "unknown object")
            return reply(asdu.answered(.unknownObject, isNegative: true), link)
        }
        guard asdu.cause == .activation else { return cancel(asdu, point, link) }
        if let refusal = fault(asdu, object, link, moment) {
            return refuse(asdu, object, link, refusal)
        }
        let read = point.action == .heartbeat ? Self.beat(object.value) : Self.wish(object.value, point)
        guard let (wish, isSelect) = read else {
            return refuse(asdu, object, link, point.kind.isSetpoint ? .notFinite : .noPoint)
        }
        if isSelect { return select(asdu, point, link, moment) }
        if point.needsSelect {
            let selection = commands.selections.removeValue(forKey: point.address)
            guard let selection, selection.link == link, moment.monotonic < selection.until,
                Self.isSame(selection.asdu, asdu)
            else { return refuse(asdu, object, link, .notSelected) }
        }
        execute(asdu, point, wish, link, moment)
    }

    /// What is wrong with a command whatever it asks for.
    private func fault(
        _ asdu: ASDU, _ object: InformationObject, _ link: Int, _ moment: OutstationMoment
    ) -> Refusal? {
        guard let group = connections[link]?.group, settings.groupsMayCommand[group] else {
            return .notThisGroup
        }
        if moment.isBehind { return .stoodStill }
        if asdu.isTest { return .test }
        if asdu.isNegative { return .negative }
        if asdu.isSequence { return .sequence }
        if asdu.objects.count != 1 { return .manyObjects }
        guard asdu.type.hasTime else { return settings.wantsTimedCommands ? .notTimed : nil }
        guard let time = object.time?.milliseconds1970, moment.isSynchronised else { return .tooOld }
        let age = Duration.milliseconds(moment.wall - time)
        return age > settings.commandAge || .zero - age > settings.commandAge ? .tooOld : nil
    }

    /// What a command asks for, and whether it only selects; `nil` where it asks for nothing.
    private static func wish(
        _ value: InformationValue, _ point: CommandPoint
    ) -> (Wish, isSelect: Bool)? {
        func power(_ value: Double, _ qualifier: CommandQualifier) -> (Wish, isSelect: Bool)? {
            // Setpoints have no qualifier in use but 0.
            guard value.isFinite, qualifier.number == 0 else { return nil }
            // Whole watts: 0.05 MW as it travels is a little more than 50 kW, and meant as 50 kW.
            let kilowatts = (value * point.scale * 1_000).rounded() / 1_000
            return (.power(kilowatts: kilowatts), qualifier.isSelect)
        }
        switch value {
        case .setpointFloat(let value, let qualifier): return power(Double(value), qualifier)
        case .setpointScaled(let value, let qualifier): return power(Double(value), qualifier)
        case .setpointNormalised(let value, let qualifier):
            return power(Double(value) / 32_768, qualifier)
        case .singleCommand(let isOn, let qualifier):
            return (isOn ? .enable : .release, qualifier.isSelect)
        case .doubleCommand(.on, let qualifier): return (.enable, qualifier.isSelect)
        case .doubleCommand(.off, let qualifier): return (.release, qualifier.isSelect)
        case .doubleCommand(.intermediate, _), .doubleCommand(.faulty, _): return nil
        case .single, .double, .step, .bitstring, .normalised, .scaled, .float, .counter, .qualifier,
            .nothing, .time, .testPattern:
            return nil
        }
    }

    /// A heartbeat says nothing but that it is there; it is never selected.
    private static func beat(_ value: InformationValue) -> (Wish, isSelect: Bool)? {
        let qualifier: CommandQualifier? =
            switch value {
            case .setpointFloat(_, let qualifier), .setpointScaled(_, let qualifier),
                .setpointNormalised(_, let qualifier), .singleCommand(_, let qualifier),
                .doubleCommand(_, let qualifier):
                qualifier
            case .single, .double, .step, .bitstring, .normalised, .scaled, .float, .counter, .qualifier,
                .nothing, .time, .testPattern:
                nil
            }
        return qualifier.map { (.heartbeat, $0.isSelect) }
    }

    /// The same command but for its select bit and time.
    private static func isSame(_ selected: ASDU, _ executed: ASDU) -> Bool {
        guard selected.originator == executed.originator, selected.type == executed.type,
            let one = selected.objects.first?.value, let other = executed.objects.first?.value
        else { return false }
        switch (one, other) {
        case (.setpointFloat(let a, let p), .setpointFloat(let b, let q)):
            return a == b && p.number == q.number
        case (.setpointScaled(let a, let p), .setpointScaled(let b, let q)),
            (.setpointNormalised(let a, let p), .setpointNormalised(let b, let q)):
            return a == b && p.number == q.number
        case (.singleCommand(let a, let p), .singleCommand(let b, let q)):
            return a == b && p.number == q.number
        case (.doubleCommand(let a, let p), .doubleCommand(let b, let q)):
            return a == b && p.number == q.number
        case _: return false
        }
    }

    private mutating func select(
        _ asdu: ASDU, _ point: CommandPoint, _ link: Int, _ moment: OutstationMoment
    ) {
        guard let object = asdu.objects.first else { return }
        guard point.needsSelect else { return refuse(asdu, object, link, .needsNoSelection) }
        commands.selections[point.address] = CommandDesk.Selection(
            link: link, asdu: asdu, until: moment.monotonic + settings.selectTime)
        reply(asdu.answered(.activationConfirmation, isNegative: false), link)
    }

    private mutating func cancel(_ asdu: ASDU, _ point: CommandPoint, _ link: Int) {
        let wasSelected = commands.selections[point.address]?.link == link
        if wasSelected { commands.selections[point.address] = nil }
        if let object = asdu.objects.first {
            let refusal = wasSelected ? nil : Refusal.nothingSelected.rawValue
            note(asdu, object, link, refusal)
        }
        reply(asdu.answered(.deactivationConfirmation, isNegative: !wasSelected), link)
    }

    private mutating func execute(
        _ asdu: ASDU, _ point: CommandPoint, _ wish: Wish, _ link: Int, _ moment: OutstationMoment
    ) {
        guard let object = asdu.objects.first else { return }
        if commands.questions.contains(where: { $0.value.point.address == point.address }) {
            return refuse(asdu, object, link, .busy)
        }
        switch wish {
        case .power:
            guard commands.isEnabled else { return refuse(asdu, object, link, .notEnabled) }
            guard isHeartbeatHeard(at: moment.monotonic) ?? true else {
                return refuse(asdu, object, link, .noHeartbeat)
            }
        case .heartbeat:
            commands.heartbeatAt = moment.monotonic
            return reply(asdu.answered(.activationConfirmation, isNegative: false), link)
        case .enable:
            commands.isEnabled = true
            return confirm(asdu, point, link)
        case .release: commands.isEnabled = false
        }
        let number = commands.nextNumber
        commands.nextNumber += 1
        commands.questions[number] = CommandDesk.Question(
            link: link, asdu: asdu, point: point, wish: wish, until: moment.monotonic + settings.answerTime)
        outputs.append(.ask(number: number, wish))
    }

    /// What the controller made of a question.
    ///
    /// - Parameter holds: how long a power that was accepted holds; `nil` = refused.
    public mutating func answered(
        number: UInt64, holds: Duration?, refusal: String = "", at moment: OutstationMoment
    ) -> [Output] {
        guard let question = commands.questions.removeValue(forKey: number) else { return [] }
        switch (question.wish, holds) {
        case (.power(let kilowatts), let holds?):
            commands.accepted = (kilowatts, moment.monotonic + holds)
        case (.release, _?): commands.accepted = nil
        case (.enable, _), (.heartbeat, _), (.power, nil), (.release, nil): break
        }
        if holds != nil {
            confirm(question.asdu, question.point, question.link)
        } else if let object = question.asdu.objects.first {
            note(question.asdu, object, question.link, refusal)
            reply(question.asdu.answered(.activationConfirmation, isNegative: true), question.link)
        }
        return tick(at: moment)
    }

    /// A question that the controller has not answered is refused.
    mutating func expire(at moment: OutstationMoment) {
        commands.selections = commands.selections.filter { moment.monotonic < $0.value.until }
        for (number, question) in commands.questions where moment.monotonic >= question.until {
            commands.questions[number] = nil
            guard let object = question.asdu.objects.first else { continue }
            note(question.asdu, object, question.link, "the controller gives no answer")
            reply(question.asdu.answered(.activationConfirmation, isNegative: true), question.link)
        }
    }

    private mutating func confirm(_ asdu: ASDU, _ point: CommandPoint, _ link: Int) {
        if let object = asdu.objects.first { note(asdu, object, link, nil) }
        reply(asdu.answered(.activationConfirmation, isNegative: false), link)
        if point.isTerminated { reply(asdu.answered(.activationTermination, isNegative: false), link) }
    }

    private mutating func refuse(_ asdu: ASDU, _ object: InformationObject, _ link: Int, _ refusal: Refusal) {
        note(asdu, object, link, refusal.rawValue)
        reply(asdu.answered(.activationConfirmation, isNegative: true), link)
    }

    private mutating func note(_ asdu: ASDU, _ object: InformationObject, _ link: Int, _ refusal: String?) {
        outputs.append(
            .note(
                .commanded(
                    link: link, address: object.address, originator: asdu.originator,
                    text: object.value.summary, refusal: refusal)))
    }
}

extension InformationValue {
    /// A command in words.
    var summary: String {
        switch self {
        case .singleCommand(let isOn, let qualifier): "\(isOn ? "on" : "off")\(qualifier.summary)"
        case .doubleCommand(let point, let qualifier): "\(point)\(qualifier.summary)"
        case .setpointFloat(let value, let qualifier): "\(value)\(qualifier.summary)"
        case .setpointScaled(let value, let qualifier): "\(value)\(qualifier.summary)"
        case .setpointNormalised(let value, let qualifier):
            "\(Double(value) / 32_768)\(qualifier.summary)"
        case .single, .double, .step, .bitstring, .normalised, .scaled, .float, .counter, .qualifier,
            .nothing, .time, .testPattern:
            "no command"
        }
    }
}

extension CommandQualifier {
    fileprivate var summary: String { isSelect ? " (select)" : "" }
}
