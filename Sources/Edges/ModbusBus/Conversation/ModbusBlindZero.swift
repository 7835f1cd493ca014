/// Zero for an inverter that answers nobody, but may hear: its answers come late, or break off, and its power
/// would go on for the whole time of its own timer.
///
/// It is told twice at the most, since each write starts that timer anew; and only where its setpoint stood
/// when it was last driven. Who answers behind the next connection is looked at all the same before it is
/// told anything but zero.
struct ModbusBlindZero {
    let write: ModbusZeroWrite
    private var left = 0
    private static let most = 2

    init(write: ModbusZeroWrite) { self.write = write }

    var isOwed: Bool { left > 0 }

    /// It has stopped answering.
    mutating func begin() { left = Self.most }
    mutating func tell() { left -= 1 }
    mutating func isHeard() { left = 0 }
}
