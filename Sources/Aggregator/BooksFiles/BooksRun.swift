import Contracts
import ExactAmounts
import Ledger
import Metering
import Settlement
import ConfigText
import YAMLText

/// What a settlement on files is asked for.
public struct BooksRequest: Sendable {
    public var from: String
    public var until: String
    public var intervals: String
    public var registers: String?
    public var contracts: String
    public var tariffs: String
    /// The folders of earlier runs, in their order.
    public var previous: [String]
    public var frozenBefore: String?

    public init(
        from: String, until: String, intervals: String, registers: String? = nil, contracts: String,
        tariffs: String, previous: [String] = [], frozenBefore: String? = nil
    ) {
        self.from = from
        self.until = until
        self.intervals = intervals
        self.registers = registers
        self.contracts = contracts
        self.tariffs = tariffs
        self.previous = previous
        self.frozenBefore = frozenBefore
    }
}

/// One settlement, from files to the texts of files. Nothing is written here.
public struct BooksRun: Sendable {
    /// What gives the SHA-256 of bytes in hexadecimal digits.
    public typealias Digest = @Sendable ([UInt8]) -> String

    public let id: String
    /// What stands in the folder, by file name.
    public let files: [String: String]
    /// What was settled, what is open, what the registers said: a line each.
    public let summary: [String]
    public let invariants: [InvariantResult]

    /// Reads, settles, posts and writes down.
    ///
    /// - Throws: `BooksErrors` with everything that is wrong.
    public static func settle(_ request: BooksRequest, digest: Digest) throws(BooksErrors) -> BooksRun {
        var input = try BooksInput(request)
        let earlier = try PreviousRuns(
            request.previous, frozenBefore: input.frozenBefore, digest: digest)
        input.facts.parties = try earlier.parties(input.facts.parties)
        var changed = BooksErrors()
        for line in SettledTerms.check(input.facts, earlier.settled).prefix(20) { changed.add(line) }
        if !changed.isEmpty { throw changed }
        let canonical = input.canonical(earlier.runs.map(\.text))
        let id = "run-" + digest(Array(canonical.utf8)).prefix(16)
        let run = Settlement.run(input.facts, after: earlier.settled)
        let asset = Asset.inr
        do {
            let bills = try run.bills(input.facts, asset: asset)
            let ledger = try run.ledger(input.facts, bills, asset: asset, after: earlier.settled)
            let texts = BooksTexts(
                id: id, request: request, input: input, run: run, bills: bills, ledger: ledger, asset: asset,
                digests: [
                    ("contracts_sha256", digest(input.contractBytes)),
                    ("tariffs_sha256", digest(input.tariffBytes)),
                ] + earlier.runs.map { ("previous", $0.text) })
            return BooksRun(
                texts, run.check(input.facts, bills, ledger, asset: asset), digest)
        } catch let error as BillingRefusal {
            throw BooksErrors(Self.text(error))
        } catch let error as PostingRefusal {
            throw BooksErrors(Self.text(error, request.contracts))
        } catch {
            throw BooksErrors("\(error)")
        }
    }

    /// The texts, and their seal.
    private init(_ texts: BooksTexts, _ invariants: [InvariantResult], _ digest: Digest) {
        var files = texts.files
        let sums = BooksSeal.text(files, digest)
        files[BooksSeal.file] = sums
        let seal = digest(Array(sums.utf8))
        (id, self.files) = (texts.id, files)
        summary = texts.summary + ["sealed: \(seal) is the SHA-256 of \(BooksSeal.file)"]
        self.invariants = invariants
    }

    private static func text(_ refusal: BillingRefusal) -> String {
        switch refusal {
        case .tooLarge(let party):
            "a line or the total of \(party) does not fit 64 bits of paise; is a price right?"
        }
    }

    private static func text(_ refusal: PostingRefusal, _ file: String) -> String {
        switch refusal {
        case .escrow(let contract, let why):
            "\(file): contract \(contract) is prepaid and cannot be put into escrow: \(why.text)"
                + "; raise wallet_inr of the buyer, or make the contract postpaid"
        case .ledger(let key, let why): "\(file): \(key) cannot be posted: \(why.text)"
        case .name(let name): "\(file): \(name)"
        case .tooLarge(let contract):
            "\(file): contract \(contract) costs more than 64 bits of paise can hold"
        }
    }
}

/// Everything read and checked.
struct BooksInput {
    var facts: Facts
    /// Of the period's end.
    let bitcoin: ExchangeRate?
    let substitutions: [Substitution]
    let frozenBefore: UTCInstant?
    let contractBytes: [UInt8]
    let tariffBytes: [UInt8]

    init(_ request: BooksRequest) throws(BooksErrors) {
        let from = try Self.time(request.from, "--from")
        let until = try Self.time(request.until, "--to")
        guard let period = Period(from: from, until: until) else {
            throw BooksErrors("--to: \(until.text) is not after --from \(from.text)")
        }
        frozenBefore = try request.frozenBefore.map { (text) throws(BooksErrors) in
            try Self.time(text, "--frozen-before")
        }
        let (contractBytes, contractTree) = try Self.yaml(request.contracts)
        let (tariffBytes, tariffTree) = try Self.yaml(request.tariffs)
        let contracts: ContractsFile
        let tariffs: TariffsFile
        do throws(ConfigErrors) {
            contracts = try ContractsFile(contractTree, file: request.contracts)
            tariffs = try TariffsFile(tariffTree, file: request.tariffs)
        } catch {
            throw BooksErrors(error)
        }
        let known = Set(contracts.resources.map(\.id))
        let bytes = try BooksFolder.bytes(of: request.intervals)
        var book = try MeterFiles.intervals(bytes, file: request.intervals, resources: known)
        if let path = request.registers {
            let readings = try MeterFiles.registers(
                try BooksFolder.bytes(of: path), file: path, resources: known)
            substitutions = book.substitute(from: readings)
        } else {
            substitutions = []
        }
        facts = Facts(
            period: period, length: contracts.length, parties: contracts.parties, zones: contracts.zones,
            resources: contracts.resources, contracts: contracts.contracts, tariffs: tariffs.tariffs,
            incentives: tariffs.incentives, intervals: book)
        bitcoin = tariffs.bitcoin.rate(of: period)
        (self.contractBytes, self.tariffBytes) = (contractBytes, tariffBytes)
        try check(request)
        var errors = BooksErrors()
        for complaint in tariffs.complaints(contracts.length, in: period).prefix(20) {
            errors.add("\(request.tariffs): \(complaint)")
        }
        if !errors.isEmpty { throw errors }
    }

    private func check(_ request: BooksRequest) throws(BooksErrors) {
        if facts.length.starts(in: facts.period) == nil {
            throw BooksErrors(
                "--from, --to: must stand at multiples of \(facts.length.seconds / 60) min UTC, where blocks begin"
            )
        }
        if facts.period.seconds > 400 * 86_400 { throw BooksErrors("--to: more than 400 days after --from") }
        var errors = BooksErrors()
        for shortage in Reservations.check(facts) { errors.add("\(request.contracts): \(shortage.text)") }
        if !errors.isEmpty { throw errors }
    }

    /// What the run's name is made of: the facts, whatever order they came in.
    func canonical(_ earlier: [String]) -> String {
        var text = "ballast books 1\n\(facts.period.from.text)\n\(facts.period.until.text)\n"
        for name in earlier { text += "\(name)\n" }
        if let frozenBefore { text += "\(frozenBefore.text)\n" }
        text += String(decoding: contractBytes, as: UTF8.self) + "\n"
        text += String(decoding: tariffBytes, as: UTF8.self) + "\n"
        return text + MeterFiles.canonical(facts.intervals)
    }

    private static func time(_ text: String, _ option: String) throws(BooksErrors) -> UTCInstant {
        guard let time = UTCInstant(text) else {
            throw BooksErrors(
                "\(option): \(ConfigWording.quoted(text)) is not allowed (allowed: \(Words.time))")
        }
        return time
    }

    private static func yaml(_ path: String) throws(BooksErrors) -> ([UInt8], ConfigNode) {
        do throws(ConfigError) {
            let bytes = try YAMLText.bytes(of: path)
            return (bytes, try YAMLText.parse(bytes, file: path))
        } catch {
            throw BooksErrors(error.description)
        }
    }
}
