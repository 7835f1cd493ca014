import LinuxIO
import SiteConfig
import SiteEvents

extension Supervisor {
    /// Asks for the configuration to be read anew; control goes on meanwhile, and so does this thread.
    func reload() {
        guard let path = checked.path else { return }
        ServiceManager.reloading()
        files.ask(path)
    }

    /// Takes over what may change at run time, or says why not.
    mutating func finishReload(_ answer: FileThread.Answer) {
        guard let path = checked.path else { return }
        defer { ServiceManager.ready(status: "running with \(path)") }
        let new: CheckedSite
        switch answer {
        case .read(let site): new = site
        case .refused(let why): return refuse([why])
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
                .reloaded, "\(path) was read anew: \(text)",
                [.site: new.config.siteID, .digest: new.digest]))
    }

    private func refuse(_ reasons: [String]) {
        for reason in reasons {
            journal.write(
                LogRecord(
                    .reloadRefused, "the configuration was not read anew, what holds goes on: \(reason)",
                    [.cause: reason]))
        }
    }
}
