import CSocketCAN
import Glibc

/// Sets up a CAN interface of this machine through the kernel's netlink. Not for the controller: it needs
/// rights the controller does not have. libsocketcan writes its own complaints to standard error.
public enum CANInterfaceSetup {
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        public enum Step: String, Sendable, CaseIterable {
            case stop = "take the interface down"
            case bitRate = "set the bit rate"
            case restart = "set the restart time"
            case start = "bring the interface up"
        }

        case noKernelSupport
        case noSuchInterface(String)
        case refused(interface: String, step: Step)

        public var description: String {
            switch self {
            case .noKernelSupport: "this kernel has no AF_CAN (CONFIG_CAN)"
            case .noSuchInterface(let name): "there is no network interface '\(name)'"
            case .refused(let name, let step):
                "cannot \(step.rawValue) of '\(name)': needs root or CAP_NET_ADMIN, a CAN device, and a value that "
                    + "the device can do"
            }
        }
    }

    /// Whether the kernel knows CAN at all.
    public static func isSupported() -> Bool { CANSocket.isSupported }

    /// Takes `interface` down, sets it up and brings it up.
    ///
    /// - Parameters:
    ///   - bitRate: bits per second, for example 500 000.
    ///   - restartMilliseconds: time after which the controller leaves bus-off by itself; `nil` leaves it as
    ///     it is.
    public static func bringUp(
        _ interface: String, bitRate: UInt32, restartMilliseconds: UInt32?
    ) throws(Failure) {
        guard isSupported() else { throw .noKernelSupport }
        guard if_nametoindex(interface) != 0 else { throw .noSuchInterface(interface) }
        try check(can_do_stop(interface), interface, .stop)
        try check(can_set_bitrate(interface, bitRate), interface, .bitRate)
        if let restartMilliseconds {
            try check(can_set_restart_ms(interface, restartMilliseconds), interface, .restart)
        }
        try check(can_do_start(interface), interface, .start)
    }

    /// Takes `interface` out of bus-off; its bit rate stays.
    public static func restart(_ interface: String) throws(Failure) {
        guard isSupported() else { throw .noKernelSupport }
        guard if_nametoindex(interface) != 0 else { throw .noSuchInterface(interface) }
        // Some drivers know no restart, and none while they do it themselves: down and up does it for all.
        if can_do_restart(interface) == 0 { return }
        try check(can_do_stop(interface), interface, .stop)
        try check(can_do_start(interface), interface, .start)
    }

    private static func check(
        _ result: CInt, _ interface: String, _ step: Failure.Step
    ) throws(Failure) {
        guard result == 0 else { throw .refused(interface: interface, step: step) }
    }
}
