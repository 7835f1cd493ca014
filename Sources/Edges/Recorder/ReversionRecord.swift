import LinuxIO

/// Which devices have proven, in a test on site, that they go to zero power by themselves, as it stands on
/// disk.
public struct ReversionRecord: Sendable, Equatable {
    public struct Proof: Sendable, Equatable {
        public var unit: String
        /// The device and its setting that were tested; another device or another time has proven nothing.
        public var device: String
        /// Which device it was, by what it says of itself (`InverterImage.identity`); zero where it says
        /// nothing.
        public var identity: UInt64
        /// From the last write to zero power.
        public var milliseconds: Int64
        /// What was left of the power, in watts, either way.
        public var watts: Int64
        /// Seconds since 1970-01-01 00:00 UTC.
        public var at: Int64

        public init(
            unit: String, device: String, identity: UInt64 = 0, milliseconds: Int64, watts: Int64, at: Int64
        ) {
            self.unit = unit
            self.device = device
            self.identity = identity
            self.milliseconds = milliseconds
            self.watts = watts
            self.at = at
        }
    }

    public private(set) var proofs: [Proof]

    public init(proofs: [Proof] = []) { self.proofs = proofs }

    /// The proof of a unit, where it is that of this device.
    public func proof(of unit: String, device: String) -> Proof? {
        proofs.first { $0.unit == unit && $0.device == device }
    }

    /// Takes a unit's newest result: a failed test takes its proof away.
    public mutating func set(_ proof: Proof?, of unit: String) {
        proofs.removeAll { $0.unit == unit }
        if let proof { proofs.append(proof) }
    }

    /// The name of the record in a state folder.
    public static let name = "reversions"

    private static let heading = "ballast reversions 2"
    /// Before the device's own identity stood in it.
    private static let firstHeading = "ballast reversions 1"

    /// One line for each proof and a checksum.
    public var bytes: [UInt8] {
        var text = Self.heading + "\n"
        for proof in proofs {
            text +=
                "unit \(proof.unit) device \(proof.device) ms \(proof.milliseconds) w \(proof.watts)"
                + " at \(proof.at) identity \(String(proof.identity, radix: 16))\n"
        }
        return Array((text + "checksum \(Self.checksum(text))\n").utf8)
    }

    /// What stands in a state folder; what is missing or cannot be read proves nothing.
    public static func read(in directory: String) -> ReversionRecord {
        // Whatever the reason is, nothing is proven.
        let bytes = try? DurableFile.read(directory + "/" + name, limit: 65_536)
        return bytes.flatMap { $0 }.flatMap { ReversionRecord(bytes: $0) } ?? ReversionRecord()
    }

    public init?(bytes: [UInt8]) {
        var lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines.removeLast().isEmpty else { return nil }
        let isFirst = lines[0] == Self.firstHeading
        guard isFirst || lines[0] == Self.heading else { return nil }
        let checksum = lines.removeLast()
        guard checksum == "checksum \(Self.checksum(lines.joined(separator: "\n") + "\n"))" else {
            return nil
        }
        proofs = []
        for line in lines.dropFirst() {
            let words = line.split(separator: " ")
            guard words.count == (isFirst ? 10 : 12), words[0] == "unit", words[2] == "device",
                words[4] == "ms",
                words[6] == "w", words[8] == "at", let time = Int64(words[5]), let power = Int64(words[7]),
                let wall = Int64(words[9]),
                let identity = isFirst ? 0 : Self.identity(words[10], words[11])
            else { return nil }
            proofs.append(
                Proof(
                    unit: String(words[1]), device: String(words[3]), identity: identity, milliseconds: time,
                    watts: power, at: wall))
        }
    }

    private static func identity(_ key: Substring, _ value: Substring) -> UInt64? {
        key == "identity" ? UInt64(value, radix: 16) : nil
    }

    /// FNV-1a: enough to find a torn or edited file.
    private static func checksum(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
