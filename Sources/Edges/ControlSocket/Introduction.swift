import LinuxIO

/// How the door introduces an asker to the daemon: the first words of the line that it hands on, from the
/// kernel and not from the asker: `USER GROUP PROCESS GROUPS request`, numbers in decimal, the groups with
/// commas.
struct Introduction: Equatable {
    /// 65,536 groups of ten digits, and a request.
    static let longestLine = 65_536 * 11 + 64 + ControlServer.longestLine

    var peer: PeerIdentity
    /// The primary one first.
    var groups: [UInt32]

    func line(_ request: [UInt8]) -> [UInt8] {
        let list = groups.map { "\($0)" }.joined(separator: ",")
        return Array("\(peer.userID) \(peer.groupID) \(peer.processID) \(list) ".utf8) + request
    }

    /// `nil` for anything that `line` does not write.
    static func parse(_ line: [UInt8]) -> (who: Introduction, request: [UInt8])? {
        let words = line.split(
            separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: false)
        guard words.count == 5, let user = UInt32(plain: words[0]), let group = UInt32(plain: words[1]),
            let process = UInt32(plain: words[2]).flatMap(Int32.init(exactly:))
        else { return nil }
        var groups: [UInt32] = []
        for word in words[3].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        where !words[3].isEmpty {
            guard let number = UInt32(plain: word) else { return nil }
            groups.append(number)
        }
        let peer = PeerIdentity(userID: user, groupID: group, processID: process)
        return (Introduction(peer: peer, groups: groups), Array(words[4]))
    }
}

extension UInt32 {
    /// Digits and nothing else.
    fileprivate init?(plain digits: ArraySlice<UInt8>) {
        guard (1...10).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
            let number = UInt32(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self = number
    }
}
