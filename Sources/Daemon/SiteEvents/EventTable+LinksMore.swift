extension EventTable {
    /// Buses and devices, continued.
    static let linksMore: [EventRow] = [
        EventRow(
            .frameUnknown, "e1ed2e124300510e882e7d798d1e3a4e", .info,
            "An unknown CAN identifier",
            """
            It is counted, not used.
            """,
            advice: """
                Is another device on this bus?
                """),
        EventRow(
            .garbage, "0b51020a39c55ccbb5f3fdc0943a563f", .warning,
            "Bytes that belong to no frame",
            """
            They were skipped; the stream goes on, or is opened anew.
            """,
            advice: """
                Baud rate, earth and shielding of the line.
                """),
        EventRow(
            .frameOrder, "9c00b769f41843768e906e37f3cb8c2b", .warning,
            "Frames of a PMU came twice, late or from another time",
            """
            They were left out; the last good sample grows old by its own time.
            """,
            advice: """
                The way from the PMU (two paths, a queue), or its clock, which may have been set.
                """),
        EventRow(
            .pmuConfigured, "b9777ea9d5884dfa87d1297b83de6cdf", .info,
            "A PMU has told how it writes its data",
            """
            Its stream is read from now on; after a change of its configuration too.
            """,
            advice: """
                Nothing. A rate other than frames_per_s in the site's file makes readings stale too early or too
                late.
                """),
        EventRow(
            .busError, "3b19960b4f015bfc90a3a6e1c4b71093", .warning,
            "An error on a CAN bus",
            """
            The controller of the bus reports an error class.
            """,
            advice: """
                Termination, bit rate, cable.
                """),
        EventRow(
            .keepAliveNotSent, "0d8af3cbf4e85a1eac44d65798fbfc54", .warning,
            "A battery's keep-alive could not be sent",
            """
            Many batteries open their contactors without it.
            """,
            advice: """
                The bus: does anybody acknowledge frames?
                """),
        EventRow(
            .peerRefused, "12671582f1bd560d96673cacb3f852ad", .warning,
            "A second peer was refused",
            """
            One battery speaks on this port already.
            """,
            advice: """
                Who connects, and why?
                """),
        EventRow(
            .answerRejected, "438eaa212de854669d2b69507f7d6e7e", .warning,
            "A device on @BALLAST_LINK@ gave an answer that does not fit",
            """
            What came is not the answer to what was asked: another unit, function, length or number, or a wrong
            checksum. It was not used; the reading ages. It is said once for each kind until the device has been
            silent and is back; 'ballastctl status' counts on.
            """,
            advice: """
                Checksums: shield, termination, a second device with the same address, the line's speed and parity.
                Other units or numbers: a gateway that mixes its clients up, or a device that answers after its
                time-out.
                """),
        EventRow(
            .directionRefused, "d495d1872c315b77a421ed9172aee1a5", .error,
            "The serial port of @BALLAST_LINK@ cannot switch an RS-485 driver",
            """
            The configuration says rs485: true, and the port's driver refuses to do it (TIOCSRS485).
            """,
            advice: """
                An adapter that switches by itself needs no rs485: true. A port with a driver in the kernel (RTS as
                direction) needs it, and a kernel that can.
                """),
        EventRow(
            .busState, "fabcca3fd41a5adf90e42d67950c79f4", .notice,
            "The state of a CAN bus has changed",
            """
            The bus controller says how far it takes part: active, warning (more than 96 errors), passive (more
            than 127) or off (more than 255 when sending; it then neither sends nor receives). While the bus is
            off, and until its frames have come anew, no reading of the battery counts.
            """,
            advice: """
                Termination (two times 120 ohms), bit rate, cable, shield, and whether the battery is on. The driver
                recovers after its restart-ms; see 'systemctl status ballast-can@INTERFACE'.
                """),
        EventRow(
            .transmitStalled, "98b1a3437e23569fa86a25deacbde79a", .warning,
            "Nothing leaves for a CAN bus",
            """
            For a second every frame of ours has found the transmit queue full: nobody acknowledges, or others
            keep the bus busy.
            """,
            advice: """
                Is the battery on, and at the same bit rate? 'ballastctl can monitor' shows who speaks.
                """),
        EventRow(
            .transmitResumed, "58c2b81b56b05665a6757e7b2fe0a9de", .notice,
            "Frames leave for a CAN bus again",
            """
            The transmit queue has room again.
            """,
            advice: """
                Nothing.
                """),
        EventRow(
            .identifierConflict, "16271142217b5672acd4faac8f119acc", .error,
            "Somebody else sends our frames on a CAN bus",
            """
            A frame came with an identifier that only this controller may send: a second controller commands the
            same battery, or the gateway echoes what we send. The battery may stay awake when we fall silent.
            """,
            advice: """
                Find the second sender and take it off the bus; switch the echo of the gateway off.
                """),
        EventRow(
            .framesDropped, "b4d3d96d53375cc2be93d5185f4e1719", .warning,
            "Frames of a CAN bus were lost for want of room",
            """
            The kernel's queue was full before the bus thread came to read it.
            """,
            advice: """
                The load of the machine ('ballastctl timing'), and of the bus; 'receive: known' keeps frames of
                others away.
                """),
        EventRow(
            .framesMissing, "ae557e8e9af74ce39b240de733310018", .warning,
            "Many of a battery's frames do not come",
            """
            Fewer than 70 % of its frames came within ten seconds, by its period or as before. Its readings are
            fresh enough all the same; a few frames more that are missing, and it counts as silent.
            """,
            advice: """
                CAN wiring, termination and supply; 'ballastctl can monitor'; its period ('period_ms') in the
                site's file.
                """),
        EventRow(
            .framesWhole, "261569d011e74241b0965097b497509d", .notice,
            "A battery's frames come as they should again",
            """
            At least 90 % of them came within ten seconds.
            """,
            advice: """
                Nothing.
                """),
        EventRow(
            .busLoadHigh, "48d9752e96245df8af3edac873b48d77", .warning,
            "A CAN bus carries more than 80 % of what it can",
            """
            Frames of low priority come late or not at all.
            """,
            advice: """
                'ballastctl can monitor' shows who sends how often.
                """),
        EventRow(
            .busLoadNormal, "8151331a1f575713942e1138b98397a7", .notice,
            "A CAN bus carries less than 70 % again",
            """
            The load has gone down.
            """,
            advice: """
                Nothing.
                """),
        EventRow(
            .busRestartAsked, "732be2f5ad6f5ebdabf74158a7ddda52", .warning,
            "A CAN bus has stayed off: its interface is set up anew",
            """
            The driver has not recovered by itself, so the oneshot ballast-can-restart was asked to take the
            interface down and up.
            """,
            advice: """
                As for a bus that is off; 'systemctl status ballast-can-restart@INTERFACE' says what came of it.
                """),
        EventRow(
            .capOverridden, "6301bbfca0c5554eaff9bb510944fe0c", .warning,
            "An inverter's own limit was changed",
            """
            The limit of its output (SunSpec 123) was switched off or widened by somebody else, or the device
            did not keep it. It is written again; its setpoint bounds it meanwhile.
            """,
            advice: """
                Find who else writes to the inverter.
                """),
        EventRow(
            .capRefused, "9dfb369bab135faea27655daa05f1119", .error,
            "An inverter refuses a limit of its output",
            """
            It answered the write of SunSpec 123 with an exception. It is asked again in a minute; its setpoint
            bounds it meanwhile.
            """,
            advice: """
                Look whether remote control is allowed in the inverter; else take sunspec_123_cap out of the site's
                file.
                """),
        EventRow(
            .capTaken, "3ceaaf30814258eaa1d93080f9b439fc", .notice,
            "An inverter limits its own output",
            """
            As configured, beside the setpoint (SunSpec 123). It stays when Ballast is gone.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .capUnsupported, "6fced11d2bd851e6a47a8387cdde8d51", .error,
            "An inverter cannot limit its own output",
            """
            It has no usable SunSpec model 123.
            """,
            advice: """
                Take sunspec_123_cap out of the site's file; its setpoint bounds it as before.
                """),
    ]
}
