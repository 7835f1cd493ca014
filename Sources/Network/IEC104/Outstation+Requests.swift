import Quantities

/// What a master asks of the station, apart from commands.
extension Outstation {
    /// An ASDU has come on a started link.
    mutating func delivered(_ bytes: [UInt8], _ link: Int, _ moment: OutstationMoment) {
        switch ASDU.read(bytes) {
        // The link itself was right; what stands in the frame means nothing that could be answered.
        case .malformed: return
        case .unknownType(let header): mirror(bytes, header, link, moment)
        case .asdu(let asdu): requested(asdu, link, moment)
        }
    }

    /// Sends an ASDU that we cannot read back as it came, refused.
    private mutating func mirror(
        _ bytes: [UInt8], _ header: ASDUHeader, _ link: Int, _ moment: OutstationMoment
    ) {
        var header = header
        header.cause = .unknownType
        header.isNegative = true
        sendRaw(header.bytes + bytes.dropFirst(ASDU.headerLength), link, moment)
    }

    private mutating func requested(_ asdu: ASDU, _ link: Int, _ moment: OutstationMoment) {
        func refused(_ cause: Cause) -> ASDU { asdu.answered(cause, isNegative: true) }
        switch asdu.type {
        case .single, .double, .step, .bitstring, .normalised, .scaled, .float, .counter, .singleTimed,
            .doubleTimed, .stepTimed, .bitstringTimed, .normalisedTimed, .scaledTimed, .floatTimed,
            .counterTimed, .endOfInitialisation:
            // Values are ours to tell.
            return reply(refused(.unknownType), link)
        case .interrogation, .counterInterrogation, .read, .clockSynchronisation, .resetProcess, .test,
            .testTimed, .singleCommand, .doubleCommand, .setpointNormalised, .setpointScaled,
            .setpointFloat, .singleCommandTimed, .doubleCommandTimed, .setpointNormalisedTimed,
            .setpointScaledTimed, .setpointFloatTimed:
            break
        }
        guard Self.isCause(asdu.cause, of: asdu.type) else { return reply(refused(.unknownCause), link) }
        let isBroadcast =
            asdu.commonAddress == ASDU.everyStation
            && [.interrogation, .counterInterrogation, .clockSynchronisation, .resetProcess].contains(
                asdu.type)
        guard asdu.commonAddress == table.commonAddress || isBroadcast else {
            return reply(refused(.unknownCommonAddress), link)
        }
        var own = asdu
        own.commonAddress = table.commonAddress
        answer(own, link, moment)
    }

    private static func isCause(_ cause: Cause, of type: TypeID) -> Bool {
        if type == .read { return cause == .requested }
        return cause == .activation || (cause == .deactivation && type != .test && type != .testTimed)
    }

    private mutating func answer(_ asdu: ASDU, _ link: Int, _ moment: OutstationMoment) {
        let confirmation: Cause =
            asdu.cause == .deactivation ? .deactivationConfirmation : .activationConfirmation
        guard let object = asdu.objects.first else { return }
        switch (asdu.type, object.value) {
        case (.interrogation, .qualifier(let group)), (.counterInterrogation, .qualifier(let group)):
            guard object.address == 0 else {
                return reply(asdu.answered(.unknownObject, isNegative: true), link)
            }
            interrogate(asdu, group, confirmation, link, moment)
        case (.read, _): read(asdu, object.address, link)
        case (.clockSynchronisation, _):
            // The gateway's own clock sources rule; what it says now goes back with the refusal.
            var refusal = asdu.answered(confirmation, isNegative: true)
            let time = CP56Time(milliseconds1970: moment.wall, isInvalid: !moment.isSynchronised)
            refusal.objects = [InformationObject(0, .time(time))]
            reply(refusal, link)
        case (.test, _), (.testTimed, _): reply(asdu.answered(confirmation, isNegative: false), link)
        case (.resetProcess, _): reply(asdu.answered(confirmation, isNegative: true), link)
        case _: command(asdu, object, link, moment)
        }
    }

    /// A second interrogation waits for the end of the first: its answers would only fill the queue.
    /// What freezes does so at once, and is no reading.
    private mutating func interrogate(
        _ asdu: ASDU, _ qualifier: UInt8, _ confirmation: Cause, _ link: Int, _ moment: OutstationMoment
    ) {
        let wantsCounters = asdu.type == .counterInterrogation
        let group = wantsCounters ? qualifier & 0x3F : qualifier
        let freeze = wantsCounters ? CounterFreeze(rawValue: qualifier >> 6) ?? .none : .none
        let isBusy =
            connections[link]?.replies.contains {
                $0.cause == .activationTermination && $0.objects.first?.address == 0
            } == true
        // Nothing is aborted; and what was to be frozen when nobody looked is frozen now by nobody.
        let isPossible =
            (wantsCounters ? 1...5 : 20...36).contains(group) && asdu.cause == .activation
            && !asdu.isTest && !asdu.isNegative && (freeze == .none ? !isBusy : !moment.isBehind)
        guard isPossible, let masters = connections[link]?.group else {
            return reply(asdu.answered(confirmation, isNegative: true), link)
        }
        reply(asdu.answered(confirmation, isNegative: false), link)
        let wanted = points(inGroup: group, counters: wantsCounters)
        if freeze == .none {
            let cause = Self.cause(of: group, counters: wantsCounters)
            for page in pages(of: wanted, cause, group: masters) { reply(page, link) }
            if wantsCounters { noteRead(wanted, masters) }
        } else {
            self.freeze(wanted, freeze, masters)
        }
        reply(asdu.answered(.activationTermination, isNegative: false), link)
    }

    /// 20 and 5 are all of them.
    private func points(inGroup group: UInt8, counters isCounter: Bool) -> [Int] {
        table.points.indices.filter { index in
            let point = table.points[index]
            let isInGroup = point.group.map { $0 == Int(group) - (isCounter ? 0 : 20) } ?? false
            return (point.kind == .counter) == isCounter && (group == (isCounter ? 5 : 20) || isInGroup)
        }
    }

    /// Counters: 37 for all of them, 38 … 41 for their groups. The rest says its own number.
    private static func cause(of group: UInt8, counters isCounter: Bool) -> Cause {
        guard isCounter else { return Cause(code: group) }
        return Cause(code: Cause.countersRequested.code + (group == 5 ? 0 : group))
    }

    private mutating func read(_ asdu: ASDU, _ address: UInt32, _ link: Int) {
        // Integrated totals have no cause that would answer a read.
        guard let index = points[address], table.points[index].kind != .counter else {
            return reply(asdu.answered(.unknownObject, isNegative: true), link)
        }
        guard let group = connections[link]?.group else { return }
        for page in pages(of: [index], .requested, group: group) { reply(page, link) }
    }
}
