import Glibc
import Quantities

/// The path at which a listening socket can be asked. Somebody may take it away while its process lives; who
/// looks makes it anew, with the same rights.
public struct Doorway: ~Copyable, Sendable {
    /// What has become of the path.
    public enum Change: Sendable, Equatable, CustomStringConvertible {
        case madeAnew
        /// It is gone and cannot be made anew, or something else stands there; told once.
        case lost(SystemError)

        public var description: String {
            switch self {
            case .madeAnew: "was removed, and is made anew"
            case .lost(let error): "was removed, and cannot be made anew: \(error)"
            }
        }
    }

    private struct Place: Equatable {
        let device: UInt64
        let node: UInt64

        init?(_ path: String) {
            var status = stat()
            guard lstat(path, &status) == 0 else { return nil }
            (device, node) = (UInt64(status.st_dev), UInt64(status.st_ino))
        }
    }

    private static let interval = Duration.seconds(1)
    private let path: String
    private let permissions: mode_t
    private var place: Place?
    private var loss: SystemError?
    private var lookAt = MonotonicTime.now() + interval
    private(set) var socket: FileDescriptor

    /// Listens at `path`; `permissions` as in `chmod`.
    public init(_ path: String, permissions: mode_t) throws(SystemError) {
        (self.path, self.permissions) = (path, permissions)
        socket = try Self.listen(path, permissions)
        place = Place(path)
    }

    private static func listen(_ path: String, _ permissions: mode_t) throws(SystemError) -> FileDescriptor {
        let socket = try UnixSocket.listen(path, permissions: permissions)
        try socket.setNonBlocking()
        return socket
    }

    /// Looks once a second whether the path still leads here.
    ///
    /// - Returns: what has changed since it was told last.
    public mutating func look(at now: MonotonicTime) -> Change? {
        guard now >= lookAt else { return nil }
        lookAt = now + Self.interval
        guard place == nil || Place(path) != place else { return nil }
        place = nil
        do throws(SystemError) {
            socket = try Self.listen(path, permissions)
            place = Place(path)
            loss = nil
            return .madeAnew
        } catch {
            guard loss != error else { return nil }
            loss = error
            return .lost(error)
        }
    }
}
