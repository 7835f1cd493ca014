extension StatusPage {
    /// One site as it is now: figures, units, alarms, links, what is asked of it.
    static let scriptSite = #"""
        let detail = null;
        const modeClass = unit => list(unit.trips).length || unit.mode === "tripped" ? "bad"
          : unit.mode === "running" ? "good" : "warn";

        function soc(percent) {
          if (!isNumber(percent)) return "–";
          const bar = element("i");
          bar.style.width = `${Math.min(100, Math.max(0, percent))}%`;
          return element("span", {}, element("span", {class: "soc", "aria-hidden": "true"}, bar), shown(percent, 1, "%"));
        }

        function limitedBy(unit) {
          const ends = [unit.charge_limited_by, unit.discharge_limited_by]
            .filter(cause => cause != null && cause !== "none").map(plain);
          return ends.length === 2 && ends[0] !== ends[1] ? `charge ${ends[0]}, discharge ${ends[1]}` : ends[0] ?? "nothing";
        }

        // Only somebody on the site starts it again: the page says so and has no button. A unit that is
        // still tripped waits for a reset first.
        function waits(unit) {
          if (list(unit.trips).length) return null;
          const held = list(unit.holds);
          return held.length ? `held ${plain(held.join(", "))}: waits for ballastctl resume ${text(unit.id)}` : null;
        }

        // What a person must know of a unit stands above the table, where no width cuts it off.
        function unitNotes(unit) {
          const begun = typeof unit.begun_by === "string" && unit.begun_by ? `, begun by ${plain(unit.begun_by)}` : "";
          const notes = [list(unit.trips).length ? element("div", {class: "bad"}, "tripped: " + list(unit.trips).map(plain).join(", ") + begun) : null,
            waits(unit) ? element("div", {class: "warn"}, waits(unit)) : null,
            ...list(unit.locks).map(lock => element("div", {class: "warn"}, "locked: " + text(lock))),
            ...list(unit.missing).map(what => element("div", {class: "bad"}, "missing: " + plain(what))),
            list(unit.warnings).length ? element("div", {class: "warn"}, "warns: " + list(unit.warnings).map(plain).join(", ")) : null].filter(note => note);
          return notes.length ? element("div", {class: "notes"}, element("b", {}, text(unit.id)), ...notes) : null;
        }

        function unitRow(unit, state) {
          return element("tr", {}, element("th", {scope: "row", class: "name"}, text(unit.id)),
            cell(state.blank ? "unknown" : plain(unit.mode), state.old ? "old" : modeClass(unit)),
            cell(aged(state, shown(unit.power_kw, 1, "kW")), "number"),
            cell(aged(state, shown(unit.setpoint_kw, 1, "kW")), "number"),
            cell(state.old ? aged(state, shown(unit.soc_percent, 1, "%")) : soc(unit.soc_percent)),
            cell(aged(state, shown(unit.cell_temperature_min_c, 1, "") + " … " + shown(unit.cell_temperature_max_c, 1, "°C"))),
            cell(aged(state, shown(unit.cell_voltage_min_v, 3, "") + " … " + shown(unit.cell_voltage_max_v, 3, "V"))),
            cell(aged(state, shown(unit.charge_limit_kw, 0, "") + " … " + shown(unit.discharge_limit_kw, 0, "kW"))),
            cell(aged(state, limitedBy(unit))));
        }

        function linksView(telemetry, state) {
          const counters = object(telemetry.counters);
          const named = list(telemetry.links).map(link => isObject(link)
            ? [text(link.name), object(link.counters).up === 0 ? "down" : "up", object(link.counters)]
            : [text(link).replace(/ (up|down)$/, ""), text(link).endsWith(" down") ? "down" : "up", null]);
          const links = named.map(([name, now, own]) => {
            const counts = own || object(counters[name]);
            const faults = Object.entries(counts).filter(([key, value]) => isNumber(value) && value > 0
              && /error|timeout|reject|garbage|drop|lost|exception|stall|overrun/.test(key) && !/_(us|ms|s)$/.test(key));
            return element("tr", {}, element("th", {scope: "row", class: "name"}, name),
              cell(state.old ? element("span", {class: "old"}, state.blank ? "unknown" : now + " (old)")
                : element("span", {class: now === "up" ? "good" : "bad"}, now === "up" ? "● up" : "▲ down")),
              cell(isNumber(counts.frames) ? `${counts.frames} frames` : isNumber(counts.transactions)
                ? `${counts.transactions} requests` : "–", "number"),
              cell(faults.length ? faults.map(([key, value]) => `${value} ${plain(key)}`).join(", ") : "none", "text"));
          });
          return element("section", {id: "links"}, element("div", {class: "top"}, element("h2", {}, "Links"),
              element("span", {class: "dim"}, "up or down as it changes, counts each five minutes")),
            links.length ? table("links cards", ["Link", "State", "Heard", "Faults since the start"], links, "links of the gateway")
              : element("p", {class: "dim"}, "the site has not told its links"));
        }

        // MARK: a power that is asked for

        function openLease(site) {
          byId("lease-title").textContent = `Ask ${site} for a power`;
          for (const name of ["lease-fault", "lease-answer"]) byId(name).textContent = "";
          byId("lease-reason").value = "";
          byId("lease-form").onsubmit = event => { event.preventDefault(); askLease(site, Number(byId("lease-kw").value)); };
          byId("lease-release").onclick = () => {
            if (byId("lease-reason").reportValidity()) askLease(site, null);
          };
          byId("lease").showModal();
        }
        async function askLease(site, kilowatts) {
          const name = `page-${Date.now().toString(36)}-${Math.floor(Math.random() * 1e6).toString(36)}`;
          byId("lease-fault").textContent = "";
          byId("lease-answer").textContent = "asked; the site judges it …";
          try {
            await post(path(site) + "/leases", {power_w: kilowatts === null ? null : Math.round(kilowatts * 1000),
              for_s: Number(byId("lease-for").value), dispatch: name, reason: byId("lease-reason").value});
            for (let tries = 0; tries < 30 && byId("lease").open; tries += 1) {
              const mine = objects((await ask(path(site) + "/leases")).leases).find(lease => lease.dispatch === name);
              if (mine && mine.state !== "waiting") {
                byId("lease-answer").textContent = `${mine.state} by the site` + (mine.answer ? `: ${mine.answer}` : "");
                return;
              }
              await new Promise(wake => setTimeout(wake, 1000));
            }
            byId("lease-answer").textContent = "the site has not answered yet: it stands under Events";
          } catch (error) {
            byId("lease-answer").textContent = "";
            byId("lease-fault").textContent = error.message;
          }
        }
        byId("lease-cancel").addEventListener("click", () => byId("lease").close());

        // MARK: incidents

        // What a site has kept of its incidents. The page of one is shown without scripts of its own.
        async function openIncidents(site) {
          const box = byId("incidents-list"), frame = byId("incident");
          byId("incidents-title").textContent = `Incidents at ${site}`;
          frame.hidden = true;
          box.replaceChildren("…");
          byId("incidents").showModal();
          try {
            const captures = objects((await ask(path(site) + "/captures")).captures);
            box.replaceChildren(...captures.map(capture => {
              const isWhole = capture.stored === capture.bytes;
              const button = element("button", isWhole ? {} : {disabled: ""}, text(capture.name)
                + (isWhole ? "" : ` (${capture.stored} of ${capture.bytes} bytes)`));
              button.addEventListener("click", async () => {
                try {
                  frame.srcdoc = await askText(`${path(site)}/incident?name=${encodeURIComponent(capture.name)}`);
                  frame.hidden = false;
                } catch (error) { box.append(element("p", {class: "bad"}, error.message)); }
              });
              return button;
            }));
            if (!captures.length) box.replaceChildren("None was kept, or the site's link brings none.");
          } catch (error) { box.replaceChildren(element("p", {class: "bad"}, error.message)); }
        }
        byId("incidents-close").addEventListener("click", () => byId("incidents").close());

        // MARK: the site

        const tabs = [["", "Now"], ["energy", "Energy"], ["frequency", "Frequency"], ["events", "Events"], ["matrix", "Interlocks"]];
        function siteHead(site, row, state, tab) {
          return element("section", {id: "site-head"}, element("div", {class: "top"}, element("h2", {}, site),
              element("span", {class: state.class, id: "data-state"}, state.word),
              state.old && isNumber(dataAt(row)) ? element("span", {class: "dim"}, `${lasting(Math.abs(serverNow() - dataAt(row)) / 1000)} ago`) : null,
              row.stopped ? element("span", {class: "bad"}, "STOPPED by a person") : null,
              element("span", {class: "dim"}, row.mode ? `mode ${text(row.mode)}` : ""),
              element("span", {class: "push"}, action("incidents", () => openIncidents(site)), " ",
                session && session.may_dispatch && session.signs ? action("ask for a power", () => openLease(site)) : null)),
            element("div", {class: "figures"},
              figure("Frequency", aged(state, shown(row.frequency_hz, 3, "Hz"))),
              figure("Site power", aged(state, shown(row.site_power_kw, 1, "kW"))),
              figure("Setpoint", aged(state, shown(row.setpoint_kw, 1, "kW"))),
              figure("Mean charge", aged(state, shown(row.soc_percent, 1, "%")))),
            element("nav", {class: "tabs", "aria-label": "parts of this site"}, ...tabs.map(([name, label]) =>
              element("a", {href: `#/site/${encodeURIComponent(site)}${name && "/" + name}`,
                ...(name === tab ? {"aria-current": "page"} : {})}, label))));
        }

        function unitsView(telemetry, state) {
          const units = objects(telemetry.units);
          const heads = ["Unit", "State", "Power", "Setpoint", "Charge", "Cells", "Cell voltages", "Permit", "Limited by"];
          return element("section", {id: "units"}, element("h2", {}, "Units"), ...units.map(unitNotes),
            units.length ? table("units cards", heads, units.map(unit => unitRow(unit, state)), "units") : "no unit is known");
        }

        function siteView(site, tab) {
          const row = rows.get(site);
          if (!row) return [element("section", {}, element("h2", {}, site), "There is no such site for you.")];
          const state = health(row), known = detail && detail.site === site ? detail : {};
          const telemetry = object(object(known.telemetry).data);
          const head = safely(() => siteHead(site, row, state, tab));
          switch (tab) {
          case "energy": return [...head, ...safely(() => energyView(site))];
          case "frequency": return [...head, ...safely(() => frequencyView(site))];
          case "events": return [...head, ...safely(() => eventsView(site, objects(known.events))),
            ...safely(() => requestsView(site)), ...safely(() => auditView(site))];
          case "matrix": return [...head, ...safely(() => matrixView(site))];
          default: return [...head, ...safely(() => unitsView(telemetry, state)), ...safely(() => alarmView(site)),
            ...safely(() => trendView(site)), ...safely(() => stripView(site)), ...safely(() => linksView(telemetry, state))];
          }
        }

        """#
}
