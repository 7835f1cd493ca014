import ArgumentParser
import BallastDaemon
import SiteConfig
import SiteFile

extension Chemistry: ExpressibleByArgument {}

/// What the program carries with it and prints.
struct ShippedOptions: ParsableArguments {
    @Flag(help: "Print every key that the configuration may hold, with what is allowed, and exit.")
    var reference = false
    @Flag(help: "Print a JSON Schema of the configuration, for editors, and exit.") var schema = false
    @Option(help: "Print the shipped interlock table of this chemistry (lfp or nmc), and exit.")
    var interlocks: Chemistry?

    var document: String? {
        if schema { return CheckedSite.schema }
        if reference { return CheckedSite.reference }
        return interlocks.map { InterlockRules.document(for: $0) }
    }
}
