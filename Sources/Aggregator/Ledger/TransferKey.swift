/// The names of the transfers that the books post themselves: what it is, then whose, each name apart from
/// the next.
///
/// Databases of before have keys with `-` between names that may have a `-` too. None of these is one of
/// those: they had no `/` behind their first word.
public enum TransferKey: String, Sendable {
    case opening, metered, escrow, certificates, certificate, transfer, payout, hold, batch, pay
    case escrowBack = "escrow-back"
    case escrowPaid = "escrow-paid"
    case certificateLate = "certificate-late"

    /// No two lists of names give one key: within a name `/` is written `%2F`, and `%` is written `%25`.
    public func of(_ names: String...) -> String {
        ([rawValue] + names.map { $0.replacing("%", with: "%25").replacing("/", with: "%2F") })
            .joined(separator: "/")
    }
}
