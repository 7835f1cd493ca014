extension StatusPage {
    /// All sites by trouble, and the alarms.
    static let scriptFleet = #"""
        let alarms = [], mayAct = false, filter = "";

        // People in danger before everything, then what is graver; silence is trouble too.
        function trouble(row) {
          const state = health(row), counts = object(row.alarms);
          if (list(row.dangers).length || counts.life_safety) return 6;
          if (counts.critical || row.tripped) return 5;
          if (state.old) return 4;
          if (row.offline || row.stopped) return 3;
          if (counts.warning) return 2;
          return row.units && row.running === row.units ? 0 : 1;
        }
        const troubles = ["well", "not all in service", "warning", "stopped or a unit offline", "not heard",
          "tripped or critical", "DANGER"];
        // A sign for each, so that no colour says anything alone.
        const signs = ["●", "◐", "△", "◇", "○", "▲", "⚠"];
        const levelClass = level => level >= 4 ? "bad" : level ? "warn" : "good";

        function fleetRow(row) {
          const state = health(row), level = trouble(row);
          const counts = Object.entries(object(row.alarms)).filter(([, number]) => number)
            .map(([name, number]) => `${number} ${plain(name)}`).join(", ");
          return element("tr", {"data-site": row.site, "data-trouble": level},
            cell(element("a", {href: "#/site/" + encodeURIComponent(row.site)}, row.site), "name"),
            cell(element("span", {class: levelClass(level)},
              element("span", {"aria-hidden": "true"}, signs[level] + " "), troubles[level])),
            cell(element("span", {class: state.class}, state.word)),
            cell(aged(state, shown(row.site_power_kw, 1, "kW")), "number"),
            cell(aged(state, shown(row.frequency_hz, 3, "Hz")), "number"),
            cell(aged(state, shown(row.soc_percent, 1, "%")), "number"),
            cell(aged(state, `${count(row.running)} of ${count(row.units)} running`)),
            cell(counts || "none"));
        }

        function fleetView() {
          const word = filter.toLowerCase();
          const all = [...rows.values()].filter(row => row.site.toLowerCase().includes(word))
            .map(row => [trouble(row), row])
            .sort(([a, one], [b, other]) => b - a || (one.site < other.site ? -1 : 1)).map(pair => pair[1]);
          const heads = ["Site", "State", "Data", "Power", "Frequency", "Charge", "Units", "Alarms"];
          const search = element("input", {id: "filter", type: "search", "aria-label": "filter sites by name",
            placeholder: "filter by name"});
          search.value = filter;
          search.addEventListener("input", () => { filter = search.value; draw(); });
          const most = 200, live = all.filter(row => !health(row).old);
          const sum = live.map(row => row.site_power_kw).filter(isNumber).reduce((a, b) => a + b, 0);
          const levels = all.map(trouble);
          const tally = troubles.map((name, level) => [level, levels.filter(one => one === level).length])
            .filter(([, number]) => number).reverse().map(([level, number]) => element("span", {class: levelClass(level)},
              element("span", {"aria-hidden": "true"}, signs[level] + " "), `${number} ${troubles[level]}`));
          return [element("section", {id: "fleet-head"}, element("div", {class: "top"}, element("h2", {}, "Fleet"), search),
            element("div", {class: "figures"}, figure("Sites heard", `${live.length} of ${all.length}`),
              figure("Their power", live.length ? shown(sum, 1, "kW") : "–")),
            element("p", {class: "tally", "aria-label": "how many sites are how"}, ...tally)),
          element("section", {},
            table("fleet", heads, all.slice(0, most).map(fleetRow), "sites, the worst first"),
            all.length ? null : element("p", {}, word ? "no site has this in its name" : "no site yet"),
            all.length > most ? element("p", {class: "dim"}, `and ${all.length - most} with less trouble: filter by name`) : null)];
        }

        function drawDangers() {
          const texts = [...rows.values()].flatMap(row => list(row.dangers).map(danger =>
            `DANGER ${text(danger)}, site ${row.site}` + (health(row).old ? " (its last word)" : "")));
          const now = texts.join("\n"), box = byId("dangers");
          // Read out once, and not each second anew.
          if (box.dataset.now === now) return;
          box.dataset.now = now;
          box.replaceChildren(...texts.map(line => element("p", {}, line)));
        }

        // MARK: alarms

        async function loadAlarms() {
          const answer = await ask("/v1/alarms");
          [alarms, mayAct] = [objects(answer.alarms), answer.may_act === true];
          const open = alarms.filter(alarm => !alarm.shelved && !alarm.acknowledged).length;
          byId("alarms-link").textContent = open ? `Alarms (${open})` : "Alarms";
          document.title = open ? `(${open}) Ballast` : "Ballast";
        }

        const actButton = (label, what, alarm) => {
          const button = action(label, () => openAct(label, what, alarm), `${label}: ${alarm.text}`);
          button.dataset.key = [what, alarm.rule, alarm.site, alarm.subject].map(text).join("\n");
          return button;
        };

        function openAct(label, what, alarm) {
          byId("act-title").textContent = label;
          byId("act-text").textContent = alarm.text;
          byId("act-fault").textContent = "";
          byId("act-reason").value = "";
          byId("act-hours-label").hidden = what !== "shelve";
          byId("act-form").onsubmit = async event => {
            event.preventDefault();
            try {
              await post("/v1/alarms", {do: what, rule: alarm.rule, site: alarm.site, subject: alarm.subject,
                reason: byId("act-reason").value,
                ...(what === "shelve" ? {for_s: Number(byId("act-hours").value)} : {})});
              byId("act").close();
              await loadAlarms();
              draw();
            } catch (error) { byId("act-fault").textContent = error.message; }
          };
          byId("act").showModal();
        }
        byId("act-cancel").addEventListener("click", () => byId("act").close());

        const severities = {life_safety: "⚠ life safety", critical: "▲ critical", warning: "△ warning", notice: "· notice"};
        function alarmRow(alarm, site) {
          const grave = alarm.severity === "life_safety" || alarm.severity === "critical";
          const by = act => act ? `${text(act.by)}, ${moment(act.at_ms)}: ${text(act.reason)}` : "";
          const state = alarm.shelved ? `shelved until ${moment(alarm.shelved_until_ms)} by ${by(alarm.shelved)}`
            : alarm.acknowledged ? `acknowledged by ${by(alarm.acknowledged)}` : "nobody has acknowledged it";
          const place = site || !alarm.site ? text(alarm.text)
            : element("span", {}, element("a", {href: "#/site/" + encodeURIComponent(alarm.site)}, alarm.site), ": ", text(alarm.text));
          return element("tr", {"data-rule": alarm.rule, "data-severity": alarm.severity},
            cell(element("span", {class: grave ? "bad" : "warn"}, severities[alarm.severity] || text(alarm.severity))),
            element("td", {class: "text"}, place, alarm.gone ? " (its cause is gone)" : ""),
            cell(moment(alarm.raised_ms)), cell(state, "text"),
            element("td", {}, ...(mayAct ? [
              alarm.acknowledged || !alarm.raised_ms ? null : actButton("acknowledge", "acknowledge", alarm), " ",
              alarm.may_shelve ? alarm.shelved ? actButton("take off the shelf", "unshelve", alarm)
                : actButton("shelve", "shelve", alarm) : "life safety: never shelved"] : ["needs the role dispatch"])));
        }

        function alarmView(site) {
          const own = alarms.filter(alarm => !site || alarm.site === site);
          const heads = ["Severity", "What", `Since (${zone})`, "Who", "Act"];
          return element("section", {id: "alarm-list"}, element("div", {class: "top"},
              element("h2", {}, site ? "Alarms" : "Alarms of all sites"),
              site || !mayAct ? null : action("test all ways out", async event => {
                try { event.target.textContent = `${(await post("/v1/alarms/test", {})).sent} sent`; }
                catch (error) { event.target.textContent = error.message; }
              })),
            own.length ? table("alarms", heads, own.map(alarm => alarmRow(alarm, site)), "alarms, the gravest first")
              : element("p", {}, isConnected() ? "none" : "unknown: no network"));
        }

        """#
}
