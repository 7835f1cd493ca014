extension StatusPage {
    /// All sites by trouble, and the alarms.
    static let scriptFleet = #"""
        const rows = new Map();
        let alarms = [], mayAct = false, filter = "";

        // People in danger before everything, then what is graver; silence is trouble too.
        function trouble(row) {
          const state = health(row), counts = isObject(row.alarms) ? row.alarms : {};
          if (list(row.dangers).length || counts.life_safety) return 6;
          if (counts.critical || row.tripped) return 5;
          if (state.old) return 4;
          if (row.offline || row.stopped) return 3;
          if (counts.warning) return 2;
          return row.units && row.running === row.units ? 0 : 1;
        }
        const troubles = ["well", "not all in service", "warning", "stopped or a unit offline", "not heard",
          "tripped or critical", "DANGER"];

        function fleetRow(row) {
          const state = health(row), level = trouble(row);
          const cell = (label, node, kind) => element("td", {"data-label": label, ...(kind ? {class: kind} : {})}, node);
          const counts = Object.entries(isObject(row.alarms) ? row.alarms : {}).filter(([, number]) => number)
            .map(([name, number]) => `${number} ${name.replace("_", " ")}`).join(", ");
          return element("tr", {"data-site": row.site, "data-trouble": level},
            cell("", element("a", {href: "#/site/" + encodeURIComponent(row.site)}, row.site), "name"),
            cell("", element("span", {class: level >= 4 ? "bad" : level ? "warn" : "good"}, troubles[level])),
            cell("", element("span", {class: state.class}, state.word)),
            cell("power", aged(state, shown(row.site_power_kw, 1, "kW")), "number"),
            cell("frequency", aged(state, shown(row.frequency_hz, 3, "Hz")), "number"),
            cell("charge", aged(state, shown(row.soc_percent, 1, "%")), "number"),
            cell("units", aged(state, `${count(row.running)} of ${count(row.units)} running`)),
            cell("alarms", counts || "none"));
        }

        function fleetView() {
          const word = filter.toLowerCase();
          const all = [...rows.values()].filter(row => row.site.toLowerCase().includes(word))
            .sort((a, b) => trouble(b) - trouble(a) || (a.site < b.site ? -1 : 1));
          const heads = ["Site", "State", "Data", "Power", "Frequency", "Charge", "Units", "Alarms"];
          const search = element("input", {id: "filter", type: "search", "aria-label": "filter sites by name",
            placeholder: "filter by name"});
          search.value = filter;
          search.addEventListener("input", () => { filter = search.value; draw(); });
          const most = 300;
          return element("section", {}, element("div", {class: "top"}, element("h2", {}, "Fleet"), search,
            element("span", {class: "dim"}, `${all.length} sites, the worst first`)),
            table("fleet", heads, all.slice(0, most).map(fleetRow), "sites, the worst first"),
            all.length > most ? element("p", {class: "dim"}, `and ${all.length - most} with less trouble: filter`) : null);
        }

        function drawDangers() {
          const texts = [...rows.values()].flatMap(row => list(row.dangers).map(danger =>
            `DANGER ${text(danger)}, site ${row.site}` + (health(row).old ? ` (${health(row).word})` : "")));
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
          const standing = alarms.filter(alarm => !alarm.shelved).length;
          byId("alarms-link").textContent = standing ? `Alarms (${standing})` : "Alarms";
        }

        function actButton(label, what, alarm) {
          const button = element("button", {"aria-label": `${label}: ${alarm.text}`}, label);
          button.addEventListener("click", () => openAct(label, what, alarm));
          return button;
        }

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

        function alarmRow(alarm) {
          const grave = alarm.severity === "life_safety" || alarm.severity === "critical";
          const by = act => act ? `${text(act.by)}, ${moment(act.at_ms)}: ${text(act.reason)}` : "";
          const state = alarm.shelved ? `shelved until ${moment(alarm.shelved_until_ms)} by ${by(alarm.shelved)}`
            : alarm.acknowledged ? `acknowledged by ${by(alarm.acknowledged)}` : "nobody has acknowledged it";
          return element("tr", {"data-rule": alarm.rule},
            element("td", {class: grave ? "bad" : "warn"}, text(alarm.severity).replace("_", " ")),
            element("td", {class: "text"}, text(alarm.text), alarm.gone ? " (its cause is gone)" : ""),
            element("td", {}, moment(alarm.raised_ms)), element("td", {class: "text"}, state),
            element("td", {}, ...(mayAct ? [
              alarm.acknowledged || !alarm.raised_ms ? null : actButton("acknowledge", "acknowledge", alarm), " ",
              alarm.may_shelve ? alarm.shelved ? actButton("take off the shelf", "unshelve", alarm)
                : actButton("shelve", "shelve", alarm) : null] : ["only who may dispatch"])));
        }

        function alarmView(site) {
          const own = alarms.filter(alarm => !site || alarm.site === site);
          const heads = ["Severity", "What", "Since", "Who", ""];
          return element("section", {id: "alarm-list"}, element("h2", {}, site ? "Alarms" : "Alarms of all sites"),
            own.length ? table("alarms", heads, own.map(alarmRow), "alarms, the gravest first")
              : element("p", {}, isConnected() ? "none" : "unknown: no network"));
        }

        """#
}
