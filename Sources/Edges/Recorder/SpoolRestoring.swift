import Glibc
import LinuxIO

/// What a writer does where somebody has had his hands in its folder.
extension SpoolWriter {
    /// Makes anew what somebody has removed, and syncs whatever came of that: that a folder cannot be put in
    /// order is no reason to keep records back.
    ///
    /// - Throws: what the one or the other could not do.
    public func restoreAndSync() throws(SpoolError) {
        var fault: SpoolError?
        do throws(SpoolError) { try restoreRemoved() } catch { fault = error }
        try sync()
        if let fault { throw fault }
    }

    /// Looks whether its files are still where they were, and makes anew what is not; about once a second.
    ///
    /// The epoch stays and numbers go on: those that are gone with their files are a gap to the reader, and
    /// are reported. What is not synced yet goes into a new segment.
    ///
    /// - Throws: where the folder cannot be made anew, or another writer has it by now.
    public func restoreRemoved() throws(SpoolError) {
        try setOthersAside()
        let isMarked = access(directory.deliveredPath, F_OK) == 0 || errno != ENOENT
        if isMarked { lastDelivered = DeliveryMark.read(in: directory, epoch: epoch) }
        var anew: [String] = []
        do throws(SystemError) {
            if !lock.isInPlace {
                if mkdir(directory.path, 0o750) < 0, errno != EEXIST { throw SystemError.last("mkdir") }
                let lock = try SpoolFile(path: directory.lockPath, flags: O_RDWR | O_CREAT)
                if flock(lock.number, LOCK_EX | LOCK_NB) < 0 { throw SystemError.last("flock") }
                self.lock = lock
                anew.append("lock")
            }
            if StreamFile.read(in: directory) != epoch {
                try StreamFile.write(epoch, in: directory)
                anew.append("stream")
            }
            if !syncedMark.isInPlace {
                syncedMark = try SpoolFile(path: directory.syncedPath, flags: O_RDWR | O_CREAT)
                try publish(syncedThrough)
                anew.append("synced")
            }
            try reportRemoved(try withoutStrangersBeside(try directory.segments()))
        } catch { throw .system(error) }
        if !isMarked {
            try restoreMark()
            anew.append("delivered")
        }
        if !anew.isEmpty { report(.madeAnew(names: anew)) }
    }

    private func setOthersAside() throws(SpoolError) {
        do throws(SystemError) {
            for name in try directory.setOthersAside() { report(.stranger(name: name)) }
        } catch {
            // A folder that is gone itself is made anew.
            if error.code != ENOENT { throw .system(error) }
        }
    }

    /// The link goes on where it was, as far as it is known here.
    private func restoreMark() throws(SpoolError) {
        do throws(SystemError) { try directory.letGroupDeliver() } catch { throw .system(error) }
        guard lastDelivered > 0 else { return }
        try DeliveryMark(directory: directory.path, epoch: epoch).store(lastDelivered)
    }

    private func reportRemoved(_ there: [SegmentName]) throws(SystemError) {
        if let segment, !segment.isInPlace { self.segment = nil }
        let known = segments
        segments = there
        for (index, name) in known.enumerated() where !there.contains(name) {
            let last = index + 1 < known.count ? known[index + 1].first - 1 : syncedThrough
            guard last >= name.first else { continue }
            let undelivered = last - min(last, max(lastDelivered, name.first - 1))
            droppedUndelivered += undelivered
            reportRemoved(name.first, last, undelivered)
        }
    }

    /// What was removed together is told together.
    private func reportRemoved(_ from: UInt64, _ to: UInt64, _ undelivered: UInt64) {
        if case .removed(let first, let last, let count)? = reports.last, last + 1 == from {
            reports[reports.count - 1] = .removed(from: first, to: to, undelivered: count + undelivered)
        } else {
            report(.removed(from: from, to: to, undelivered: undelivered))
        }
    }

    // MARK: Files that somebody has put there

    /// At the opening: of segments that begin with the same number the one that reaches furthest is the
    /// stream's.
    func withoutStrangers(_ names: [SegmentName]) throws(SystemError) -> [SegmentName] {
        var own: [SegmentName] = []
        for name in names {
            if directory.isMisnamed(name) {
                try setAside(name)
            } else if let twin = own.firstIndex(where: { $0.first == name.first }) {
                let isFurther = try reach(name) >= reach(own[twin])
                try setAside(isFurther ? own.remove(at: twin) : name)
                if isFurther { own.append(name) }
            } else {
                own.append(name)
            }
        }
        return own
    }

    /// Beside a living writer: what it has not made, and what cannot be one that came back.
    private func withoutStrangersBeside(_ there: [SegmentName]) throws(SystemError) -> [SegmentName] {
        let known = segments
        let open = segment == nil ? UInt64.max : known.last?.first ?? .max
        var own: [SegmentName] = []
        for name in there {
            let isStranger =
                !known.contains(name)
                && (name.first >= open || known.contains { $0.first == name.first }
                    || directory.isMisnamed(name))
            if isStranger { try setAside(name) } else { own.append(name) }
        }
        return own
    }

    private func setAside(_ name: SegmentName) throws(SystemError) {
        let path = directory.path(of: name)
        if rename(path, path + ".aside") < 0, errno != ENOENT { throw SystemError.last("rename") }
        report(.stranger(name: name.text))
    }

    /// The last number that can be read of it.
    private func reach(_ name: SegmentName) throws(SystemError) -> UInt64 {
        var scanner = SegmentScanner(try SpoolFile(path: directory.path(of: name), flags: O_RDONLY))
        var last: UInt64 = 0
        while let record = try scanner.next() { last = record.number }
        return last
    }
}
