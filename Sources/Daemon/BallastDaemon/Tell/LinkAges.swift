import ControlSocket
import Quantities

/// How long ago a device on each link was heard last: by what has arrived of it, and not by what we send.
struct LinkAges {
    private var marks: [String: (count: UInt64, at: MonotonicTime)] = [:]

    /// The same links with their ages.
    mutating func look(_ links: [LinkStatus], at now: MonotonicTime) -> [LinkStatus] {
        links.map { link in
            var link = link
            let count = Self.heard(link.counters)
            if count > 0, marks[link.name]?.count != count { marks[link.name] = (count, now) }
            link.heard_s = marks[link.name].map { ((now - $0.at).seconds * 1_000).rounded() / 1_000 }
            return link
        }
    }

    /// Frames of a device that the bus knows, and answers. An error frame is the adapter's word.
    private static func heard(_ counters: [String: UInt64]) -> UInt64 {
        func count(_ name: String) -> UInt64 { counters[name] ?? 0 }
        let strange = count("ignored_frames") &+ count("bus_errors") &+ count("identifier_conflicts")
        let frames = count("frames")
        return (frames > strange ? frames - strange : 0) &+ count("transactions")
    }
}
