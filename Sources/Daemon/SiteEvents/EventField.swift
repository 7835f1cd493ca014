/// What an event carries beside its sentence: the journal's field, and the key of the record that goes up.
public enum EventField: String, Sendable, CaseIterable {
    case site = "BALLAST_SITE"
    case unit = "BALLAST_UNIT"
    case interlock = "BALLAST_INTERLOCK"
    case cause = "BALLAST_CAUSE"
    case source = "BALLAST_SOURCE"
    case value = "BALLAST_VALUE"
    case limit = "BALLAST_LIMIT"
    case from = "BALLAST_STATE_FROM"
    case to = "BALLAST_STATE_TO"
    case cycle = "BALLAST_CYCLE"
    case link = "BALLAST_LINK"
    case userID = "BALLAST_USER_ID"
    case role = "BALLAST_ROLE"
    case reason = "BALLAST_REASON"
    case asked = "BALLAST_ASKED"
    case via = "BALLAST_VIA"
    case saved = "BALLAST_SAVED"
    case digest = "BALLAST_DIGEST"

    /// In the record that goes up; `nil` where the record has it in its heading.
    public var key: String? {
        switch self {
        case .site: nil
        case .unit: "unit"
        case .interlock, .cause, .source: "cause"
        case .value: "value"
        case .limit: "limit"
        case .from: "from"
        case .to: "to"
        case .cycle: "cycle"
        case .link: "link"
        case .userID: "by"
        case .role: "role"
        case .reason: "reason"
        case .asked: "asked"
        case .via: "via"
        case .saved: "saved"
        case .digest: "digest"
        }
    }

    /// Of systemd/README.md, where a test holds the table of fields to it.
    public var meaning: String {
        switch self {
        case .site: "the site's name"
        case .unit: "the unit it concerns"
        case .interlock: "the row of the interlock table"
        case .cause: "why, where no interlock is the reason"
        case .source: "whose power it is, or where a frequency comes from"
        case .value: "the number that was seen, in the unit of the row"
        case .limit: "the limit that it passed"
        case .from: "the mode before"
        case .to: "the mode after"
        case .cycle: "the control cycle, counted from the start"
        case .link: "the bus or the device's link"
        case .userID: "the person who asked, or `unknown`"
        case .role: "what that person may do: `viewer`, `operator`, `service` or `none`"
        case .reason: "in the words of the person who asked"
        case .asked: "what was asked for"
        case .via: "from where: `control_socket`, `signed_lease`, `ballastctl`, a Modbus client's address"
        case .saved: "`no`: a trip that was not on disk 100 ms after it came"
        case .digest: "SHA-256 of the lines in which `--check` names the site's files and theirs"
        }
    }
}
