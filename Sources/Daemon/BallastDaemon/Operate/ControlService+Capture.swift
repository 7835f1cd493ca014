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
        tap.wantedCapture.withLock { $0 = request.reason ?? "no reason" }
        let (before, after) = (Int(CaptureKeeper.before.seconds), Int(CaptureKeeper.after.seconds))
        return ControlAnswer(
            done:
                "the last \(before) s and the next \(after) s are kept; 'ballastctl captures' then names the file"
        )
    }
}
