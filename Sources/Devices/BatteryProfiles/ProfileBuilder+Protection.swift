import ConfigText
import DBC
import Quantities
import SiteConfig

// Checksums and counters, of frames that come and of frames that go.

extension ProfileBuilder {
    /// An element of `protected`: a checksum, a counter, or both, of one message.
    mutating func protection(_ reader: ConfigReader) -> Void? {
        var message: Int?
        var protection = FrameProtection(message: 0)
        if reader.has("checksum") {
            _ = reader.section("checksum") { reader -> Void? in
                guard let (place, checksum) = checksum(reader) else { return nil }
                message = place.message
                protection.checksum = checksum
                return ()
            }
        }
        if reader.has("counter") {
            _ = reader.section("counter") { reader -> Void? in
                guard let (place, counter) = counter(reader) else { return nil }
                if let message, message != place.message {
                    reader.refuse("signal", "is not in the message of the checksum")
                }
                message = place.message
                protection.counter = counter
                return ()
            }
        }
        guard reader.has("checksum") || reader.has("counter") else {
            reader.refuse("checksum", "or else counter must be there")
            return nil
        }
        guard let message else { return nil }
        protection.message = message
        if protection.checksum?.dataIDMode == .alternating, protection.counter == nil {
            reader.refuse("counter", "is missing (its lowest bit chooses the byte of data_id)")
        }
        if map.protections.contains(where: { $0.message == message }) {
            reader.refuse("checksum", "message \(database.messages[message].name) is protected already")
        }
        map.protections.append(protection)
        return ()
    }

    mutating func checksum(_ reader: ConfigReader) -> (Place, FrameChecksum)? {
        typealias Keys = ProfileKeys.Protection
        let name = reader.value(Keys.signal)
        let algorithm = reader.value(Keys.algorithm)
        let polynomial = reader.value(Keys.polynomial)
        let initial = reader.value(Keys.initial)
        let finalXor = reader.value(Keys.finalXor)
        let reflected = reader.value(Keys.isReflected)
        let dataID = reader.value(Keys.dataID)
        let mode = reader.value(Keys.dataIDMode)
        let first = reader.value(Keys.first)
        let last = reader.value(Keys.last)
        guard let name, let place = place(name, "signal", reader), var checksum = algorithm else {
            return nil
        }
        if let polynomial { checksum.polynomial = polynomial }
        if let initial { checksum.initial = initial }
        if let finalXor { checksum.finalXor = finalXor }
        if let reflected { checksum.isReflected = reflected }
        if let dataID {
            checksum.dataID = dataID
            if checksum.dataIDMode == .none { checksum.dataIDMode = .both }
        }
        if let mode { checksum.dataIDMode = mode }
        if checksum.dataIDMode != .none, dataID == nil {
            reader.refuse("data_id", "is missing (the algorithm takes it)")
        }
        checksum.first = first ?? 0
        checksum.last = last ?? 63
        let signal = signal(place)
        let start = signal.byteOrder == .intel ? signal.start : signal.start - 7
        guard signal.length == checksum.width, start >= 0, start % 8 == 0, signal.condition == nil else {
            reader.refuse("signal", "\(signal.name) is not of \(checksum.width) bits in whole bytes")
            return nil
        }
        checksum.place = start / 8
        checksum.isBigEndian = signal.byteOrder == .motorola
        return (place, checksum)
    }

    private mutating func counter(_ reader: ConfigReader) -> (Place, FrameCounter)? {
        typealias Keys = ProfileKeys.Protection
        let name = reader.value(Keys.counterSignal)
        let modulo = reader.value(Keys.modulo)
        let maxStep = reader.value(Keys.maxStep)
        let stuckAfter = reader.value(ProfileKeys.Alive.stuckAfter)
        guard let name, let place = place(name, "signal", reader), let maxStep, let stuckAfter else {
            return nil
        }
        let length = signal(place).length
        guard length >= 2, length <= 32, signal(place).condition == nil else {
            reader.refuse("signal", "a counter has 2 to 32 bits and is always there")
            return nil
        }
        let all = UInt64(1) << UInt64(length)
        let end = modulo ?? all
        if end > all || maxStep >= end {
            reader.refuse("modulo", "does not fit a counter of \(length) bits and max_step \(maxStep)")
            return nil
        }
        return (
            place,
            FrameCounter(
                signal: place.number, local: place.signal, mask: place.mask, modulo: end, maxStep: maxStep,
                stuckAfter: stuckAfter)
        )
    }

    /// A signal of a frame to send whose value is known only when it is sent.
    mutating func sendPart(
        _ reader: ConfigReader, _ source: ProfileSend.Source, of message: DBCMessage, _ name: String
    ) -> ProfileSend.Part? {
        typealias Keys = ProfileKeys.Send
        let scale = reader.value(Keys.scale) ?? 1
        let offset = reader.value(Keys.offset) ?? 0
        let modulo = reader.value(Keys.modulo)
        guard let signal = message.signal(name), signal.endByte <= message.length, signal.factor != 0 else {
            reader.refuse("signal", "message \(message.name) has no signal \(name) that can be written")
            return nil
        }
        return ProfileSend.Part(
            signal: signal, source: source, scale: scale, offset: offset,
            modulo: modulo ?? UInt64(1) << UInt64(min(signal.length, 32)))
    }
}
