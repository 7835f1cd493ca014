import LinuxIO

/// An alarm as a mail, and what is said to a mail server, without a wire.
enum MailText {
    /// The mail: headers in ASCII, the body in UTF-8; nothing of an alarm can end a header or the mail.
    static func message(_ notice: AlarmNotice, from: String, to: [String], id: String, at date: String)
        -> String
    {
        let what = "\(notice.severity.rawValue) \(notice.told.rawValue)"
        let place =
            notice.key.subject.isEmpty ? notice.key.site : "\(notice.key.subject) at \(notice.key.site)"
        let isSummary = notice.told == .summary
        let subject =
            isSummary ? "[ballast] daily summary" : "[ballast] \(what): \(notice.key.rule), \(place)"
        // A day's lines are our own; an alarm's text is one line, whatever stands in it.
        let body = isSummary ? notice.text.split(separator: "\n").map(String.init) : [notice.text]
        let end = "\(what) at \(WallClock.text(milliseconds: notice.at)), rule \(oneLine(notice.key.rule))"
        return [
            "From: <\(from)>", "To: \(to.map { "<\($0)>" }.joined(separator: ", "))",
            "Subject: \(ascii(subject))", "Date: \(date)", "Message-ID: <\(id)>", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit",
            "Auto-Submitted: auto-generated", "", body.map(oneLine).joined(separator: "\r\n"), "",
            isSummary ? "at \(WallClock.text(milliseconds: notice.at))" : end,
        ].joined(separator: "\r\n") + "\r\n"
    }

    /// As DATA wants it: a dot that begins a line is doubled, and one alone ends it.
    static func stuffed(_ message: String) -> String {
        let lines = message.split(separator: "\r\n", omittingEmptySubsequences: false)
        return lines.map { $0.hasPrefix(".") ? "." + $0 : String($0) }.joined(separator: "\r\n") + ".\r\n"
    }

    /// `Tue, 24 Nov 2026 07:22:26 +0000`.
    static func date(_ milliseconds: Int64) -> String {
        let text = WallClock.text(milliseconds: milliseconds)
        let days = Int((milliseconds / 86_400_000 + 4) % 7)
        let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
        let month = Int(text.dropFirst(5).prefix(2)).map { months[($0 + 11) % 12] } ?? "Jan"
        let (day, time) = (text.dropFirst(8).prefix(2), text.dropFirst(11).prefix(8))
        return "\(names[days]), \(day) \(month) \(text.prefix(4)) \(time) +0000"
    }

    private static func ascii(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(200).map { (0x20..<0x7F).contains($0.value) ? $0 : "?" }))
    }

    private static func oneLine(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(2_000).map {
                    $0.value < 0x20 || $0.value == 0x7F || $0.value == 0x2028 ? " " : $0
                }))
    }
}

/// What is said to a mail server, step by step (RFC 5321, STARTTLS by RFC 3207). It reads no wire: replies
/// come in, lines
/// go out.
struct MailDialogue: Sendable {
    enum Step: Sendable, Equatable {
        case greeting, hello, startTLS, helloAgain, from, to(Int), data, body, quit
    }

    enum Move: Sendable, Equatable {
        case say(String)
        /// The connection becomes TLS, and `say` comes inside it.
        case secure(say: String)
        case done
        case failed(String)
    }

    private let mail: AlarmConfig.Mail
    private let message: String
    private var step = Step.greeting
    private var isAccepted = false

    /// - Parameter message: as `MailText.message` makes it.
    init(_ mail: AlarmConfig.Mail, message: String) {
        self.mail = mail
        self.message = message
    }

    /// - Parameter reply: all lines of one, as they came.
    mutating func heard(_ reply: [String]) -> Move {
        guard let last = reply.last, let code = Int(last.prefix(3)) else {
            return .failed("the mail server does not speak SMTP")
        }
        let isGood = step == .data ? code == 354 : (200..<300).contains(code)
        guard isGood else {
            // What was accepted was accepted, however it says goodbye.
            return step == .quit && isAccepted
                ? .done : .failed("the mail server says \(plain(last)) to \(step)")
        }
        switch step {
        case .greeting: return say("EHLO ballast", .hello)
        case .hello:
            guard mail.startsTLS else { return say("MAIL FROM:<\(mail.from)>", .from) }
            let offers = reply.contains { $0.dropFirst(4).uppercased().hasPrefix("STARTTLS") }
            return offers
                ? say("STARTTLS", .startTLS)
                : .failed("the mail server offers no STARTTLS: nothing was said to it")
        case .startTLS:
            step = .helloAgain
            return .secure(say: "EHLO ballast\r\n")
        case .helloAgain: return say("MAIL FROM:<\(mail.from)>", .from)
        case .from: return say("RCPT TO:<\(mail.to[0])>", .to(0))
        case .to(let index):
            guard index + 1 < mail.to.count else { return say("DATA", .data) }
            return say("RCPT TO:<\(mail.to[index + 1])>", .to(index + 1))
        case .data:
            step = .body
            return .say(MailText.stuffed(message))
        case .body:
            isAccepted = true
            return say("QUIT", .quit)
        case .quit: return .done
        }
    }

    private mutating func say(_ line: String, _ next: Step) -> Move {
        step = next
        return .say(line + "\r\n")
    }

    private func plain(_ line: String) -> String { LogText.plain(String(line.prefix(120))) }
}
