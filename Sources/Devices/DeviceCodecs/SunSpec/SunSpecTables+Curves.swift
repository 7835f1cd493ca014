extension SunSpecTables {
    /// Models 705 … 710 and 712.
    static let curves = """
        # 705 Volt-var
        Ena:e16*
        = 0 DISABLED 1 ENABLED
        AdptCrvReq:u16* | AdptCrvRslt:e16
        = 0 IN_PROGRESS 1 COMPLETED 2 FAILED
        NPt:u16 | NCrv:u16 | RvrtTms:u32* Secs | RvrtRem:u32 Secs | RvrtCrv:u16* | V_SF:sf | DeptRef_SF:sf
        RspTms_SF:sf
        > Crv NCrv
        ActPt:u16* | DeptRef:e16* | Pri:e16* | VRef:u16*·V_SF VNomPct | VRefAuto:u16·V_SF VNomPct
        VRefAutoEna:e16* | VRefAutoTms:u16* Secs | RspTms:u32*·RspTms_SF Secs | ReadOnly:e16
        = 0 RW 1 R
        > Pt NPt
        V:u16*·V_SF VNomPct | Var:i16*·DeptRef_SF DeptRef
        <
        <
        # 706 Volt-watt
        Ena:e16*
        = 0 DISABLED 1 ENABLED
        AdptCrvReq:u16* | AdptCrvRslt:e16
        = 0 IN_PROGRESS 1 COMPLETED 2 FAILED
        NPt:u16 | NCrv:u16 | RvrtTms:u32* Secs | RvrtRem:u32 Secs | RvrtCrv:u16* | V_SF:sf | DeptRef_SF:sf
        RspTms_SF:sf
        > Crv NCrv
        ActPt:u16* | DeptRef:e16* | RspTms:u32*·RspTms_SF Secs | ReadOnly:e16
        = 0 RW 1 R
        > Pt NPt
        V:u16*·V_SF VNomPct | W:i16*·DeptRef_SF DeptRef
        <
        <
        # 707 708 Trip on low or high voltage
        Ena:e16*
        = 0 DISABLED 1 ENABLED
        AdptCrvReq:u16* | AdptCrvRslt:e16
        = 0 IN_PROGRESS 1 COMPLETED 2 FAILED
        NPt:u16 | NCrvSet:u16 | V_SF:sf | Tms_SF:sf
        > Crv NCrvSet
        ReadOnly:e16
        = 0 RW 1 R
        > MustTrip 1
        ActPt:u16*
        > Pt NPt
        V:u16*·V_SF VNomPct | Tms:u32*·Tms_SF Secs
        <
        <
        > MayTrip 1
        ActPt:u16*
        > Pt NPt
        V:u16*·V_SF VNomPct | Tms:u32*·Tms_SF Secs
        <
        <
        > MomCess 1
        ActPt:u16*
        > Pt NPt
        V:u16*·V_SF VNomPct | Tms:u32*·Tms_SF Secs
        <
        <
        <
        # 709 710 Trip on low or high frequency
        Ena:e16*
        = 0 DISABLED 1 ENABLED
        AdptCrvReq:u16* | AdptCrvRslt:e16
        = 0 IN_PROGRESS 1 COMPLETED 2 FAILED
        NPt:u16 | NCrvSet:u16 | Hz_SF:sf | Tms_SF:sf
        > Crv NCrvSet
        ReadOnly:e16
        = 0 RW 1 R
        > MustTrip 1
        ActPt:u16*
        > Pt NPt
        Hz:u32*·Hz_SF Hz | Tms:u32*·Tms_SF Secs
        <
        <
        > MayTrip 1
        ActPt:u16*
        > Pt NPt
        Hz:u32*·Hz_SF Hz | Tms:u32*·Tms_SF Secs
        <
        <
        > MomCess 1
        ActPt:u16*
        > Pt NPt
        Hz:u32*·Hz_SF Hz | Tms:u32*·Tms_SF Secs
        <
        <
        <
        # 712 Watt-var
        Ena:e16*
        = 0 DISABLED 1 ENABLED
        AdptCrvReq:u16* | AdptCrvRslt:e16
        = 0 IN_PROGRESS 1 COMPLETED 2 FAILED
        NPt:u16 | NCrv:u16 | RvrtTms:u32* Secs | RvrtRem:u32 Secs | RvrtCrv:u16* | W_SF:sf | DeptRef_SF:sf
        > Crv NCrv
        ActPt:u16* | DeptRef:e16* | Pri:e16* | ReadOnly:e16
        = 0 RW 1 R
        > Pt NPt
        W:i16*·W_SF WMaxPct | Var:i16*·DeptRef_SF VarPct
        <
        <
        """
}
