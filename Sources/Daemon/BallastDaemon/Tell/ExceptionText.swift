import ModbusBus

/// What a device means by refusing a request, and what a person can do about it.
enum ExceptionText {
    /// `exception 1 at register 13049: it does not know the function …`.
    static func text(_ code: UInt8, at address: UInt16) -> String {
        "exception \(code) at register \(address)" + (remedy(code).map { ": \($0)" } ?? "")
    }

    /// Why, in the device's own words of the standard, and the way out; `nil` for a code that has no meaning.
    static func remedy(_ code: UInt8) -> String? {
        switch code {
        case 1:
            "it does not know the function (writes go by 16: in its driver file write_single: true makes them 6;"
                + " table: input reads by 4, holding by 3)"
        case 2:
            "it has no such register, or not for this (in its driver file: is the address zero-based, the table"
                + " right, the type too long, access: read_write wrong? forbidden keeps holes from being read)"
        case 3:
            "it does not take the value or so many registers (in its driver file: unit, scale and type of the"
                + " register; max_registers bounds a request)"
        case 4: "the device itself could not do it: read its own events; it is often its local/remote switch"
        case 6: "it is busy: poll it more slowly (poll_ms)"
        case 10, 11:
            "a gateway before it does not reach it: its unit_id, the line behind the gateway, its supply"
        // Every other number has no meaning of the standard's.
        default: nil
        }
    }

    /// The same behind a failure.
    static func text(_ error: ModbusError) -> String {
        guard case .exception(let code) = error else { return "\(error)" }
        return "\(error)" + (remedy(code).map { ": \($0)" } ?? "")
    }
}
