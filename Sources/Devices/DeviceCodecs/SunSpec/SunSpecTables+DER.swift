extension SunSpecTables {
    /// Models 701 … 704 and 711, 713 … 715.
    static let der = """
        # 701 DER AC measurement
        ACType:e16
        = 0 SINGLE_PHASE 1 SPLIT_PHASE 2 THREE_PHASE
        St:e16
        = 0 OFF 1 ON
        InvSt:e16
        = 0 OFF 1 SLEEPING 2 STARTING 3 RUNNING 4 THROTTLED 5 SHUTTING_DOWN 6 FAULT 7 STANDBY
        ConnSt:e16
        = 0 DISCONNECTED 1 CONNECTED
        Alrm:b32
        = 0 GROUND_FAULT 1 DC_OVER_VOLT 2 AC_DISCONNECT 3 DC_DISCONNECT 4 GRID_DISCONNECT 5 CABINET_OPEN
        = 6 MANUAL_SHUTDOWN 7 OVER_TEMP 8 OVER_FREQUENCY 9 UNDER_FREQUENCY 10 AC_OVER_VOLT
        = 11 AC_UNDER_VOLT 12 BLOWN_STRING_FUSE 13 UNDER_TEMP 14 MEMORY_LOSS 15 HW_TEST_FAILURE
        = 16 MANUFACTURER_ALRM
        DERMode:b32
        = 0 GRID_FOLLOWING 1 GRID_FORMING 2 PV_CLIPPED
        W:i16·W_SF W | VA:i16·VA_SF VA | Var:i16·Var_SF Var | PF:i16·PF_SF | A:i16·A_SF A | LLV:u16·V_SF V
        LNV:u16·V_SF V | Hz:u32·Hz_SF Hz | TotWhInj:u64·TotWh_SF Wh | TotWhAbs:u64·TotWh_SF Wh
        TotVarhInj:u64·TotVarh_SF Varh | TotVarhAbs:u64·TotVarh_SF Varh | TmpAmb:i16·Tmp_SF C
        TmpCab:i16·Tmp_SF C | TmpSnk:i16·Tmp_SF C | TmpTrns:i16·Tmp_SF C | TmpSw:i16·Tmp_SF C
        TmpOt:i16·Tmp_SF C | WL1:i16·W_SF W | VAL1:i16·VA_SF VA | VarL1:i16·Var_SF Var | PFL1:i16·PF_SF
        AL1:i16·A_SF A | VL1L2:u16·V_SF V | VL1:u16·V_SF V | TotWhInjL1:u64·TotWh_SF Wh
        TotWhAbsL1:u64·TotWh_SF Wh | TotVarhInjL1:u64·TotVarh_SF Varh | TotVarhAbsL1:u64·TotVarh_SF Varh
        WL2:i16·W_SF W | VAL2:i16·VA_SF VA | VarL2:i16·Var_SF Var | PFL2:i16·PF_SF | AL2:i16·A_SF A
        VL2L3:u16·V_SF V | VL2:u16·V_SF V | TotWhInjL2:u64·TotWh_SF Wh | TotWhAbsL2:u64·TotWh_SF Wh
        TotVarhInjL2:u64·TotVarh_SF Varh | TotVarhAbsL2:u64·TotVarh_SF Varh | WL3:i16·W_SF W
        VAL3:i16·VA_SF VA | VarL3:i16·Var_SF Var | PFL3:i16·PF_SF | AL3:i16·A_SF A | VL3L1:u16·V_SF V
        VL3:u16·V_SF V | TotWhInjL3:u64·TotWh_SF Wh | TotWhAbsL3:u64·TotWh_SF Wh
        TotVarhInjL3:u64·TotVarh_SF Varh | TotVarhAbsL3:u64·TotVarh_SF Varh | ThrotPct:u16 Pct
        ThrotSrc:b32
        = 0 MAX_W 1 FIXED_W 2 FIXED_VAR 3 FIXED_PF 4 VOLT_VAR 5 FREQ_WATT 6 DYN_REACT_CURR 7 LVRT 8 HVRT
        = 9 WATT_VAR 10 VOLT_WATT 11 SCHEDULED 12 LFRT 13 HFRT 14 DERATED
        A_SF:sf | V_SF:sf | Hz_SF:sf | W_SF:sf | PF_SF:sf | VA_SF:sf | Var_SF:sf | TotWh_SF:sf
        TotVarh_SF:sf | Tmp_SF:sf | MnAlrmInfo:s32
        # 702 DER capacity
        WMaxRtg:u16·W_SF W | WOvrExtRtg:u16·W_SF W | WOvrExtRtgPF:u16·PF_SF | WUndExtRtg:u16·W_SF W
        WUndExtRtgPF:u16·PF_SF | VAMaxRtg:u16·VA_SF VA | VarMaxInjRtg:u16·Var_SF Var
        VarMaxAbsRtg:u16·Var_SF Var | WChaRteMaxRtg:u16·W_SF W | WDisChaRteMaxRtg:u16·W_SF W
        VAChaRteMaxRtg:u16·VA_SF VA | VADisChaRteMaxRtg:u16·VA_SF VA | VNomRtg:u16·V_SF V
        VMaxRtg:u16·V_SF V | VMinRtg:u16·V_SF V | AMaxRtg:u16·A_SF A | PFOvrExtRtg:u16·PF_SF
        PFUndExtRtg:u16·PF_SF | ReactSusceptRtg:u16·S_SF S | NorOpCatRtg:e16
        = 0 CAT_A 1 CAT_B
        AbnOpCatRtg:e16
        = 0 CAT_1 1 CAT_2 2 CAT_3
        CtrlModes:b32
        = 0 MAX_W 1 FIXED_W 2 FIXED_VAR 3 FIXED_PF 4 VOLT_VAR 5 FREQ_WATT 6 DYN_REACT_CURR 7 LV_TRIP
        = 8 HV_TRIP 9 WATT_VAR 10 VOLT_WATT 11 SCHEDULED 12 LF_TRIP 13 HF_TRIP
        IntIslandCatRtg:b16
        = 0 UNCATEGORIZED 1 INT_ISL_CAPABLE 2 BLACK_START_CAPABLE 3 ISOCH_CAPABLE
        WMax:u16*·W_SF W | WMaxOvrExt:u16*·W_SF W | WOvrExtPF:u16*·PF_SF | WMaxUndExt:u16*·W_SF W
        WUndExtPF:u16*·PF_SF | VAMax:u16*·VA_SF VA | VarMaxInj:u16*·Var_SF Var | VarMaxAbs:u16*·Var_SF Var
        WChaRteMax:u16*·W_SF W | WDisChaRteMax:u16*·W_SF W | VAChaRteMax:u16*·VA_SF VA
        VADisChaRteMax:u16*·VA_SF VA | VNom:u16*·V_SF V | VMax:u16*·V_SF V | VMin:u16*·V_SF V
        AMax:u16*·A_SF A | PFOvrExt:u16*·PF_SF | PFUndExt:u16*·PF_SF | IntIslandCat:b16*
        = 0 UNCATEGORIZED 1 INT_ISL_CAPABLE 2 BLACK_START_CAPABLE 3 ISOCH_CAPABLE
        W_SF:sf | PF_SF:sf | VA_SF:sf | Var_SF:sf | V_SF:sf | A_SF:sf | S_SF:sf
        # 703 Enter service
        ES:e16*
        = 0 DISABLED 1 ENABLED
        ESVHi:u16*·V_SF Pct | ESVLo:u16*·V_SF Pct | ESHzHi:u32*·Hz_SF Hz | ESHzLo:u32*·Hz_SF Hz
        ESDlyTms:u32* Secs | ESRndTms:u32* Secs | ESRmpTms:u32* Secs | ESDlyRemTms:u32 Secs | V_SF:sf
        Hz_SF:sf
        # 704 DER AC controls
        PFWInjEna:e16*
        = 0 DISABLED 1 ENABLED
        PFWInjEnaRvrt:e16*
        = 0 DISABLED 1 ENABLED
        PFWInjRvrtTms:u32* Secs | PFWInjRvrtRem:u32 Secs | PFWAbsEna:e16*
        = 0 DISABLED 1 ENABLED
        PFWAbsEnaRvrt:e16*
        = 0 DISABLED 1 ENABLED
        PFWAbsRvrtTms:u32* Secs | PFWAbsRvrtRem:u32 Secs | WMaxLimPctEna:e16*
        = 0 DISABLED 1 ENABLED
        WMaxLimPct:u16*·WMaxLimPct_SF Pct | WMaxLimPctRvrt:u16*·WMaxLimPct_SF Pct | WMaxLimPctEnaRvrt:e16*
        = 0 DISABLED 1 ENABLED
        WMaxLimPctRvrtTms:u32* Secs | WMaxLimPctRvrtRem:u32 Secs | WSetEna:e16*
        = 0 DISABLED 1 ENABLED
        WSetMod:e16*
        = 0 W_MAX_PCT 1 WATTS
        WSet:i32*·WSet_SF W | WSetRvrt:i32*·WSet_SF W | WSetPct:i16*·WSetPct_SF Pct
        WSetPctRvrt:i16*·WSetPct_SF Pct | WSetEnaRvrt:e16*
        = 0 DISABLED 1 ENABLED
        WSetRvrtTms:u32* Secs | WSetRvrtRem:u32 Secs | VarSetEna:e16*
        = 0 DISABLED 1 ENABLED
        VarSetMod:e16*
        = 0 W_MAX_PCT 1 VAR_MAX_PCT 2 VAR_AVAIL_PCT 3 VA_MAX_PCT 4 VARS
        VarSetPri:e16*
        = 0 ACTIVE 1 REACTIVE 2 VENDOR
        VarSet:i32*·VarSet_SF Var | VarSetRvrt:i32*·VarSet_SF Var | VarSetPct:i16*·VarSetPct_SF Pct
        VarSetPctRvrt:i16*·VarSetPct_SF Pct | VarSetEnaRvrt:e16*
        = 0 DISABLED 1 ENABLED
        VarSetRvrtTms:u32* Secs | VarSetRvrtRem:u32 Secs | WRmp:u16* %Max/Sec | WRmpRef:e16*
        = 0 A_MAX 1 W_MAX
        VarRmp:u16* %Max/Sec | AntiIslEna:e16*
        = 0 DISABLED 1 ENABLED
        PF_SF:sf | WMaxLimPct_SF:sf | WSet_SF:sf | WSetPct_SF:sf | VarSet_SF:sf | VarSetPct_SF:sf
        > PFWInj 1
        PF:u16*·PF_SF | Ext:e16*
        = 0 OVER_EXCITED 1 UNDER_EXCITED
        <
        > PFWInjRvrt 1
        PF:u16*·PF_SF | Ext:e16*
        = 0 OVER_EXCITED 1 UNDER_EXCITED
        <
        > PFWAbs 1
        PF:u16*·PF_SF | Ext:e16*
        = 0 OVER_EXCITED 1 UNDER_EXCITED
        <
        > PFWAbsRvrt 1
        PF:u16*·PF_SF | Ext:e16*
        = 0 OVER_EXCITED 1 UNDER_EXCITED
        <
        # 711 Frequency droop
        Ena:e16*
        = 0 DISABLED 1 ENABLED
        AdptCtlReq:u16* | AdptCtlRslt:e16
        = 0 IN_PROGRESS 1 COMPLETED 2 FAILED
        NCtl:u16 | RvrtTms:u32* Secs | RvrtRem:u32 Secs | RvrtCtl:u16* | Db_SF:sf | K_SF:sf | RspTms_SF:sf
        > Ctl NCtl
        DbOf:u32*·Db_SF Hz | DbUf:u32*·Db_SF Hz | KOf:u16*·K_SF | KUf:u16*·K_SF | RspTms:u32*·RspTms_SF Secs
        PMin:i16* Pct | ReadOnly:e16
        = 0 RW 1 R
        <
        # 713 DER storage capacity
        WHRtg:u16·WH_SF WH | WHAvail:u16·WH_SF WH | SoC:u16·Pct_SF Pct | SoH:u16·Pct_SF Pct | Sta:e16
        = 0 OK 1 WARNING 2 ERROR
        WH_SF:sf | Pct_SF:sf
        # 714 DER DC measurement
        PrtAlrms:b32 | NPrt:u16 | DCA:i16·DCA_SF A | DCW:i16·DCW_SF W | DCWhInj:u64·DCWH_SF Wh
        DCWhAbs:u64·DCWH_SF Wh | DCA_SF:sf | DCV_SF:sf | DCW_SF:sf | DCWH_SF:sf | Tmp_SF:sf
        > Prt NPrt
        PrtTyp:e16
        = 0 PV 1 ESS 2 EV 3 INJ 4 ABS 5 BIDIR 6 DC_DC
        ID:u16 | IDStr:s8 | DCA:i16·DCA_SF A | DCV:u16·DCV_SF V | DCW:i16·DCW_SF W | DCWhInj:u64·DCWH_SF Wh
        DCWhAbs:u64·DCWH_SF Wh | Tmp:i16·Tmp_SF C | DCSta:e16
        = 0 OFF 1 ON 2 WARNING 3 ERROR
        DCAlrm:b32
        = 0 GROUND_FAULT 1 INPUT_OVER_VOLTAGE 3 DC_DISCONNECT 5 CABINET_OPEN 6 MANUAL_SHUTDOWN 7 OVER_TEMP
        = 12 BLOWN_FUSE 13 UNDER_TEMP 14 MEMORY_LOSS 15 ARC_DETECTION 19 RESERVED 20 TEST_FAILED
        = 21 INPUT_UNDER_VOLTAGE 22 INPUT_OVER_CURRENT
        <
        # 715 DER control
        LocRemCtl:e16
        = 0 REMOTE 1 LOCAL
        DERHb:u32 | ControllerHb:u32* | AlarmReset:u16* | OpCtl:e16*
        = 0 STOP 1 START 2 ENTER_STANDBY 3 EXIT_STANDBY
        """
}
