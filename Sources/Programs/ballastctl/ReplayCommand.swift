import ArgumentParser
import Glibc

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Run the controller on a recording of its cycles and compare each decision, bit by bit.",
        discussion: """
            The recording carries the site's files and what the controller was given each cycle; nothing of this machine is \
            read, and nothing is driven. The controller is that of the ballastd beside this program. The exit status is 1 \
            where a decision differs, or the recording is damaged: then the place is told, and what is before it still counts.

            EXAMPLE
              ballastctl replay trip.cycles
              ballastctl replay trip.cycles --with new-site.yaml
            """)

    @Argument(help: "The recording.")
    var file: String

    @Option(
        name: .customLong("with"),
        help: "A site's file in place of the recorded one: what would it have changed first?")
    var other: String?

    func run() throws {
        var own = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &own, own.count - 1)
        let path = String(decoding: own[..<max(0, length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let program = folder + "ballastd"
        let words = [program, "--replay", file] + (other.map { ["--with", $0] } ?? [])
        var pointers = words.map { strdup($0) } + [nil]
        execv(program, &pointers)
        // Only a failure comes back.
        let reason = String(cString: strerror(errno))
        pointers.forEach { free($0) }
        throw Refusal("\(program) cannot be started: \(reason)")
    }
}
