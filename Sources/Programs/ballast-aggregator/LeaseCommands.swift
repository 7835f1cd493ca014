import ArgumentParser
import Glibc
import LinuxIO
import RemoteLeases
import Signatures

struct LeaseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lease",
        abstract: "Makes keys, and signs a power that a site is asked for.",
        subcommands: [LeaseKey.self, LeaseSign.self])
}

struct LeaseKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Makes a signing key, and prints what goes into the site's file.")
    @Option(help: "The file that takes the secret; it must not be there yet.") var out: String
    @Option(help: "The key's name, as leases carry it.") var id: String = "aggregator-1"

    func run() throws {
        let open = try SecretFile.make(out)
        print("remote_leases:\n  keys:\n    - {id: \(id), public_key: \(open)}")
    }
}

/// The seed of a signing key in a file of its own.
enum SecretFile {
    /// - Returns: the public key as hexadecimal digits.
    static func make(_ path: String) throws -> String {
        guard let seed = Signatures.seed(), let open = Signatures.publicKey(ofSeed: seed) else {
            throw ValidationError("libsodium does not start")
        }
        let number = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw ValidationError("\(path): \(SystemError.last("open"))") }
        let file = FileDescriptor(owning: number)
        let text = Array((Hexadecimal.text(seed) + "\n").utf8)
        guard Glibc.write(file.number, text, text.count) == text.count, fsync(file.number) == 0 else {
            throw ValidationError("\(path): \(SystemError.last("write"))")
        }
        return Hexadecimal.text(open)
    }

    static func read(_ path: String) throws -> [UInt8] {
        let seed: [UInt8]?
        do throws(SystemError) {
            let bytes = try DurableFile.read(path, limit: 256)
            seed = bytes.flatMap {
                Hexadecimal.bytes(String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self))
            }
        } catch { throw ValidationError("\(path): \(error)") }
        guard let seed else { throw ValidationError("\(path): no key") }
        return seed
    }
}

struct LeaseSign: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Prints a signed lease; 'ballastctl lease' brings it to the site.")
    @Option(help: "The file with the secret.") var key: String
    @Option(help: "The key's name, as the site's file has it.") var id: String = "aggregator-1"
    @Option(help: "The site's id.") var site: String
    @Option(help: "Larger than every earlier one of this key; the time in ms without it.") var sequence:
        UInt64?
    @Option(name: .customLong("power-kw"), parsing: .unconditional, help: "Positive = the site gives.")
    var power: Double?
    @Option(name: .customLong("for"), help: "How many seconds it holds.") var seconds: Int = 900
    @Option(help: "What it is called.") var dispatch: String = "by-hand"
    @Flag(help: "What was granted before ends.") var release = false

    func run() throws {
        let seed = try SecretFile.read(key)
        guard release || power != nil else { throw ValidationError("give --power-kw, or --release") }
        guard (1...86_400).contains(seconds) else { throw ValidationError("--for takes 1 … 86400 s") }
        let watts = ((release ? 0 : power ?? 0) * 1_000).rounded()
        guard watts.magnitude <= 1e12 else { throw ValidationError("--power-kw takes -1e9 … 1e9 kW") }
        let now = WallClock.nowMilliseconds()
        let lease = RemoteLease(
            kind: release ? .release : .power, sequence: sequence ?? UInt64(now), issued: now, from: now,
            until: now + Int64(seconds) * 1_000, watts: Int64(watts), key: id, site: site, dispatch: dispatch)
        guard lease.isWritable else {
            throw ValidationError("names take 1 … 64 letters, digits, _ . and -")
        }
        guard let signature = Signatures.sign(lease.canonicalBytes, seed: seed) else {
            throw ValidationError("\(key): a key has 64 hexadecimal digits")
        }
        print(Hexadecimal.text(lease.canonicalBytes + signature))
    }
}
