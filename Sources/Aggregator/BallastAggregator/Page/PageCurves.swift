extension StatusPage {
    /// What is drawn of a site: trends, the strips of its cells, energy by blocks. Each is made once for its
    /// data and stays until there is other.
    static let scriptCurves = #"""
        // What a part of a site was told last: asked for when it is looked at, and again after a while.
        const sheets = new Map();
        function sheet(site, name, from, life) {
          const key = site + "\n" + name, now = performance.now();
          const one = sheets.get(key) || {data: null, fault: "", asked: -Infinity, at: 0, nodes: {}};
          if (!sheets.has(key)) { if (sheets.size > 40) sheets.clear(); sheets.set(key, one); }
          if (now - one.asked > life && isConnected() && !document.hidden) {
            one.asked = now;
            from().then(data => Object.assign(one, {data, fault: "", at: serverNow(), nodes: {}}),
              error => Object.assign(one, {fault: error.message, nodes: {}})).then(draw);
          }
          return one;
        }
        // Made once for the same data.
        const made = (one, name, make) => one.nodes[name] = one.nodes[name] || make();
        const waiting = (one, words) => element("p", one.fault ? {class: "bad"} : {class: "dim"},
          one.fault ? `cannot be had: ${one.fault}` : one.data ? words : "…");

        const spans = [[900, "15 minutes", 60], [3600, "1 hour", 60], [21600, "6 hours", 60], [86400, "1 day", 300],
          [604800, "7 days", 3600], [2592000, "30 days", 3600]];
        let span = 3600;
        const trends = site => {
          const [length, , step] = spans.find(([seconds]) => seconds === span) || spans[1];
          return sheet(site, "trends" + length, () => {
            const until = Math.floor(serverNow() / (step * 1000) + 1) * step * 1000;
            return ask(`${path(site)}/trends?from=${until - length * 1000}&until=${until}&step_s=${step}`);
          }, Math.max(15000, step * 250));
        };

        // A round number of steps between two values, with what stands at each.
        function ticks(low, high) {
          const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
          const step = [1, 2, 5, 10].map(one => one * power).find(one => one >= rough);
          const all = [];
          for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) all.push(at);
          return all;
        }
        function times(from, until) {
          const length = until - from, step = [300e3, 900e3, 3600e3, 4 * 3600e3, 24 * 3600e3, 7 * 24 * 3600e3]
            .find(one => length / one <= 7) || length;
          const shift = new Date(from).getTimezoneOffset() * 60000, all = [];
          for (let at = Math.ceil((from - shift) / step) * step + shift; at < until; at += step) all.push(at);
          return all.map(at => [at, length > 2 * 86400e3 ? day(at) : clock(at).slice(0, 5)]);
        }

        const isNarrow = matchMedia("(max-width: 700px)");
        isNarrow.addEventListener("change", () => { for (const one of sheets.values()) one.nodes = {}; draw(); });
        const widthOf = share => isNarrow.matches ? 460 : share;
        // Lines with their band of lowest to highest; where nothing is known they break: nothing is drawn
        // that nobody measured.
        function chart(name, unit, digits, lines, data, wide = widthOf(640)) {
          const tall = 190, left = 62, base = 160, top = 10;
          const values = lines.flatMap(line => line.points.flatMap(point => [point[1], point[3]])).filter(isNumber);
          if (!values.length) return element("div", {class: "trend"}, element("h3", {}, name),
            element("p", {class: "dim"}, "no values in this time"));
          const edge = [Math.min(...values), Math.max(...values)];
          const room = Math.max((edge[1] - edge[0]) * 0.08, 10 ** -digits);
          const [low, high] = [edge[0] - room, edge[1] + room], step = data.step_s * 1000;
          const x = at => left + (at - data.from_ms) / (data.until_ms - data.from_ms) * (wide - left - 8);
          const y = value => base - (value - low) / (high - low) * (base - top);
          const words = lines.map(line => {
            const own = line.points.flatMap(point => [point[1], point[3]]).filter(isNumber);
            // Of a time and with its times: a mean of minutes is no figure of now.
            const last = line.points.length ? line.points[line.points.length - 1] : null;
            return own.length ? `${line.name}: ${shown(Math.min(...own), digits, "")} to ${shown(Math.max(...own), digits, unit)}; mean from ${clock(last[0]).slice(0, 5)} to ${clock(last[0] + step).slice(0, 5)} ${shown(last[2], digits, unit)}` : `${line.name}: not known`;
          }).join("; ");
          const svg = drawn("svg", {viewBox: `0 0 ${wide} ${tall}`, role: "img",
            "aria-label": `${name}, ${moment(data.from_ms)} to ${moment(data.until_ms)}. ${words}`});
          for (const value of ticks(low, high)) svg.append(
            drawn("line", {class: "grid", x1: left, x2: wide - 8, y1: y(value), y2: y(value)}),
            drawn("text", {x: left - 8, y: y(value) + 4, "text-anchor": "end"}, shown(value, Math.min(digits, high - low < 1 ? digits : 1), "")));
          for (const [at, label] of times(data.from_ms, data.until_ms)) svg.append(
            drawn("line", {class: "grid", x1: x(at), x2: x(at), y1: top, y2: base}),
            drawn("text", {x: x(at), y: tall - 10, "text-anchor": "middle"}, label));
          for (const line of lines) {
            let mean = "", band = "", back = [], last = -Infinity;
            const close = () => { band += back.reverse().join("") + (back.length ? "Z" : ""); back = []; };
            for (const [at, least, middle, most] of line.points) {
              if (!isNumber(middle)) continue;
              const begins = at - last > step * 1.5, px = x(at + step / 2).toFixed(1);
              if (begins) close();
              mean += `${begins ? "M" : "L"}${px} ${y(middle).toFixed(1)}`;
              band += `${begins ? "M" : "L"}${px} ${y(most).toFixed(1)}`;
              back.push(`L${px} ${y(least).toFixed(1)}`);
              last = at;
            }
            close();
            svg.append(drawn("path", {class: `band ${line.kind}`, d: band}), drawn("path", {class: `line ${line.kind}`, d: mean}));
          }
          const key = lines.length > 1 ? element("span", {class: "key"}, ...lines.map(line =>
            element("span", {}, element("i", {class: line.kind, "aria-hidden": "true"}), line.name))) : null;
          return element("div", {class: "trend"}, element("h3", {}, `${name} (${unit})`, key), svg,
            element("p", {class: "dim"}, words));
        }

        function trendView(site) {
          const one = trends(site), data = one.data, of = name => list(object(object(data).channels)[name]);
          const head = element("div", {class: "top"}, element("h2", {}, "Trends"),
            choice("length of time", spans.map(([seconds, name]) => [seconds, name]), span, value => { span = Number(value); draw(); }),
            element("span", {class: "dim"}, data ? `asked for at ${clock(one.at)} (${zone}); what flows now stands above` : ""));
          if (!data) return element("section", {id: "trends"}, head, waiting(one, ""));
          return made(one, "curves", () => element("section", {id: "trends"}, head,
            chart("Frequency", "Hz", 3, [{name: "frequency", kind: "first", points: of("frequency_hz")}], data),
            chart("Power", "kW", 1, [{name: "power", kind: "first", points: of("site_power_kw")},
              {name: "setpoint", kind: "second", points: of("setpoint_kw")}], data),
            chart("Charge of the units", "%", 1, [{name: "charge", kind: "first", points: of("soc_percent")}], data),
            chart("Cells of all units", "°C", 1, [{name: "hottest", kind: "hot", points: of("cell_temperature_max_c")},
              {name: "coldest", kind: "first", points: of("cell_temperature_min_c")}], data)));
        }

        // MARK: cells

        // From what the interlocks of the site allow: 0 = the lower trip, 1 = the upper one.
        function limitsOf(site, signal, fallback) {
          const matrix = sheets.get(site + "\nmatrix"), all = objects(object(object(matrix).data).rows)
            .filter(row => isNumber(row.trip));
          const high = all.filter(row => row.signal === signal + "_max" && row.relation === "≥").map(row => row.trip);
          const low = all.filter(row => row.signal === signal + "_min" && row.relation === "≤").map(row => row.trip);
          return [low.length ? Math.max(...low) : fallback[0], high.length ? Math.min(...high) : fallback[1]];
        }

        function strip(name, unit, digits, fields, data, [floor, ceiling], low, high) {
          const wide = 600, tall = 34, width = wide / Math.max(1, (data.until_ms - data.from_ms) / (data.strip_s * 1000));
          const share = value => Math.max(0, Math.min(1, (value - floor) / (ceiling - floor)));
          const known = fields.filter(field => isNumber(field[high]));
          const lowest = Math.min(...fields.map(field => field[low]).filter(isNumber));
          const most = known.reduce((a, b) => b[high] > a[high] ? b : a, known[0] || []);
          const words = known.length ? `${name}: ${shown(lowest, digits, "")} to ${shown(most[high], digits, unit)}, highest at ${clock(most[0])}; trips at ${shown(floor, digits, "")} and ${shown(ceiling, digits, unit)}`
            : `${name}: not known in this time`;
          const svg = drawn("svg", {viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": words, preserveAspectRatio: "none"});
          svg.append(drawn("rect", {class: "ground", x: 0, y: 0, width: wide, height: tall}));
          for (const field of known) {
            // A mark at its height says it as well as its colour does.
            const share1 = share(field[high]), share0 = isNumber(field[low]) ? share(field[low]) : share1;
            const upper = tall - 2 - share1 * (tall - 6), lower = tall - 2 - share0 * (tall - 6);
            const strain = Math.max(share1, 1 - share0, 0.5) * 2 - 1;
            const across = {x: ((field[0] - data.from_ms) / (data.strip_s * 1000) * width).toFixed(1), width: Math.max(1, width - 0.6).toFixed(1)};
            svg.append(drawn("rect", {class: `heat${Math.min(6, Math.floor(strain * 7))}`, ...across, y: 0, height: tall},
                drawn("title", {}, `${moment(field[0])}: ${shown(field[low], digits, "")} to ${shown(field[high], digits, unit)}`)),
              drawn("rect", {class: "mark", ...across, y: upper.toFixed(1), height: Math.max(2, lower - upper).toFixed(1)}));
          }
          return element("div", {class: "strip"}, svg, element("p", {class: "dim"}, words));
        }

        function stripView(site) {
          const one = trends(site), data = one.data;
          matrixSheet(site);
          const key = element("p", {class: "dim"}, "Each field is a time: its colour the cell that is nearest to a trip, its dark mark from the lowest to the highest cell between the two trips. ",
            element("span", {class: "scale", "aria-hidden": "true"}, ...[0, 1, 2, 3, 4, 5, 6].map(step => element("i", {class: "heat" + step}))),
            " from the middle to a trip.");
          const limits = [limitsOf(site, "cell_temperature", [-20, 60]), limitsOf(site, "cell_voltage", [2.5, 3.65])];
          if (!data) return element("section", {id: "cells"}, element("h2", {}, "Cells"), waiting(one, ""));
          const cells = cellSheet(site), old = [...(cells.data instanceof Map ? cells.data.values() : [])]
            .map(({at}) => Math.abs(serverNow() - at) < 1200000).join();
          return made(one, ["strips", ...limits, cells.at, cells.fault, old].join(), () => element("section", {id: "cells"}, element("h2", {}, "Cells"), key,
            ...Object.entries(object(data.units)).map(([unit, fields]) => element("div", {class: "cells"}, element("h3", {}, unit),
              strip("temperature", "°C", 1, list(fields), data, limits[0], 1, 2),
              strip("voltage", "V", 3, list(fields), data, limits[1], 3, 4))),
            ...cellsView(site, Object.keys(object(data.units)), limits)));
        }

        """#
}
