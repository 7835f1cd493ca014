import Control
import Interlocks
import Plant

extension Names {
    /// The same of a device that is heard, and does not give all that it must.
    ///
    /// - Parameter strays: what its wire brought while it said nothing.
    static func check(_ id: InterlockID, _ missing: MissingReading?, strays: String? = nil) -> String {
        if let strays {
            return "\(strays): its protocol and profile, its bit rate, who else speaks on that wire"
        }
        guard let missing, !missing.isSilent else { return check(id) }
        return
            "the wire is well and \(missing.name.name) is missing: does the \(missing.device.name) send it,"
            + " and does its profile or register map read it?"
    }

    /// What a person looks at before resetting a trip.
    static func check(_ id: InterlockID) -> String {
        switch id {
        case .cellOvervoltage:
            "compare the highest cell with its neighbours; let it settle below the warn limit"
        case .cellUndervoltage: "measure the lowest cell; do not charge a cell that was held below its limit"
        case .cellOvertemperatureCharge, .cellOvertemperatureDischarge:
            "look for smoke and gas first; then cooling, air filters, the hottest cell's connections"
        case .cellUndertemperatureCharge, .cellUndertemperatureDischarge:
            "heating and the door; charging frozen cells harms them for good"
        case .overcurrentCharge, .overcurrentDischarge, .overcurrentFastCharge, .overcurrentFastDischarge:
            "compare the BMS's current limit with the inverter's measured current; check the setpoint path"
        case .batteryAlarm, .batteryWarning: "read the alarm at the BMS itself and clear it there"
        case .lostBattery: "CAN wiring, termination and supply of the BMS: 'ballastctl status' shows the link"
        case .lostInverter: "network, address and supply of the inverter: 'ballastctl status' shows the link"
        case .inverterFault, .inverterEvent: "read the event code at the inverter and clear it there"
        case .latchRecord: "nothing is known about this unit's past trips: inspect it as after a trip"
        case .notFollowing:
            "the inverter does not do what it is told: its local/remote switch, limits, meter sign"
        case .cellSpread: "a weak cell, a loose sense wire, or a balancer that does not work"
        case .temperatureRise, .temperatureRiseFast:
            "keep away and watch: a cell heats up faster than load explains"
        case .thermalRunaway: "evacuate and call the fire brigade; nobody opens the enclosure"
        case .insulation: "disconnect and find the earth fault; moisture, damaged cable"
        case .packOvervoltage, .packUndervoltage: "compare the pack's voltage with the sum of its cells"
        case .contactorVoltage:
            "fuse, disconnector and contacts: something between pack and inverter does not carry"
        case .dcVoltage: "DC link against pack voltage; fuse and disconnector"
        case .acOvervoltage, .acUndervoltage:
            "voltage at the point of connection; transformer tap; grid operator"
        case .stateOfChargeHigh, .stateOfChargeLow: "compare with the cells' voltages; recalibrate the BMS"
        case .contactorFeedback:
            "the event before the trip says how: a contact may be welded, measure before anyone touches it"
        case .emergencyStop: "find who pressed it and why; release the button"
        case .internalFault:
            "the program has decided what it must never decide, and was stopped at zero: keep the journal and the"
                + " performance record, tell its makers, and do not rely on it until they have answered"
        case .siteStop: "another unit has stopped the site: see its trips first"
        case .lostInputs: "network, address and supply of the I/O module: 'ballastctl status' shows the link"
        case .smoke, .gas: "evacuate and call the fire brigade; ventilate before anyone enters"
        case .door: "close the enclosure; find who opened it"
        case .breaker: "why did the breaker open? close it only then; else look at its contact's wire"
        }
    }

    /// `closed`, `fault_welded`; `nil` where the battery drives its contactors.
    static func contactors(_ decision: UnitDecision) -> String? {
        decision.contactorFault.map { "fault_\($0.name)" } ?? decision.contactors.map { "\($0.name)" }
    }

    /// What has failed, in words.
    static func text(_ fault: ContactorSequence.Fault) -> String {
        switch fault {
        case .prechargeVoltage: "the DC side did not charge in time"
        case .prechargeCurrent: "precharging drew too much current, or nobody knows how much"
        case .feedback: "an auxiliary contact does not say what was commanded"
        case .formerRun: "a fault from before the start stands"
        case .notDischarged:
            "the DC side was not seen without voltage before closing: a contact may be welded, or the inverter feeds it"
        case .welded: "the DC side kept its voltage after opening: a contact may be welded"
        }
    }
}
