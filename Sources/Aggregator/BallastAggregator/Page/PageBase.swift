extension StatusPage {
    /// Elements, ages, and who asks: what every view is made of. Texts become nodes, never markup.
    static let scriptBase = #"""
        "use strict";
        const element = (tag, attributes, ...children) => {
          const node = document.createElement(tag);
          for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
          for (const child of children) if (child !== null && child !== undefined) node.append(child);
          return node;
        };
        const drawn = (tag, attributes, ...children) => {
          const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
          for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
          for (const child of children) node.append(child);
          return node;
        };
        const byId = id => document.getElementById(id);
        const isNumber = value => typeof value === "number" && isFinite(value);
        const list = value => Array.isArray(value) ? value : [];
        const isObject = value => value !== null && typeof value === "object" && !Array.isArray(value);
        const object = value => isObject(value) ? value : {};
        const objects = value => list(value).filter(isObject);
        const count = value => isNumber(value) ? value : "?";
        const text = value => value === null || value === undefined || typeof value === "object" ? "–" : String(value);
        const plain = value => text(value).replaceAll("_", " ");
        const shown = (value, digits, unit) => isNumber(value)
          ? (Object.is(Number(value.toFixed(digits)), -0) ? 0 : value).toFixed(digits).replace("-", "−")
            + (unit ? " " + unit : "") : "–";
        const clock = ms => isNumber(ms) ? new Date(ms).toLocaleTimeString([], {hour12: false}) : "–";
        const moment = ms => isNumber(ms) ? new Date(ms).toLocaleString([], {hour12: false,
          year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit"}) : "–";
        const day = ms => new Date(ms).toLocaleDateString([], {weekday: "short", day: "2-digit", month: "2-digit"});
        const zone = new Intl.DateTimeFormat([], {timeZoneName: "short"}).formatToParts(new Date())
          .filter(part => part.type === "timeZoneName").map(part => part.value)[0] || "";
        byId("zone").textContent = `${Intl.DateTimeFormat().resolvedOptions().timeZone} (${zone})`;
        const lasting = seconds => !isNumber(seconds) ? "–" : seconds < 120 ? `${Math.round(seconds)} s`
          : seconds < 7200 ? `${Math.round(seconds / 60)} min` : seconds < 172800 ? `${Math.round(seconds / 3600)} h`
          : `${Math.round(seconds / 86400)} days`;
        // Kept by the browser where it may; without it the page forgets.
        const kept = {get: name => { try { return localStorage.getItem(name); } catch (error) { return null; } },
          set: (name, value) => { try { value === null ? localStorage.removeItem(name) : localStorage.setItem(name, value); }
            catch (error) { /* nothing is kept, and nothing is lost by it */ } }};

        // A record comes each 3 s at least, within a second; where very many sites share a stream, figures
        // come in rounds. Older figures are grey and say so; after a minute they are gone.
        const oldAfter = () => rows.size > 100 ? 6500 : 4700, blankAfter = 60000, silentAfter = 3500, contactWithin = 45000;
        const rows = new Map();
        let offset = 0, heardAt = -Infinity, fault = "";
        const serverNow = () => Date.now() + offset;
        const isConnected = () => performance.now() - heardAt < silentAfter;

        // Of when the figures are. A link whose controller is silent goes on reporting that: no news of them.
        const dataAt = row => {
          const told = Date.parse(row.at);
          return row.silent === true && isFinite(told) ? told : row.seen_ms;
        };
        // What is the matter with what is known of a site, in words that differ.
        function health(row) {
          if (!isConnected()) return {word: "no network", class: "bad", blank:
            performance.now() - heardAt > blankAfter, old: true};
          if (!isNumber(row.seen_ms)) return {word: "never reported", class: "warn", old: true, blank: true};
          // Of either sign: what says that it is of tomorrow is as little of now as what is of yesterday.
          const age = Math.abs(serverNow() - row.seen_ms), told = Date.parse(row.at);
          if (row.fault) return {word: text(row.fault), class: "bad", old: true, blank: true};
          const since = `no data since ${clock(row.seen_ms)}`;
          if (row.silent === true) return {word: "controller dead, no data since " + clock(told), class: "bad", old: true,
            blank: !(serverNow() - told < blankAfter)};
          if (isNumber(row.contact_ms) && serverNow() - row.contact_ms < contactWithin && age > 10000) return {word: "controller dead, " + since, class: "bad", old: true, blank: age > blankAfter};
          if (age > oldAfter()) return {word: since, class: "bad", old: true, blank: age > blankAfter};
          if (serverNow() - told > 60000) return {word: `behind: this is of ${moment(told)}`, class: "warn", old: true, blank: false};
          return {word: "live", class: "good", old: false, blank: false};
        }
        // A figure as old as it is.
        const aged = (health, shownText) => health.blank ? element("span", {class: "old"}, "–")
          : health.old ? element("span", {class: "old", title: "old: " + health.word}, shownText + " (old)") : shownText;

        // The token is given away once, for a cookie that no script sees; a link may bring it behind the #.
        let session = null;
        async function fetched(path, options) {
          const answer = await fetch(path, {...options, cache: "no-store",
            headers: {"Ballast-Page": "1", ...(options || {}).headers}});
          if (answer.ok) return answer;
          let detail = "";
          try { detail = (await answer.json()).detail; } catch (error) { /* no words: the number says it */ }
          throw Object.assign(new Error(detail || answer.status), {status: answer.status});
        }
        const ask = async path => (await fetched(path)).json();
        const askText = async path => (await fetched(path)).text();
        const post = async (path, body) => (await fetched(path, body === undefined ? {method: "POST"} : {method: "POST",
          body: JSON.stringify(body), headers: {"Content-Type": "application/json"}})).json();
        const path = site => `/v1/sites/${encodeURIComponent(site)}`;

        // Tables keep their meaning where a narrow screen shows each row as a card.
        function table(kind, heads, rows, caption) {
          rows.forEach(row => {
            row.setAttribute("role", "row");
            [...row.children].forEach((cell, index) => {
              cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
              cell.setAttribute("data-label", heads[index] || "");
            });
          });
          return element("div", {class: "table", tabindex: "0", role: "region", "aria-label": caption},
            element("table", {class: kind, role: "table", "aria-label": caption},
              element("thead", {role: "rowgroup"}, element("tr", {role: "row"},
                ...heads.map(head => element("th", {scope: "col", role: "columnheader"}, head)))),
              element("tbody", {role: "rowgroup"}, ...rows)));
        }
        const cell = (content, kind) => element("td", kind ? {class: kind} : {}, content);
        const figure = (label, node) => element("div", {class: "figure"}, element("span", {}, label),
          element("b", {}, node));
        const choice = (label, options, chosen, take) => {
          const box = element("select", {"aria-label": label}, ...options.map(([value, name]) =>
            element("option", {value, ...(String(value) === String(chosen) ? {selected: ""} : {})}, name)));
          box.addEventListener("change", () => take(box.value));
          return box;
        };
        const action = (label, run, name) => {
          const button = element("button", name ? {"aria-label": name} : {}, label);
          button.addEventListener("click", run);
          return button;
        };

        """#
}
