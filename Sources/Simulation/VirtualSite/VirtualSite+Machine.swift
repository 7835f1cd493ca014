import BallastDaemon
import PowerDispatch
import Quantities
import Scenario
import SiteConfig

extension VirtualSite {
    /// What happens to the controller's machine, its disk and the site's file.
    public mutating func handle(_ step: MachineStep) {
        switch step {
        case .clock(let jump): jumpClock(by: jump)
        case .suspend(let time): sleep = max(sleep, time)
        case .disk(let condition):
            diskCondition = condition
            disk.condition = condition.core
        case .configuration(let change):
            change.apply(to: &file)
            hasFileChanged = true
            isReloadDue = isDaemonRunning
        }
    }
}

extension DiskCondition {
    /// Whether what is to be there before anything else comes to be there.
    var takesWrites: Bool {
        switch self {
        case .well, .slow: true
        case .full, .sick: false
        }
    }

    fileprivate var core: CoreDisk.Condition {
        switch self {
        case .well: .well
        case .full: .full
        case .sick: .sick
        case .slow: .slow
        }
    }
}

extension SiteChange {
    /// Writes it into a site's file.
    fileprivate func apply(to config: inout SiteConfig) {
        var limits = config.limits ?? SiteLimits()
        switch self {
        case .importLimit(let power): limits.imports = power
        case .exportLimit(let power): limits.exports = power
        case .basePoint(let power):
            config.control.basePoint = power
            return
        }
        config.limits = limits
    }
}

extension SiteAgreement {
    init(_ config: SiteConfig) {
        self.init(imports: config.limits?.imports, exports: config.limits?.exports)
    }
}
