import Foundation
import Glibc
import ProgramSupport
import Quantities
import Testing

extension BallastDaemonTests {
    /// The real ballast-scada before a site's daemon, and masters that nobody here wrote (c104, lib60870).
    struct ControlCentre {
        static let bounds =
            "control_centre: {charge_max_kw: 40, discharge_max_kw: 50, longest_s: 30, most_per_min: 600}"

        fileprivate static let points = """
            common_address: 47
            points:
              - {address: 1001, type: float, source: power_kw, scale: 0.001, deadband: 0.5, cycle_s: 2}
              - {address: 1002, type: float, source: agc_accepted_kw, scale: 0.001, deadband: 0}
              - {address: 1003, type: single, source: in_service, deadband: 0}
              - {address: 1004, type: float, source: unit_soc_percent, unit: BESS_01}
              - {address: 1005, type: float, source: reserve_up_kw}
              - {address: 1006, type: counter, source: unit_export_wh, unit: BESS_01}
              - {address: 1007, type: counter, source: unit_import_wh, unit: BESS_01, deadband: 5}
            commands:
              - {address: 5001, type: setpoint_float, action: agc_setpoint, scale: 1000}
              - {address: 5002, type: single, action: agc_enable}

            """

        let site: RunningSite
        let scada: Program
        let port: String

        init(
            _ site: RunningSite, name: String = "scada", masters: String = "127.0.0.1", tls: String = "",
            validity: Int = 2, socket: String? = nil
        ) throws {
            self.site = site
            let file = try site.scratch.write(
                "\(name).yaml",
                """
                listen: {address: 127.0.0.1, port: 0}
                control_socket: \(socket ?? site.controlSocket)
                status_file: \(site.scratch.path)/scada.json
                redundancy_groups:
                  - {name: main, commands: true, masters: [{address: \(masters)}]}
                commanding: {validity_s: \(validity)}
                \(tls)

                """ + Self.points)
            scada = try Program(
                Program.built("ballast-scada"), ["--config", file], name: name, in: site.scratch)
            try scada.waitForLog("is listening on")
            port = String(try scada.logLine("is listening on").split(separator: ":").last ?? "")
        }

        /// c104 starts its link now and then only when it is begun anew, on a busy machine; so it is.
        private func connected(_ name: String, _ arguments: [String]) throws -> Program {
            var turn = 1
            while true {
                let peer = try startPeer(
                    "iec104_client.py", [port, "47"] + arguments, name: turn == 1 ? name : "\(name)-\(turn)",
                    in: site.scratch)
                if peer.isReady("OPEN", within: .seconds(25)) { return peer }
                peer.end(by: SIGKILL)
                turn += 1
                try #require(turn <= 3, "\(name) never had its link: \(peer.output)\n\(scada.log)")
            }
        }

        /// - Parameter tls: what the peer is told of it.
        func master(_ name: String, tls: String) throws -> Program {
            try connected(name, ["C_SC_NA_1:5002", "tls=\(tls)"])
        }

        func master(_ name: String) throws -> Program {
            let points = [
                "M_ME_NC_1:1001", "M_ME_NC_1:1002", "M_SP_NA_1:1003", "M_ME_NC_1:1004", "M_ME_NC_1:1005",
                "M_IT_NA_1:1006", "M_IT_NA_1:1007", "C_SE_NC_1:5001", "C_SC_NA_1:5002",
            ]
            return try connected(name, points)
        }
    }
}

/// What a master has of a point: its value, and whether it is good.
func pointValue(_ text: String, _ address: Int) throws -> (number: Double, isGood: Bool) {
    let all = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let values = all?["values"] as? [String: Any] ?? all
    let point = values?["\(address)"] as? [String: Any]
    return (
        (point?["value"] as? NSNumber)?.doubleValue ?? .nan, point?["good"] as? Bool ?? false
    )
}
