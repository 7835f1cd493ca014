/// The page for people, as files: what stands at `/`, its style and its script. It is the log-in too, holds
/// nothing itself,
/// and loads nothing from anywhere else.
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
    /// may stand
    /// in it, for the pages of incidents carry theirs.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:;"
        + " frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    static let script = scriptBase + scriptFleet + scriptSite + scriptStart

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
        <nav aria-label="views"><a href="#/">Fleet</a> <a href="#/alarms" id="alarms-link">Alarms</a></nav>
        <span id="link" role="status">…</span><button id="logout" hidden>log out</button>
        </header>
        <form id="login" hidden><label>Token <input id="token" type="password" autocomplete="current-password"
          required></label> <button>Log in</button></form>
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
        <p id="act-fault" role="alert"></p>
        <button id="act-ok" value="ok">ok</button> <button id="act-cancel" type="button">cancel</button></form></dialog>
        <script src="/page.js"></script>
        </body>
        </html>

        """

    /// Colours have a contrast of 4.5 and more on both grounds; none of them says anything alone.
    static let style = """
        :root { --ink: #17202a; --dim: #55616d; --line: #d5dce3; --card: #fff; --back: #f2f5f8;
                --good: #08683e; --bad: #b3241a; --warn: #8a5200; --bar: #2a63c4; color-scheme: light dark; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e8edf2; --dim: #9aa7b4; --line: #2f3b48; --card: #17202a; --back: #0e141b;
                  --good: #45d495; --bad: #ff8278; --warn: #f2b04a; --bar: #76a7f8; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--ink);
               font: 15px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
        a { color: var(--bar); } h1 a { color: inherit; text-decoration: none; }
        a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, [tabindex]:focus-visible {
          outline: 3px solid var(--bar); outline-offset: 2px; }
        .skip { position: absolute; left: -999px; } .skip:focus { left: 1rem; top: .3rem; }
        header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem 1.2rem; padding: .8rem 1.2rem; }
        nav { display: flex; gap: 1rem; }
        h1 { font-size: 1.2rem; margin: 0; } h2 { font-size: 1.05rem; margin: 0; } h3 { font-size: .95rem; margin: 1rem 0 .2rem; }
        form#login, footer { padding: 0 1.2rem 1rem; }
        footer { color: var(--dim); font-size: .85rem; }
        [hidden] { display: none !important; }
        button, input, select { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--dim);
                 border-radius: 6px; padding: .25rem .7rem; min-height: 2rem; }
        dialog { max-width: 92vw; border: 1px solid var(--line); border-radius: 10px; background: var(--card);
                 color: var(--ink); }
        dialog#incidents { width: 92vw; height: 92vh; }
        dialog label { display: block; margin: .6rem 0; }
        dialog .top { justify-content: space-between; }
        iframe { width: 100%; height: 78vh; border: 0; background: #fff; }
        #incidents-list { max-height: 9rem; overflow-y: auto; margin: .5rem 0; }
        #incidents-list button { margin: .1rem .4rem .1rem 0; }
        main { display: grid; gap: 1rem; padding: 0 1.2rem 1.2rem; grid-template-columns: minmax(0, 1fr); }
        main:focus { outline: none; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; }
        .top { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: baseline; }
        .figures { display: flex; flex-wrap: wrap; gap: .5rem 2.2rem; margin: .8rem 0; }
        .figure b { display: block; font-size: 1.6rem; font-weight: 600; }
        .dim, th, .figure span { color: var(--dim); font-size: .85rem; font-weight: 400; }
        .good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .warn { color: var(--warn); }
        .old { color: var(--dim); font-style: italic; }
        .table { overflow-x: auto; } .notes { margin: .4rem 0; overflow-wrap: anywhere; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; padding: .35rem .9rem .35rem 0; border-top: 1px solid var(--line);
                 white-space: nowrap; vertical-align: top; }
        td.text { white-space: normal; min-width: 14rem; overflow-wrap: anywhere; }
        td.number, th.number { text-align: right; }
        .soc { display: inline-block; width: 5rem; height: .6rem; border-radius: .3rem; background: var(--line);
               overflow: hidden; margin-right: .5rem; }
        .soc i { display: block; height: 100%; background: var(--bar); }
        #dangers p { margin: 0; padding: .7rem 1.2rem; background: #a3150c; color: #fff; font-weight: 700; font-size: 1.1rem;
                     border-bottom: 2px solid #fff; overflow-wrap: anywhere; }
        .trend { margin: .6rem 0; } .trend svg { width: 100%; height: 110px; display: block; }
        .trend path { fill: none; stroke: var(--bar); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
        .trend .grid { stroke: var(--line); }
        @media (max-width: 600px) {
          .fleet thead { position: absolute; left: -999px; }
          .fleet tr { display: grid; grid-template-columns: 1fr 1fr; border-top: 1px solid var(--line); padding: .4rem 0; }
          .fleet td { border: 0; padding: .1rem .4rem .1rem 0; white-space: normal; overflow-wrap: anywhere; text-align: left; }
          .fleet td::before { content: attr(data-label) " "; color: var(--dim); font-size: .8rem; }
          .fleet td.name { grid-column: 1 / -1; font-weight: 600; } .fleet td.name::before { content: ""; }
        }
        @media (prefers-reduced-motion: no-preference) { .figure b { transition: color .3s; } }
        """
}
