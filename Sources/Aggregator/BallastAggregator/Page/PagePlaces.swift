extension StatusPage {
    /// A level of the fleet: its places, what they are asked for, and how their sites have done.
    static let scriptPlaces = #"""
        let places = null, wishes = [], marks = null, placesAt = -Infinity, marksAt = -Infinity;
        const closePlaces = () => {
          [places, wishes, marks, placesAt, marksAt] = [null, [], null, -Infinity, -Infinity];
          byId("places-link").hidden = true;
        };
        async function loadPlaces() {
          const [found, asked] = await Promise.all([ask("/v1/nodes"), ask("/v1/dispatches")]);
          [places, wishes, placesAt] = [object(found), objects(asked.dispatches), performance.now()];
          byId("places-link").hidden = false;
          // Months are put together from all that was told: seldom.
          if (location.hash !== "#/places" || performance.now() - marksAt < 60000) return;
          marksAt = performance.now();
          marks = await ask(compliancePath()).then(answer => objects(answer.periods), error => error.message);
        }
        const compliancePath = () => `/v1/nodes/${encodeURIComponent(text(places.place))}/compliance`;
        const kilowatts = value => shown(isNumber(value) ? value / 1000 : value, 1, "kW");
        const percent = (value, digits) => shown(isNumber(value) ? value * 100 : value, digits, "%");

        function placeRow(node, depth) {
          // Nobody heard is no zero.
          const heard = node.heard > 0, known = value => heard ? kilowatts(value) : "–";
          const presence = node.presence ? `, ${plain(node.presence)}` : "", belief = node.not_believed ? `, not believed: ${plain(node.not_believed)}` : "";
          const words = `${count(node.heard)} of ${isNumber(node.heard + node.silent) ? node.heard + node.silent : "?"}${presence}${belief}`;
          const isWell = node.silent === 0 && (!node.presence || node.presence === "reporting") && !node.not_believed;
          const name = "· ".repeat(depth) + text(node.id);
          return element("tr", {"data-place": text(node.id)},
            cell(rows.has(node.id) ? element("a", {href: "#/site/" + encodeURIComponent(node.id)}, name) : name, "name"),
            cell(plain(node.level) + (node.simulated ? ", SIMULATION" : "")),
            cell(element("span", {class: isWell ? "good" : "bad"}, element("span", {"aria-hidden": "true"}, isWell ? "● " : "▲ "), words)),
            cell(known(node.power_w), "number"), cell(kilowatts(node.granted_w), "number"),
            cell(heard ? `${kilowatts(node.charge_w)} … ${kilowatts(node.discharge_w)}` : "–", "number"),
            cell(heard ? shown(isNumber(node.soc_permille) ? node.soc_permille / 10 : null, 1, "%") : "–", "number"),
            cell(known(node.margin_without_largest_w), "number"));
        }

        function wishRow(wish) {
          const isLimit = isNumber(wish.limit_w);
          return element("tr", {"data-dispatch": text(wish.dispatch)}, cell(text(wish.dispatch), "name"), cell(text(wish.place)),
            cell(isLimit ? `at most ${kilowatts(wish.limit_w)} from the grid` : kilowatts(wish.power_w), "number"),
            cell(plain(wish.priority)), cell(plain(wish.state)), cell(`${moment(wish.from_ms)} … ${moment(wish.until_ms)}`),
            cell(`${text(wish.by)}: ${text(wish.reason)}`, "text"),
            cell(element("a", {href: `/v1/dispatches/${encodeURIComponent(text(wish.dispatch))}/trace`}, "trace")));
        }

        function markRow(period, line) {
          const signal = object(line.agc), lease = object(line.aggregator);
          const followed = one => isNumber(one.score) ? `${shown(one.score, 1)} (r ${shown(one.correlation, 2)}, ${shown(one.delay_s, 0, "s")}, ${percent(one.precision, 0)})`
            : isNumber(one.precision) ? `${percent(one.precision, 0)} precise` : one.asked_s > 0 ? "not judged" : "not asked";
          return element("tr", {"data-period": period, "data-site": line.site === null ? "all" : text(line.site)},
            cell(text(period), "name"), cell(line.site === null ? `all ${count(line.sites)}` : text(line.site)),
            cell(isNumber(line.score) ? shown(line.score, 1) : "not judged", "number"), cell(String(count(line.events)), "number"),
            cell(element("span", {class: line.violation_count ? "bad" : "good"}, String(count(line.violation_count))), "number"),
            cell(followed(signal)), cell(followed(lease)));
        }

        function marksView() {
          if (typeof marks === "string") return element("p", {class: "bad"}, "no answer: " + marks);
          if (marks === null) return element("p", {}, "…");
          const told = marks.flatMap(period => objects(period.lines).filter(line => line.events || line.sites_scored
            || object(line.agc).asked_s || object(line.aggregator).asked_s).map(line => markRow(period.period, line))).reverse();
          return told.length ? table("marks", ["When", "Whose", "Score", "Events", "Not as asked", "AGC followed", "Leases followed"], told,
            "months and quarters, the newest first") : element("p", {}, "no site has told of an event or of a power that was asked for");
        }

        function placesView() {
          if (!places) return element("section", {}, element("p", {}, isConnected() ? "this aggregator is no level of a fleet" : "unknown: no network"));
          const nodes = objects(places.nodes), above = new Map(nodes.map(node => [node.id, node.parent]));
          const depth = node => { let steps = 0; for (let id = node.parent; above.has(id) && steps < 16; id = above.get(id)) steps += 1; return steps; };
          const isOld = !isConnected() || performance.now() - placesAt > 10000;
          const heads = ["Place", "Level", "Heard", "Power", "Granted", "May take … give", "Charge", "Left without the strongest"];
          const asked = ["Dispatch", "Place", "What", "Rank", "State", `When (${zone})`, "Who", ""];
          return [element("section", {id: "places"}, element("h2", {}, `Places of ${text(places.place)}`),
              isOld ? element("p", {class: "bad"}, "unknown: no answer for ten seconds")
                : table("places", heads, nodes.map(node => placeRow(node, depth(node))), "places, each below its parent")),
            element("section", {id: "wishes"}, element("h2", {}, "Dispatches"),
              wishes.length ? table("wishes", asked, wishes.slice(0, 50).map(wishRow), "dispatches, the newest first") : element("p", {}, "none")),
            element("section", {id: "marks"}, element("div", {class: "top"}, element("h2", {}, "By months and quarters"),
                element("a", {href: compliancePath() + "?format=csv", download: "compliance.csv"}, "as CSV")),
              element("p", {class: "dim"}, "Scores are ours, not a regulator's. Months are UTC's."), marksView())];
        }

        """#
}
