import DBC
import DeviceCodecs

extension ProfiledBattery {
    /// The frames of the DBC file.
    public var identifiers: [CANIdentifier] {
        profile.database.messages.map { CANIdentifier($0.identifier, isExtended: $0.isExtended) }
    }
}

extension BatteryProfile {
    /// One number of a frame as the DBC file names it.
    public struct SignalValue: Sendable, Equatable {
        public var name: String
        public var value: Double
        public var unit: String
    }

    /// What a frame says, signal by signal, without what it means for the battery; `nil` for an identifier
    /// that the DBC file does not have.
    public func signals(
        _ identifier: UInt32, isExtended: Bool, _ bytes: [UInt8]
    ) -> (message: String, values: [SignalValue])? {
        let key = DBCMessage.key(identifier, isExtended: isExtended)
        var decoder = DBCDecoder(plan)
        guard let place = plan.place(of: key), decoder.decode(key, bytes.span) != nil else { return nil }
        let message = database.messages[place]
        var values: [SignalValue] = []
        for (index, signal) in message.signals.enumerated() {
            let sample = decoder.samples[plan.firstSignals[place] + index]
            guard sample.frame == decoder.frame, sample.value.isFinite else { continue }
            values.append(SignalValue(name: signal.name, value: sample.value, unit: signal.unit))
        }
        return (message.name, values)
    }
}
