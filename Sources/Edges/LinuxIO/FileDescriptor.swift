import CLinux
import Glibc
import Quantities

/// An owned descriptor, closed when it goes out of scope.
public struct FileDescriptor: ~Copyable, Sendable {
    public let number: CInt

    /// Takes over `number`, which must be open and owned by nobody else.
    public init(owning number: CInt) {
        precondition(number >= 0)
        self.number = number
    }

    deinit { _ = Glibc.close(number) }

    /// Hands the number over to somebody who will close it.
    public consuming func release() -> CInt {
        let number = number
        discard self
        return number
    }

    /// What one non-blocking read gave.
    public enum ReadResult: Sendable, Equatable {
        case bytes(Int)
        /// Nothing there now.
        case wouldBlock
        case endOfFile
    }

    /// Reads what is there, at most `buffer.count` bytes. `EINTR` counts as nothing there.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> ReadResult {
        let count = Glibc.read(number, buffer.baseAddress, buffer.count)
        if count > 0 { return .bytes(count) }
        if count == 0 { return .endOfFile }
        let error = SystemError.last("read")
        if error.code == EAGAIN || error.code == EINTR { return .wouldBlock }
        throw error
    }

    /// Writes what the kernel takes now; 0 where its buffer is full. Never raises SIGPIPE on sockets.
    public func write(_ buffer: UnsafeRawBufferPointer) throws(SystemError) -> Int {
        let count = Glibc.write(number, buffer.baseAddress, buffer.count)
        if count >= 0 { return count }
        let error = SystemError.last("write")
        if error.code == EAGAIN || error.code == EINTR { return 0 }
        throw error
    }

    public func setNonBlocking() throws(SystemError) {
        let flags = fcntl(number, F_GETFL)
        if flags < 0 || fcntl(number, F_SETFL, flags | O_NONBLOCK) < 0 { throw SystemError.last("fcntl") }
    }

    /// Waits until the descriptor can be read (and, if asked, written), or `timeout` has passed.
    ///
    /// - Returns: whether there is something to do; an error or a hang-up counts, the next call will name it.
    public func wait(forWriting: Bool = false, timeout: Duration) -> Bool {
        var entry = pollfd(fd: number, events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0)
        let milliseconds =
            timeout.components.seconds * 1_000
            + timeout.components.attoseconds / 1_000_000_000_000_000
        return poll(&entry, 1, CInt(clamping: max(0, milliseconds))) > 0
    }
}

extension Optional where Wrapped == FileDescriptor {
    /// Optional chaining would consume the descriptor.
    public var openNumber: CInt? {
        switch self {
        case .some(let descriptor): descriptor.number
        case .none: nil
        }
    }
}

/// Waits on a descriptor that somebody else owns.
public enum DescriptorWait {
    /// - Returns: whether there is something to read, or the other end has gone; `false` at `end` at the
    ///   latest, and after a signal.
    public static func untilReadable(_ number: CInt, until end: MonotonicTime) -> Bool {
        ballast_wait_readable(number, max(0, (end - MonotonicTime.now()).nanoseconds)) > 0
    }
}
