import HTTPTypes
import JSONText

/// The routes as an OpenAPI document; it says what `Route` says, and the shape of each body that is taken.
enum OpenAPI {
    static let path = "/v1/openapi.json"

    static func document(_ routes: [Route]) -> String {
        var paths: [(String, [String])] = []
        for route in routes {
            let text = "\"\(route.method.rawValue.lowercased())\":\(operation(route))"
            if let index = paths.firstIndex(where: { $0.0 == route.pattern }) {
                paths[index].1.append(text)
            } else {
                paths.append((route.pattern, [text]))
            }
        }
        let list = paths.map { "\"\($0.0)\":{\($0.1.joined(separator: ","))}" }
        return """
            {"openapi":"3.1.0","info":{"title":"Ballast aggregator","version":"1"},
            "security":[{"bearer":[]},{"session":[]}],
            "components":{"securitySchemes":{"bearer":{"type":"http","scheme":"bearer"},
            "session":{"type":"apiKey","in":"cookie","name":"ballast","description":"From POST /v1/session; with it everything but GET needs the header Ballast-Page."}},
            "schemas":{"Problem":\(problem)}},
            "paths":{\(list.joined(separator: ",\n"))}}
            """
    }

    private static let problem = """
        {"type":"object","required":["type","title","status","detail"],"properties":{"type":{"type":"string"},
        "title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"},
        "error":{"type":"string"},"stored_through":{"type":"integer"}}}
        """

    private static func operation(_ route: Route) -> String {
        var parameters = route.query.map { parameter($0, isRange: route.query.contains(.from)) }
        if route.isOfSite {
            parameters.append(
                "{\"name\":\"site\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}")
        }
        if route.path.contains("{id}") {
            parameters.append(
                "{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}}")
        }
        if route.role == .books, route.bodyLimit > 0 {
            parameters.append(
                "{\"name\":\"Idempotency-Key\",\"in\":\"header\",\"required\":true,\"schema\":{\"type\":"
                    + "\"string\",\"pattern\":\"^[!-~]{1,128}$\"}}")
        }
        var text =
            "{\"summary\":\(JSONText.quoted(route.summary)),\"description\":\"Needs the role "
            + "\(route.role.rawValue).\",\"parameters\":[\(parameters.joined(separator: ","))],"
        if route.bodyLimit > 0 {
            text +=
                "\"requestBody\":{\"required\":true,\"content\":{\"\(route.bodyType)\":{\"schema\":"
                + body(route.pattern)
                + (BooksRoutes.bodyExample(route.pattern).map { ",\"example\":\($0)" } ?? "") + "}}},"
        }
        return text + "\"responses\":{\(responses(route))}}"
    }

    private static func parameter(_ name: Query.Parameter, isRange: Bool) -> String {
        let schema =
            switch name {
            case .limit: "{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000}"
            case .from, .until:
                "{\"oneOf\":[{\"type\":\"integer\",\"minimum\":0,\"maximum\":253402300799999},"
                    + "{\"type\":\"string\",\"format\":\"date-time\"}]}"
            case .format: "{\"type\":\"string\",\"enum\":[\"json\",\"csv\"]}"
            case .cursor where isRange:
                "{\"type\":\"string\",\"pattern\":\"^-?[0-9]{1,15}\\\\.[0-9]{1,15}$\"}"
            case .bytes: "{\"type\":\"integer\",\"minimum\":1,\"maximum\":\(CapturePart.captureLimit)}"
            case .offset: "{\"type\":\"integer\",\"minimum\":0,\"maximum\":\(CapturePart.captureLimit)}"
            case .sha256: "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{64}$\"}"
            case .name: "{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,95}$\"}"
            case .after: "{\"type\":\"integer\",\"minimum\":0}"
            case .lengthSeconds: "{\"type\":\"integer\",\"enum\":[300,900,3600]}"
            case .stepSeconds: "{\"type\":\"integer\",\"enum\":[60,300,900,3600,21600]}"
            case .cursor, .site, .channel, .unit, .resource, .party, .zone: "{\"type\":\"string\"}"
            }
        let isRequired = [.channel, .name, .sha256, .bytes, .offset].contains(name)
        return
            "{\"name\":\"\(name.rawValue)\",\"in\":\"query\",\"required\":\(isRequired),\"description\":"
            + "\(JSONText.quoted(name.note)),\"schema\":\(schema)}"
    }

    private static func responses(_ route: Route) -> String {
        let type = route.pattern == "/v1/events" ? "text/event-stream" : route.answers
        var types = "\"\(type)\":{}"
        if route.query.contains(.format) { types += ",\"text/csv\":{}" }
        var list = ["\"200\":{\"description\":\"Done.\",\"content\":{\(types)}}"]
        if route.role == .dispatch || route.role == .books && route.bodyLimit > 0 {
            list.append("\"201\":{\"description\":\"Made.\",\"content\":{\(types)}}")
        }
        if route.pattern == "/v1/alarms/test" {
            list.append("\"202\":{\"description\":\"Under way.\",\"content\":{\(types)}}")
        }
        var codes = [400, 401, 403, 405, 429, 503]
        if route.isOfSite || route.bodyLimit > 0 || route.path.contains("{id}") && route.role == .read {
            codes.append(404)
        }
        if route.bodyLimit > 0 { codes += [408, 409, 413, 415] }
        if route.role == .dispatch { codes.append(501) }
        if route.pattern.contains("/incident") || route.role == .books && route.bodyLimit > 0 {
            codes.append(422)
        }
        if route.role == .books { codes += [404, 409].filter { !codes.contains($0) } }
        for code in codes.sorted() {
            list.append(
                "\"\(code)\":{\"description\":\"\(HTTPResponse.Status(code: code).reasonPhrase)\",\"content\":"
                    + "{\"application/problem+json\":{\"schema\":{\"$ref\":\"#/components/schemas/Problem\"}}}}"
            )
        }
        return list.joined(separator: ",")
    }

    private static func body(_ pattern: String) -> String {
        if let schema = BooksRoutes.bodySchema(pattern) { return schema }
        return switch pattern {
        case "/v1/edge/report": report
        case "/v1/edge/results": result
        case FleetRoutes.dispatchPattern: FleetRoutes.schema
        case "/v1/dispatches/{id}/revoke": FleetRoutes.revokeSchema
        case "/v1/alarms": alarm
        case "/v1/alarms/test": "{\"type\":\"object\"}"
        case "/v1/edge/captures": "{\"type\":\"string\",\"format\":\"binary\"}"
        case _: lease
        }
    }

    private static let number = "{\"type\":\"integer\",\"minimum\":1,\"maximum\":9223372036854775806}"
    private static let report = """
        {"type":"object","required":["site","epoch"],"properties":{"site":{"type":"string"},
        "epoch":{"type":"string","pattern":"^[0-9a-f]{32}$"},
        "records":{"type":"array","items":{"type":"object","required":["n","data"],
        "properties":{"n":\(number),"data":{"type":"object"}}}},
        "gaps":{"type":"array","items":{"type":"object","required":["from","to"],
        "properties":{"from":\(number),"to":\(number)}}}}}
        """
    private static let result = """
        {"type":"object","required":["sequence","state"],"properties":{"sequence":{"type":"integer"},
        "state":{"enum":["granted","refused"]},"answer":{"type":"string"}}}
        """
    private static let alarm = """
        {"type":"object","required":["do","rule","site","reason"],"additionalProperties":false,
        "anyOf":[{"required":["for_s"]},{"properties":{"do":{"enum":["acknowledge","unshelve"]}}}],
        "properties":{"do":{"enum":["acknowledge","shelve","unshelve"]},"rule":{"type":"string"},
        "site":{"type":"string"},"subject":{"type":"string"},
        "for_s":{"type":"integer","minimum":60,"maximum":86400},
        "reason":{"type":"string","minLength":1,"maxLength":200}}}
        """
    private static let lease = """
        {"type":"object","required":["power_w","dispatch","reason"],"additionalProperties":false,
        "anyOf":[{"required":["for_s"]},{"properties":{"power_w":{"type":"null"}}}],
        "properties":{"power_w":{"type":["integer","null"],"minimum":-1000000000000,"maximum":1000000000000},
        "for_s":{"type":"integer","minimum":1,"maximum":86400},
        "dispatch":{"type":"string","pattern":"^[A-Za-z0-9_.-]{1,64}$"},
        "reason":{"type":"string","minLength":1,"maxLength":200}}}
        """
}
