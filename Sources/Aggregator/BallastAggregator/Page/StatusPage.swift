/// The page for people, as files: what stands at `/`, its style and its script. It is the log-in too, holds
/// nothing itself, and loads nothing from anywhere else.
enum StatusPage {
    /// A file of the page; `nil` where `path` is none.
    static func file(_ path: String) -> (text: String, type: String)? {
        switch path {
        case "/": (html, "text/html; charset=utf-8")
        case "/page.css": (style, "text/css; charset=utf-8")
        case "/page.js": (script, "text/javascript; charset=utf-8")
        case _: nil
        }
    }

    /// Scripts come from here alone and none stands in the page, so that no text of a site ever runs. Styles
    /// may stand in it, for the pages of incidents carry theirs.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:;"
        + " frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static let script =
        scriptBase + scriptFleet + scriptPlaces + scriptCells + scriptCurves + scriptMore + scriptSite
        + scriptStart

    static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Ballast</title><link rel="icon" href="data:,">
        <link rel="stylesheet" href="/page.css">
        </head>
        <body>
        <a class="skip" href="#main">to the content</a>
        <div id="dangers" role="alert"></div>
        <header>
        <h1><a href="#/">Ballast</a></h1>
        <nav id="views" aria-label="views" hidden><a href="#/" id="fleet-link">Fleet</a>
        <a href="#/places" id="places-link" hidden>Places</a> <a href="#/alarms" id="alarms-link">Alarms</a></nav>
        <span id="link" role="status">…</span>
        <span class="push"><span id="who" class="dim" hidden></span> <button id="logout" hidden>log out</button></span>
        </header>
        <div id="spoken" role="status" class="unseen"></div>
        <form id="login" hidden><section><h2>Log in</h2><label>Token <input id="token" type="password"
          autocomplete="current-password" required></label> <button>Log in</button>
          <p class="dim">The token is exchanged for a cookie that ends after twelve hours and that no script can read.</p>
        </section></form>
        <main id="main" tabindex="-1"></main>
        <footer>Times are this device's own: <span id="zone"></span>. Positive power flows into the grid.</footer>
        <dialog id="incidents" aria-labelledby="incidents-title"><div class="top"><h2 id="incidents-title"></h2>
        <button id="incidents-close">close</button></div>
        <div id="incidents-list"></div><iframe id="incident" title="incident" sandbox="" hidden></iframe></dialog>
        <dialog id="act" aria-labelledby="act-title"><form method="dialog" id="act-form"><h2 id="act-title"></h2>
        <p id="act-text"></p><label>Reason <input id="act-reason" maxlength="200" required></label>
        <label id="act-hours-label">for <select id="act-hours"><option value="3600">1 hour</option>
        <option value="14400">4 hours</option><option value="28800">8 hours</option>
        <option value="86400">24 hours</option></select></label>
        <p id="act-fault" role="alert" class="bad"></p>
        <button id="act-ok" value="ok" class="main">ok</button> <button id="act-cancel" type="button">cancel</button></form></dialog>
        <dialog id="lease" aria-labelledby="lease-title"><form method="dialog" id="lease-form"><h2 id="lease-title"></h2>
        <p class="dim">The site judges it and keeps its own limits; it ends by itself, also with everything here dead.
        Nothing from here resets, starts or changes a mode.</p>
        <label>Power in kW, positive into the grid <input id="lease-kw" type="number" step="any" value="0" required></label>
        <label>for <select id="lease-for"><option value="300">5 minutes</option><option value="900" selected>15 minutes</option>
        <option value="3600">1 hour</option><option value="14400">4 hours</option></select></label>
        <label>Reason <input id="lease-reason" maxlength="200" required></label>
        <p id="lease-fault" role="alert" class="bad"></p><p id="lease-answer" role="status"></p>
        <button id="lease-ok" value="ok" class="main">ask</button> <button id="lease-release" type="button">end what was granted</button>
        <button id="lease-cancel" type="button">close</button></form></dialog>
        <script src="/page.js"></script>
        </body>
        </html>

        """
}
