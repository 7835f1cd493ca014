extension StatusPage {
    /// Log-in, the stream, and what is drawn when.
    static let scriptStart = #"""
        const place = () => {
          const parts = location.hash.split("/");
          if (parts[1] !== "site" || !parts[2]) return [null, ""];
          try { return [decodeURIComponent(parts[2]), parts[3] || ""]; } catch (error) { return [null, ""]; }
        };

        // One bad record leaves its own place empty and never the page.
        function safely(view) {
          try { return [view()].flat(); } catch (error) {
            return [element("section", {}, element("p", {class: "bad"}, "this part cannot be shown: " + error.message))];
          }
        }

        function draw() {
          if (!session) return;
          const main = byId("main"), [site, tab] = place(), focus = document.activeElement;
          safely(() => { drawDangers(); return []; });
          const isPlaces = location.hash === "#/places", isAlarms = location.hash === "#/alarms";
          for (const [id, here] of [["fleet-link", !isPlaces && !isAlarms], ["places-link", isPlaces], ["alarms-link", isAlarms]])
            here ? byId(id).setAttribute("aria-current", "page") : byId(id).removeAttribute("aria-current");
          const views = isAlarms ? safely(() => alarmView(null)) : isPlaces ? safely(placesView)
            : site === null ? safely(fleetView) : safely(() => siteView(site, tab));
          // The place of the keyboard and of the eyes stays.
          const way = focus && main.contains(focus) ? pathTo(main, focus) : null, key = way ? focus.dataset.key : undefined;
          const scrolled = [...main.querySelectorAll(".table")].map(box => box.scrollLeft);
          // Where nothing has changed nothing is touched.
          views.forEach((view, index) => {
            const old = main.children[index];
            if (!old) main.append(view);
            else if (old !== view && !old.isEqualNode(view)) old.replaceWith(view);
          });
          while (main.children.length > views.length) main.lastChild.remove();
          [...main.querySelectorAll(".table")].forEach((box, index) => { if (scrolled[index]) box.scrollLeft = scrolled[index]; });
          if (way && !main.contains(document.activeElement)) {
            // What acts on something goes with it, wherever it stands; where it is gone, nothing has them.
            const again = key !== undefined ? [...main.querySelectorAll("[data-key]")].find(node => node.dataset.key === key)
              : way.reduce((node, index) => node && node.children[index], main);
            if (again && again.focus && (key !== undefined || again.dataset.key === undefined)) again.focus({preventScroll: true});
            if (again && again.id === "filter") again.setSelectionRange(filter.length, filter.length);
          }
        }
        function pathTo(root, node) {
          const way = [];
          for (; node !== root; node = node.parentElement) way.unshift([...node.parentElement.children].indexOf(node));
          return way;
        }

        function drawStatus() {
          if (!session) return;
          const status = byId("link"), silence = (performance.now() - heardAt) / 1000;
          const now = isConnected() ? `${rows.size} ${rows.size === 1 ? "site" : "sites"}, live`
            : isFinite(silence) ? `no network since ${clock(Date.now() - Math.floor(silence) * 1000)}` + (fault ? `: ${fault}` : "") : fault ? `no answer: ${fault}` : "…";
          if (status.textContent !== now) status.textContent = now;
          status.className = isConnected() ? "dim" : "bad";
          // For who listens: once for each change.
          const [site] = place(), spoken = site !== null && rows.has(site) ? `${site}: ${health(rows.get(site)).word}` : "";
          if (byId("spoken").textContent !== spoken) byId("spoken").textContent = spoken;
        }

        function closed(reason) {
          session = null;
          kept.set("ballast-session", null);
          rows.clear();
          sheets.clear();
          detail = null;
          closePlaces();
          byId("main").replaceChildren();
          byId("dangers").replaceChildren();
          byId("dangers").dataset.now = "";
          byId("login").hidden = false;
          for (const id of ["logout", "who", "views"]) byId(id).hidden = true;
          byId("link").textContent = reason;
          byId("link").className = "bad";
          byId("token").focus();
        }

        function opened(who) {
          session = object(who);
          kept.set("ballast-session", "1");
          byId("login").hidden = true;
          byId("link").textContent = "…";
          byId("link").className = "dim";
          byId("who").textContent = text(session.name);
          for (const id of ["logout", "who", "views"]) byId(id).hidden = false;
          follow(session);
          // An aggregator that is no level of a fleet has no places.
          if (session.is_level) loadPlaces().then(draw, () => {});
        }

        // The stream of changed rows; where it ends, it is opened again.
        async function follow(mine) {
          while (session === mine) {
            try {
              const answer = await fetched("/v1/live");
              fault = "";
              const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
              let rest = "";
              for (;;) {
                const {value, done} = await reader.read();
                if (done || session !== mine) break;
                rest += value;
                const parts = rest.split("\n\n");
                rest = parts.pop();
                for (const part of parts) take(part.replace(/^data: /, ""));
              }
            } catch (error) {
              fault = error.status ? error.message : "";
              if (error.status === 401 || error.status === 403) return closed("logged out: " + error.message);
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
          let isUrgent = false;
          for (const row of objects(news.sites)) {
            if (typeof row.site !== "string") continue;
            isUrgent = isUrgent || row.alarms !== undefined;
            rows.set(row.site, {...rows.get(row.site), ...row});
          }
          if (isNew || isUrgent) look().then(draw);
        }

        // What the stream does not carry: the alarms, and one site's whole state.
        let looking = null;
        const look = () => looking = looking || lookNow().then(() => { looking = null; });
        async function lookNow() {
          if (!session || !isConnected() || document.hidden) return;
          try {
            const [site] = place();
            const wanted = [loadAlarms()];
            if (location.hash === "#/places" && session.is_level) wanted.push(loadPlaces());
            if (site !== null && rows.has(site)) wanted.push(ask(path(site) + "/state").then(state => { detail = state; }));
            await Promise.all(wanted);
          } catch (error) { if (isConnected()) fault = error.message; }
        }

        async function logIn(token) {
          try {
            opened(await (await fetched("/v1/session", {method: "POST", headers: {Authorization: "Bearer " + token}})).json());
          } catch (error) { closed("no log-in: " + error.message); }
        }
        byId("login").addEventListener("submit", event => {
          event.preventDefault();
          const token = byId("token").value;
          byId("token").value = "";
          logIn(token);
        });
        byId("logout").addEventListener("click", async () => {
          try { await post("/v1/session/end"); } catch (error) { /* what has ended cannot be ended */ }
          location.hash = "";
          closed("logged out");
          byId("link").className = "dim";
        });
        addEventListener("hashchange", () => {
          look().then(draw);
          draw();
          byId("main").focus({preventScroll: true});
          scrollTo(0, 0);
        });
        let beat = 0;
        setInterval(() => {
          drawStatus();
          beat += 1;
          // A list of many is drawn each second, what somebody looks at as it ages.
          if (beat % 4 === 0 || place()[0] !== null || rows.size <= 50) draw();
        }, 250);
        setInterval(look, 2000);
        document.addEventListener("visibilitychange", () => { if (!document.hidden) look().then(draw); });
        const brought = location.hash.startsWith("#token=") ? decodeURIComponent(location.hash.slice(7)) : null;
        if (brought !== null) {
          history.replaceState(null, "", location.pathname);
          logIn(brought);
        } else if (kept.get("ballast-session")) {
          ask("/v1/session").then(opened, error => closed(error.status === 401 ? "log in to see the sites" : "no answer: " + error.message));
        } else {
          closed("log in to see the sites");
          byId("link").className = "dim";
        }
        """#
}
