import ConfigText
import SiteConfig
import YAMLText

extension InterlockRules {
    /// The table that is law for a chemistry, and holds where a site has none of its own.
    public static func shipped(for chemistry: Chemistry) -> InterlockRules {
        switch chemistry {
        case .lfp: lfp
        case .nmc: nmc
        }
    }

    /// The same as a document: the files of `config/interlocks` as they were when this program was built, so
    /// that what protects a site does not depend on finding one.
    public static func document(for chemistry: Chemistry) -> String {
        let cells =
            switch chemistry {
            case .lfp: PackageResources.lfp_yaml
            case .nmc: PackageResources.nmc_yaml
            }
        return String(decoding: cells + PackageResources.devices_yaml, as: UTF8.self)
    }

    private static let lfp = compiledIn(.lfp)
    private static let nmc = compiledIn(.nmc)

    private static func compiledIn(_ chemistry: Chemistry) -> InterlockRules {
        let file = "the shipped table \(chemistry.rawValue)"
        do {
            return try read(YAMLText.parse(Array(document(for: chemistry).utf8), file: file), file: file)
        } catch {
            preconditionFailure("no program may run without it: \(error)")
        }
    }
}
