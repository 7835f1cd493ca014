extension EventTable {
    /// The daemon, its clocks, its threads and its disk.
    static let gateway: [EventRow] = [
        EventRow(
            .unplannedRestart, "b838580f3ca54be988c15e90f0b150f4", .warning,
            "Ballast started, and the last run did not end in order",
            """
            @BALLAST_CAUSE@. A crash, a kill or a power cut leaves no word of its end. Units are held until
            somebody resumes them, but where resume_after_restart is true and this is not the third time within
            ten minutes.
            """,
            advice: """
                Find out what ended it (journalctl -b -1, coredumpctl), then 'ballastctl resume --reason ...'.
                """),
        EventRow(
            .latchRecord, "41792806e80855ec98f16341cac6c19e", .warning,
            "The record of latched trips is missing, damaged or does not know a unit",
            """
            Unknown is never healthy: the units concerned count as tripped.
            """,
            advice: """
                On a new site: 'ballastctl commission init' (role service, daemon stopped). On an old one: find out
                what happened to the disk.
                """),
        EventRow(
            .latchesNotSaved, "0d185255f8625e6286712c26ab37d8c2", .critical,
            "Latched trips are not on disk",
            """
            The write failed and is tried again each second. Trips stand in memory; a restart now would count as
            tripped or lose the newest.
            """,
            advice: """
                'df', 'dmesg': is the disk full, read-only or dying?
                """),
        EventRow(
            .latchesSaved, "594e8b86532053da8e90c7f40c3abdd9", .notice,
            "Latched trips are on disk again",
            """
            The record is whole.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .started, "30624f291e2f566a8f8e516398a94a89", .notice,
            "ballastd has started",
            """
            Every unit starts out of service; outputs are zero.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .notStarted, "588b2978ed1c56a985b34e5ac70d3e09", .error,
            "ballastd did not start",
            """
            The configuration or the machine does not allow it; nothing was commanded.
            """,
            advice: """
                The message names file, line and key; 'ballastd --check' repeats it.
                """, way: .stays(.thereIsNoSite)),
        EventRow(
            .stopping, "10f9f1dd74e754c8a1b728b521dd5494", .notice,
            "ballastd is ending",
            """
            Units ramp to zero, then the buses are released.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .stopped, "f687cd127f8a59948d041ae4e7016677", .notice,
            "ballastd has ended",
            """
            Setpoints have expired; inverters go to zero by their own timers at the latest.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .realtime, "36641270b9975aafbbf599834c602b22", .info,
            "Real time was granted or refused",
            """
            The message says what: scheduling, memory lock, affinity, and why not.
            """,
            advice: """
                'systemctl cat ballastd'; a mode other than production runs without it.
                """),
        EventRow(
            .eventsLost, "772c5b3837965f39a871fbd56dffaec6", .warning,
            "Events found no room",
            """
            More happened at once than the ring holds; the count says how many lines are missing here. Trips are
            latched all the same.
            """,
            advice: """
                'ballastctl trips' and 'ballastctl status'.
                """),
        EventRow(
            .recordsLost, "5e787e345cd0507abe296bcd2a55c114", .warning,
            "Records found no room, or are gone with their files",
            """
            The disk was too slow or full, the audit's oldest have made room, or somebody has removed files beside
            the running daemon, which goes on in new ones; the message says which. Control is not touched.
            """,
            advice: """
                'iostat', 'dmesg', 'df': the disk. Files that were removed: who has access there, and why?
                """),
        EventRow(
            .spool, "63f6af910e0b51c59b0d2d9666114759", .warning,
            "The spool mended or dropped something",
            """
            The message says which records; their numbers are missing at the aggregator too, and it knows.
            """,
            advice: """
                The disk, and its size.
                """),
        EventRow(
            .spoolFailed, "1eda4a2a77bf59bbb70cc6cf3575346c", .error,
            "The spool cannot be written",
            """
            Telemetry is not kept; control goes on.
            """,
            advice: """
                'df', 'dmesg', the rights of /var/lib/ballast.
                """),
        EventRow(
            .safeOutput, "bb44af351c4b5b7188d3ffa2f38809e5", .notice,
            "The outputs were taken to zero after the daemon's end",
            """
            `ballastd --safe-output` has written zero to every device on this link and opened the coils that we
            drive; or it says what it left alone and why.
            """,
            advice: """
                Nothing. Why the daemon ended stands before this line.
                """, way: .stays(.ofAnotherProgram)),
        EventRow(
            .safeOutputFailed, "90888ac8a995524682cd4cbb18f73c51", .critical,
            "An output could not be taken to zero",
            """
            After the daemon's end `ballastd --safe-output` got no answer from a device. Its own reversion
            timer, or the module's own watchdog, is what is left to make it safe.
            """,
            advice: """
                Look at the device's power now. Then the link, and why the daemon ended.
                """, way: .stays(.ofAnotherProgram)),
        EventRow(
            .safeOutputIdle, "074b897366cf5041addb56d286b47bca", .notice,
            "A living daemon drives the outputs",
            """
            `ballastd --safe-output` was started beside a living daemon and has written nothing.
            """,
            advice: """
                Nothing; to stop the site: ballastctl stop.
                """, way: .stays(.ofAnotherProgram)),
        EventRow(
            .clockStep, "ac1ca650498e55ecbd28a40d80a9f1e3", .notice,
            "The wall clock was set",
            """
            Control runs on the monotonic clock and has not noticed; a schedule by wall time follows the new
            time.
            """,
            advice: """
                Where it happens again: the time source (chronyc sources).
                """),
        EventRow(
            .suspended, "14c767ce45b15e36a26bb625ccfa0186", .critical,
            "The machine was suspended",
            """
            Nobody controlled the site meanwhile; the devices' own timers did. Every unit enters service anew.
            """,
            advice: """
                A gateway must never sleep: systemctl mask sleep.target suspend.target hibernate.target.
                """),
        EventRow(
            .clockStandsStill, "83c77fb549d858738f8a74cefae42c75", .alert,
            "The monotonic clock stands still",
            """
            Nothing would ever expire. The daemon ends at once, and the devices' own timers act.
            """,
            advice: """
                The machine's clock source (cat /sys/devices/system/clocksource/clocksource0/current_clocksource);
                its hypervisor.
                """),
        EventRow(
            .cycleStalled, "007d499a32fa502982050b51447b58db", .critical,
            "The control cycle stands still",
            """
            Its outputs have expired, and the threads of the buses write zero. After 2 s the service manager
            ends the daemon.
            """,
            advice: """
                What held the thread: a debugger, a program of higher priority, the machine itself. ballastctl
                timing.
                """),
        EventRow(
            .cycleBack, "4e04a59217dc5cf09b84384e747c13cf", .notice,
            "The control cycle turns again",
            """
            Outputs follow the decisions again.
            """,
            advice: """
                Why it stood still.
                """),
        EventRow(
            .cycleLate, "7281cb60d50f5a53bcbd044f4a3b4de5", .warning,
            "The control cycle began late, worked long or missed periods",
            """
            Every decision came that much later; outputs hold until they expire. The limits are
            control.lateness_warn_ms and control.execution_warn_percent. It is said at most once in ten seconds.
            """,
            advice: """
                'ballastctl timing' for the figures, 'ballastctl doctor' for what on this gateway may delay the
                cycle.
                """),
        EventRow(
            .cycleStop, "4e12eb6b6feb5d6f8a562e0678dc1fd4", .critical,
            "The site left service because its cycle missed too many periods",
            """
            More than control.overruns_stop_per_min periods were missed within a minute. Every unit goes to zero
            power and stays out of service until an operator resumes.
            """,
            advice: """
                'ballastctl doctor', mend the cause, then 'ballastctl resume'.
                """),
        EventRow(
            .captureKept, "ac095d4765e043c387d60b038a86e1d6", .notice,
            "A window of cycles is kept",
            """
            Everything that the controller was given and decided, from half a minute before to ten seconds after
            what is named.
            """,
            advice: """
                'ballastctl incident FILE' makes a page of it, 'ballastctl replay FILE' runs the controller on it.
                """),
        EventRow(
            .captureNotKept, "615d5a2f3db5492684a3964f9b57d526", .warning,
            "A window of cycles could not be kept",
            """
            The recording of these cycles is overwritten in time.
            """,
            advice: """
                Copy what you need of the captures and delete it, or make captures_max_mb larger.
                """),
        EventRow(
            .stateNotSaved, "b3643011f13953bb9ebd2d01602bae2e", .critical,
            "A file of the state directory is not on disk",
            """
            `wires`: should the daemon die now, `ballastd --safe-output` works with an older plan, or has none.
            `reversions`: the proof of a device may be lost. Control goes on.
            """,
            advice: """
                The disk of the state directory: full, read-only, worn out?
                """),
        EventRow(
            .logLost, "5f0c7a1e9d344b0e8a6cbb0d6f1e2a97", .error,
            "The log stood still, and @BALLAST_VALUE@ lines found no room",
            """
            Nobody took the controller's lines for a while. It went on without them and counted by event what it
            could not keep; lines about trips are among those that were kept.
            """,
            advice: """
                Look at systemd-journald and its disk: 'systemctl status systemd-journald', 'journalctl
                --disk-usage'.
                """),
        EventRow(
            .threadStalled, "9a1d3f7be26c4f0fb5a4e0c97d218c35", .critical,
            "Thread @BALLAST_CAUSE@ of the controller stands still",
            """
            A thread that only looks on has not gone round for more than five seconds: it waits for a disk, a
            log, a file or a socket. Control, interlocks and the watchdog go on without it.
            """,
            advice: """
                recorder, latches, blackbox: the disk of /var/lib/ballast. latches-run: /run. files: the configuration's file
                system. control: who asks at the control socket. journal: systemd-journald. 'ballastctl status'
                names it too.
                """),
        EventRow(
            .threadBack, "c2b5c1d26f0a4d1c9ee13a7d3c48b6f1", .notice,
            "Thread @BALLAST_CAUSE@ of the controller goes on",
            """
            It had stood still.
            """,
            advice: """
                Nothing now. If it comes again, look at what it waits for.
                """),
        EventRow(
            .controlSocket, "9ecfbaeccf9943368f4ba1f38046ec12", .warning,
            "Somebody took the control socket away",
            """
            Its path was removed while the controller runs. It is made anew within about a second; as long as it
            cannot be, nobody can ask the controller, not even to stop.
            """,
            advice: """
                What cleans /run/ballast? While it cannot be made: 'systemctl stop ballastd' stops the site.
                """),
        EventRow(
            .spoolNearlyFull, "9c0d7e45b1a84f6f8d02c3b7e6a15f90", .warning,
            "The spool is nearly full",
            """
            What waits for delivery has passed 80 % of spool_max_mb. When it is full telemetry makes room, oldest
            first; events and energy only after all of it. The aggregator is told which numbers went.
            """,
            advice: """
                See why the link does not deliver: 'systemctl status ballast-link', 'ballastctl spool status'.
                """),
        EventRow(
            .spoolHasRoom, "1e7b90c3a2d64b58b6f1d4e9075c8a32", .notice,
            "The spool has room again",
            """
            What waits for delivery has fallen below 70 % of spool_max_mb.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .spoolSetBack, "d3a6518f7c2e4e0fa94b1b60c8e7f215", .critical,
            "The spool is older than what was delivered",
            """
            The aggregator has numbers that the spool has never given: its files were set back, by a snapshot, a
            backup or a disk that has lied. All that is in it begins again under a new epoch and is delivered anew.
            """,
            advice: """
                Find out who restored the state folder. Latched trips and commissioning may be as old as the spool.
                """),
    ]
}
