import FrequencyRecord
import JSONText
import Quantities
import Testing

@Suite struct BatchTests {
    private static let sample = FrequencySample(
        milliseconds: 1_767_225_600_123, frequency: Hertz(49.998_712), expected: Watts(-68_001),
        response: Watts(-60_000), basePoint: Watts(20_000), setpoint: Watts(-40_000),
        delivered: Watts(-39_998),
        stateOfCharge: Fraction(0.6312), rated: .kilowatts(1_000), inService: .kilowatts(500),
        chargeLimit: .discharge)

    @Test func `a batch comes back as it was written`() throws {
        var second = Self.sample
        second.milliseconds += 100
        (second.frequency, second.expected, second.delivered, second.stateOfCharge) = (nil, nil, nil, nil)
        var batch = SampleBatch()
        batch.append(Self.sample)
        #expect(batch.accepts(second))
        batch.append(second)
        let bytes = try #require(batch.json)
        #expect(try SampleBatch.samples(json: bytes) == [Self.sample, second])
        #expect(SampleBatch().json == nil)
    }

    // swift-format-ignore
    static let changes: [(change: @Sendable (inout FrequencySample) -> Void, fits: Bool, why: Comment)] = [
        ({ $0.milliseconds += 1_000 },    true,  "a second later"),
        ({ $0.milliseconds += 9_999 },    true,  "just inside ten seconds"),
        ({ $0.milliseconds += 10_000 },   false, "a batch spans less than ten seconds"),
        ({ _ in },                        false, "the same instant again"),
        ({ $0.milliseconds -= 1 },        false, "the wall clock was set back"),
        ({ $0.milliseconds += 1; $0.inService = .zero }, false, "another head: the units in service"),
        ({ $0.milliseconds += 1; $0.chargeLimit = .none }, false, "another head: the state of charge"),
        ({ $0.milliseconds += 1; $0.rated = .kilowatts(2_000) }, false, "another head: the nameplate"),
    ]

    @Test(arguments: changes.indices)
    func `a batch takes only samples that share its head and follow soon`(index: Int) {
        var batch = SampleBatch()
        batch.append(Self.sample)
        var next = Self.sample
        Self.changes[index].change(&next)
        #expect(batch.accepts(next) == Self.changes[index].fits, Self.changes[index].why)
    }

    @Test func `ten samples fill a batch, and cost what the documentation says`() throws {
        var batch = SampleBatch()
        for index in 0..<SampleBatch.capacity {
            var sample = Self.sample
            sample.milliseconds += Int64(index) * 999
            #expect(batch.accepts(sample))
            batch.append(sample)
        }
        var next = Self.sample
        next.milliseconds += 9_995
        #expect(!batch.accepts(next))
        // With the spool's 20 bytes: at 1 Hz for a day.
        let bytes = try #require(batch.json)
        #expect((bytes.count + 20) * 8_640 < 6_500_000, "\(bytes.count) bytes for ten samples")
    }

    // swift-format-ignore
    static let refused: [(json: String, why: Comment)] = [
        ("", "nothing"),
        ("[]", "no object"),
        (#"{"kind":"telemetry","frequency_hz":50}"#, "another kind of record"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":9,"in_service_w":9,"rows":[]}"#, "a member is missing"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":0,"in_service_w":0,"soc_limit":"none","rows":[]}"#, "no nameplate"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":9,"in_service_w":10,"soc_limit":"none","rows":[]}"#, "more in service than there is"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":9,"in_service_w":9,"soc_limit":"up","rows":[]}"#, "an unknown limit"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":9,"in_service_w":9,"soc_limit":"none","rows":[[1,2,3]]}"#, "a short row"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":9,"in_service_w":9,"soc_limit":"none","rows":[[1,2,3,null,5,6,7,8]]}"#, "null where a number is needed"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":9,"in_service_w":9,"soc_limit":"none","rows":[[1,2.5,3,4,5,6,7,8]]}"#, "a fraction"),
        (#"{"kind":"frequency","t_ms":99999999999999,"rated_w":9,"in_service_w":9,"soc_limit":"none","rows":[]}"#, "a time beyond all years"),
        (#"{"kind":"frequency","t_ms":1,"rated_w":9,"in_service_w":9,"soc_limit":"none","rows":[]} x"#, "something behind it"),
    ]

    @Test(arguments: refused)
    func `what is no batch is refused`(json: String, why: Comment) {
        #expect(throws: JSONError.self, why) { try SampleBatch.samples(json: Array(json.utf8)) }
    }

    @Test func `a batch with any byte changed is read or refused`() throws {
        var batch = SampleBatch()
        batch.append(Self.sample)
        let bytes = try #require(batch.json)
        var readable = 0
        for index in bytes.indices {
            for byte: UInt8 in [0, 0x22, 0x2D, 0x39, 0x5D, 0x7D, 0xFF] {
                var damaged = bytes
                damaged[index] = byte
                do throws(JSONError) {
                    readable += try SampleBatch.samples(json: damaged).count
                } catch { continue }
            }
        }
        #expect(readable > 0)
    }
}
