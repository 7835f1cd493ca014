extension EventTable {
    /// What happens to a unit.
    static let units: [EventRow] = [
        EventRow(
            .mode, "795b79b3ea365c6cb6856962c3071a8e", .notice,
            "Unit @BALLAST_UNIT@ is now @BALLAST_STATE_TO@",
            """
            The unit went from @BALLAST_STATE_FROM@ to @BALLAST_STATE_TO@. Power flows only in running;
            contactors may be closed only in standby, precharge, running and stopping.
            """,
            advice: """
                'ballastctl why @BALLAST_UNIT@' says what holds the unit where it is.
                """),
        EventRow(
            .trip, "9326f7964da75ee1b2f1c333f9b12888", .critical,
            "Unit @BALLAST_UNIT@ tripped: @BALLAST_INTERLOCK@",
            """
            The value @BALLAST_VALUE@ stood past the limit @BALLAST_LIMIT@ for the time of the row. The unit was
            commanded to zero power in the same cycle, its contactors lost their permit, and the trip is latched
            on disk.
            """,
            advice: """
                'ballastctl trips @BALLAST_UNIT@' names what came first and what to check. The trip stays until the
                cause is gone and a person with the right role resets it: 'ballastctl reset @BALLAST_UNIT@ --reason
                ...'. A restart is no reset.
                """),
        EventRow(
            .contactorFault, "fb5f72f6b46e50f689464ea114ab2a3b", .critical,
            "Contactors of unit @BALLAST_UNIT@: @BALLAST_CAUSE@",
            """
            The contactors did not do what they were told, or their auxiliary contacts say something else. They
            are told to open, and stay so.
            """,
            advice: """
                Measure the DC side before anybody touches it: a contact may be welded. Only the role service resets
                this.
                """),
        EventRow(
            .openedUnderLoad, "23a2c3db9cee512c87a23bacd5ab4f0c", .warning,
            "Contactors of unit @BALLAST_UNIT@ opened under load",
            """
            The current was not seen to end within its bound, so the contactors opened all the same.
            """,
            advice: """
                Inspect the contacts: each opening under load wears them. Find out why the inverter did not go to
                zero.
                """),
        EventRow(
            .warning, "0beab2d33e9e51f3a1383f78f857e2a6", .warning,
            "Unit @BALLAST_UNIT@: warning @BALLAST_INTERLOCK@",
            """
            The value @BALLAST_VALUE@ has passed the warning limit @BALLAST_LIMIT@. Power may be derated;
            nothing is latched.
            """,
            advice: """
                'ballastctl why @BALLAST_UNIT@' says whether it takes power away.
                """),
        EventRow(
            .warningGone, "3ba91b845eec58998fe54226030e96c8", .notice,
            "Unit @BALLAST_UNIT@: warning @BALLAST_INTERLOCK@ is gone",
            """
            The value is back behind its warning limit.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .reset, "2132b10cc5b05a18b5981061b788ffef", .notice,
            "Trips of unit @BALLAST_UNIT@ were reset",
            """
            A person has reset the unit's trips. A reset starts nothing: the unit is held in standby, without a
            permit for its contactors.
            """,
            advice: """
                'ballastctl resume @BALLAST_UNIT@ --reason ...' lets it enter service when nobody is at the unit.
                Who has reset it and why stands in the event 'operator' before.
                """),
        EventRow(
            .resetRefused, "fe9c88409a9056f6bb7688e8d628d6fa", .warning,
            "Reset of unit @BALLAST_UNIT@ refused: a cause is still present",
            """
            A trip is not reset while its cause is present, or while nobody can see whether it is.
            """,
            advice: """
                'ballastctl trips @BALLAST_UNIT@'; mend the cause first.
                """),
        EventRow(
            .resetNeedsService, "70d01c4320f75ad99b0608bddface97d", .warning,
            "Reset of unit @BALLAST_UNIT@ needs the role service",
            """
            What is still latched may be reset only by members of the group ballast-service.
            """,
            advice: """
                Ask a service person; they must have looked at the cause.
                """),
        EventRow(
            .stoppedWithPower, "360a31edd9e45738a8d06fd67594bc79", .warning,
            "Unit @BALLAST_UNIT@ counts as stopped, but power flows",
            """
            The unit was told to go to zero and was not seen there in its time.
            """,
            advice: """
                Look at the inverter: does it follow its setpoint? Does its meter read right?
                """),
        EventRow(
            .maintenance, "129f0f88fbb65cbc9819a07542f713cd", .notice,
            "Unit @BALLAST_UNIT@ is taken for maintenance",
            """
            The unit goes to zero power, then its contactors open. It is no lock: lock out as your rules demand.
            """,
            advice: """
                It outlasts trips, resets, resumes and restarts. It ends by the person who has set it ('ballastctl
                mode UNIT auto'), by somebody who names that person ('--of'), or by its time, after which the unit
                is held.
                """),
        EventRow(
            .maintenanceEnd, "c4e12c11967b54f385b015913719bd2d", .notice,
            "Maintenance of unit @BALLAST_UNIT@ has ended",
            """
            By its time, by the person who had set it, or by somebody who named that person. Only a unit that a
            person has given back enters service; after the end of the time it is held.
            """,
            advice: """
                Nobody may be at the unit now. 'ballastctl why @BALLAST_UNIT@' says what it waits for.
                """),
        EventRow(
            .maintenanceRefused, "38cc4516f75c5b6c90b05c94c7e02a3e", .warning,
            "Maintenance of unit @BALLAST_UNIT@ refused",
            """
            The time asked for is zero or longer than allowed.
            """,
            advice: """
                Ask again with a shorter time.
                """),
        EventRow(
            .override, "b6d4afc7130453a39d9267082a1cb639", .notice,
            "An operator holds unit @BALLAST_UNIT@: @BALLAST_SOURCE@",
            """
            An operator has set the unit's power, or its standby, for a time. Interlocks and limits hold as
            ever.
            """,
            advice: """
                Ends by itself; 'ballastctl mode @BALLAST_UNIT@ auto' ends it now.
                """),
        EventRow(
            .overrideEnd, "e6ffa46e1d2a5524ba6f4e2ac1a363a6", .notice,
            "An operator's hold on unit @BALLAST_UNIT@ has ended",
            """
            The unit takes part in the site's power again.
            """,
            advice: """
                Nothing to do.
                """),
        EventRow(
            .overrideRefused, "31c153c9f3e756f8b2b088d9bb36bbe9", .warning,
            "An operator's hold on unit @BALLAST_UNIT@ was refused",
            """
            The time asked for is out of range.
            """,
            advice: """
                Ask again with a shorter time.
                """),
        EventRow(
            .secondSender, "c4b0e92d718f4a65b3d1a6f7e25c8094", .warning,
            "@BALLAST_UNIT@: two speak in the battery's name",
            """
            Messages of the battery come closer together than its period and contradict each other: somebody
            else sends with its identifiers. Of each reading the strictest counts: the lowest limits, the
            hottest and the coldest cell, every alarm.
            """,
            advice: """
                Look at the bus: a second battery, a simulator or a gateway that was left on it.
                """),
        EventRow(
            .secondSenderGone, "6fa1d3870be24c59972e4d80c5b19e63", .notice,
            "@BALLAST_UNIT@: only one speaks in the battery's name again",
            """
            No contradicting messages came for a minute, or ten periods of the battery where that is longer.
            """,
            advice: """
                Nothing, if somebody has found the other sender.
                """),
        EventRow(
            .held, "24fff058fff84c7e8121f86479005d24", .warning,
            "Unit @BALLAST_UNIT@ is held: @BALLAST_CAUSE@",
            """
            Everything may be well with the unit, and yet it does not start by itself: after the reset of a
            trip, an unplanned restart, work on the unit, or an interlock that asks for a look, power begins
            with a person. It stays in standby at zero power, without a permit for its contactors.
            """,
            advice: """
                When nobody is at the unit: 'ballastctl resume @BALLAST_UNIT@ --reason ...'.
                """),
        EventRow(
            .holdEnd, "52ff72336f6549b0a5ee216f765c460c", .notice,
            "Unit @BALLAST_UNIT@ is no longer held",
            """
            A person has resumed the unit. It enters service after enter_service_s with everything seen good,
            unless the site is stopped.
            """,
            advice: """
                Nothing to do; who and why stands in the event 'operator' before.
                """),
        EventRow(
            .resumeRefused, "8ee38e0c2ddc4290a8acf8661e22092f", .warning,
            "Resume of unit @BALLAST_UNIT@ refused: a trip is latched",
            """
            A trip ends only by a reset, and the unit is held from then on.
            """,
            advice: """
                'ballastctl trips @BALLAST_UNIT@', then 'ballastctl reset @BALLAST_UNIT@ --reason ...', then resume.
                """),
        EventRow(
            .reversionUnproven, "80a6d39bd61f5c1aaa16c4ee607a8f20", .error,
            "An inverter is not driven: nobody knows what it does after silence",
            """
            It has SunSpec 124 and not 704. When nobody writes to it any more its control is disabled, which is
            not zero power.
            """,
            advice: """
                Measure it with ballastctl commission reversion.
                """),
        EventRow(
            .reversionTest, "7f54ea6dcd715e7389ce2d9c3840f50c", .notice,
            "The reversion of a device is being proven",
            """
            The daemon gives the device no more setpoints on purpose, and watches its power.
            """,
            advice: """
                Stay until it has ended.
                """),
        EventRow(
            .reversionProven, "de8391bff49f5048a7597828dc7a287c", .notice,
            "A device is safe by itself",
            """
            After our silence it went to zero power by itself, in the time that was seen.
            """,
            advice: """
                Nothing. The proof is kept in the state directory.
                """),
        EventRow(
            .reversionFailed, "a480a5292d6a506199a20f840e029eaf", .error,
            "A device has not proven that it is safe by itself",
            """
            It kept its power, or the test could not be carried out: the line says why.
            """,
            advice: """
                The device's reversion or communication time-out; then the test again. Until then no remote power in
                production.
                """),
        EventRow(
            .outputWatchdogFailed, "b120a366f0bb59cfa2f2dc05873f9bd0", .error,
            "An I/O module has not proven its watchdog",
            """
            After a silence longer than watchdog_ms its outputs still stood, or the test was disturbed.
            """,
            advice: """
                Set the watchdog in the module, to the time in the site's file, and test again. Until then a dead
                gateway leaves contactors closed.
                """),
        EventRow(
            .outputWatchdogProven, "66080f174c9658e2acbd0ba3a1a6bcde", .notice,
            "An I/O module has proven its watchdog",
            """
            It dropped all its outputs by itself after silence. The result is kept.
            """,
            advice: """
                Reset the unit (lost_io) and resume it.
                """),
        EventRow(
            .outputWatchdogTest, "3a124c647e025f05a7c1dce27f7695f5", .notice,
            "An I/O module's watchdog is being tested",
            """
            A person on site asked for it. The module hears nothing for a while, and the unit trips.
            """,
            advice: """
                Stay on site until the result is there.
                """),
        EventRow(
            .nameplateBelow, "5f2d0c2be1a94f0c8a5d7c1f6b3e9d24", .warning,
            "The inverter of unit @BALLAST_UNIT@ is built for less than the site's file says",
            """
            Its nameplate says @BALLAST_VALUE@ W, max_power_kw of the unit is @BALLAST_LIMIT@ W. It is asked for
            no more than its nameplate.
            """,
            advice: """
                Correct max_power_kw, or find out why the device reports another rating: a wrong scale, a limit set
                at the device, another device at this address.
                """),
        EventRow(
            .countedAnew, "d00299ca8300418880f0b3daaeb7009a", .notice,
            "Unit @BALLAST_UNIT@: the limit of @BALLAST_INTERLOCK@ was passed anew, which is counted",
            """
            The value was @BALLAST_VALUE@, the limit is @BALLAST_LIMIT@. It did not last for the row's debounce,
            so nothing has tripped; as often as the row's count within its window it does. Restarts do not clear
            the count, a trip and its reset do.
            """,
            advice: """
                Look at the sensor, its wiring and the thing itself before it trips: what flickers is seldom well.
                """),
        EventRow(
            .exposureGrows, "efa977b40467480091bb9c0dcb8b0ae6", .notice,
            "Unit @BALLAST_UNIT@: @BALLAST_INTERLOCK@ has passed its limit for another quarter of what it may in all",
            """
            Each time was shorter than the row's debounce; the sum trips. It leaks at a twentieth of the time in
            which the limit is kept. A restart keeps it to a quarter.
            """,
            advice: """
                Look at the sensor, its wiring and the thing itself before it trips.
                """),
        EventRow(
            .shortGap, "b06bc8f5495645979bde7d9df3e2233d", .notice,
            "A device of unit @BALLAST_UNIT@ was missing for @BALLAST_VALUE@, and the unit is back",
            """
            It was at zero power meanwhile, nothing tripped, the grid was seen good throughout and the inverter
            was in the state that it had before: the unit came back on the ramp, without enter_service_s. At
            most three times an hour; the next gap costs the whole time.
            """,
            advice: """
                Nothing at once. Where it repeats: cable, connectors, a bus that is too slow for its devices
                (ballastctl status), a device that restarts.
                """),
        EventRow(
            .sensorAgrees, "a41c66ef0f7641c2b08cc66fd7f444e6", .notice,
            "Two sensors of unit @BALLAST_UNIT@ agree again (@BALLAST_CAUSE@)",
            """
            What contradicted each other for a while no longer does.
            """,
            advice: """
                Find out what it was before it comes back: a loose plug of a shunt, a BMS that started again.
                """),
        EventRow(
            .sensorContradicted, "53c8fbe8670449cca40b1061cfd1e99b", .warning,
            "Two sensors of unit @BALLAST_UNIT@ contradict each other (@BALLAST_CAUSE@)",
            """
            pack_current: the battery's current, and the inverter's power divided by the pack's voltage.
            pack_voltage: the pack, and its cells times their number as the battery was first seen.
            state_of_charge: a step that no current could have made. Nobody knows which of the two is wrong;
            limits and "no load" take the stricter one.
            """,
            advice: """
                Measure the one that is doubted with an instrument of your own. A BMS that corrects its charge at
                the end of a charge may step once.
                """),
    ]
}
