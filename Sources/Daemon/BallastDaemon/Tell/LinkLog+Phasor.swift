import ControlSocket
import DeviceCodecs
import LinuxIO
import PhasorBus
import SiteEvents

extension LinkLog {
    mutating func line(_ report: PhasorBusReport, on link: String) -> LogRecord? {
        let (event, text) = Self.words(report.event)
        let more = report.count > 1 ? " (\(report.count) times)" : ""
        let record = Self.record(event, link, text + more)
        switch report.event {
        case .linkUp: isUp(link)
        case .linkDown(let error): return isNew(error.reason, of: link) ? record : nil
        case .configured, .rejected, .outOfOrder, .garbage: break
        }
        return record
    }

    private static func words(_ event: PhasorBusEvent) -> (EventName, String) {
        switch event {
        case .linkUp: (.linkUp, "connected")
        case .linkDown(let error): (.linkDown, "down: \(error.reason)")
        case .configured(let rate, let units, let isChange):
            (
                .pmuConfigured,
                "\(isChange ? "its configuration has changed" : "configured"): \(units) PMU, "
                    + (rate > 0 ? "\(rate) frames/s" : "one frame in \(-Int(rate)) s")
            )
        case .rejected(let fault): (.frameRejected, "frame rejected: \(text(fault))")
        case .outOfOrder: (.frameOrder, "frames that came twice, late or from another time")
        case .garbage(let bytes): (.garbage, "\(bytes) bytes that belong to no frame")
        }
    }

    private static func text(_ fault: PhasorFault) -> String {
        switch fault {
        case .sync: "no synchrophasor frame"
        case .length: "its length does not fit"
        case .checksum: "wrong checksum"
        case .time: "its fraction of a second is not below TIME_BASE"
        case .configuration: "a configuration that cannot be true"
        case .size: "not the size that the configuration gives; asking for the configuration"
        case .stranger: "the IDCODE is not the one that was configured"
        case .nominal: "its nominal frequency is not the site's"
        case .command: "no command of the standard"
        }
    }
}

extension LinkStatus {
    init(name: String, _ status: PhasorBusStatus) {
        self.init(
            name: name,
            counters: [
                "up": status.isLinkUp ? 1 : 0, "frames": status.frames, "samples": status.samples,
                "configurations": status.configurations, "duplicates": status.duplicates,
                "out_of_order": status.outOfOrder, "bad_checksums": status.badChecksums,
                "rejected_frames": status.rejected, "garbage_bytes": status.garbageBytes,
                "link_losses": status.linkLosses,
            ])
    }
}
