extension StatusPage {
    /// The other parts of a site: energy, frequency, events and who did what, interlocks and wiring.
    static let scriptMore = #"""
        // MARK: energy

        let energyPoint = "meter", energyDays = 1;
        const energySheet = (site, days) => sheet(site, "energy" + days, () => {
          const until = Math.floor(serverNow()) + 60000;
          return ask(`${path(site)}/energy?from=${until - days * 86400000 - 60000}&until=${until}`);
        }, 60000);

        function energyView(site) {
          const one = energySheet(site, energyDays), blocks = objects(object(one.data).blocks).map(row => object(row.data))
            .filter(block => isNumber(block.start_s));
          const points = [...new Set(blocks.flatMap(block => Object.keys(object(block.points))))];
          if (points.length && !points.includes(energyPoint)) energyPoint = points[0];
          const of = block => object(object(block.points)[energyPoint]);
          const head = element("div", {class: "top"}, element("h2", {}, "Energy by block"),
            choice("where", (points.length ? points : [energyPoint]).map(name => [name, name]), energyPoint, value => { energyPoint = value; draw(); }),
            choice("length of time", [[1, "1 day"], [3, "3 days"], [7, "7 days"]], energyDays, value => { energyDays = Number(value); draw(); }),
            element("a", {href: `${path(site)}/energy?format=csv&from=${Math.floor(serverNow() / 3600e3) * 3600e3 - energyDays * 86400000}`, download: `${site}-energy.csv`}, "as CSV"));
          if (!blocks.length) return element("section", {id: "energy"}, head,
            waiting(one, "no block yet: a block is a quarter of an hour, told when it is over"));
          return made(one, "energy" + energyPoint, () => {
            const sum = key => blocks.reduce((total, block) => total + (isNumber(of(block)[key]) ? of(block)[key] : 0), 0);
            const rows = [...blocks].reverse().slice(0, 96).map(block => element("tr", {},
              element("th", {scope: "row", class: "name"}, moment(block.start_s * 1000)),
              cell(shown(of(block).export_wh / 1000, 2, "kWh"), "number"), cell(shown(of(block).import_wh / 1000, 2, "kWh"), "number"),
              cell(of(block).quality === "measured" ? "measured" : element("span", {class: "warn"}, `△ ${text(of(block).quality)}: ${count(of(block).measured_s)} of ${count(block.length_s)} s`)),
              cell(block.clock === "good" ? "good" : element("span", {class: "warn"}, `△ ${text(block.clock)}`))));
            return element("section", {id: "energy"}, head,
              element("div", {class: "figures"}, figure("Into the grid", shown(sum("export_wh") / 1000, 1, "kWh")),
                figure("Out of the grid", shown(sum("import_wh") / 1000, 1, "kWh")), figure("Blocks", blocks.length)),
              bars(blocks, of), table("energy cards tall", [`Begins (${zone})`, "Into the grid", "Out of the grid", "Measured", "Clock"], rows, "energy by blocks, newest first"),
              blocks.length > 96 ? element("p", {class: "dim"}, `and ${blocks.length - 96} earlier ones: as CSV`) : null);
          });
        }

        function bars(blocks, of) {
          const wide = widthOf(1200), tall = 180, left = 62, middle = 80, room = 68, from = blocks[0].start_s, last = blocks[blocks.length - 1];
          const until = last.start_s + (isNumber(last.length_s) ? last.length_s : 900);
          const most = Math.max(1, ...blocks.flatMap(block => [of(block).import_wh, of(block).export_wh]).filter(isNumber));
          const x = at => left + (at - from) / (until - from) * (wide - left - 8), height = value => isNumber(value) ? value / most * room : 0;
          const svg = drawn("svg", {viewBox: `0 0 ${wide} ${tall}`, role: "img",
            "aria-label": `energy by quarters of an hour, at most ${shown(most / 1000, 2, "kWh")} in one; up: into the grid, down: out of it`});
          for (const [value, at] of [[most, middle - room], [0, middle], [-most, middle + room]]) svg.append(
            drawn("line", {class: "grid", x1: left, x2: wide - 8, y1: at, y2: at}),
            drawn("text", {x: left - 8, y: at + 4, "text-anchor": "end"}, shown(value / 1000, 1, "")));
          for (const [at, label] of times(from * 1000, until * 1000)) svg.append(
            drawn("text", {x: x(at / 1000), y: tall - 8, "text-anchor": "middle"}, label));
          for (const block of blocks) {
            const own = of(block), begin = x(block.start_s), width = Math.max(1, x(block.start_s + (block.length_s || 900)) - begin - 1);
            svg.append(drawn("rect", {class: "out", x: begin, width, y: middle - height(own.export_wh), height: height(own.export_wh)}),
              drawn("rect", {class: "in", x: begin, width, y: middle, height: height(own.import_wh)}));
          }
          return element("div", {class: "trend"}, element("h3", {}, "kWh in each quarter of an hour", element("span", {class: "key"},
            element("span", {}, element("i", {class: "first", "aria-hidden": "true"}), "into the grid (up)"),
            element("span", {}, element("i", {class: "second", "aria-hidden": "true"}), "out of it (down)"))), svg);
        }

        // MARK: frequency

        const frequencySheet = site => sheet(site, "frequency", () => {
          const until = Math.floor(serverNow()) + 60000;
          return ask(`${path(site)}/frequency?from=${until - 30 * 86400000}&until=${until}`);
        }, 60000);

        // The score of a time of one's choice: from the events and quarters of an hour that the site told.
        let scoreSpan = "86400", scoreFrom = "", scoreUntil = "";
        const localText = ms => new Date(ms - new Date(ms).getTimezoneOffset() * 60000).toISOString().slice(0, 16);
        function scoreRange() {
          const quarter = 900000;
          if (scoreSpan !== "own") {
            const until = Math.floor(serverNow() / quarter) * quarter;
            return [until - Number(scoreSpan) * 1000, until];
          }
          const [from, until] = [Date.parse(scoreFrom), Date.parse(scoreUntil)];
          return from < until ? [from, until] : null;
        }
        function scoreView(site) {
          const range = scoreRange();
          // What is typed holds once it is asked for, so that nothing is drawn anew under the keyboard.
          const input = (id, label, value) => element("input", {id, type: "datetime-local", "aria-label": label, value});
          const head = element("div", {class: "top"}, element("h2", {}, "Score"),
            choice("time that is scored", [["21600", "6 hours"], ["86400", "1 day"], ["604800", "7 days"], ["2592000", "30 days"], ["own", "from … until"]],
              scoreSpan, value => {
                if (value === "own" && !scoreFrom) [scoreFrom, scoreUntil] = (scoreRange() || [0, 0]).map(localText);
                scoreSpan = value;
                draw();
              }),
            ...(scoreSpan === "own" ? [input("score-from", "scored from", scoreFrom), input("score-until", "scored until", scoreUntil),
              action("score this time", () => { scoreFrom = byId("score-from").value; scoreUntil = byId("score-until").value; draw(); })] : []));
          if (!range) return element("section", {id: "score"}, head, element("p", {class: "warn"}, "△ the end must be behind the begin"));
          const one = sheet(site, "score" + range.join(), () => ask(`${path(site)}/score?from=${Math.max(0, range[0])}&until=${range[1]}`), 60000);
          const data = object(one.data), score = object(data.score), share = value => isNumber(value) ? shown(value * 100, 1, "%") : "–";
          if (!one.data) return element("section", {id: "score"}, head, waiting(one, ""));
          const words = {no_data: "The site has told nothing of this time.", no_events: "No event: nothing was asked for, so nothing is scored.",
            not_judged: "Not judged: no event lasted beyond the time for full response with its begin seen, or the site did not tell how long it was in service.",
            scored: `${count(data.events)} events`}[score.verdict] || text(score.verdict);
          return element("section", {id: "score"}, head,
            element("div", {class: "figures"}, figure("Score", score.verdict === "scored" ? shown(score.total, 1, "of 100") : "–"),
              figure("Accuracy, 40 %", share(score.accuracy)), figure("Delay, 25 %", share(score.delay)),
              figure("Sustained, 20 %", share(score.sustained)), figure("In service, 15 %", share(score.in_service)),
              figure("Told of this time", share(data.coverage_share))),
            element("p", score.verdict === "scored" ? {class: "dim"} : {}, words
              + (isNumber(data.first_ms) ? `; told from ${moment(data.first_ms)} to ${moment(data.last_ms)}` : "")
              + (data.events_without_weight ? `; ${data.events_without_weight} events by an older version count nowhere` : "")
              + ". Not a regulator's figure."));
        }

        function frequencyView(site) {
          const one = frequencySheet(site), day = trends(site);
          const events = objects(object(one.data).events).map(row => object(object(row.data).event)).reverse();
          const head = element("div", {class: "top"}, element("h2", {}, "Frequency response"), element("span", {class: "dim"}, "events of 30 days, judged on the site"),
            element("a", {href: `${path(site)}/frequency?format=csv`, download: `${site}-frequency.csv`}, "as CSV"));
          const mean = key => { const all = events.map(event => event[key]).filter(isNumber);
            return all.length ? shown(all.reduce((a, b) => a + b, 0) / all.length * 100, 1, "%") : "–"; };
          const share = value => isNumber(value) ? shown(value * 100, 0, "%") : "–";
          const rows = events.slice(0, 200).map(event => element("tr", {}, element("th", {scope: "row", class: "name"}, moment(Date.parse(event.begin))),
            cell(lasting(event.duration_s), "number"),
            cell(`${shown(event.nadir_hz, 3, "")} … ${shown(event.zenith_hz, 3, "Hz")}`, "number"),
            cell(shown(event.expected_peak_kw, 1, "kW"), "number"), cell(shown(event.delivered_peak_kw, 1, "kW"), "number"),
            cell(share(event.energy_ratio), "number"),
            cell(event.response === "reached" ? `full after ${shown(event.response_s, 1, "s")}` : event.response === "missed"
              ? element("span", {class: "bad"}, "▲ not reached") : "unknown"),
            cell(`${share(event.accuracy)}, ${share(event.delay)}, ${share(event.sustained)}`)));
          return [element("section", {id: "frequency"}, head, !one.data || one.fault ? waiting(one, "") : null,
            element("div", {class: "figures"}, figure("Events", one.data ? events.length : "–"), figure("Delivered of what was asked", mean("energy_ratio")),
              figure("Accuracy", mean("accuracy")), figure("Delay", mean("delay")), figure("Sustained", mean("sustained"))),
            rows.length ? table("frequency cards", [`Begin (${zone})`, "Lasted", "Frequency", "Asked at most", "Delivered at most", "Energy delivered", "Response", "Accuracy, delay, sustained"], rows, "frequency events, newest first")
              : one.data ? element("p", {}, "no event: the frequency stayed inside the deadband, or the site has told of none") : null,
            element("p", {class: "dim"}, "Not a regulator's figure. What the grid's frequency did meanwhile stands under Now, Trends.")),
            scoreView(site),
            ...(day.data ? [made(day, "frequency", () => element("section", {}, chart("Frequency", "Hz", 3,
              [{name: "frequency", kind: "first", points: list(object(day.data.channels).frequency_hz)}], day.data, widthOf(1200))))] : [])];
        }

        // MARK: events, requests, audit

        function eventRow(event) {
          const data = object(event.data);
          const grave = /trip|fault|danger|failed|dead|lost|refused/.test(text(data.event));
          return element("tr", {}, cell(isNumber(data.t_ms) ? moment(data.t_ms) : text(data.at ?? event.received_at)),
            cell(plain(data.event ?? "event"), data.event === "trip" ? "bad" : grave ? "warn" : ""),
            cell(text(data.unit ?? data.link ?? "site"), "text"),
            cell(text(data.text ?? data.cause), "text"),
            cell([data.by, data.reason].filter(word => word !== undefined && word !== null).map(text).join(": ") || "–", "text"));
        }
        function eventsView(site, events) {
          return element("section", {id: "events"}, element("div", {class: "top"}, element("h2", {}, "Events"), element("span", {class: "dim"}, "what the site told, the newest first"),
              element("a", {href: `${path(site)}/events?format=csv&from=${Math.floor(serverNow() / 3600e3) * 3600e3 - 7 * 86400000}`, download: `${site}-events.csv`}, "7 days as CSV")),
            events.length ? table("events cards", [`Time (${zone})`, "Event", "Where", "What happened", "Who and why"], events.slice(0, 50).map(eventRow), "events, newest first") : element("p", {}, "none"));
        }

        function requestsView(site) {
          const one = sheet(site, "leases", () => ask(path(site) + "/leases"), 4000);
          const rows = objects(object(one.data).leases).slice(0, 20).map(lease => element("tr", {},
            cell(moment(Date.parse(lease.asked_at))), cell(text(lease.by), "text"),
            cell(isNumber(lease.power_w) ? shown(lease.power_w / 1000, 1, "kW") : "end of it", "number"),
            cell(moment(lease.until_ms)), cell(text(lease.reason), "text"),
            cell(element("span", {class: lease.state === "granted" ? "good" : lease.state === "refused" ? "bad" : "warn"}, text(lease.state))),
            cell(text(lease.answer), "text")));
          const against = objects(object(one.data).contradictions).slice(-5).map(word => element("p", {class: "bad"},
            `△ The site contradicts itself about lease ${count(word.sequence)}: first ${text(word.first)} (${text(word.first_answer) || "–"}), then ${text(word.state)} (${text(word.answer) || "–"}), ${moment(word.at_ms)}`));
          return element("section", {id: "requests"}, element("h2", {}, "Powers asked for"), ...against,
            rows.length ? table("requests cards", [`Asked (${zone})`, "By", "Power", "Ends", "Reason", "State", "The site's answer"], rows, "requests, newest first")
              : waiting(one, "none"));
        }

        function auditView(site) {
          const one = sheet(site, "audit", () => ask(`${path(site)}/audit?from=${Math.floor(serverNow()) - 7 * 86400000}&limit=100`), 15000);
          const rows = objects(object(one.data).audit).map(row => element("tr", {}, cell(moment(row.at_ms)),
            cell(row.who || "nobody known", "text"), cell(text(row.address)),
            cell(row.method === "LOGIN" ? "first token from there" : `${text(row.method)} ${text(row.path)}`, "text"),
            cell(row.status < 400 ? "done" : element("span", {class: "warn"}, `△ refused (${count(row.status)})`)),
            cell((row.why || "–") + (row.count > 1 ? `, ${row.count} times` : ""), "text")));
          return element("section", {id: "audit"}, element("div", {class: "top"}, element("h2", {}, "Audit"), element("span", {class: "dim"}, "who asked the aggregator about this site, 7 days")),
            isObject(detail) && detail.site === site && detail.audit ? element("p", {class: "dim", id: "site-audit"},
              `The site's own audit (ballastctl audit verify) stood at ${text(detail.audit)} when it told last.`) : null,
            rows.length ? table("audit cards", [`Time (${zone})`, "Who", "From", "What", "Outcome", "Why"], rows, "audit, newest first") : waiting(one, "nobody"));
        }

        // MARK: interlocks and wiring

        const matrixSheet = site => sheet(site, "matrix", async () => object((await ask(path(site) + "/matrix")).data), 300000);

        function matrixView(site) {
          const one = matrixSheet(site), data = object(one.data);
          if (!data.rows) return element("section", {id: "matrix"}, element("h2", {}, "Interlocks"),
            waiting(one, "the site has not told what it is made of yet: it does at its start and once a day"));
          return made(one, "matrix", () => {
            const units = objects(data.units), all = units.length;
            const rows = objects(data.rows).map(row => {
              const wired = list(row.wired), where = wired.length === all ? "all units" : wired.length ? wired.map(text).join(", ")
                : element("span", {class: "warn"}, "△ not wired");
              const short = value => shown(value, isNumber(value) && Number.isInteger(value) ? 0 : 2, "");
              const limit = value => isNumber(value) ? `${text(row.relation)} ${short(value)} ${text(row.unit) === "–" ? "" : row.unit}` : "–";
              const closes = ["charge", "discharge", "both"].includes(row.closes) ? `, ${row.closes === "both" ? "both ways" : row.closes}` : "";
              const late = isNumber(row.slowest_limit_ms) && row.slowest_ms > row.slowest_limit_ms;
              return element("tr", {}, element("th", {scope: "row", class: "name"}, plain(row.id) + (row.mandatory ? " *" : "")),
                cell(plain(row.signal), "text"), cell(limit(row.warn)),
                cell(isNumber(row.derate_from) ? `${short(row.derate_from)} → ${short(row.derate_to)}` : "–"),
                cell(limit(row.trip)), cell(isNumber(row.debounce_ms) ? lastingMs(row.debounce_ms) : "–"),
                cell(plain(row.action) + closes, "text"), cell(plain(row.reset)), cell(where, "text"),
                cell(isNumber(row.slowest_ms) ? element("span", {class: late ? "bad" : ""}, `${late ? "▲ " : ""}${lastingMs(row.slowest_ms)}`
                  + (isNumber(row.slowest_limit_ms) ? ` of ${lastingMs(row.slowest_limit_ms)}` : "")) : "–"));
            });
            const missing = list(data.not_in_force);
            return [element("section", {id: "matrix"}, element("h2", {}, "Interlocks"),
                element("p", {class: "dim"}, `${text(data.table)}; told ${moment(data.t_ms)}, configuration ${text(data.digest).slice(0, 12)}. * mandatory in production.`),
                missing.length ? element("p", {class: "warn"}, "△ not in force here, though shipped: " + missing.map(plain).join(", ")) : null,
                table("matrix cards", ["Row", "Signal", "Warns", "Derates", "Trips", "After", "Does", "Reset", "Wired at", "To zero, of limit"], rows, "interlock matrix")),
              element("section", {id: "wiring"}, element("h2", {}, "Wiring"), table("wiring cards",
                ["Unit", "Rating", "Battery", "Inverter", "Inputs and coils", "Contactors"], units.map(unit => element("tr", {},
                  element("th", {scope: "row", class: "name"}, text(unit.id)),
                  cell(`${shown(unit.rating_kw, 1, "kW")}, ${shown(unit.capacity_kwh, 1, "kWh")}`), cell(text(unit.battery), "text"), cell(text(unit.inverter), "text"),
                  cell(unit.io_module ? element("span", {}, text(unit.io_module), ...list(unit.wires).flatMap(wire => [element("br"), plain(wire)])) : "none", "text"),
                  cell(text(unit.contactors)))), "wiring of each unit"))];
          });
        }
        const lastingMs = ms => ms < 1000 ? `${Math.round(ms)} ms` : `${shown(ms / 1000, ms < 10000 ? 1 : 0, "s")}`;

        """#
}
