import ControlSocket

extension ControlService {
    /// Tells the black box; the file is there once its time after is over.
    func capture(_ request: ControlRequest) -> ControlAnswer {
        guard let tap else {
            return ControlAnswer(
                error:
                    "no cycle is recorded: set paths.recording_max_mb in the site's file, and restart ballastd"
            )
        }
        guard tap.keepsCaptures.load(ordering: .relaxed) else {
            return ControlAnswer(
                error: "captures are off: set paths.captures_max_mb in the site's file, and restart ballastd")
        }
        guard tap.hasCaptureRoom.load(ordering: .relaxed) else {
            return ControlAnswer(
                error:
                    "the captures' folder is full, and what nobody has read stays while a trip is latched: read them"
                    + " ('ballastctl incident'), or make paths.captures_max_mb larger")
        }
        let wish = CaptureWish(kind: .asked, text: "asked for: \(request.reason ?? "no reason")")
        tap.wantedCapture.withLock { $0 = wish }
        let (before, after) = (Int(CaptureKeeper.before.seconds), Int(CaptureKeeper.after.seconds))
        return ControlAnswer(
            done:
                "the last \(before) s at least and the next \(after) s are kept where the disk has room; 'ballastctl captures' then names the file"
        )
    }
}
