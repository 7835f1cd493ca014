/// The page at `/`, which is the log-in too: holds nothing itself, asks `/v1/summary` once a second with the
/// token that somebody gives it, and loads nothing from anywhere else.
enum StatusPage {
    static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Ballast sites</title><link rel="icon" href="data:,">
        <style>\(style)</style>
        </head>
        <body>
        <header><h1>Ballast</h1><span id="link">…</span><button id="logout" hidden>log out</button></header>
        <form id="login" hidden><label>Token <input id="token" type="password" autocomplete="current-password"
          required></label> <button>Log in</button></form>
        <main id="sites"></main>
        <dialog id="incidents"><div class="top"><h2 id="incidents-title"></h2><button id="incidents-close">close</button></div>
        <div id="incidents-list"></div><iframe id="incident" title="incident" sandbox="" hidden></iframe></dialog>
        <script>\(script)</script>
        </body>
        </html>

        """

    private static let style = """
        :root { --ink: #17202a; --dim: #66727f; --line: #dde3e9; --card: #fff; --back: #f2f5f8;
                --good: #0a7d4b; --bad: #c0281c; --warn: #a66300; --bar: #2f6fdb; }
        @media (prefers-color-scheme: dark) {
          :root { --ink: #e8edf2; --dim: #93a0ad; --line: #2b3642; --card: #17202a; --back: #0e141b;
                  --good: #3ccf8e; --bad: #ff6b5e; --warn: #f0a93a; --bar: #5b95f5; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--ink);
               font: 15px/1.45 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
        header { display: flex; align-items: baseline; gap: 1rem; padding: 1rem 1.5rem; }
        h1 { font-size: 1.2rem; margin: 0; letter-spacing: .02em; }
        h2 { font-size: 1.05rem; margin: 0; }
        form { padding: 0 1.5rem 1rem; }
        [hidden] { display: none; }
        dialog { width: 92vw; height: 92vh; border: 1px solid var(--line); border-radius: 10px;
                 background: var(--card); color: var(--ink); }
        dialog .top { justify-content: space-between; }
        iframe { width: 100%; height: 78vh; border: 0; background: #fff; }
        #incidents-list { max-height: 9rem; overflow-y: auto; margin: .5rem 0; }
        #incidents-list button { margin: .1rem .4rem .1rem 0; }
        main { display: grid; gap: 1rem; padding: 0 1.5rem 2rem; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
                  padding: 1rem; }
        .top { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: baseline; }
        .figures { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: .8rem 0; }
        .figure b { display: block; font-size: 1.7rem; font-weight: 600; }
        .dim, th, .figure span { color: var(--dim); font-size: .85rem; font-weight: 400; }
        .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
        .table { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; }
        th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-top: 1px solid var(--line);
                 white-space: nowrap; }
        td.text { white-space: normal; }
        .soc { display: inline-block; width: 6rem; height: .6rem; border-radius: .3rem;
               background: var(--line); overflow: hidden; margin-right: .5rem; }
        .soc i { display: block; height: 100%; background: var(--bar); }
        """

    private static let script = #"""
        const element = (tag, attributes, ...children) => {
          const node = document.createElement(tag);
          for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
          for (const child of children) if (child !== null && child !== undefined) node.append(child);
          return node;
        };
        const isNumber = value => typeof value === "number" && isFinite(value);
        const shown = (value, digits, unit) => isNumber(value) ? value.toFixed(digits) + " " + unit : "–";
        const list = value => Array.isArray(value) ? value : [];
        const figure = (label, text) => element("div", {class: "figure"}, element("span", {}, label),
          element("b", {}, text));
        const modeClass = unit => list(unit.trips).length || unit.mode === "tripped" ? "bad"
          : unit.mode === "running" ? "good" : "warn";

        function soc(percent) {
          if (!isNumber(percent)) return "–";
          const width = Math.min(100, Math.max(0, percent));
          const bar = element("span", {class: "soc"}, element("i", {style: `width:${width}%`}));
          return element("span", {}, bar,
            percent.toFixed(1) + " %");
        }

        function limitedBy(unit) {
          const ends = [unit.charge_limited_by, unit.discharge_limited_by].filter(cause => cause != null);
          return ends.length === 2 && ends[0] !== ends[1]
            ? `charge ${ends[0]}, discharge ${ends[1]}` : String(ends[0] ?? "");
        }

        // Only somebody on the site starts it again: the page says so and has no button.
        const holdText = unit => `held ${list(unit.holds).join(", ").replaceAll("_", " ")}: `
          + `waits for ballastctl resume ${unit.id ?? ""}`;

        function unitRow(unit) {
          return element("tr", {},
            element("td", {}, String(unit.id ?? "–")),
            element("td", {class: modeClass(unit)}, String(unit.mode ?? "–")),
            element("td", {}, shown(unit.power_kw, 1, "kW")),
            element("td", {}, shown(unit.setpoint_kw, 1, "kW")),
            element("td", {}, soc(unit.soc_percent)),
            element("td", {}, shown(unit.charge_limit_kw, 0, "…") + " "
              + shown(unit.discharge_limit_kw, 0, "kW")),
            element("td", {}, limitedBy(unit)),
            element("td", {}, element("span", {class: "bad"}, list(unit.trips).join(", ")),
              list(unit.holds).length ? element("div", {class: "warn"}, holdText(unit)) : null));
        }

        function eventRow(event) {
          const data = event.data || {};
          const text = String(data.text ?? data.cause ?? "");
          return element("tr", {}, element("td", {class: "dim"}, String(data.at ?? event.received_at)),
            element("td", {class: data.event === "trip" ? "bad" : ""}, String(data.event ?? "event")),
            element("td", {class: "text"}, text));
        }

        function table(heads, rows) {
          return element("div", {class: "table"}, element("table", {},
            element("thead", {}, element("tr", {}, ...heads.map(head => element("th", {}, head)))),
            element("tbody", {}, ...rows)));
        }

        const unitHeads = ["Unit", "State", "Power", "Setpoint", "State of charge", "Permit", "Limited by",
          "Trips, holds"];
        const eventHeads = ["Time", "Event", "What happened"];

        function incidentsButton(site) {
          const button = element("button", {}, "incidents");
          button.addEventListener("click", () => openIncidents(site));
          return button;
        }

        // What a site has kept of its incidents. The page of one is shown without scripts of its own.
        async function openIncidents(site) {
          const path = `/v1/sites/${encodeURIComponent(site)}`;
          const rows = document.getElementById("incidents-list"), frame = document.getElementById("incident");
          document.getElementById("incidents-title").textContent = `Incidents at ${site}`;
          frame.hidden = true;
          rows.replaceChildren("…");
          document.getElementById("incidents").showModal();
          try {
            const captures = list((await ask(path + "/captures")).captures);
            rows.replaceChildren(...captures.map(capture => {
              const isWhole = capture.stored === capture.bytes;
              const button = element("button", isWhole ? {} : {disabled: ""}, String(capture.name)
                + (isWhole ? "" : ` (${capture.stored} of ${capture.bytes} bytes)`));
              button.addEventListener("click", async () => {
                try {
                  frame.srcdoc = await askText(`${path}/incident?name=${encodeURIComponent(capture.name)}`);
                  frame.hidden = false;
                } catch (error) { rows.append(element("p", {class: "bad"}, error.message)); }
              });
              return button;
            }));
            if (!captures.length) rows.replaceChildren("None was kept, or the site's link brings none.");
          } catch (error) { rows.replaceChildren(element("p", {class: "bad"}, error.message)); }
        }
        document.getElementById("incidents-close").addEventListener("click", () =>
          document.getElementById("incidents").close());

        function card(site, state) {
          const telemetry = state && state.telemetry && state.telemetry.data || {};
          const age = state && state.last_seen ? (Date.now() - Date.parse(state.last_seen)) / 1000 : null;
          const seen = age === null ? "never seen" : age < 5 ? "live" : `last seen ${Math.round(age)} s ago`;
          const units = list(telemetry.units), events = list(state && state.events);
          return element("section", {},
            element("div", {class: "top"}, element("h2", {}, site.id),
              element("span", {class: age !== null && age < 5 ? "good" : "bad"}, seen),
              element("span", {class: "dim"}, state && state.epoch
                ? `stored through ${state.stored_through} of ${state.epoch.slice(0, 8)}…` : ""),
              incidentsButton(site.id)),
            element("div", {class: "figures"},
              figure("Frequency", shown(telemetry.frequency_hz, 3, "Hz")),
              figure("Site power", shown(telemetry.site_power_kw, 1, "kW")),
              figure("Base point", shown(telemetry.base_point_kw, 1, "kW")),
              figure("Frequency response", shown(telemetry.response_kw, 1, "kW"))),
            units.length ? table(unitHeads, units.map(unitRow)) : null,
            events.length ? table(eventHeads, events.slice(0, 12).map(eventRow)) : null);
        }

        // The token stays in this tab and ends with it; it is never part of an address.
        const kept = new URLSearchParams(location.hash.slice(1)).get("token");
        if (kept) {
          sessionStorage.setItem("token", kept);
          history.replaceState(null, "", location.pathname);
        }
        async function fetched(path) {
          const token = sessionStorage.getItem("token") || "";
          const answer = await fetch(path, {headers: {Authorization: "Bearer " + token}, cache: "no-store"});
          if (answer.ok) return answer;
          const body = await answer.json();
          throw Object.assign(new Error(body.detail || answer.status), {status: answer.status});
        }
        const ask = async path => (await fetched(path)).json();
        const askText = async path => (await fetched(path)).text();
        const login = document.getElementById("login"), logout = document.getElementById("logout");
        login.addEventListener("submit", event => {
          event.preventDefault();
          sessionStorage.setItem("token", document.getElementById("token").value);
          document.getElementById("token").value = "";
          login.hidden = true;
          refresh();
        });
        logout.addEventListener("click", () => {
          sessionStorage.removeItem("token");
          location.reload();
        });
        function closed(reason) {
          sessionStorage.removeItem("token");
          document.getElementById("sites").replaceChildren();
          login.hidden = false;
          logout.hidden = true;
          document.getElementById("token").focus();
          return reason;
        }
        async function refresh() {
          const status = document.getElementById("link");
          if (!sessionStorage.getItem("token")) return void (status.textContent = closed("log in to see the sites"));
          try {
            const {sites, next} = await ask("/v1/summary");
            document.getElementById("sites").replaceChildren(...sites.map(state => card({id: state.site}, state)));
            status.textContent = sites.length + (sites.length === 1 ? " site" : " sites")
              + (next ? ", and more" : "");
            status.className = "dim";
            logout.hidden = false;
          } catch (error) {
            status.textContent = "no answer: " + error.message;
            status.className = "bad";
            if (error.status === 401 || error.status === 403) return void closed();
          }
          setTimeout(refresh, 1000);
        }
        refresh();
        """#
}
