import LinuxIO
import RemoteLeases
import Signatures
import Synchronization

/// Signs leases, and wakes the links that wait for them.
final class LeaseDesk: Sendable {
    private struct Waiter {
        var id: UInt64
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var nextID: UInt64 = 0
        var waiters: [String: [Waiter]] = [:]
        var wakes: [String: UInt64] = [:]
    }

    /// Links of one site that wait at once; more are answered at once.
    private static let mostWaiters = 4
    private let signing: AggregatorConfig.Signing?
    private let seed: [UInt8]?
    private let state = Mutex(State())

    /// - Throws: where the key's file holds no key.
    init(_ signing: AggregatorConfig.Signing?) throws {
        self.signing = signing
        guard let signing else {
            seed = nil
            return
        }
        let bytes = try DurableFile.read(signing.keyFile, limit: 256)
        let text = bytes.map { String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self) }
        guard let read = text.flatMap(Hexadecimal.bytes), Signatures.publicKey(ofSeed: read) != nil else {
            throw Unusable(path: signing.keyFile)
        }
        seed = read
    }

    struct Unusable: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path): no signing key ('ballast-aggregator lease key' makes one)" }
    }

    var canSign: Bool { seed != nil }

    /// The lease with its signature as hexadecimal digits; `nil` where it cannot be signed.
    func sign(_ request: LeaseRequest, site: String, sequence: UInt64, now: Int64) -> String? {
        guard let signing, let seed else { return nil }
        let lease = request.lease(site: site, key: signing.keyID, sequence: sequence, now: now)
        guard lease.isWritable, let signature = Signatures.sign(lease.canonicalBytes, seed: seed) else {
            return nil
        }
        return Hexadecimal.text(lease.canonicalBytes + signature)
    }

    /// A lease of the fleet's with its signature, likewise; `power` is `nil` in a release.
    func sign(
        power: Int64?, until: Int64, dispatch: String, site: String, sequence: Int64, now: Int64
    ) -> String? {
        guard let signing, let seed, sequence > 0 else { return nil }
        let lease = RemoteLease(
            kind: power == nil ? .release : .power, sequence: UInt64(sequence), issued: now, from: now,
            until: until, watts: power ?? 0, key: signing.keyID, site: site, dispatch: dispatch)
        guard lease.isWritable, let signature = Signatures.sign(lease.canonicalBytes, seed: seed) else {
            return nil
        }
        return Hexadecimal.text(lease.canonicalBytes + signature)
    }

    /// Wakes whoever waits for leases of `site`.
    func wake(_ site: String) {
        let waiters = state.withLock { state in
            state.wakes[site, default: 0] += 1
            return state.waiters.removeValue(forKey: site) ?? []
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// How often `wake` was called for `site`.
    func wakes(of site: String) -> UInt64 { state.withLock { $0.wakes[site] ?? 0 } }

    /// Waits until `wake` was called more often than `seen`, or for so long.
    func wait(for site: String, after seen: UInt64, atMost time: Duration) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let timer = Task {
            // Ends early only where the wait has ended.
            try? await Task.sleep(for: time)
            giveUp(id, of: site)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard state.wakes[site] ?? 0 == seen,
                        state.waiters[site, default: []].count < Self.mostWaiters
                    else { return false }
                    state.waiters[site, default: []].append(Waiter(id: id, continuation: continuation))
                    return true
                }
                if !isWaiting { continuation.resume() }
                if Task.isCancelled { giveUp(id, of: site) }
            }
        } onCancel: {
            giveUp(id, of: site)
        }
        timer.cancel()
    }

    private func giveUp(_ id: UInt64, of site: String) {
        let found = state.withLock { state -> Waiter? in
            guard let index = state.waiters[site]?.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters[site]?.remove(at: index)
        }
        found?.continuation.resume()
    }
}
