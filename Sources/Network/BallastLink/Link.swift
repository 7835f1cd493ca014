import AsyncHTTPClient
import Dispatch
import ConfigText
import ControlSocket
import Glibc
import LinuxIO
import NIOCore
import YAMLText

/// The whole program: configuration, spool, HTTP client, until a signal ends it.
public enum Link {
    /// The configuration cannot be used, which was said in the log; starting again will not help.
    public struct UnusableConfiguration: Error {}

    /// Delivers until SIGTERM or SIGINT; throws where it cannot start.
    public static func run(configPath: String) async throws {
        let config = try load(configPath)
        let certificates: LinkCertificates?
        do { certificates = try config.tls.map { try LinkCertificates($0, log: { log($0) }) } } catch {
            log("not started: ca_file, certificate or key cannot be used: \(error)")
            throw UnusableConfiguration()
        }
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: AggregatorClient.configuration())
        let figures = LinkFigures()
        let traffic = Traffic(
            most: config.dailyBudget, path: (config.marks ?? config.spool) + "/sent-today", figures: figures)
        let connection = EdgeConnection(client: client, certificates: certificates, traffic: traffic)
        let metrics = try await serveMetrics(config, figures, certificates)
        let aggregator = AggregatorClient(connection: connection, url: config.url)
        // Before anything else, so that no signal finds the program without an answer.
        let (told, tell) = AsyncStream<Void>.makeStream()
        let ends = SignalPipe.ends
        for number in [SIGTERM, SIGINT] { signal(number) { _ in SignalPipe.note() } }
        let source = DispatchSource.makeReadSource(fileDescriptor: ends.reading)
        source.setEventHandler { tell.finish() }
        source.resume()
        let work = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await deliver(config, to: aggregator) }
                group.addTask { await keep(traffic) }
                group.addTask { await fetchCommands(config, connection) }
                group.addTask { await tellOfCertificate(config, certificates) }
                group.addTask { await bringCaptures(config, connection) }
            }
        }
        let ending = Task {
            for await _ in told {}
            work.cancel()
        }
        await work.value
        ending.cancel()
        source.cancel()
        traffic.save()
        // What is being answered there ends with the program.
        try? await metrics?.close()
        try await client.shutdown()
        log("ended")
    }

    private static func load(_ path: String) throws -> LinkConfig {
        do {
            return try LinkConfig(try YAMLText.load(path: path), file: path)
        } catch {
            log("not started: \(error)")
            throw UnusableConfiguration()
        }
    }

    private static func deliver(_ config: LinkConfig, to aggregator: AggregatorClient) async {
        var session = LinkSession(config: config, traffic: aggregator.connection.traffic, log: log) {
            body, epoch, token in
            await aggregator.post(body, epoch: epoch, token: token)
        }
        while !Task.isCancelled {
            let pause = await session.step()
            if Task.isCancelled || pause == .zero { continue }
            // Ends early only where the task is cancelled, which the loop looks at.
            try? await Task.sleep(for: pause)
        }
    }

    /// What has left today, on the disk each minute.
    private static func keep(_ traffic: Traffic) async {
        while !Task.isCancelled {
            // Ends early only where the task is cancelled, which the loop looks at.
            try? await Task.sleep(for: .seconds(60))
            traffic.save()
        }
    }

    private static func serveMetrics(
        _ config: LinkConfig, _ figures: LinkFigures, _ certificates: LinkCertificates?
    ) async throws -> (any Channel)? {
        guard let port = config.metricsPort else { return nil }
        do {
            let channel = try await LinkMetrics.serve(port: port) {
                figures.text(certificateEnd: certificates?.end)
            }
            log("figures on 127.0.0.1:\(channel.localAddress?.port ?? port)")
            return channel
        } catch {
            log("not started: no figures on 127.0.0.1:\(port): \(error)")
            throw UnusableConfiguration()
        }
    }

    private static func fetchCommands(_ config: LinkConfig, _ connection: EdgeConnection) async {
        guard let socket = config.controlSocket else { return }
        var courier = CommandCourier(
            connection: connection, config: config, socket: socket, log: { log($0) })
        while !Task.isCancelled {
            let pause = await courier.step()
            // Ends early only where the task is cancelled, which the loop looks at.
            try? await Task.sleep(for: pause)
        }
    }

    /// That the site's certificate ends soon is an event of the site itself: its controller has it, and it
    /// goes up with what else happens there. Once a day, and again where nobody was there to hear it.
    private static func tellOfCertificate(_ config: LinkConfig, _ certificates: LinkCertificates?) async {
        guard let socket = config.controlSocket, let certificates else { return }
        var told: (end: Int64, at: ContinuousClock.Instant)?
        while !Task.isCancelled {
            let isTold = told.map { $0.end == certificates.end && .now - $0.at < .seconds(86_400) } ?? false
            if let end = certificates.end, !isTold, certificates.isEnding {
                var request = ControlRequest(.certificate)
                request.until_s = Double(end / 1_000)
                if let answer = await ask(request, at: socket), answer.error == nil { told = (end, .now) }
            }
            // Ends early only where the task is cancelled, which the loop looks at.
            try? await Task.sleep(for: .seconds(5))
        }
    }

    private static func ask(_ request: ControlRequest, at socket: String) async -> ControlAnswer? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // Without a controller nothing is said: it is asked again.
                continuation.resume(returning: try? ControlClient.ask(request, at: socket))
            }
        }
    }

    private static func bringCaptures(_ config: LinkConfig, _ connection: EdgeConnection) async {
        guard let directory = config.captures else { return }
        var courier = CaptureCourier(
            connection: connection, config: config, directory: directory, log: { log($0) })
        while !Task.isCancelled {
            let pause = await courier.step()
            // Ends early only where the task is cancelled, which the loop looks at.
            try? await Task.sleep(for: pause)
        }
    }

    private static func log(_ line: String) {
        let bytes = Array("ballast-link: \(line)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}

/// Where a signal leaves its word. A handler that writes misses none; a source of signals, which another
/// thread makes ready, does while the machine is busy.
private enum SignalPipe {
    static let ends: (reading: CInt, writing: CInt) = {
        var numbers: [CInt] = [-1, -1]
        precondition(pipe(&numbers) == 0)
        return (numbers[0], numbers[1])
    }()

    /// Nothing but a system call, as a handler may.
    static func note() {
        var byte: UInt8 = 1
        _ = write(ends.writing, &byte, 1)
    }
}

/// A file that holds nothing but a token.
enum TokenFile {
    private static let sizeLimit = 4_096

    /// The first line; `nil` where the file cannot be read or its first line is empty.
    static func read(_ path: String) -> String? {
        // Absent, unreadable, no regular file: there is no token.
        guard let bytes = (try? DurableFile.read(path, limit: sizeLimit)) ?? nil else { return nil }
        let line = bytes.prefix { (0x21...0x7E).contains($0) }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
