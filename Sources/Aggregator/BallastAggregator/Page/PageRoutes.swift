import Hummingbird
import JSONText
import LinuxIO

/// What the page of one site shows beside its state.
extension AggregatorRoutes {
    var pageRoutes: [Route] {
        let range: [Query.Parameter] = [.from, .until, .cursor, .limit, .format]
        return [
            Route(
                .get, "/v1/sites/{site}/trends", .read,
                "Power, frequency, charge and temperatures by steps, and each unit's cells by longer ones.",
                query: [.from, .until, .stepSeconds], isFrequent: true, answer: trends),
            Route(
                .get, "/v1/sites/{site}/matrix", .read,
                "The interlock matrix and the wiring of each unit, as the site told them at its last start.",
                isFrequent: true
            ) { call in
                let record = try await store.newest("site", of: call.site)
                // A site of an older version tells none.
                return Answers.json(record.map(Answers.record) ?? "{\"data\":null}")
            },
            Route(
                .get, "/v1/sites/{site}/energy", .read,
                "Energy by blocks of a quarter of an hour, UTC, for the meter and each unit.", query: range,
                isFrequent: true
            ) { Self.page(try await store.records("energy", try .init($0)), "blocks", $0) },
            Route(
                .get, "/v1/sites/{site}/frequency", .read,
                "Events of the frequency response, judged on the site: asked, delivered, delay.",
                query: range, isFrequent: true
            ) { Self.page(try await store.records("frequency_event", try .init($0)), "events", $0) },
            Route(
                .get, "/v1/sites/{site}/score", .read,
                "The score of the frequency response over a time: by its events and quarters of an hour.",
                query: [.from, .until], isFrequent: true
            ) { call in
                let range = try call.query.range()
                guard range.upperBound &- range.lowerBound <= 400 * 86_400_000 else {
                    throw Refusal(.badRequest, "from, until: at most 400 days")
                }
                return Answers.json(try await store.response(of: call.site, in: range).json)
            },
            Route(
                .get, "/v1/sites/{site}/compliance", .read,
                "How the site has done by months and quarters; not a regulator's judgement.",
                query: [.from, .until, .format]
            ) { call in
                try await Compliance(call, of: [.init(id: call.site, weight: nil)], by: codes)
                    .answer(from: store)
            },
            Route(
                .get, "/v1/sites/{site}/cells", .read,
                "The newest word of each battery that tells its single cells.", isFrequent: true
            ) { call in
                let rows = try await store.cells(of: call.site)
                return Answers.json("{\"cells\":[\(rows.joined(separator: ","))]}")
            },
            Route(
                .get, "/v1/sites/{site}/audit", .read,
                "Who asked the aggregator about this site, newest first: log-ins, requests, refusals.",
                query: [.from, .until, .limit], isFrequent: true
            ) { call in
                let rows = try await store.audit(
                    of: call.site, in: try call.query.range(), limit: try call.query.limit(most: 200))
                return Answers.json("{\"audit\":[\(rows.joined(separator: ","))]}")
            },
        ]
    }

    private func trends(_ call: Call) async throws -> Response {
        let range = try call.query.range()
        let step = try call.query.number(.stepSeconds) ?? 60
        guard [60, 300, 900, 3_600, 21_600].contains(step) else {
            throw Refusal(.badRequest, "step_s: takes 60, 300, 900, 3600, 21600")
        }
        let length = range.upperBound &- range.lowerBound
        guard length > 0, length / (step * 1_000) <= 1_500 else {
            throw Refusal(.badRequest, "from, until: at most 1500 steps")
        }
        let units = await fleet.units(of: call.site)
        guard Int(length / 60_000) * max(1, units.count) <= 1_000_000 else {
            throw Refusal(.badRequest, "from, until: too long for so many units")
        }
        let trends = try await store.trends(of: call.site, units: units, in: range, step: step * 1_000)
        return Answers.json(
            "{\"from_ms\":\(range.lowerBound),\"until_ms\":\(range.upperBound),\"step_s\":\(step)"
                + ",\"strip_s\":\(step * TelemetryStore.stripSteps),\(trends)}")
    }
}
