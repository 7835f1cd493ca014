import SiteConfig

/// Keys that stand in a site's file, are read and checked, and change nothing there.
struct IdleKeys {
    private let config: SiteConfig
    private let places: SitePlaces

    init(_ config: SiteConfig, _ places: SitePlaces) {
        self.config = config
        self.places = places
    }

    var remarks: [Remark] {
        (config.withoutEffect.map { ($0, "nothing here uses it") } + site + units)
            .filter { places.has($0.0) }
            .map { Remark(.note, $0.0, "has no effect: \($0.1)") }
    }

    private var site: [(String, String)] {
        var idle: [(String, String)] = []
        if config.limits == nil {
            idle.append(("site.site_load_max_kw", "import_limit_kw and export_limit_kw are not there"))
        }
        if config.units.count == 1 {
            for key in ["mode", "soc_balancing"] {
                idle.append(("power_sharing.\(key)", "one unit shares with nobody"))
            }
        }
        if !config.paths.recordsOnDisk {
            idle.append(("paths.recording_disk_max_mb_per_day", "recording_on_disk is false"))
        }
        if config.paths.recordingMegabytes == 0 {
            let why = "recording_max_mb is 0, and captures are made of recordings"
            idle.append(("paths.captures_max_mb", why))
            idle.append(("paths.recording_on_disk", why))
        }
        if config.gridIntegration.frequencySources == [.simulated] {
            idle.append(("grid_meter.frequency_resolution_hz", "the frequency is simulated"))
        }
        if config.gridMeter?.modbus.driver != nil {
            idle.append(("grid_meter.read_registers", "the driver file says what is read"))
        }
        return idle
    }

    private var units: [(String, String)] {
        config.units.enumerated().flatMap { index, unit -> [(String, String)] in
            let own = "bess_units[\(index)]"
            var idle: [(String, String)] = []
            if unit.inverter.driver != nil {
                idle.append(("\(own).read_registers", "the driver file says what is read"))
                idle.append(("\(own).reactive_power", "a driver file has no points for it"))
            }
            if unit.contactors == nil, unit.ioModule?.coils.isEmpty != false {
                idle.append(("\(own).io_module.watchdog_ms", "the module drives no coil"))
            }
            switch unit.battery.transport {
            case .socketCAN, .slcan: break
            case .cannelloni, .cannelloniListen:
                idle.append(("\(own).bms.receive", "only a kernel's interface is filtered"))
            }
            return idle
        }
    }
}
