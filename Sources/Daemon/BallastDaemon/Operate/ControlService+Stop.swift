import ControlSocket
import LinuxIO
import Quantities
import Recorder

/// What outlives the program.
extension ControlService {
    /// A stop that was received is carried out, whatever else waits or stands still.
    func stopSite(_ request: ControlRequest, _ asker: Asker) -> ControlAnswer {
        link.stopAsked.store(true, ordering: .releasing)
        let since = WallClock.text(milliseconds: WallClock.nowMilliseconds())
        let former = state.withLock { state -> String? in
            // Who stopped it first has stopped it.
            guard state.status?.stopped != true || state.stopWords == nil else { return state.stopWords }
            state.stopWords = "by \(asker.name) since \(since): \(request.reason ?? "")"
            return nil
        }
        let isTaken = waitFor(until: .now() + .milliseconds(300)) { _ in
            self.link.stopAsked.load(ordering: .acquiring) ? nil : true
        }
        guard isTaken == true else {
            return ControlAnswer(
                done:
                    "received; the cycle stands still, so that outputs expire by themselves, and the site is taken"
                    + " out of service as soon as it turns")
        }
        let before = former.map {
            "; it was stopped already, \($0), and one 'ballastctl resume' ends both, whoever gives it"
        }
        let done = "the site is being taken out of service\(before ?? "")"
        return kept(ControlAnswer(done: done)) { $0.isStopped }
    }

    /// Power goes without waiting; whoever reads the answer knows whether a restart will know of it.
    ///
    /// - Parameter stands: whether what was done stands in a record.
    func kept(_ answer: ControlAnswer, _ stands: (LatchRecord) -> Bool) -> ControlAnswer {
        guard let done = answer.done, access.isCommissioned else { return answer }
        let isOnDisk = waitFor(until: .now() + LatchWatch.limit + LatchWatch.limit) {
            $0.onDisk.map(stands) == true ? true : nil
        }
        guard isOnDisk != true else { return answer }
        return ControlAnswer(done: done + "; NOT SAVED: a restart may not know of it")
    }

    /// What the disk has taken.
    func keeps(_ record: LatchRecord) { state.withLock { $0.onDisk = record } }
}
