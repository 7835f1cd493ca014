/// What `ballast-scada` shows of itself, in a file. The names are those of the JSON.
public struct ScadaStatus: Codable, Sendable, Equatable {
    /// A master's connection.
    public struct Link: Codable, Sendable, Equatable {
        public var number: Int
        public var address: String
        /// Its redundancy group.
        public var group: String
        /// Whether it is the group's active link.
        public var started: Bool

        public init(number: Int, address: String, group: String, started: Bool) {
            self.number = number
            self.address = address
            self.group = group
            self.started = started
        }
    }

    /// A command that has come.
    public struct Command: Codable, Sendable, Equatable {
        /// Wall time, ISO 8601 in UTC.
        public var at: String
        /// The master's address.
        public var from: String
        public var originator: Int
        /// Of the information object.
        public var address: Int
        public var text: String
        /// Why it was refused; absent where it was done.
        public var refusal: String?

        public init(
            at: String, from: String, originator: Int, address: Int, text: String, refusal: String?
        ) {
            self.at = at
            self.from = from
            self.originator = originator
            self.address = address
            self.text = text
            self.refusal = refusal
        }
    }

    /// A point as it stands: a number, or on or off, or neither where nobody knows.
    public struct Point: Codable, Sendable, Equatable {
        public var address: Int
        public var signal: String
        public var unit: String?
        public var value: Double?
        public var on: Bool?

        public init(address: Int, signal: String, unit: String?) {
            self.address = address
            self.signal = signal
            self.unit = unit
        }
    }

    /// Wall time, ISO 8601 in UTC.
    public var at: String
    public var common_address: Int
    /// Whether ballastd shows new cycles.
    public var controller_heard: Bool
    public var agc_enabled: Bool
    /// The setpoint that was accepted, while it holds.
    public var agc_accepted_kw: Double?
    public var links: [Link]
    /// The newest last.
    public var commands: [Command]
    public var points: [Point]

    public init(
        at: String, common_address: Int, controller_heard: Bool, agc_enabled: Bool, agc_accepted_kw: Double?,
        links: [Link], commands: [Command], points: [Point]
    ) {
        self.at = at
        self.common_address = common_address
        self.controller_heard = controller_heard
        self.agc_enabled = agc_enabled
        self.agc_accepted_kw = agc_accepted_kw
        self.links = links
        self.commands = commands
        self.points = points
    }
}
