/// A site's file, out of the few things that nobody can know but its owner.
struct SiteDraft {
    var id = "site"
    var isProduction = false
    var units = 1
    var powerKilowatts = 100.0
    var capacityKilowattHours = 200.0
    /// Path of a battery's profile; `nil` = Pylontech low voltage.
    var battery: String?
    var chemistry = "lfp"
    /// Of the first unit; the others count up.
    var can = "can0"
    var inverter = "127.0.0.1"
    var ioModule: String?
    var meter: String?
    var importLimit: Double?
    var exportLimit: Double?
    var siteLoad: Double?
    /// A preset of `droop_settings`.
    var gridCode: String?
    /// Where a simulation keeps what it writes.
    var folder = "/var/lib/ballast"

    /// Ports of the simulator, which stands for every device on 127.0.0.1.
    private static let firstPort = 15_021

    var yaml: String {
        var lines = [
            "# Written by 'ballastctl site new'. Every other key has its default: 'ballastd --reference' lists them,",
            "# 'ballastd --config FILE --check' says what this file means.",
            "# yaml-language-server: $schema=/usr/share/ballast/schemas/site.schema.json",
            "mode: \(isProduction ? "production" : "simulation")", "", "site:", "  id: \(id)",
        ]
        if let importLimit { lines.append("  import_limit_kw: \(shown(importLimit))") }
        if let exportLimit { lines.append("  export_limit_kw: \(shown(exportLimit))") }
        if let siteLoad { lines.append("  site_load_max_kw: \(shown(siteLoad))") }
        if let gridCode { lines += ["", "grid_integration:", "  droop_settings: {preset: \(gridCode)}"] }
        if chemistry != "lfp" { lines += ["", "interlocks: {chemistry: \(chemistry)}"] }
        if let meter {
            let port = isProduction ? "" : ", port: \(Self.firstPort - 1)"
            lines += ["", "grid_meter:", "  modbus: {host: \(meter)\(port)}"]
        }
        lines += ["", "bess_units:"] + (0..<units).flatMap(unit)
        if !isProduction {
            lines += [
                "", "paths:", "  state_directory: \(folder)/state",
                "  control_socket: \(folder)/control.sock",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func unit(_ index: Int) -> [String] {
        let number = index + 1
        var lines = [
            "  - id: BESS_\(number < 10 ? "0" : "")\(number)", "    campus_id: \(id)",
            "    capacity_kwh: \(shown(capacityKilowattHours))", "    max_power_kw: \(shown(powerKilowatts))",
        ]
        let bus =
            isProduction ? "socketcan:\(counted(can, by: index))" : "cannelloni:127.0.0.1:\(20_001 + index)"
        lines.append("    bms:")
        lines.append("      transport: \"\(bus)\"")
        if let battery { lines.append("      profile: \(battery)") }
        let port = isProduction ? "" : ", port: \(Self.firstPort + index)"
        let host = isProduction ? counted(inverter, by: index) : inverter
        lines.append("    modbus: {host: \(host)\(port)}")
        guard let ioModule else { return lines }
        let modulePort = isProduction ? "" : ", port: \(Self.firstPort + 100 + index)"
        let module = isProduction ? counted(ioModule, by: index) : ioModule
        return lines + [
            "    io_module:", "      modbus: {host: \(module)\(modulePort)}", "      inputs:",
            "        - {number: 1, name: emergency_stop}",
        ]
    }

    /// `10.0.0.13` and `can2` of `10.0.0.11` and `can0`: the number at the end counts up.
    private func counted(_ name: String, by index: Int) -> String {
        let digits = String(name.reversed().prefix { $0.isNumber }.reversed())
        guard index > 0, let number = Int(digits) else { return name }
        return "\(name.dropLast(digits.count))\(number + index)"
    }

    private func shown(_ number: Double) -> String {
        Int(exactly: number).map { String($0) } ?? String(number)
    }
}
