extension SunSpecTables {
    /// Models 1, 101 … 103, 111 … 113, 120 … 124 and 160.
    static let inverter = """
        # 1 Common
        Mn:s16 | Md:s16 | Opt:s8 | Vr:s8 | SN:s16 | DA:u16* | Pad:pad
        # 101 102 103 Inverter
        A:u16·A_SF A | AphA:u16·A_SF A | AphB:u16·A_SF A | AphC:u16·A_SF A | A_SF:sf | PPVphAB:u16·V_SF V
        PPVphBC:u16·V_SF V | PPVphCA:u16·V_SF V | PhVphA:u16·V_SF V | PhVphB:u16·V_SF V | PhVphC:u16·V_SF V
        V_SF:sf | W:i16·W_SF W | W_SF:sf | Hz:u16·Hz_SF Hz | Hz_SF:sf | VA:i16·VA_SF VA | VA_SF:sf
        VAr:i16·VAr_SF var | VAr_SF:sf | PF:i16·PF_SF Pct | PF_SF:sf | WH:a32·WH_SF Wh | WH_SF:sf
        DCA:u16·DCA_SF A | DCA_SF:sf | DCV:u16·DCV_SF V | DCV_SF:sf | DCW:i16·DCW_SF W | DCW_SF:sf
        TmpCab:i16·Tmp_SF C | TmpSnk:i16·Tmp_SF C | TmpTrns:i16·Tmp_SF C | TmpOt:i16·Tmp_SF C | Tmp_SF:sf
        St:e16
        = 1 OFF 2 SLEEPING 3 STARTING 4 MPPT 5 THROTTLED 6 SHUTTING_DOWN 7 FAULT 8 STANDBY
        StVnd:e16 | Evt1:b32
        = 0 GROUND_FAULT 1 DC_OVER_VOLT 2 AC_DISCONNECT 3 DC_DISCONNECT 4 GRID_DISCONNECT 5 CABINET_OPEN
        = 6 MANUAL_SHUTDOWN 7 OVER_TEMP 8 OVER_FREQUENCY 9 UNDER_FREQUENCY 10 AC_OVER_VOLT
        = 11 AC_UNDER_VOLT 12 BLOWN_STRING_FUSE 13 UNDER_TEMP 14 MEMORY_LOSS 15 HW_TEST_FAILURE
        Evt2:b32 | EvtVnd1:b32 | EvtVnd2:b32 | EvtVnd3:b32 | EvtVnd4:b32
        # 111 112 113 Inverter, floating point
        A:f32 A | AphA:f32 A | AphB:f32 A | AphC:f32 A | PPVphAB:f32 V | PPVphBC:f32 V | PPVphCA:f32 V
        PhVphA:f32 V | PhVphB:f32 V | PhVphC:f32 V | W:f32 W | Hz:f32 Hz | VA:f32 VA | VAr:f32 var
        PF:f32 Pct | WH:f32 Wh | DCA:f32 A | DCV:f32 V | DCW:f32 W | TmpCab:f32 C | TmpSnk:f32 C
        TmpTrns:f32 C | TmpOt:f32 C | St:e16
        = 1 OFF 2 SLEEPING 3 STARTING 4 MPPT 5 THROTTLED 6 SHUTTING_DOWN 7 FAULT 8 STANDBY
        StVnd:e16 | Evt1:b32
        = 0 GROUND_FAULT 1 DC_OVER_VOLT 2 AC_DISCONNECT 3 DC_DISCONNECT 4 GRID_DISCONNECT 5 CABINET_OPEN
        = 6 MANUAL_SHUTDOWN 7 OVER_TEMP 8 OVER_FREQUENCY 9 UNDER_FREQUENCY 10 AC_OVER_VOLT
        = 11 AC_UNDER_VOLT 12 BLOWN_STRING_FUSE 13 UNDER_TEMP 14 MEMORY_LOSS 15 HW_TEST_FAILURE
        Evt2:b32 | EvtVnd1:b32 | EvtVnd2:b32 | EvtVnd3:b32 | EvtVnd4:b32
        # 120 Nameplate ratings
        DERTyp:e16
        = 4 PV 82 PV_STOR
        WRtg:u16·WRtg_SF W | WRtg_SF:sf | VARtg:u16·VARtg_SF VA | VARtg_SF:sf | VArRtgQ1:i16·VArRtg_SF var
        VArRtgQ2:i16·VArRtg_SF var | VArRtgQ3:i16·VArRtg_SF var | VArRtgQ4:i16·VArRtg_SF var | VArRtg_SF:sf
        ARtg:u16·ARtg_SF A | ARtg_SF:sf | PFRtgQ1:i16·PFRtg_SF cos() | PFRtgQ2:i16·PFRtg_SF cos()
        PFRtgQ3:i16·PFRtg_SF cos() | PFRtgQ4:i16·PFRtg_SF cos() | PFRtg_SF:sf | WHRtg:u16·WHRtg_SF Wh
        WHRtg_SF:sf | AhrRtg:u16·AhrRtg_SF AH | AhrRtg_SF:sf | MaxChaRte:u16·MaxChaRte_SF W
        MaxChaRte_SF:sf | MaxDisChaRte:u16·MaxDisChaRte_SF W | MaxDisChaRte_SF:sf | Pad:pad
        # 121 Basic settings
        WMax:u16*·WMax_SF W | VRef:u16*·VRef_SF V | VRefOfs:i16*·VRefOfs_SF V | VMax:u16*·VMinMax_SF V
        VMin:u16*·VMinMax_SF V | VAMax:u16*·VAMax_SF VA | VArMaxQ1:i16*·VArMax_SF var
        VArMaxQ2:i16*·VArMax_SF var | VArMaxQ3:i16*·VArMax_SF var | VArMaxQ4:i16*·VArMax_SF var
        WGra:u16*·WGra_SF %_WMax/sec | PFMinQ1:i16*·PFMin_SF cos() | PFMinQ2:i16*·PFMin_SF cos()
        PFMinQ3:i16*·PFMin_SF cos() | PFMinQ4:i16*·PFMin_SF cos() | VArAct:e16* | ClcTotVA:e16*
        MaxRmpRte:u16*·MaxRmpRte_SF %_WGra | ECPNomHz:u16*·ECPNomHz_SF Hz | ConnPh:e16* | WMax_SF:sf
        VRef_SF:sf | VRefOfs_SF:sf | VMinMax_SF:sf | VAMax_SF:sf | VArMax_SF:sf | WGra_SF:sf | PFMin_SF:sf
        MaxRmpRte_SF:sf | ECPNomHz_SF:sf
        # 122 Status
        PVConn:b16
        = 0 CONNECTED 1 AVAILABLE 2 OPERATING 3 TEST
        StorConn:b16
        = 0 CONNECTED 1 AVAILABLE 2 OPERATING 3 TEST
        ECPConn:b16
        = 0 CONNECTED
        ActWh:a64 Wh | ActVAh:a64 VAh | ActVArhQ1:a64 varh | ActVArhQ2:a64 varh | ActVArhQ3:a64 varh
        ActVArhQ4:a64 varh | VArAval:i16·VArAval_SF var | VArAval_SF:sf | WAval:u16·WAval_SF W | WAval_SF:sf
        StSetLimMsk:b32 | StActCtl:b32 | TmSrc:s4 | Tms:u32 Secs | RtSt:b16
        = 0 LVRT_ACTIVE 1 HVRT_ACTIVE 2 LFRT_ACTIVE 3 HFRT_ACTIVE
        Ris:u16·Ris_SF ohms | Ris_SF:sf
        # 123 Immediate controls
        Conn_WinTms:u16* Secs | Conn_RvrtTms:u16* Secs | Conn:e16*
        = 0 DISCONNECT 1 CONNECT
        WMaxLimPct:u16*·WMaxLimPct_SF %_WMax | WMaxLimPct_WinTms:u16* Secs | WMaxLimPct_RvrtTms:u16* Secs
        WMaxLimPct_RmpTms:u16* Secs | WMaxLim_Ena:e16*
        = 0 DISABLED 1 ENABLED
        OutPFSet:i16*·OutPFSet_SF cos() | OutPFSet_WinTms:u16* Secs | OutPFSet_RvrtTms:u16* Secs
        OutPFSet_RmpTms:u16* Secs | OutPFSet_Ena:e16*
        = 0 DISABLED 1 ENABLED
        VArWMaxPct:i16*·VArPct_SF %_WMax | VArMaxPct:i16*·VArPct_SF %_VArMax
        VArAvalPct:i16*·VArPct_SF %_VArAval | VArPct_WinTms:u16* Secs | VArPct_RvrtTms:u16* Secs
        VArPct_RmpTms:u16* Secs | VArPct_Mod:e16*
        = 0 NONE 1 WMax 2 VArMax 3 VArAval
        VArPct_Ena:e16*
        = 0 DISABLED 1 ENABLED
        WMaxLimPct_SF:sf | OutPFSet_SF:sf | VArPct_SF:sf
        # 124 Storage controls
        WChaMax:u16*·WChaMax_SF W | WChaGra:u16*·WChaDisChaGra_SF %_WChaMax/sec
        WDisChaGra:u16*·WChaDisChaGra_SF %_WChaMax/sec | StorCtl_Mod:b16*
        = 0 CHARGE 1 DiSCHARGE
        VAChaMax:u16*·VAChaMax_SF VA | MinRsvPct:u16*·MinRsvPct_SF %_WChaMax
        ChaState:u16·ChaState_SF %_AhrRtg | StorAval:u16·StorAval_SF AH | InBatV:u16·InBatV_SF V | ChaSt:e16
        = 1 OFF 2 EMPTY 3 DISCHARGING 4 CHARGING 5 FULL 6 HOLDING 7 TESTING
        OutWRte:i16*·InOutWRte_SF %_WDisChaMax | InWRte:i16*·InOutWRte_SF %_WChaMax
        InOutWRte_WinTms:u16* Secs | InOutWRte_RvrtTms:u16* Secs | InOutWRte_RmpTms:u16* Secs
        ChaGriSet:e16*
        = 0 PV 1 GRID
        WChaMax_SF:sf | WChaDisChaGra_SF:sf | VAChaMax_SF:sf | MinRsvPct_SF:sf | ChaState_SF:sf
        StorAval_SF:sf | InBatV_SF:sf | InOutWRte_SF:sf
        # 160 Multiple MPPT inverter extension
        DCA_SF:sf | DCV_SF:sf | DCW_SF:sf | DCWH_SF:sf | Evt:b32
        = 0 GROUND_FAULT 1 INPUT_OVER_VOLTAGE 3 DC_DISCONNECT 5 CABINET_OPEN 6 MANUAL_SHUTDOWN 7 OVER_TEMP
        = 12 BLOWN_FUSE 13 UNDER_TEMP 14 MEMORY_LOSS 15 ARC_DETECTION 20 TEST_FAILED
        = 21 INPUT_UNDER_VOLTAGE 22 INPUT_OVER_CURRENT
        N:count | TmsPer:u16
        > module N
        ID:u16 | IDStr:s8 | DCA:u16·DCA_SF A | DCV:u16·DCV_SF V | DCW:u16·DCW_SF W | DCWH:a32·DCWH_SF Wh
        Tms:u32 Secs | Tmp:i16 C | DCSt:e16
        = 1 OFF 2 SLEEPING 3 STARTING 4 MPPT 5 THROTTLED 6 SHUTTING_DOWN 7 FAULT 8 STANDBY
        DCEvt:b32
        = 0 GROUND_FAULT 1 INPUT_OVER_VOLTAGE 3 DC_DISCONNECT 5 CABINET_OPEN 6 MANUAL_SHUTDOWN 7 OVER_TEMP
        = 12 BLOWN_FUSE 13 UNDER_TEMP 14 MEMORY_LOSS 15 ARC_DETECTION 20 TEST_FAILED
        = 21 INPUT_UNDER_VOLTAGE 22 INPUT_OVER_CURRENT
        <
        """
}
