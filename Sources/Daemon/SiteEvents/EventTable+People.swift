extension EventTable {
    /// What people and other programs ask for.
    static let people: [EventRow] = [
        EventRow(
            .riskAccepted, "5d20c7e6a94f4b38b1c6e8f07a3d9214", .warning,
            "Risk accepted: @BALLAST_CAUSE@",
            """
            The configuration holds what Ballast refuses without a person's word, and somebody has given their
            name to it under accept.
            """,
            advice: """
                Nothing, if that person still answers for it; else mend the configuration and take the word away.
                """),
        EventRow(
            .operator, "5d2aa8ba1d945247974b45917eec23b2", .notice,
            "A person has asked for a change",
            """
            Who, what and why; the change follows as an event of its own.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .operatorRefused, "82788d1a5bc858d9b2d6149ae7d33f42", .warning,
            "A person asked for what they may not",
            """
            Their groups do not give the role that is needed.
            """,
            advice: """
                'ballastctl' says which group; add the person there if they should.
                """),
        EventRow(
            .commission, "59da3f20d610533fa6e3b206fc16800b", .notice,
            "A record of latched trips was made",
            """
            A service person has put the site into operation.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .frequencyTest, "0c4c1f8b4b5f4a86a1de0b7f6e2f9d31", .warning,
            "The site answers to a simulated frequency",
            """
            A service person tests the response of a real battery (mode hil): @BALLAST_VALUE@ Hz in place of what
            the grid has. Limits, interlocks and the grid's supervision go by what is measured.
            """,
            advice: """
                It ends by its time; 'ballastctl commission frequency --end' or a stop ends it now.
                """),
        EventRow(
            .frequencyTestEnd, "6d0b9f2be3d2460a9b5b6d1c3ea74f52", .notice,
            "The test with a simulated frequency is over",
            """
            Its time is over, somebody has ended it, or the grid was not well: the site answers to what is measured.
            """,
            advice: """
                'ballastctl frequency report --tests' judges it.
                """),
        EventRow(
            .certificateEnds, "b7f3a5c0de2849d5a6f10b1c7c3e8d64", .warning,
            "The certificate of the site's link ends soon",
            """
            ballast-link says so. Once it has ended the aggregator takes no report and the site gets no lease;
            records wait on the disk.
            """,
            advice: """
                Renew it: 'ballast-aggregator certificate' on the aggregator's machine; the link takes it over by itself.
                """),
        EventRow(
            .reloaded, "5bb58c49d65c5b27aa54a65a5f28df04", .notice,
            "The configuration was read anew",
            """
            What may change at run time has been taken over.
            """,
            advice: """
                Nothing.
                """),
        EventRow(
            .reloadRefused, "ac135ac600aa54a4b46a3d312c2d47e7", .error,
            "A new configuration was refused",
            """
            It is wrong, or changes what takes a restart. What held before goes on, all of it.
            """,
            advice: """
                ballastd --config FILE --check; systemctl restart ballastd where the change is wanted.
                """),
        EventRow(
            .modbusWrite, "aca2e3d169955148a0f62fc975de052f", .notice,
            "A person wrote to a Modbus device",
            """
            Somebody with the role service wrote registers or coils by ballastctl modbus write; the unit was in
            maintenance, or ballastd did not run.
            """,
            advice: """
                Nothing, if it was meant.
                """),
        EventRow(
            .proxyRefused, "93b5712949c75d429eedd75795d858a7", .warning,
            "A Modbus client was refused a write",
            """
            The site as a Modbus device (modbus_server) takes writes from its writers only, and only the active
            power setpoint of SunSpec 704, as a lease.
            """,
            advice: """
                Who writes, and why? The exception: 1 not a writer, 2 not a register to write, 3 a value out of its
                range.
                """),
        EventRow(
            .remoteLease, "79b4842e7834464e9e20a09f986f6bb1", .notice,
            "Signed lease of @BALLAST_SOURCE@ granted",
            """
            Somebody outside the site has asked for a power with a valid signature, and it holds for the time that
            the message says.
            """,
            advice: """
                'ballastctl why' says who asks now. A setpoint of the operator ranks above it.
                """),
        EventRow(
            .remoteLeaseRefused, "0911606c87b64f54a016977cc8caf394", .warning,
            "Signed lease of @BALLAST_SOURCE@ refused",
            """
            A power asked for from outside was not granted; BALLAST_CAUSE says why: malformed, other_site,
            no_such_target, unknown_key, replayed, sequence_lost, clock_not_synchronised, not_yet, expired,
            too_long, too_often, bad_signature, not_saved, not_allowed or no_answer.
            """,
            advice: """
                replayed, other_site and bad_signature again and again mean that somebody plays with old leases or a
                wrong key.
                """),
        EventRow(
            .controlCentre, "5b1e0c2a9d7f4e318c66d2f1a4b7900e", .notice,
            "The control centre's setpoint was granted, or ended",
            """
            ballast-scada has brought a power that the control centre asks for (AGC), inside the bounds of the section
            control_centre of the site's file. It holds for the time that the message says.
            """,
            advice: """
                'ballastctl scada' shows links and commands, 'ballastctl why' who asks now. A setpoint of the operator
                ranks above it.
                """),
    ]
}
