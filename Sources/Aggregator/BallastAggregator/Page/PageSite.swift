extension StatusPage {
    /// One site: figures, trends, units, events, incidents.
    static let scriptSite = #"""
        let detail = null, trend = {span: 3600, at: 0, lines: []};
        const modeClass = unit => list(unit.trips).length || unit.mode === "tripped" ? "bad"
          : unit.mode === "running" ? "good" : "warn";

        function soc(percent) {
          if (!isNumber(percent)) return "–";
          const bar = element("i");
          bar.style.width = `${Math.min(100, Math.max(0, percent))}%`;
          return element("span", {}, element("span", {class: "soc", "aria-hidden": "true"}, bar), shown(percent, 1, "%"));
        }

        function limitedBy(unit) {
          const ends = [unit.charge_limited_by, unit.discharge_limited_by].filter(cause => cause != null).map(text);
          return ends.length === 2 && ends[0] !== ends[1] ? `charge ${ends[0]}, discharge ${ends[1]}` : ends[0] ?? "";
        }

        // Only somebody on the site starts it again: the page says so and has no button. A unit that is
        // still tripped
        // waits for a reset first.
        function waits(unit) {
          if (list(unit.trips).length) return null;
          const held = list(unit.holds);
          return held.length ? `held ${held.join(", ").replaceAll("_", " ")}: waits for ballastctl resume ${text(unit.id)}`
            : null;
        }

        // What a person must know of a unit stands above the table, where no width cuts it off.
        function unitNotes(unit) {
          const notes = [list(unit.trips).length ? element("div", {class: "bad"}, "tripped: " + list(unit.trips).join(", ")) : null,
            waits(unit) ? element("div", {class: "warn"}, waits(unit)) : null,
            ...list(unit.locks).map(lock => element("div", {class: "warn"}, "locked: " + text(lock))),
            ...list(unit.missing).map(what => element("div", {class: "bad"}, "missing: " + text(what))),
            list(unit.warnings).length ? element("div", {class: "warn"}, "warns: " + list(unit.warnings).join(", ")) : null].filter(note => note);
          return notes.length ? element("div", {class: "notes"}, element("b", {}, text(unit.id)), ...notes) : null;
        }

        function unitRow(unit, state) {
          const cells = [unit.cell_temperature_min_c, unit.cell_temperature_max_c];
          return element("tr", {}, element("th", {scope: "row"}, text(unit.id)),
            element("td", {class: state.old ? "old" : modeClass(unit)}, state.blank ? "unknown" : text(unit.mode)),
            element("td", {class: "number"}, aged(state, shown(unit.power_kw, 1, "kW"))),
            element("td", {class: "number"}, aged(state, shown(unit.setpoint_kw, 1, "kW"))),
            element("td", {}, state.old ? aged(state, shown(unit.soc_percent, 1, "%")) : soc(unit.soc_percent)),
            element("td", {}, aged(state, shown(cells[0], 1, "") + " … " + shown(cells[1], 1, "°C"))),
            element("td", {}, aged(state, shown(unit.charge_limit_kw, 0, "") + " … " + shown(unit.discharge_limit_kw, 0, "kW"))),
            element("td", {}, limitedBy(unit)));
        }

        function eventRow(event) {
          const data = isObject(event.data) ? event.data : {};
          return element("tr", {}, element("td", {class: "dim"}, isNumber(data.t_ms) ? moment(data.t_ms) : text(data.at ?? event.received_at)),
            element("td", {class: data.event === "trip" ? "bad" : ""}, text(data.event ?? "event").replaceAll("_", " ")),
            element("td", {class: "text"}, text(data.text ?? data.cause)));
        }

        // MARK: trends

        const channels = [["frequency_hz", "Frequency", "Hz", 3], ["site_power_kw", "Power", "kW", 1]];
        const spans = [[900, "15 min"], [3600, "1 h"], [21600, "6 h"], [86400, "1 day"]];

        async function loadTrend(site) {
          const until = Math.floor(serverNow()), from = until - trend.span * 1000;
          const lines = [];
          for (const [channel] of channels) {
            const path = `/v1/sites/${encodeURIComponent(site)}/series?channel=${channel}&from=${from}&until=${until}`;
            lines.push(objects((await ask(path)).minutes));
          }
          trend = {...trend, site, from, until, lines, at: performance.now()};
        }

        function curve([, name, unit, digits], minutes) {
          const values = minutes.flatMap(minute => [minute.low, minute.high]).filter(isNumber);
          if (!values.length) return element("div", {class: "trend"}, element("h3", {}, name), "no values in this time");
          let low = Math.min(...values), high = Math.max(...values);
          if (high - low < 1e-9) { low -= 0.5; high += 0.5; }
          const x = at => (at - trend.from) / (trend.until - trend.from) * 1000;
          const y = value => 100 - (value - low) / (high - low) * 100;
          let path = "", last = -Infinity;
          // Where no minute is known the line breaks: nothing is drawn that nobody measured.
          for (const minute of minutes) {
            if (!isNumber(minute.mean)) continue;
            path += `${minute.start_ms - last > 90000 ? "M" : "L"}${x(minute.start_ms + 30000).toFixed(1)} ${y(minute.mean).toFixed(1)}`;
            last = minute.start_ms;
          }
          const ns = "http://www.w3.org/2000/svg";
          const svg = document.createElementNS(ns, "svg"), line = document.createElementNS(ns, "path");
          const words = `${name}: lowest ${shown(low, digits, unit)}, highest ${shown(high, digits, unit)}`
            + ` from ${moment(trend.from)} to ${moment(trend.until)}`;
          for (const [key, value] of [["viewBox", "0 0 1000 100"], ["preserveAspectRatio", "none"], ["role", "img"],
            ["aria-label", words]]) svg.setAttribute(key, value);
          line.setAttribute("d", path);
          svg.append(line);
          return element("div", {class: "trend"}, element("h3", {}, `${name} (${unit})`), svg,
            element("div", {class: "dim"}, words));
        }

        function trendView(site) {
          const choice = element("select", {"aria-label": "length of time"}, ...spans.map(([seconds, name]) =>
            element("option", {value: seconds, ...(seconds === trend.span ? {selected: ""} : {})}, name)));
          choice.addEventListener("change", async () => {
            trend.span = Number(choice.value);
            try { await loadTrend(site); } catch (error) { fault = error.message; }
            draw();
          });
          return element("section", {id: "trends"}, element("div", {class: "top"}, element("h2", {}, "Trends"), choice,
            element("span", {class: "dim"}, trend.site === site ? `as of ${clock(trend.until)}` : "…")),
            ...(trend.site === site ? channels.map((channel, index) => curve(channel, trend.lines[index] ?? [])) : []));
        }

        // MARK: incidents

        function incidentsButton(site) {
          const button = element("button", {}, "incidents");
          button.addEventListener("click", () => openIncidents(site));
          return button;
        }

        // What a site has kept of its incidents. The page of one is shown without scripts of its own.
        async function openIncidents(site) {
          const path = `/v1/sites/${encodeURIComponent(site)}`, box = byId("incidents-list"), frame = byId("incident");
          byId("incidents-title").textContent = `Incidents at ${site}`;
          frame.hidden = true;
          box.replaceChildren("…");
          byId("incidents").showModal();
          try {
            const captures = objects((await ask(path + "/captures")).captures);
            box.replaceChildren(...captures.map(capture => {
              const isWhole = capture.stored === capture.bytes;
              const button = element("button", isWhole ? {} : {disabled: ""}, text(capture.name)
                + (isWhole ? "" : ` (${capture.stored} of ${capture.bytes} bytes)`));
              button.addEventListener("click", async () => {
                try {
                  frame.srcdoc = await askText(`${path}/incident?name=${encodeURIComponent(capture.name)}`);
                  frame.hidden = false;
                } catch (error) { box.append(element("p", {class: "bad"}, error.message)); }
              });
              return button;
            }));
            if (!captures.length) box.replaceChildren("None was kept, or the site's link brings none.");
          } catch (error) { box.replaceChildren(element("p", {class: "bad"}, error.message)); }
        }
        byId("incidents-close").addEventListener("click", () => byId("incidents").close());

        function siteView(site) {
          const row = rows.get(site);
          if (!row) return [element("section", {}, element("h2", {}, site), "There is no such site for you.")];
          const state = health(row), known = detail && detail.site === site ? detail : null;
          const telemetry = known && isObject(known.telemetry) && isObject(known.telemetry.data) ? known.telemetry.data : {};
          const units = objects(telemetry.units), events = objects(known && known.events);
          const unitHeads = ["Unit", "State", "Power", "Setpoint", "Charge", "Cells", "Permit", "Limited by"];
          return [element("section", {}, element("div", {class: "top"}, element("h2", {}, site),
              element("span", {class: state.class, id: "data-state"}, state.word),
              row.stopped ? element("span", {class: "bad"}, "STOPPED by a person") : null,
              element("span", {class: "dim"}, row.mode ? `mode ${text(row.mode)}` : ""), incidentsButton(site)),
            element("div", {class: "figures"},
              figure("Frequency", aged(state, shown(row.frequency_hz, 3, "Hz"))),
              figure("Site power", aged(state, shown(row.site_power_kw, 1, "kW"))),
              figure("Setpoint", aged(state, shown(row.setpoint_kw, 1, "kW"))),
              figure("Mean charge", aged(state, shown(row.soc_percent, 1, "%")))),
            ...units.map(unitNotes),
            units.length ? table("units", unitHeads, units.map(unit => unitRow(unit, state)), "units") : "no unit is known"),
            ...safely(() => alarmView(site)), ...safely(() => trendView(site)),
            ...safely(() => element("section", {}, element("h2", {}, "Events"), events.length
              ? table("events", ["Time", "Event", "What happened"], events.slice(0, 20).map(eventRow), "events, newest first")
              : "none"))];
        }

        """#

    /// Log-in, the stream, and what is drawn when.
    static let scriptStart = #"""
        const place = () => location.hash.startsWith("#/site/") ? decodeURIComponent(location.hash.slice(7)) : null;
        let drawn = "";

        // One bad record leaves its own place empty and never the page.
        function safely(view) {
          try { return [view()].flat(); } catch (error) {
            return [element("section", {}, element("p", {class: "bad"}, "this part cannot be shown: " + error.message))];
          }
        }

        function draw() {
          if (!token()) return;
          const main = byId("main"), site = place(), focus = document.activeElement;
          const open = focus && main.contains(focus) && (focus.tagName === "SELECT" || focus.id === "filter");
          safely(() => { drawDangers(); return []; });
          const views = location.hash === "#/alarms" ? safely(() => alarmView(null))
            : site === null ? safely(fleetView) : safely(() => siteView(site));
          // What somebody is choosing in stays, and so does the place of the keyboard.
          if (open && focus.tagName === "SELECT") return;
          const path = focus && main.contains(focus) ? pathTo(main, focus) : null;
          main.replaceChildren(...views);
          if (path) {
            const again = path.reduce((node, index) => node && node.children[index], main);
            if (again && again.focus) again.focus({preventScroll: true});
            if (again && again.id === "filter") again.setSelectionRange(filter.length, filter.length);
          }
        }
        function pathTo(root, node) {
          const path = [];
          for (; node !== root; node = node.parentElement) path.unshift([...node.parentElement.children].indexOf(node));
          return path;
        }

        function drawStatus() {
          const status = byId("link"), silence = Math.round((performance.now() - heardAt) / 1000);
          if (!token()) return;
          const now = isConnected() ? `${rows.size} ${rows.size === 1 ? "site" : "sites"}, live`
            : fault ? `no answer: ${fault}` : isFinite(silence) ? `no network for ${silence} s` : "…";
          if (status.textContent !== now) status.textContent = now;
          status.className = isConnected() ? "dim" : "bad";
        }

        function closed(reason) {
          sessionStorage.removeItem("token");
          rows.clear();
          byId("main").replaceChildren();
          byId("dangers").replaceChildren();
          byId("login").hidden = false;
          byId("logout").hidden = true;
          byId("link").textContent = reason;
          byId("link").className = "bad";
          byId("token").focus();
        }

        // The stream of changed rows; where it ends, it is opened again.
        async function follow() {
          const mine = token();
          while (token() === mine && mine) {
            try {
              const answer = await fetched("/v1/live");
              fault = "";
              byId("logout").hidden = false;
              const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
              let rest = "";
              for (;;) {
                const {value, done} = await reader.read();
                if (done || token() !== mine) break;
                rest += value;
                const parts = rest.split("\n\n");
                rest = parts.pop();
                for (const part of parts) take(part.replace(/^data: /, ""));
              }
            } catch (error) {
              fault = error.message;
              if (error.status === 401 || error.status === 403) return closed("no answer: " + error.message);
            }
            drawStatus();
            await new Promise(wake => setTimeout(wake, 1000));
          }
        }
        function take(json) {
          let news;
          try { news = JSON.parse(json); } catch (error) { return; }
          offset = news.now_ms - Date.now();
          const isNew = !isConnected();
          heardAt = performance.now();
          for (const row of list(news.sites)) if (row && row.site) rows.set(row.site, row);
          if (isNew) look().then(draw);
        }

        // What the stream does not carry: the alarms, and one site's whole state.
        async function look() {
          if (!token() || !isConnected() || document.hidden) return;
          try {
            await loadAlarms();
            const site = place();
            if (site !== null && rows.has(site)) {
              detail = await ask(`/v1/sites/${encodeURIComponent(site)}/state`);
              if (trend.site !== site || performance.now() - trend.at > 20000) await loadTrend(site);
            }
          } catch (error) { if (isConnected()) fault = error.message; }
        }

        byId("login").addEventListener("submit", event => {
          event.preventDefault();
          sessionStorage.setItem("token", byId("token").value);
          byId("token").value = "";
          byId("login").hidden = true;
          follow();
        });
        byId("logout").addEventListener("click", () => {
          sessionStorage.removeItem("token");
          location.hash = "";
          location.reload();
        });
        addEventListener("hashchange", () => { look().then(draw); draw(); byId("main").focus(); scrollTo(0, 0); });
        setInterval(() => { drawStatus(); draw(); }, 1000);
        setInterval(look, 2000);
        if (token()) follow(); else closed("log in to see the sites");
        """#
}
