import ControlSocket
import Testing

@Suite struct RequestTests {
    static let long = String(repeating: "x", count: 201)

    // swift-format-ignore
    static let requests: [(request: ControlRequest, fault: String?)] = [
        (ControlRequest(.status), nil),
        (ControlRequest(.trips), nil),
        (ControlRequest(.stop), "stop needs a reason"),
        (ControlRequest(.stop, reason: " "), "stop needs a reason"),
        (ControlRequest(.stop, reason: String(repeating: "x", count: 200)), nil),
        (ControlRequest(.stop, reason: long), "the reason is longer than 200 characters"),
        (ControlRequest(.stop, reason: "a\nb"), "the reason holds control characters"),
        (ControlRequest(.stop, reason: "a\u{9b}b"), "the reason holds control characters"),
        (ControlRequest(.stop, reason: "a\u{2028}b"), "the reason holds control characters"),
        (ControlRequest(.stop, reason: "stop \u{202e}emusre"), "the reason holds control characters"),
        (ControlRequest(.stop, reason: "सेल का तापमान बहुत अधिक है"), nil),
        (ControlRequest(.stop, reason: "a" + String(repeating: "\u{301}", count: 30_000)), "the reason's letters have too many marks"),
        (ControlRequest(.stop, reason: "a" + String(repeating: "\u{301}", count: 6)), "the reason's letters have too many marks"),
        (ControlRequest(.stop, reason: "a" + String(repeating: "\u{301}", count: 5)), nil),
        (ControlRequest(.stop, reason: "\u{115f}\u{3164}"), "the reason has nothing that can be seen"),
        (ControlRequest(.stop, reason: "\u{2800}\u{fe0f}"), "the reason has nothing that can be seen"),
        (ControlRequest(.stop, reason: "क्षि मरम्मत"), nil),
        (ControlRequest(.stop, reason: "Lüfter geprüft"), nil),
        (ControlRequest(.reset, reason: "ok"), "reset needs a unit"),
        (ControlRequest(.reset, unit: "A", reason: "ok"), nil),
        (ControlRequest(.setpoint, reason: "t"), "power_kw is missing"),
        (ControlRequest(.setpoint, reason: "t", power_kw: -40), "for_s is missing"),
        (ControlRequest(.setpoint, reason: "t", power_kw: -40, for_s: 1), nil),
        (ControlRequest(.setpoint, reason: "t", power_kw: -40, for_s: 86_400), nil),
        (ControlRequest(.setpoint, reason: "t", power_kw: -40, for_s: 0), "for_s is 0.0 s; allowed: 1.0 … 86400.0 s"),
        (ControlRequest(.setpoint, reason: "t", power_kw: -40, for_s: 86_401),
            "for_s is 86401.0 s; allowed: 1.0 … 86400.0 s"),
        (ControlRequest(.setpoint, reason: "t", power_kw: 2e6, for_s: 60),
            "power_kw is 2000000.0 kW; allowed: -1000000.0 … 1000000.0 kW"),
        (ControlRequest(.setpoint, reason: "t", power_kw: .nan, for_s: 60),
            "power_kw is nan kW; allowed: -1000000.0 … 1000000.0 kW"),
        (ControlRequest(.setpoint, reason: "t", power_kw: 1, for_s: .infinity),
            "for_s is inf s; allowed: 1.0 … 86400.0 s"),
        (ControlRequest(.revoke), "revoke needs a reason"),
        (ControlRequest(.mode, unit: "A", reason: "t", mode: "auto"), nil),
        (ControlRequest(.mode, unit: "A", reason: "t", mode: "manual"),
         "mode takes maintenance, standby, hold or auto"),
        (ControlRequest(.mode, unit: "A", reason: "t", for_s: 60, mode: "standby"), nil),
        (ControlRequest(.mode, unit: "A", reason: "t", mode: "standby"), "for_s is missing"),
        (ControlRequest(.mode, unit: "A", reason: "t", mode: "maintenance"), "for_s is missing"),
        (ControlRequest(.mode, unit: "A", reason: "t", for_s: 60, mode: "maintenance"), nil),
        (ControlRequest(.mode, unit: "A", reason: "t", for_s: 59, mode: "maintenance"),
            "for_s is 59.0 s; allowed: 60.0 … 43200.0 s"),
        (ControlRequest(.mode, reason: "t", mode: "auto"), "mode needs a unit"),
    ]

    @Test(arguments: requests)
    func `a request is whole or its fault is named`(row: (request: ControlRequest, fault: String?)) {
        #expect(row.request.fault == row.fault, "\(row.request.summary)")
    }

    // swift-format-ignore
    static let durations: [(text: String, seconds: Double?)] = [
        ("90s", 90), ("15m", 900), ("2h", 7_200), ("0s", 0),
        ("90", nil), ("", nil), ("s", nil), ("-5m", nil), ("1.5h", nil), ("1d", nil), ("15 m", nil),
        ("9999999s", nil), ("999999h", 3_599_996_400), ("٣m", nil),
    ]

    @Test(arguments: durations)
    func `a length of time has its unit`(row: (text: String, seconds: Double?)) {
        #expect(DurationText.seconds(row.text) == row.seconds, "\(row.text)")
    }
}
