import BooksStore
import ExactAmounts
import HTTPTypes
import Hummingbird
import LinuxIO
import ServiceLifecycle

/// The books by HTTP: every operation of the store is a route, and the store answers.
struct BooksRoutes: Sendable {
    let store: BooksStore

    /// `nil` where the file has no section `books`: then there is no table of theirs either.
    init?(_ config: AggregatorConfig, _ telemetry: TelemetryStore) throws {
        guard config.books != nil else { return nil }
        store = try BooksStore(telemetry.pool)
    }

    var routes: [Route] {
        BooksOperation.allCases.map { operation in
            let isCommand = operation.method == .post
            return Route(
                isCommand ? .post : .get, operation.path, .books, operation.summary,
                query: operation.query.compactMap(Query.Parameter.init(rawValue:)),
                bodyLimit: operation.bodyLimit, bodyType: operation.bodyType, isFrequent: !isCommand,
                answers: operation.answers
            ) { try await answer(operation, $0) }
        }
    }

    private func answer(_ operation: BooksOperation, _ call: Call) async throws -> Response {
        guard let caller = call.caller.grants.compactMap(\.books).first else {
            throw Refusal(.forbidden, "\(call.caller.name) is nobody to the books")
        }
        var query: [String: String] = [:]
        for name in operation.query {
            query[name] = Query.Parameter(rawValue: name).flatMap { call.query[$0] }
        }
        let answer = try await store.answer(
            BooksCall(
                caller: caller, operation: operation, id: call.site, query: query, body: call.body,
                key: call.key, now: UTCInstant(seconds: WallClock.nowMilliseconds() / 1_000)))
        let known: [HTTPResponse.Status] = [
            .ok, .created, .badRequest, .forbidden, .notFound, .methodNotAllowed, .conflict,
            .unprocessableContent,
        ]
        let status = known.first { $0.code == answer.status } ?? HTTPResponse.Status(code: answer.status)
        if answer.isRefusal { throw Refusal(status, answer.body) }
        return Answers.json(answer.body, status: status, as: answer.form.rawValue)
    }

    private static func command(_ pattern: String) -> BooksOperation? {
        BooksOperation.allCases.first { $0.method == .post && $0.path == pattern }
    }

    /// The body of a command of the books; `nil` of another path.
    static func bodySchema(_ pattern: String) -> String? { command(pattern)?.bodySchema }

    /// One that is taken.
    static func bodyExample(_ pattern: String) -> String? { command(pattern)?.bodyExample }
}

/// What the books do by themselves: take the sites' energy records in, close the days of their history.
struct BooksUpkeep: Service {
    private static let pause = Duration.seconds(5)
    let books: BooksStore
    let log: @Sendable (String) -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    let now = UTCInstant(seconds: WallClock.nowMilliseconds() / 1_000)
                    while try await books.feedSome(at: now), !Task.isCancelled {}
                    while try await books.postSome(), !Task.isCancelled {}
                    try await books.closeDays(
                        before: UTCInstant(seconds: WallClock.nowMilliseconds() / 1_000))
                } catch { log("the books are behind: \(error)") }
                // Ends early only where the program ends, which the loop looks at.
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}
