import LinuxIO
import SiteConfig

extension Supervisor {
    /// Reads the configuration anew and takes over what may change at run time, or says why not. On the main
    /// thread: control goes on meanwhile.
    mutating func reload() {
        guard let path = checked.path else { return }
        ServiceManager.reloading()
        defer { ServiceManager.ready(status: "running with \(path)") }
        let new: CheckedSite
        do throws(Daemon.StartFailure) {
            new = try CheckedSite(path: path)
        } catch {
            return refuse(["\(error.description)"])
        }
        let reload = Reload(from: checked, to: new)
        guard reload.refusals.isEmpty else { return refuse(reload.refusals) }
        for command in reload.commands where !control.command(command) {
            return refuse(["the cycle takes no command now: try again"])
        }
        if new.schedule != checked.schedule {
            if checked.schedule != nil { _ = control.command(.revokeBasePoint(.schedule)) }
            feeder = new.schedule.map { ScheduleFeeder($0) }
        }
        checked = new
        let text = reload.changes.isEmpty ? "nothing has changed" : reload.changes.joined(separator: "; ")
        journal.write(
            LogRecord(
                .notice, "\(path) was read anew: \(text)",
                fields: [("BALLAST_EVENT", "reloaded"), ("BALLAST_SITE", new.config.siteID)]))
    }

    private func refuse(_ reasons: [String]) {
        for reason in reasons {
            journal.write(
                LogRecord(
                    .error, "the configuration was not read anew, what holds goes on: \(reason)",
                    fields: [("BALLAST_EVENT", "reload_refused"), ("BALLAST_CAUSE", reason)]))
        }
    }
}
