extension SunSpecTables {
    /// Models 201 … 204 and 211 … 214.
    static let meter = """
        # 201 202 203 204 AC meter
        A:i16·A_SF A | AphA:i16·A_SF A | AphB:i16·A_SF A | AphC:i16·A_SF A | A_SF:sf | PhV:i16·V_SF V
        PhVphA:i16·V_SF V | PhVphB:i16·V_SF V | PhVphC:i16·V_SF V | PPV:i16·V_SF V | PhVphAB:i16·V_SF V
        PhVphBC:i16·V_SF V | PhVphCA:i16·V_SF V | V_SF:sf | Hz:i16·Hz_SF Hz | Hz_SF:sf | W:i16·W_SF W
        WphA:i16·W_SF W | WphB:i16·W_SF W | WphC:i16·W_SF W | W_SF:sf | VA:i16·VA_SF VA | VAphA:i16·VA_SF VA
        VAphB:i16·VA_SF VA | VAphC:i16·VA_SF VA | VA_SF:sf | VAR:i16·VAR_SF var | VARphA:i16·VAR_SF var
        VARphB:i16·VAR_SF var | VARphC:i16·VAR_SF var | VAR_SF:sf | PF:i16·PF_SF Pct | PFphA:i16·PF_SF Pct
        PFphB:i16·PF_SF Pct | PFphC:i16·PF_SF Pct | PF_SF:sf | TotWhExp:a32·TotWh_SF Wh
        TotWhExpPhA:a32·TotWh_SF Wh | TotWhExpPhB:a32·TotWh_SF Wh | TotWhExpPhC:a32·TotWh_SF Wh
        TotWhImp:a32·TotWh_SF Wh | TotWhImpPhA:a32·TotWh_SF Wh | TotWhImpPhB:a32·TotWh_SF Wh
        TotWhImpPhC:a32·TotWh_SF Wh | TotWh_SF:sf | TotVAhExp:a32·TotVAh_SF VAh
        TotVAhExpPhA:a32·TotVAh_SF VAh | TotVAhExpPhB:a32·TotVAh_SF VAh | TotVAhExpPhC:a32·TotVAh_SF VAh
        TotVAhImp:a32·TotVAh_SF VAh | TotVAhImpPhA:a32·TotVAh_SF VAh | TotVAhImpPhB:a32·TotVAh_SF VAh
        TotVAhImpPhC:a32·TotVAh_SF VAh | TotVAh_SF:sf | TotVArhImpQ1:a32·TotVArh_SF varh
        TotVArhImpQ1PhA:a32·TotVArh_SF varh | TotVArhImpQ1PhB:a32·TotVArh_SF varh
        TotVArhImpQ1PhC:a32·TotVArh_SF varh | TotVArhImpQ2:a32·TotVArh_SF varh
        TotVArhImpQ2PhA:a32·TotVArh_SF varh | TotVArhImpQ2PhB:a32·TotVArh_SF varh
        TotVArhImpQ2PhC:a32·TotVArh_SF varh | TotVArhExpQ3:a32·TotVArh_SF varh
        TotVArhExpQ3PhA:a32·TotVArh_SF varh | TotVArhExpQ3PhB:a32·TotVArh_SF varh
        TotVArhExpQ3PhC:a32·TotVArh_SF varh | TotVArhExpQ4:a32·TotVArh_SF varh
        TotVArhExpQ4PhA:a32·TotVArh_SF varh | TotVArhExpQ4PhB:a32·TotVArh_SF varh
        TotVArhExpQ4PhC:a32·TotVArh_SF varh | TotVArh_SF:sf | Evt:b32
        = 2 M_EVENT_Power_Failure 3 M_EVENT_Under_Voltage 4 M_EVENT_Low_PF 5 M_EVENT_Over_Current
        = 6 M_EVENT_Over_Voltage 7 M_EVENT_Missing_Sensor
        # 211 212 213 214 AC meter, floating point
        A:f32 A | AphA:f32 A | AphB:f32 A | AphC:f32 A | PhV:f32 V | PhVphA:f32 V | PhVphB:f32 V
        PhVphC:f32 V | PPV:f32 V | PPVphAB:f32 V | PPVphBC:f32 V | PPVphCA:f32 V | Hz:f32 Hz | W:f32 W
        WphA:f32 W | WphB:f32 W | WphC:f32 W | VA:f32 VA | VAphA:f32 VA | VAphB:f32 VA | VAphC:f32 VA
        VAR:f32 var | VARphA:f32 var | VARphB:f32 var | VARphC:f32 var | PF:f32 PF | PFphA:f32 PF
        PFphB:f32 PF | PFphC:f32 PF | TotWhExp:f32 Wh | TotWhExpPhA:f32 Wh | TotWhExpPhB:f32 Wh
        TotWhExpPhC:f32 Wh | TotWhImp:f32 Wh | TotWhImpPhA:f32 Wh | TotWhImpPhB:f32 Wh | TotWhImpPhC:f32 Wh
        TotVAhExp:f32 VAh | TotVAhExpPhA:f32 VAh | TotVAhExpPhB:f32 VAh | TotVAhExpPhC:f32 VAh
        TotVAhImp:f32 VAh | TotVAhImpPhA:f32 VAh | TotVAhImpPhB:f32 VAh | TotVAhImpPhC:f32 VAh
        TotVArhImpQ1:f32 varh | TotVArhImpQ1phA:f32 varh | TotVArhImpQ1phB:f32 varh
        TotVArhImpQ1phC:f32 varh | TotVArhImpQ2:f32 varh | TotVArhImpQ2phA:f32 varh
        TotVArhImpQ2phB:f32 varh | TotVArhImpQ2phC:f32 varh | TotVArhExpQ3:f32 varh
        TotVArhExpQ3phA:f32 varh | TotVArhExpQ3phB:f32 varh | TotVArhExpQ3phC:f32 varh
        TotVArhExpQ4:f32 varh | TotVArhExpQ4phA:f32 varh | TotVArhExpQ4phB:f32 varh
        TotVArhExpQ4phC:f32 varh | Evt:b32
        = 2 M_EVENT_Power_Failure 3 M_EVENT_Under_Voltage 4 M_EVENT_Low_PF 5 M_EVENT_Over_Current
        = 6 M_EVENT_Over_Voltage 7 M_EVENT_Missing_Sensor
        """
}
