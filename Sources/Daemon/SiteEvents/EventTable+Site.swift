extension EventTable {
    /// The grid, the frequency and the power that is asked for.
    static let site: [EventRow] = [
        EventRow(
            .basePointSet, "a5fdd822099f53299466abdcd3efcfcb", .notice,
            "Base point from @BALLAST_SOURCE@",
            """
            The source asks for a power, for a time. Ranks: operator, AGC, aggregator, schedule, default.
            """,
            advice: """
                'ballastctl why' says who asks now.
                """),
        EventRow(
            .basePointRefused, "eae980f1a8c1503f97fc9b83a337e0af", .warning,
            "Base point from @BALLAST_SOURCE@ refused",
            """
            Its time to live is zero or longer than allowed.
            """,
            advice: """
                Look at the sender.
                """),
        EventRow(
            .basePointRevoked, "e101340fd0d45cda983dd090d03ef891", .notice,
            "Base point from @BALLAST_SOURCE@ revoked",
            """
            The source has taken back what it asked for; the next in rank counts.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .basePointLapsed, "f62e1d7d5cf5516290d565924116acc2", .warning,
            "Base point from @BALLAST_SOURCE@ has lapsed",
            """
            The source was not heard in its time; what follows is the configured rule.
            """,
            advice: """
                Look at the link to the source.
                """),
        EventRow(
            .frequencyLost, "49b8b56b0bc75011a829d9ed18e405c5", .warning,
            "No fresh frequency",
            """
            The response is held for at most frequency_stale_ms and then goes to zero; the base point stays.
            """,
            advice: """
                Look at the meter and its link.
                """),
        EventRow(
            .frequencyBack, "a4488d2f19185b05ace9665ba9d98147", .notice,
            "Frequency is measured again",
            """
            The response follows the frequency again.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .frequencySource, "3b3b42961948533d9c9d1d0c99efe2ee", .notice,
            "Frequency now comes from @BALLAST_SOURCE@",
            """
            The source of higher rank is missing or back; the response does not jump.
            """,
            advice: """
                Look at the links of the other sources.
                """),
        EventRow(
            .frequencyDisputed, "238891c3a8ce5aa689e3c1ad3de41962", .warning,
            "Frequency sources disagree",
            """
            Two sources are further apart than allowed, so none counts: the response is held and then goes to
            zero.
            """,
            advice: """
                Compare the sources with a third instrument.
                """),
        EventRow(
            .frequencySettled, "1d832f3f319559cab8515240d53e96fa", .notice,
            "Frequency sources agree again",
            """
            The response follows the frequency again.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .frequencyMissing, "d9d6b69866c15af99488dcfc80f8f5d3", .warning,
            "No frequency source for 5 s",
            """
            The site gives no frequency response. The base point stays.
            """,
            advice: """
                Look at every source; tell whoever pays for the service.
                """),
        EventRow(
            .gridLost, "73a50e776e135ac995f94af576f058fe", .critical,
            "Grid: out of service, @BALLAST_CAUSE@",
            """
            Voltage, frequency, its rate, the breaker or the permit left what the grid code allows. Every unit
            goes to zero. Detecting an island within 2 s is the inverter's duty.
            """,
            advice: """
                The site enters service by itself when the grid was good for the code's time.
                """),
        EventRow(
            .gridNotReady, "73f7fbca5645573187e85c334b6209f2", .warning,
            "Grid: not good for long enough, @BALLAST_CAUSE@",
            """
            While waiting to enter service the grid left its window; the time begins anew.
            """,
            advice: """
                Nothing, unless it repeats.
                """),
        EventRow(
            .gridSeen, "3c1f0a9e5d7b4e62a8f4b1c09d2e7a51", .notice,
            "Grid: seen again",
            """
            A source on site sees the grid again, no excursion was seen, and an inverter says that it was on the
            grid all the time. Power comes back on the ramp, without the time to enter service.
            """,
            advice: """
                Find out what made every source blind at once.
                """),
        EventRow(
            .gridSourceBlind, "7b9d24e8f0a34c1d95e6c2b7a1f8d306", .warning,
            "Grid: @BALLAST_SOURCE@ sees nothing",
            """
            A meter, inverter or PMU on site is silent, tells no usable frequency, or repeats the same one
            although the others move or its resolution says that it must. What it says does not count; the
            others see for it.
            """,
            advice: """
                Look at the device and its line. With the last one blind the site goes to zero power.
                """),
        EventRow(
            .gridSourceSees, "e4a6175bc29048f3b7d05e9c8a1f6b42", .notice,
            "Grid: @BALLAST_SOURCE@ sees again",
            """
            A source that was blind measures the grid again, and counts.
            """,
            advice: """
                Nothing.
                """),
        EventRow(
            .gridUnseen, "95c8e3d17f2a4b60a1e7d4f9b03c6a28", .critical,
            "Grid: nobody on site sees it",
            """
            No meter, inverter or PMU on site has told a usable frequency, or voltage where that is supervised,
            for longer than the grid code allows. The frequency response is off and power goes to zero on the
            ramp.
            """,
            advice: """
                Mend the meter or its line, or let the inverters' own measurement be read. Power comes back on the
                ramp once somebody sees, if the inverters stayed on the grid; otherwise service is entered anew.
                """),
        EventRow(
            .meterGood, "0f6a3d92c5e84b17a9d2e0b64c7f1835", .notice,
            "Meter: follows the units' power",
            """
            A step of the units' own power was seen at the meter, the same way and by as much. From now on the
            limits at the point of connection count what the rest of the site draws.
            """,
            advice: """
                Nothing.
                """),
        EventRow(
            .meterProving, "c2e94b60d7a84f1f8b35a90e6d1f7c28", .notice,
            "Meter: a step of power is made to prove it",
            """
            More is asked than the limits at the point of connection leave while nobody has seen the meter follow
            the units' power. A small step of power is made to prove it, if need be against what is asked: inside
            what the worst case leaves, or as far as the meter's own reading leaves room. A proven meter gets one
            where nobody has said what else draws (site_load_max_kw), it shows other power than before, and were
            it turned meanwhile, a limit would be passed.
            """,
            advice: """
                Nothing, if the meter is told good within seconds. If no step has room: site_load_max_kw may be
                more than can draw here, or the batteries full or empty; a setpoint that is a step proves it too.
                """),
        EventRow(
            .meterUnproven, "5d0b7f4a92ce41d8b3a6e7150c98f264", .warning,
            "Meter: nobody knows whether it is right",
            """
            The units' own power made a step while one of them, or the meter, was not heard, and the meter did not
            show it; the one that was not heard may have moved too. Or it has shown more than site_load_max_kw
            again and again, for a moment each time. Until a step is seen right again what the meter shows widens
            no limit.
            """,
            advice: """
                Nothing, if the meter is told good again soon; else look at its current transformers and
                power_sign, and at why a unit was not heard.
                """),
        EventRow(
            .meterWrong, "a81c4e7d03f95b26e1b7d8a2f4960c5e", .critical,
            "Meter: @BALLAST_CAUSE@",
            """
            The units' own power made a step and the meter did not show it: it moved the other way, not at all,
            or by something else. The limits at the point of connection hold on the units' own sum and
            site_load_max_kw until a step is seen right again.
            """,
            advice: """
                Reversed: look at the current transformers, and at power_sign. Frozen: look at the meter. Astray:
                does it measure the point of connection of this site, and in the right unit?
                """),
        EventRow(
            .gridGood, "7eebcec08e6857339d8a6fe0e185eb73", .notice,
            "Grid: seen good",
            """
            The time to enter service has begun.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .gridEntered, "1434219954965736b95a6af324fd4bf3", .notice,
            "Grid: service allowed",
            """
            The grid was good for its time; power ramps as the code wants.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .stop, "f7948a3c519c5cbd8d6a2669010d459a", .notice,
            "The site is being taken out of service",
            """
            A person has stopped the site, or had stopped it before a restart. All units go to zero.
            """,
            advice: """
                'ballastctl resume --reason ...' lets it run again.
                """),
        EventRow(
            .resume, "08a5874f542e510c9e6b37f552646624", .notice,
            "The site may run again",
            """
            A person has ended the stop, and the hold of every unit that only a restart held; units enter
            service when everything is seen good. What a trip holds it starts where the same person has reset
            it; what else holds a unit is resumed by the unit's name.
            """,
            advice: """
                Nothing to do.
                """),
    ]
}
