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
        const byId = id => document.getElementById(id);
        const isNumber = value => typeof value === "number" && isFinite(value);
        const list = value => Array.isArray(value) ? value : [];
        const isObject = value => value !== null && typeof value === "object" && !Array.isArray(value);
        const objects = value => list(value).filter(isObject);
        const count = value => isNumber(value) ? value : "?";
        const text = value => value === null || value === undefined || typeof value === "object" ? "–" : String(value);
        const shown = (value, digits, unit) => isNumber(value)
          ? value.toFixed(digits).replace("-", "−") + (unit ? " " + unit : "") : "–";
        const clock = ms => isNumber(ms) ? new Date(ms).toLocaleTimeString([], {hour12: false}) : "–";
        const moment = ms => isNumber(ms) ? new Date(ms).toLocaleString([], {hour12: false}) : "–";
        byId("zone").textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;

        // A record comes each 4 s at least. Older figures are grey and say so; after a minute they are gone.
        const oldAfter = 6000, blankAfter = 60000, silentAfter = 5000, contactWithin = 45000;
        let offset = 0, heardAt = -Infinity, fault = "";
        const serverNow = () => Date.now() + offset;
        const isConnected = () => performance.now() - heardAt < silentAfter;

        // What is the matter with what is known of a site, in words that differ.
        function health(row) {
          if (!isConnected()) return {age: Infinity, word: "no network", class: "bad", blank:
            performance.now() - heardAt > blankAfter, old: true};
          if (!isNumber(row.seen_ms)) return {age: Infinity, word: "never reported", class: "warn", old: true, blank: true};
          const age = serverNow() - row.seen_ms;
          if (row.fault) return {age, word: text(row.fault), class: "bad", old: true, blank: true};
          if (age <= oldAfter) return {age, word: "live", class: "good", old: false, blank: false};
          const asks = isNumber(row.contact_ms) && serverNow() - row.contact_ms < contactWithin && age > 10000;
          return {age, word: (asks ? "controller dead, " : "") + `no data since ${clock(row.seen_ms)}`, class: "bad",
            old: true, blank: age > blankAfter};
        }
        // A figure as old as it is.
        const aged = (health, shownText) => health.blank ? element("span", {class: "old"}, "–")
          : health.old ? element("span", {class: "old", title: "old: " + health.word}, shownText + " (old)") : shownText;

        // The token stays in this tab and ends with it; it is never part of an address.
        const kept = location.hash.startsWith("#token=") ? decodeURIComponent(location.hash.slice(7)) : null;
        if (kept) {
          sessionStorage.setItem("token", kept);
          history.replaceState(null, "", location.pathname);
        }
        const token = () => sessionStorage.getItem("token") || "";
        async function fetched(path, options) {
          const answer = await fetch(path, {...options, cache: "no-store",
            headers: {Authorization: "Bearer " + token(), ...(options || {}).headers}});
          if (answer.ok) return answer;
          let detail = "";
          try { detail = (await answer.json()).detail; } catch (error) { /* no words: the number says it */ }
          throw Object.assign(new Error(detail || answer.status), {status: answer.status});
        }
        const ask = async path => (await fetched(path)).json();
        const askText = async path => (await fetched(path)).text();
        const post = async (path, body) => (await fetched(path, {method: "POST", body: JSON.stringify(body),
          headers: {"Content-Type": "application/json"}})).json();

        function table(kind, heads, rows, caption) {
          return element("div", {class: "table", tabindex: "0", role: "region", "aria-label": caption},
            element("table", {class: kind}, element("caption", {hidden: ""}, caption),
              element("thead", {}, element("tr", {}, ...heads.map(head => element("th", {scope: "col"}, head)))),
              element("tbody", {}, ...rows)));
        }
        const figure = (label, node) => element("div", {class: "figure"}, element("span", {}, label),
          element("b", {}, node));

        """#
}
