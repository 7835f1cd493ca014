extension EventTable {
    /// Buses and devices.
    static let links: [EventRow] = [
        EventRow(
            .linkUp, "8ba9b1e4bcaf5254b2b860873db0a6f9", .notice,
            "A bus is connected",
            """
            Devices on it are asked from now on.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .linkDown, "463b9b23b3245a1ba01367d3701200b3", .warning,
            "A bus is down",
            """
            Its devices grow stale: their units lose their permit at once and trip if it lasts. It is said once
            for each reason, and tried again by itself.
            """,
            advice: """
                Cable, power and address of the adapter or gateway; 'ballastctl status' counts the attempts.
                """),
        EventRow(
            .deviceSilent, "c95d4e8b8b8557af86555f1591c2dd5b", .warning,
            "A device on a bus is silent",
            """
            It is asked seldom from now on, so that it costs the others nothing. Its unit has no permit.
            """,
            advice: """
                Power and address of the device.
                """),
        EventRow(
            .deviceBack, "b5eb03e3431852bb8a96d6821a58f240", .notice,
            "A device answers again",
            """
            It is polled as before.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .modbusException, "c7d17bc401da579f92a48d538ffb12c6", .warning,
            "A device refused a request",
            """
            The register or function is not there, or not now.
            """,
            advice: """
                The device's manual at the register named.
                """),
        EventRow(
            .scanned, "b88b81dfd0c654fd8b3c10c5e2a821ff", .info,
            "A device's SunSpec models",
            """
            What the device offers, in its order.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .identified, "9008e8238b635418a452ed02ba109ca3", .info,
            "A device has said who it is",
            """
            Manufacturer, model and serial number.
            """,
            advice: """
                Is it the one you expect at this address?
                """),
        EventRow(
            .notSunspec, "d1a1d3fb7ab054de8cea3d31a3388ce3", .error,
            "A device answers, but is no SunSpec device",
            """
            No marker at 40000, 0 or 50000. It is not used.
            """,
            advice: """
                Unit identifier, and whether SunSpec is switched on in the device.
                """),
        EventRow(
            .notMeasuring, "6599ccc2cab75314828d741887ace65a", .error,
            "A device does not measure what is needed",
            """
            It has no model with power and frequency.
            """,
            advice: """
                The device's firmware and settings.
                """),
        EventRow(
            .notControllable, "b4635c7a2ac45e86a7c851db3157636b", .error,
            "An inverter cannot be controlled",
            """
            It has no usable model 704: it gets no setpoints, and its unit stays out of service.
            """,
            advice: """
                The device's firmware and settings.
                """),
        EventRow(
            .controlTaken, "d6450ff070ac5fa1b3e9ace61815fbdc", .notice,
            "An inverter accepts setpoints",
            """
            Model 704 is enabled, with its reversion timer.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .setpointOverridden, "e612c298f9575135b1ff01b98a352362", .warning,
            "Somebody else wrote an inverter's setpoint",
            """
            Ours is written again.
            """,
            advice: """
                Find the other master: two of them on one inverter are a hazard.
                """),
        EventRow(
            .setpointRefused, "fb0bd34dc3eb5b768a572049a271c69d", .error,
            "An inverter cannot take a setpoint",
            """
            The number does not fit its registers; zero was written.
            """,
            advice: """
                Scale factors and rating of the device against max_power_kw.
                """),
        EventRow(
            .otherDevice, "2af248c827ed40ae81eee385fea65da8", .warning,
            "Another device answers at a device's address",
            """
            It says another maker, model or serial number than the one before it since the start. An inverter gets power only
            after it has said who it is, and none where the reversion was proven of another.
            """,
            advice: """
                Was it exchanged? Otherwise two devices have one address: compare the serial numbers in the lines `identified`.
                """),
        EventRow(
            .mapChanged, "dee55f0a4c805c5497da2ccdc43754de", .warning,
            "A device has changed its models",
            """
            It is scanned anew; until then its readings do not count.
            """,
            advice: """
                Was its firmware updated?
                """),
        EventRow(
            .reactiveTaken, "195c96722c185afea69ed4403a5f6a3f", .notice,
            "An inverter has the reactive power setting",
            """
            As configured.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .reactiveUnsupported, "97d22eedbd9c523fad00002d02ad6e47", .error,
            "An inverter cannot be told the reactive power",
            """
            Its own setting holds.
            """,
            advice: """
                Set it in the device.
                """),
        EventRow(
            .reactiveRefused, "863d4b674c9b51aea82694bb75d95ca9", .error,
            "An inverter refused the reactive power setting",
            """
            It is asked again in a minute.
            """,
            advice: """
                The device's manual at the register named.
                """),
        EventRow(
            .reactiveOverridden, "005aef10c4f55f0da250fe3127f772d2", .warning,
            "Somebody else changed the reactive power",
            """
            Ours is written again.
            """,
            advice: """
                Find the other master.
                """),
        EventRow(
            .coilsOneByOne, "4e338f6a1fad56b69d1921cbcc5ce5e3", .info,
            "An I/O module takes coils one by one",
            """
            It does not know function 15; a command takes one request per coil.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .coilsOverridden, "efe2a17cdf6152c78496fa6706e9c4b4", .warning,
            "Somebody else switched a module's coils",
            """
            Or the module dropped them by its watchdog. Ours are written again while their permit lives.
            """,
            advice: """
                Find the other master; compare watchdog_ms with the module.
                """),
        EventRow(
            .frameRejected, "b06570599a9d5453a175533cb184a7a0", .warning,
            "A CAN frame was rejected",
            """
            Too short, or its content cannot be; the reading it carries is not renewed.
            """,
            advice: """
                The battery's protocol setting.
                """),
    ]
}
