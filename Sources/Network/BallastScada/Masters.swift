import Glibc
import IEC104
import LinuxIO
import Quantities

/// The masters' connections: accepted from listed addresses alone, each with what waits to be sent.
struct Masters: ~Copyable {
    final class Peer {
        let descriptor: FileDescriptor
        let address: String
        let group: Int
        let since: MonotonicTime
        /// `nil` = octets travel as they are.
        let security: SecureEnd?
        /// As the wire carries it.
        var waiting: [UInt8] = []

        init(
            _ descriptor: consuming FileDescriptor, _ address: String, group: Int, _ security: SecureEnd?,
            at now: MonotonicTime
        ) {
            self.descriptor = descriptor
            self.address = address
            self.group = group
            self.security = security
            since = now
        }
    }

    /// What has happened on a socket.
    enum Event {
        case opened(link: Int, group: Int)
        case received(link: Int, [UInt8])
        case lost(link: Int)
        /// It does not show what a master must, for this reason; the link is gone.
        case untrusted(link: Int, String)
        /// Somebody who is not listed, or has too many connections.
        case refused(String)
    }

    /// Of one address; a further one makes the oldest go, which may be half open.
    private static let perAddress = 3
    private static let longestWaiting = 262_144

    private let listener: FileDescriptor
    private let groups: [ScadaConfig.Group]
    private var security: LinkSecurity?
    private(set) var peers: [Int: Peer] = [:]
    private var nextLink = 1
    let port: UInt16

    init(_ config: ScadaConfig, _ security: LinkSecurity?) throws(NetworkError) {
        self.security = security
        listener = try NetworkSocket.listen(at: try NetworkAddress(config.address, config.port))
        port = NetworkSocket.localPort(listener.number) ?? config.port
        groups = config.groups
    }

    /// Waits for something to happen on any socket or the bell, and gathers it.
    mutating func wait(_ bell: CInt, atMost time: Duration, at now: () -> MonotonicTime) -> [Event] {
        let links = peers.keys.sorted()
        var entries = [listener.number, bell].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        for link in links {
            guard let peer = peers[link] else { continue }
            let events = peer.waiting.isEmpty ? POLLIN : POLLIN | POLLOUT
            entries.append(pollfd(fd: peer.descriptor.number, events: Int16(events), revents: 0))
        }
        guard poll(&entries, nfds_t(entries.count), CInt(time / .milliseconds(1))) > 0 else { return [] }
        var events: [Event] = []
        for (link, entry) in zip(links, entries.dropFirst(2)) where entry.revents != 0 {
            if !push(link) { events.append(.lost(link: link)) } else { events += read(link) }
        }
        if entries[0].revents != 0 { events += admit(at: now()) }
        for event in events {
            switch event {
            case .lost(let link), .untrusted(let link, _): peers[link] = nil
            case .opened, .received, .refused: continue
            }
        }
        return events
    }

    private mutating func admit(at now: MonotonicTime) -> [Event] {
        var events: [Event] = []
        for _ in 0..<16 {
            // Out of descriptors: whoever waits is looked at when one is free.
            guard let found = try? NetworkSocket.accept(listener.number) else { break }
            let address = Self.address(of: found.number)
            guard let group = groups.firstIndex(where: { $0.masters.contains(address) }),
                let secure = securing(groups[group], address)
            else {
                events.append(.refused(address))
                continue
            }
            NetworkSocket.set(found.number, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
            let own = peers.filter { $0.value.address == address }.keys.sorted()
            // One that has not shown who it is goes before those that have.
            let stranger = own.first { peers[$0]?.security?.isKnown == false }
            if own.count >= Self.perAddress, let oldest = stranger ?? own.first {
                peers[oldest] = nil
                events.append(.lost(link: oldest))
            }
            peers[nextLink] = Peer(found, address, group: group, secure, at: now)
            events.append(.opened(link: nextLink, group: group))
            nextLink += 1
        }
        return events
    }

    /// - Returns: `nil` where TLS is asked for and cannot begin; `.some(nil)` where it is not asked for.
    private func securing(_ group: ScadaConfig.Group, _ address: String) -> SecureEnd?? {
        guard let security else { return .some(nil) }
        // One that cannot begin is a connection that is closed again.
        return (try? SecureEnd(security, fingerprint: group.fingerprints[address])).map { .some($0) }
    }

    private func read(_ link: Int) -> [Event] {
        guard let peer = peers[link] else { return [] }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = recv(peer.descriptor.number, &bytes, bytes.count, 0)
        if count < 0 { return errno == EAGAIN || errno == EINTR ? [] : [.lost(link: link)] }
        guard count > 0 else { return [.lost(link: link)] }
        guard let security = peer.security else { return [.received(link: link, Array(bytes[..<count]))] }
        let read = security.received(Array(bytes[..<count]))
        peer.waiting += security.outgoing()
        _ = push(link)
        switch read {
        case .failure(let fault): return [.untrusted(link: link, fault.reason)]
        case .success(let octets):
            return (octets.isEmpty ? [] : [.received(link: link, octets)])
                + (security.isEnded ? [.lost(link: link)] : [])
        }
    }

    /// Sends, or keeps for later.
    ///
    /// - Returns: `false` where the peer is gone or does not read.
    mutating func send(_ bytes: [UInt8], on link: Int) -> Bool {
        guard let peer = peers[link] else { return true }
        if let security = peer.security {
            security.send(bytes)
            peer.waiting += security.outgoing()
        } else {
            peer.waiting += bytes
        }
        let isWell = push(link) && peer.waiting.count <= Self.longestWaiting
        if !isWell { peers[link] = nil }
        return isWell
    }

    private func push(_ link: Int) -> Bool {
        guard let peer = peers[link] else { return true }
        while !peer.waiting.isEmpty {
            let count = peer.waiting.withUnsafeBytes {
                Glibc.send(peer.descriptor.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            peer.waiting.removeFirst(count)
        }
        return true
    }

    mutating func close(_ link: Int) { peers[link] = nil }

    /// Takes over what links from now on show and must show. One whose certificate is revoked now is gone;
    /// where the authority is another one all are, and who can show the new one's comes again.
    mutating func take(_ security: LinkSecurity) -> [Event] {
        let isNewAuthority = self.security.map { $0.authority != security.authority } ?? false
        self.security = security
        var events: [Event] = []
        for link in peers.keys.sorted() {
            guard let secure = peers[link]?.security else { continue }
            let isRevoked = secure.shown.map { security.revoked.contains($0) } ?? false
            guard isRevoked || isNewAuthority else { continue }
            peers[link] = nil
            events.append(.untrusted(link: link, isRevoked ? SecureEnd.isRevoked : SecureEnd.isNewAuthority))
        }
        return events
    }

    /// In digits; empty where the peer is gone already.
    private static func address(of number: CInt) -> String {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: 64)
        let isKnown = withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { address in
                getpeername(number, address.baseAddress, &size) == 0
                    && getnameinfo(
                        address.baseAddress, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            }
        }
        return isKnown
            ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
    }
}
