// The control step on another architecture: takes up the controller's state as a recording carries it, runs the recorded
// cycles, and compares every word of every decision. Compiled as Embedded Swift, since no other Swift is at hand there.
import Control
import CycleRecord
import Plant
import Quantities

/// - Returns: 0 identical, 1 a decision differs, 2 unreadable, 3 the state has another size here, 4 nothing was compared.
@_cdecl("replay_recording")
public func replay(
    _ file: UnsafePointer<UInt8>, _ count: Int, _ cycles: UnsafeMutablePointer<UInt64>,
    _ digest: UnsafeMutablePointer<UInt64>
) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: file, count: count))
    guard var reader = try? RecordingReader(bytes) else { return 2 }
    let inputCount = CycleNames.inputs(reader.unitCount).count
    // What people were told of a cycle is made of texts, elsewhere; its word is taken over.
    let told = CycleNames.decision(reader.unitCount).firstIndex { $0 == "events.digest" } ?? -1
    guard told >= 0 else { return 4 }
    var recorder = CycleRecorder(unitCount: reader.unitCount, about: "", files: [])
    var controller: Controller?
    var decision = Decision()
    cycles.pointee = 0
    while true {
        let found: RecordingReader.Record?
        do throws(RecordingFault) { found = try reader.next() } catch { return 2 }
        guard let record = found else { break }
        switch record {
        case .checkpoint(let state):
            guard state.words.count == (MemoryLayout<Controller>.size + 7) / 8 else { return 3 }
            controller = state.words.withUnsafeBytes { $0.loadUnaligned(as: Controller.self) }
            decision = Decision()
        case .command(let command, let now): controller?.handle(command, at: now, into: &decision)
        case .endAsked(let now): controller?.handle(.stop, at: now, into: &decision)
        case .cycle(let inputs, let words):
            guard controller != nil else { return 4 }
            controller!.step(grid: inputs.grid, units: inputs.units.span, at: inputs.now, into: &decision)
            recorder.cycle(
                grid: inputs.grid, units: inputs.units.span, wallSeconds: inputs.wallSeconds, at: inputs.now,
                &decision, eventDigest: words[told])
            decision.events.removeAll()
            cycles.pointee += 1
            for index in words.indices where recorder.words[inputCount + index] != words[index] { return 1 }
            _ = recorder.drain()
        case .about, .file, .start, .capture, .end, .instant, .fields: break
        }
    }
    digest.pointee = recorder.digest.value
    return cycles.pointee > 0 ? 0 : 4
}
