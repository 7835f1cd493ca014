extension StatusPage {
    /// Single cells, of batteries that tell them: one field for each, in the battery's own order.
    static let scriptCells = #"""
        const cellSheet = site => sheet(site, "cells", async () => {
          const told = new Map();
          for (const row of objects((await ask(path(site) + "/cells")).cells)) {
            const data = object(row.data);
            told.set(text(data.unit), {at: data.t_ms, voltages: list(data.voltages_mv), temperatures: list(data.temperatures_mc)});
          }
          return told;
        }, 20000);

        // Which cell is the lowest and which the highest, counted from 1 as they stand in the battery.
        function extremes(values) {
          let low = -1, high = -1;
          values.forEach((value, index) => {
            if (!isNumber(value)) return;
            if (low < 0 || value < values[low]) low = index;
            if (high < 0 || value > values[high]) high = index;
          });
          return [low, high];
        }

        function cellStrip(name, unit, digits, thousandths, [floor, ceiling]) {
          const values = thousandths.map(value => isNumber(value) ? value / 1000 : null), [low, high] = extremes(values);
          const unknown = values.filter(value => value === null).length;
          const words = high < 0 ? `${name}: none of ${values.length} is known`
            : `${values.length} ${name}s: lowest is cell ${low + 1} with ${shown(values[low], digits, unit)}, highest cell ${high + 1} with ${shown(values[high], digits, unit)}`
              + (unknown ? `; ${unknown} not known` : "");
          const wide = 600, tall = 34, width = wide / Math.max(1, values.length);
          const svg = drawn("svg", {viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": words, preserveAspectRatio: "none"});
          svg.append(drawn("rect", {class: "ground", x: 0, y: 0, width: wide, height: tall}));
          values.forEach((value, index) => {
            if (value === null) return;
            const share = Math.max(0, Math.min(1, (value - floor) / (ceiling - floor)));
            const strain = Math.max(share, 1 - share) * 2 - 1;
            const across = {x: (index * width).toFixed(2), width: Math.max(0.8, width - Math.min(0.6, width / 5)).toFixed(2)};
            svg.append(drawn("rect", {class: `cell heat${Math.min(6, Math.floor(strain * 7))}`, ...across, y: 0, height: tall},
                drawn("title", {}, `cell ${index + 1}: ${shown(value, digits, unit)}`)),
              drawn("rect", {class: "mark", ...across, y: (tall - 5 - share * (tall - 7)).toFixed(1), height: 3}));
          });
          return element("div", {class: "strip"}, svg, element("p", {class: "dim"}, words));
        }

        // A battery says them when one has moved, and each quarter of an hour.
        function cellsView(site, units, limits) {
          const one = cellSheet(site), told = one.data instanceof Map ? one.data : new Map();
          if (!one.data) return [element("div", {class: "cells whole"}, element("h3", {}, "Single cells"), waiting(one, ""))];
          const silent = units.filter(unit => !told.has(unit));
          const note = silent.length ? [element("p", {class: "dim", id: "no-cells"},
            `${silent.length === units.length && units.length > 1 ? "No battery here tells its single cells" : silent.join(", ") + (silent.length > 1 ? " tell" : " tells") + " no single cells"}: the lowest and the highest stand above.`)] : [];
          return [...[...told].map(([unit, cells]) => {
            const age = Math.abs(serverNow() - cells.at), old = !(age < 1200000);
            return element("div", {class: "cells single" + (old ? " old" : "")}, element("h3", {}, `${unit}, each cell`,
                element("span", {class: old ? "old" : "dim"}, ` as of ${moment(cells.at)}${old ? " (old)" : ""}`)),
              cells.voltages.length ? cellStrip("voltage", "V", 3, cells.voltages, limits[1]) : null,
              cells.temperatures.length ? cellStrip("temperature", "°C", 1, cells.temperatures, limits[0]) : null);
          }), ...note];
        }

        """#
}
