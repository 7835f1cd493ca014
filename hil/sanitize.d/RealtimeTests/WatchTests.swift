import CRealtimeSanitizer
import Testing

/// The other tests here are those of the controller; `hil/sanitize` puts the watch around each step.
@Suite struct WatchTests {
    @Test func `the sanitizer is there`() {
        #expect(ballast_realtime_is_watched() == 1)
    }

    @Test func `a call for memory inside the watch ends the process`() async {
        await #expect(processExitsWith: .failure) {
            ballast_realtime_begin()
            let words = [Int](repeating: 1, count: Int.random(in: 100...200))
            ballast_realtime_end()
            print(words.count)
        }
    }
}
