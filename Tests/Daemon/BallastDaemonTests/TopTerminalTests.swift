import Foundation
import Glibc
import ProgramSupport
import Testing

extension BallastDaemonTests {
    /// `ballastctl top` as somebody sees it: in a terminal that tmux keeps, beside a real site.
    @Suite struct TopTerminalTests {
        private let site: RunningSite

        init() throws { site = try RunningSite() }

        @discardableResult
        private func tmux(_ words: String) throws -> (status: CInt, text: String) {
            let command = "tmux -S \(site.scratch.path)/tmux \(words) 2>&1 < /dev/null"
            let result = try #require(popen(command, "r"))
            var text = ""
            var line = [CChar](repeating: 0, count: 4_096)
            while fgets(&line, 4_096, result) != nil {
                text += String(
                    decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
            return (pclose(result), text)
        }

        /// Waits until the screen shows all of `words`.
        private func shows(_ words: [String], width: Int, rows: Int) throws {
            var screen = ""
            try eventually("the screen shows \(words):\n\(screen)") {
                screen = try tmux("capture-pane -p").text
                return words.allSatisfy { screen.contains($0) }
            }
            let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.allSatisfy { $0.count <= width } && lines.count <= rows + 1, "\(screen)")
        }

        @Test
        func `top stands in 80 columns and in a wide terminal, takes keys, and tells a dead controller`()
            throws
        {
            try site.startInService()
            let tool = try Program.built("ballastctl")
            let started = try tmux(
                "new-session -d -x 80 -y 24 '\(tool) top --socket \(site.controlSocket) --interval-ms 200'")
            try #require(started.status == 0, "\(started.text)")
            defer { _ = try? tmux("kill-server") }
            try shows(["BESS_01", "BESS_02", "running", "50.000 Hz", "q quit"], width: 80, rows: 24)
            try tmux("send-keys l")
            try shows(["modbus", "links"], width: 80, rows: 24)
            try tmux("send-keys Escape")
            try tmux("send-keys s")
            try shows(["s sort:", "BESS_02"], width: 80, rows: 24)
            // A unit's own screen, and back.
            try tmux("send-keys Enter")
            try shows(["BESS_01", "esc"], width: 80, rows: 24)
            try tmux("send-keys Escape")
            try tmux("resize-window -x 160 -y 40")
            try shows(["BESS_01", "BESS_02", "running", "q quit"], width: 160, rows: 40)
            _ = try site.daemon.end(by: SIGKILL)
            try shows(["NO ANSWER"], width: 160, rows: 40)
            try eventually("old figures are taken away") {
                try !tmux("capture-pane -p").text.contains("50.000 Hz")
            }
            try tmux("send-keys q")
            try eventually("q ends it, and with it the terminal") { try tmux("has-session").status != 0 }
        }

        /// Started so that no hang-up ends it, as by `nohup` or in a service of tmux.
        @Test func `top whose terminal is gone ends`() throws {
            try site.startInService()
            let tool = try Program.built("ballastctl")
            let started = try tmux(
                "new-session -d -x 80 -y 24 'trap \"\" HUP; exec \(tool) top --socket \(site.controlSocket)'")
            try #require(started.status == 0, "\(started.text)")
            try shows(["BESS_01", "q quit"], width: 80, rows: 24)
            let process = try tmux("list-panes -F '#{pane_pid}'").text.filter(\.isNumber)
            try tmux("kill-server")
            try eventually("it has ended") { access("/proc/\(process)", F_OK) != 0 }
        }
    }
}
