extension SunSpecTables {
    /// Models 802 … 805.
    static let battery = """
        # 802 Battery base
        AHRtg:u16·AHRtg_SF Ah | WHRtg:u16·WHRtg_SF Wh | WChaRteMax:u16·WChaDisChaMax_SF W
        WDisChaRteMax:u16·WChaDisChaMax_SF W | DisChaRte:u16·DisChaRte_SF %WHRtg | SoCMax:u16·SoC_SF %WHRtg
        SoCMin:u16·SoC_SF %WHRtg | SocRsvMax:u16*·SoC_SF %WHRtg | SoCRsvMin:u16*·SoC_SF %WHRtg
        SoC:u16·SoC_SF %WHRtg | DoD:u16·DoD_SF % | SoH:u16·SoH_SF % | NCyc:u32 | ChaSt:e16
        = 1 OFF 2 EMPTY 3 DISCHARGING 4 CHARGING 5 FULL 6 HOLDING 7 TESTING
        LocRemCtl:e16
        = 0 REMOTE 1 LOCAL
        Hb:u16 | CtrlHb:u16* | AlmRst:u16* | Typ:e16
        = 0 NOT_APPLICABLE_UNKNOWN 1 LEAD_ACID 2 NICKEL_METAL_HYDRATE 3 NICKEL_CADMIUM 4 LITHIUM_ION
        = 5 CARBON_ZINC 6 ZINC_CHLORIDE 7 ALKALINE 8 RECHARGEABLE_ALKALINE 9 SODIUM_SULFUR 10 FLOW
        = 99 OTHER
        State:e16
        = 1 DISCONNECTED 2 INITIALIZING 3 CONNECTED 4 STANDBY 5 SOC_PROTECTION 6 SUSPENDING 99 FAULT
        StateVnd:e16 | WarrDt:u32 | Evt1:b32
        = 0 COMMUNICATION_ERROR 1 OVER_TEMP_ALARM 2 OVER_TEMP_WARNING 3 UNDER_TEMP_ALARM
        = 4 UNDER_TEMP_WARNING 5 OVER_CHARGE_CURRENT_ALARM 6 OVER_CHARGE_CURRENT_WARNING
        = 7 OVER_DISCHARGE_CURRENT_ALARM 8 OVER_DISCHARGE_CURRENT_WARNING 9 OVER_VOLT_ALARM
        = 10 OVER_VOLT_WARNING 11 UNDER_VOLT_ALARM 12 UNDER_VOLT_WARNING 13 UNDER_SOC_MIN_ALARM
        = 14 UNDER_SOC_MIN_WARNING 15 OVER_SOC_MAX_ALARM 16 OVER_SOC_MAX_WARNING
        = 17 VOLTAGE_IMBALANCE_WARNING 18 TEMPERATURE_IMBALANCE_ALARM 19 TEMPERATURE_IMBALANCE_WARNING
        = 20 CONTACTOR_ERROR 21 FAN_ERROR 22 GROUND_FAULT 23 OPEN_DOOR_ERROR 24 CURRENT_IMBALANCE_WARNING
        = 25 OTHER_ALARM 26 OTHER_WARNING 27 RESERVED_1 28 CONFIGURATION_ALARM 29 CONFIGURATION_WARNING
        Evt2:b32 | EvtVnd1:b32 | EvtVnd2:b32 | V:u16·V_SF V | VMax:u16·V_SF V | VMin:u16·V_SF V
        CellVMax:u16·CellV_SF V | CellVMaxStr:u16 | CellVMaxMod:u16 | CellVMin:u16·CellV_SF V
        CellVMinStr:u16 | CellVMinMod:u16 | CellVAvg:u16·CellV_SF V | A:i16·A_SF A | AChaMax:u16·AMax_SF A
        ADisChaMax:u16·AMax_SF A | W:i16·W_SF W | ReqInvState:e16
        = 0 NO_REQUEST 1 START 2 STOP
        ReqW:i16·W_SF W | SetOp:e16*
        = 1 CONNECT 2 DISCONNECT
        SetInvState:e16*
        = 1 INVERTER_STOPPED 2 INVERTER_STANDBY 3 INVERTER_STARTED
        AHRtg_SF:sf | WHRtg_SF:sf | WChaDisChaMax_SF:sf | DisChaRte_SF:sf | SoC_SF:sf | DoD_SF:sf
        SoH_SF:sf | V_SF:sf | CellV_SF:sf | A_SF:sf | AMax_SF:sf | W_SF:sf
        # 803 Lithium-ion bank
        NStr:u16 | NStrCon:u16 | ModTmpMax:i16·ModTmp_SF C | ModTmpMaxStr:u16 | ModTmpMaxMod:u16
        ModTmpMin:i16·ModTmp_SF C | ModTmpMinStr:u16 | ModTmpMinMod:u16 | ModTmpAvg:i16·ModTmp_SF C
        StrVMax:u16·V_SF V | StrVMaxStr:u16 | StrVMin:u16·V_SF V | StrVMinStr:u16 | StrVAvg:u16·V_SF V
        StrAMax:i16·A_SF A | StrAMaxStr:u16 | StrAMin:i16·A_SF A | StrAMinStr:u16 | StrAAvg:i16·A_SF A
        NCellBal:u16 | CellV_SF:sf | ModTmp_SF:sf | A_SF:sf | SoH_SF:sf | SoC_SF:sf | V_SF:sf
        > string NStr
        StrNMod:u16 | StrSt:b32 | StrConFail:e16 | StrSoC:u16·SoC_SF % | StrSoH:u16·SoH_SF %
        StrA:i16·A_SF A | StrCellVMax:u16·CellV_SF V | StrCellVMaxMod:u16 | StrCellVMin:u16·CellV_SF V
        StrCellVMinMod:u16 | StrCellVAvg:u16·CellV_SF V | StrModTmpMax:i16·ModTmp_SF C | StrModTmpMaxMod:u16
        StrModTmpMin:i16·ModTmp_SF C | StrModTmpMinMod:u16 | StrModTmpAvg:i16·ModTmp_SF C | StrDisRsn:e16
        StrConSt:b32 | StrEvt1:b32
        = 0 COMMUNICATION_ERROR 1 OVER_TEMP_ALARM 2 OVER_TEMP_WARNING 3 UNDER_TEMP_ALARM
        = 4 UNDER_TEMP_WARNING 5 OVER_CHARGE_CURRENT_ALARM 6 OVER_CHARGE_CURRENT_WARNING
        = 7 OVER_DISCHARGE_CURRENT_ALARM 8 OVER_DISCHARGE_CURRENT_WARNING 9 OVER_VOLT_ALARM
        = 10 OVER_VOLT_WARNING 11 UNDER_VOLT_ALARM 12 UNDER_VOLT_WARNING 13 UNDER_SOC_MIN_ALARM
        = 14 UNDER_SOC_MIN_WARNING 15 OVER_SOC_MAX_ALARM 16 OVER_SOC_MAX_WARNING
        = 17 VOLTAGE_IMBALANCE_WARNING 18 TEMPERATURE_IMBALANCE_ALARM 19 TEMPERATURE_IMBALANCE_WARNING
        = 20 CONTACTOR_ERROR 21 FAN_ERROR 22 GROUND_FAULT 23 OPEN_DOOR_ERROR 24 CURRENT_IMBALANCE_WARNING
        = 25 OTHER_ALARM 26 OTHER_WARNING 27 RESERVED_1 28 CONFIGURATION_ALARM 29 CONFIGURATION_WARNING
        StrEvt2:b32 | StrEvtVnd1:b32 | StrEvtVnd2:b32 | StrSetEna:e16* | StrSetCon:e16* | Pad1:pad
        Pad2:pad
        <
        # 804 Lithium-ion string
        Idx:u16 | NMod:u16 | St:b32 | ConFail:e16 | NCellBal:u16 | SoC:u16·SoC_SF % | DoD:u16·DoD_SF %
        NCyc:u32 | SoH:u16·SoH_SF % | A:i16·A_SF A | V:u16·V_SF V | CellVMax:u16·CellV_SF V
        CellVMaxMod:u16 | CellVMin:u16·CellV_SF V | CellVMinMod:u16 | CellVAvg:u16·CellV_SF V
        ModTmpMax:i16·ModTmp_SF C | ModTmpMaxMod:u16 | ModTmpMin:i16·ModTmp_SF C | ModTmpMinMod:u16
        ModTmpAvg:i16·ModTmp_SF C | Pad1:pad | ConSt:b32 | Evt1:b32
        = 0 COMMUNICATION_ERROR 1 OVER_TEMP_ALARM 2 OVER_TEMP_WARNING 3 UNDER_TEMP_ALARM
        = 4 UNDER_TEMP_WARNING 5 OVER_CHARGE_CURRENT_ALARM 6 OVER_CHARGE_CURRENT_WARNING
        = 7 OVER_DISCHARGE_CURRENT_ALARM 8 OVER_DISCHARGE_CURRENT_WARNING 9 OVER_VOLT_ALARM
        = 10 OVER_VOLT_WARNING 11 UNDER_VOLT_ALARM 12 UNDER_VOLT_WARNING 13 UNDER_SOC_MIN_ALARM
        = 14 UNDER_SOC_MIN_WARNING 15 OVER_SOC_MAX_ALARM 16 OVER_SOC_MAX_WARNING
        = 17 VOLTAGE_IMBALANCE_WARNING 18 TEMPERATURE_IMBALANCE_ALARM 19 TEMPERATURE_IMBALANCE_WARNING
        = 20 CONTACTOR_ERROR 21 FAN_ERROR 22 GROUND_FAULT 23 OPEN_DOOR_ERROR 24 CURRENT_IMBALANCE_WARNING
        = 25 OTHER_ALARM 26 OTHER_WARNING 27 RESERVED_1 28 CONFIGURATION_ALARM 29 CONFIGURATION_WARNING
        Evt2:b32 | EvtVnd1:b32 | EvtVnd2:b32 | SetEna:e16* | SetCon:e16* | SoC_SF:sf | SoH_SF:sf | DoD_SF:sf
        A_SF:sf | V_SF:sf | CellV_SF:sf | ModTmp_SF:sf | Pad2:pad | Pad3:pad | Pad4:pad
        > lithium_ion_string_module NMod
        ModNCell:u16 | ModSoC:u16·SoC_SF % | ModSoH:u16·SoH_SF % | ModCellVMax:u16·CellV_SF V
        ModCellVMaxCell:u16 | ModCellVMin:u16·CellV_SF V | ModCellVMinCell:u16 | ModCellVAvg:u16·CellV_SF V
        ModCellTmpMax:i16·ModTmp_SF C | ModCellTmpMaxCell:u16 | ModCellTmpMin:i16·ModTmp_SF C
        ModCellTmpMinCell:u16 | ModCellTmpAvg:i16·ModTmp_SF C | Pad5:pad | Pad6:pad | Pad7:pad
        <
        # 805 Lithium-ion module
        StrIdx:u16 | ModIdx:u16 | NCell:u16 | SoC:u16·SoC_SF % | DoD:u16·DoD_SF % | SoH:u16·SoH_SF %
        NCyc:u32 | V:u16·V_SF V | CellVMax:u16·CellV_SF V | CellVMaxCell:u16 | CellVMin:u16·CellV_SF V
        CellVMinCell:u16 | CellVAvg:u16·CellV_SF V | CellTmpMax:i16·Tmp_SF C | CellTmpMaxCell:u16
        CellTmpMin:i16·Tmp_SF C | CellTmpMinCell:u16 | CellTmpAvg:i16·Tmp_SF C | NCellBal:u16 | SN:s16
        SoC_SF:sf | SoH_SF:sf | DoD_SF:sf | V_SF:sf | CellV_SF:sf | Tmp_SF:sf
        > lithium-ion-module-cell NCell
        CellV:u16·CellV_SF V | CellTmp:i16·Tmp_SF C | CellSt:b32
        <
        """
}
