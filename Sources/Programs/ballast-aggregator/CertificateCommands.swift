import ArgumentParser
import BallastAggregator

struct CertificateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "An authority of one's own, and certificates for the aggregator and its sites.",
        subcommands: [
            CertificateAuthorityCommand.self, CertificateServerCommand.self, CertificateDeviceCommand.self,
            CertificateRenewCommand.self, CertificateShowCommand.self,
        ])

    static func checkDays(_ days: Int, most: Int) throws {
        guard (1...most).contains(days) else { throw ValidationError("--days takes 1 … \(most)") }
    }
}

struct CertificateAuthorityCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authority", abstract: "Makes an authority: ca.key and ca.pem.")
    @Option(help: "The folder that takes both; they must not be there yet.") var out: String
    @Option(help: "What it is called in the certificates.") var name: String = "Ballast"
    @Option(help: "How many days it lasts.") var days: Int = 3_650

    func run() throws {
        try CertificateCommand.checkDays(days, most: 36_500)
        try showing { try CertificateUpkeep.authority(in: out, name: name, days: days) }
    }
}

struct CertificateServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server", abstract: "Makes key and certificate of an aggregator.")
    @Option(help: "The authority's folder.") var authority: String
    @Option(help: "A host name, or an address of IPv4, under which it is asked; several are possible.")
    var name: [String]
    @Option(help: "How many days it lasts, the authority's end at most.") var days: Int = 397
    @Option(help: "The folder that takes NAME.key and NAME.pem.") var out: String

    func run() throws {
        try CertificateCommand.checkDays(days, most: 3_650)
        try showing {
            try CertificateUpkeep.server(authority: authority, names: name, days: days, to: out)
        }
    }
}

struct CertificateDeviceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: "Makes key and certificate of a site; with --request, a certificate for the site's own key."
    )
    @Option(help: "The authority's folder.") var authority: String
    @Option(help: "The site's id.") var site: String
    @Option(help: "How many days it lasts, the authority's end at most.") var days: Int = 397
    @Option(help: "A PKCS #10 request (PEM), made on the site: its key never leaves it.") var request: String?
    @Option(help: "The folder that takes SITE.key and SITE.pem.") var out: String

    func run() throws {
        try CertificateCommand.checkDays(days, most: 3_650)
        try showing {
            try CertificateUpkeep.device(
                authority: authority, site: site, days: days, request: request, to: out)
        }
    }
}

struct CertificateRenewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Writes a certificate of this authority anew, in place, for the same key and names.")
    @Option(help: "The authority's folder.") var authority: String
    @Option(help: "The certificate (PEM).") var certificate: String
    @Option(help: "How many days the new one lasts.") var days: Int = 397

    func run() throws {
        try CertificateCommand.checkDays(days, most: 3_650)
        try showing {
            try CertificateUpkeep.renew(authority: authority, certificate: certificate, days: days)
        }
    }
}

struct CertificateShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract:
            "Says what a certificate is for, until when, and its fingerprint, for the list of revoked ones.")
    @Argument(help: "The certificate (PEM).") var certificate: String

    func run() throws { try showing { try CertificateUpkeep.show(certificate: certificate) } }
}
