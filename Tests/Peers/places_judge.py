"""A campus with two sites as people and programs see it: places, a dispatch, and months, in Chromium, as JSON and as CSV.

    places_judge.py PROGRAM FOLDER

PROGRAM: ballast-aggregator; FOLDER: empty. Expected figures are worked out here by hand from the records that are told.
Each check has a name and prints a line; the last line says how many.
"""
import csv
import io
import sys
import time
import urllib.request

from playwright.sync_api import sync_playwright

from page_fixture import IMG, Aggregator, Site, frequency_event, now_ms

FLEET = """fleet:
  role: campus
  place: NORTH
  places:
    - {id: IN, level: country}
    - {id: NORTH, level: campus, parent: IN}
    - {id: alpha, level: node, parent: NORTH, nameplate_kw: 70, capacity_kwh: 200}
    - {id: beta, level: node, parent: NORTH, nameplate_kw: 35, capacity_kwh: 100}
"""
passed, failed = [], []


def check(name, truth, detail=""):
    (passed if truth else failed).append(name)
    print(("pass  " if truth else "FAIL  ") + name + ("" if truth else f": {detail}"), flush=True)


def signal_time(begin, source, asked, measured, correlation, delay, precision):
    return {"v": 1, "kind": "signal_time", "t_ms": begin, "mode": "production", "source": source, "from_ms": begin,
            "asked_s": asked, "measured_s": measured, "correlation": correlation, "delay_s": delay, "precision": precision}


def event(begin, accuracy, delay, sustained):
    record = frequency_event(begin, 10, 9)
    record["event"].update({"accuracy": accuracy, "delay": delay, "sustained": sustained})
    return record


def wait(page, script, limit=20):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if page.evaluate(script):
            return True
        page.wait_for_timeout(100)
    return False


program, folder = sys.argv[1], sys.argv[2]
aggregator = Aggregator(program, folder, ["alpha", "beta"], FLEET)
alpha, beta = Site(aggregator, "alpha"), Site(aggregator, "beta", units=1, place=1)
NOVEMBER, DECEMBER = 1730419200_000, 1733011200_000  # 2024-11-01 and 2024-12-01, 00:00 UTC: older than what the page shows
DAY = 86_400_000

# alpha: in November one event that was late and not held, half of a quarter in service; in December one as asked.
alpha.tell(event(NOVEMBER + DAY, 0.8, 0.5, 0.9), {**alpha.frequency_time((NOVEMBER + DAY) // 1000), "in_service_s": 450},
           event(DECEMBER + DAY, 1, 1, 1), {**alpha.frequency_time((DECEMBER + DAY) // 1000), "in_service_s": 900},
           signal_time(NOVEMBER, "agc", 900, 900, 0.9, 30, 0.8), signal_time(NOVEMBER + 900_000, "agc", 400, 300, 0.5, 60, 0.4),
           signal_time(NOVEMBER + 1_800_000, "agc", 900, 900, None, None, 1.0), signal_time(NOVEMBER, "aggregator", 60, 50, None, None, None))
# beta: in November one as asked; a record that lies counts nowhere.
beta.tell(event(NOVEMBER + DAY, 1, 1, 1), {**beta.frequency_time((NOVEMBER + DAY) // 1000), "in_service_s": 900},
          {**event(NOVEMBER + 2 * DAY, 0, 0, 0), "frequency": "simulated"}, signal_time(NOVEMBER, "agc", 100, 901, 1, 0, 1),
          {**signal_time(NOVEMBER, "agc", 900, 900, 1, 0, 1), "frequency": "simulated"})
span = f"from={NOVEMBER}&until={DECEMBER + 20 * DAY}"
status, answer = aggregator.ask(f"/v1/nodes/NORTH/compliance?{span}", "eve")
lines = {(period["period"], line["site"]): line for period in answer.get("periods", []) for line in period["lines"]}
check("months, and the quarter behind its last one", [p["period"] for p in answer.get("periods", [])] == ["2024-11", "2024-12", "2024-Q4"], answer)
# 100 (0.4 accuracy + 0.25 delay + 0.2 sustained + 0.15 in service)
late = 100 * (0.4 * 0.8 + 0.25 * 0.5 + 0.2 * 0.9 + 0.15 * 0.5)
near = lambda a, b: a is not None and abs(a - b) < 2e-3
check("a site's month", near(lines["2024-11", "alpha"]["score"], late), lines["2024-11", "alpha"])
check("all of them by their nameplates", near(lines["2024-11", None]["score"], (70 * late + 35 * 100) / 105), lines["2024-11", None])
check("what was not judged moves nothing", near(lines["2024-12", None]["score"], 100) and lines["2024-12", None]["sites_scored"] == 1
      and lines["2024-12", "beta"]["score"] is None, lines["2024-12", None])
check("what was not as asked, with its evidence", lines["2024-11", "alpha"]["violations"] == [
    {"rule": "full_response", "event_ms": NOVEMBER + DAY, "share": 0.5}, {"rule": "held", "event_ms": NOVEMBER + DAY, "share": 0.9}],
    lines["2024-11", "alpha"])
check("a test's event is none", lines["2024-11", "beta"]["events"] == 1 and lines["2024-Q4", None]["violation_count"] == 2, lines["2024-11", "beta"])
agc = lines["2024-11", "alpha"]["agc"]
r, d, p = (0.9 * 900 + 0.5 * 300) / 1200, (30 * 900 + 60 * 300) / 1200, (0.8 * 900 + 0.4 * 300 + 900) / 2100
check("a signal's correlation, delay and precision by seconds", near(agc["correlation"], r) and near(agc["delay_s"], d) and near(agc["precision"], p)
      and agc["asked_s"] == 2200 and agc["measured_s"] == 2100, agc)
check("and its score", near(agc["score"], 100 * (r + 1 - d / 300 + p) / 3), agc)
check("a signal that nobody could judge", lines["2024-11", "alpha"]["aggregator"]["precision"] is None, lines["2024-11", "alpha"])
check("a record that lies, and a test's, count nowhere", lines["2024-11", "beta"]["agc"]["asked_s"] == 0, lines["2024-11", "beta"])
request = urllib.request.Request(f"{aggregator.url}/v1/nodes/NORTH/compliance?{span}&format=csv", headers={"Authorization": "Bearer eve"})
table = list(csv.DictReader(io.StringIO(urllib.request.urlopen(request).read().decode())))
same = [(row["period"], row["site"], row["score"], row["violations"], row["agc_delay_s"]) for row in table]
words = lambda value: "" if value is None else f"{value:.4f}"
wanted = [(period, site or "all", words(line["score"]), str(line["violation_count"]), words(line["agc"]["delay_s"])) for (period, site), line in lines.items()]
check("the table says the same", same == wanted and len(table) == 9, same)
check("a site alone has the same month", aggregator.ask(f"/v1/sites/alpha/compliance?{span}", "eve")[1]["periods"][0]["lines"][1] == lines["2024-11", "alpha"])
check("not more than 400 days", aggregator.ask("/v1/nodes/NORTH/compliance?from=0&until=86400000000", "eve")[0] == 400)
check("who may not read a site reads no sum of it", aggregator.ask(f"/v1/nodes/NORTH/compliance?{span}", "bob")[0] == 403)
check("a place that is not there", aggregator.ask(f"/v1/nodes/SOUTH/compliance?{span}", "eve")[0] == 404)

alpha.live()
beta.live()
status, asked = aggregator.ask("/v1/dispatches", "ann", {"dispatch": "D1", "place": "NORTH", "power_w": 9000, "reason": IMG, "for_s": 600})
check("a dispatch is taken", status == 201, asked)
# What is told of the running month is what the page shows, whenever this runs.
month = time.strftime("%Y-%m", time.gmtime(now_ms() / 1000))
begin = now_ms() // 900_000 * 900_000 - 900_000
alpha.tell(signal_time(begin, "agc", 900, 900, 0.95, 12, 0.9))
with sync_playwright() as play:
    browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(aggregator.url + "/#token=eve")
    check("the link to the places is there", wait(page, "() => !document.getElementById('places-link').hidden"))
    page.goto(aggregator.url + "/#/places")
    cells = "id => [...document.querySelectorAll(`[data-place=${id}] td`)].map(cell => cell.textContent)"
    check("both sites are heard", wait(page, "() => (document.querySelector('[data-place=NORTH]') || {}).textContent?.includes('2 of 2')"),
          page.inner_text("main"))
    check("the campus is granted what is asked of it", wait(page, "() => document.querySelector('[data-place=NORTH]').textContent.includes('9.0 kW')"),
          page.evaluate(cells, "NORTH"))
    shares = [float(page.evaluate(cells, site)[4].split()[0]) for site in ("alpha", "beta")]
    check("and its sites get all of it", abs(sum(shares) - 9.0) < 0.11 and min(shares) > 0, shares)
    check("children stand below their parent", page.evaluate(cells, "alpha")[0].startswith("· ") and not page.evaluate(cells, "NORTH")[0].startswith("·"))
    check("the dispatch and its state", wait(page, "() => /active/.test((document.querySelector('[data-dispatch=D1]') || {}).textContent)"), page.inner_text("#wishes"))
    check("what somebody writes is text", page.evaluate("() => !window.wasRun") and IMG in page.inner_text("#wishes"))
    row = f"[data-period='{month}'][data-site=alpha]"
    check("this month's signal", wait(page, f"() => (document.querySelector(\"{row}\") || {{}}).textContent?.includes('r 0.95, 12 s, 90 %')"), page.inner_text("#marks"))
    beta.kill()
    check("a silent site is told with a sign", wait(page, "() => document.querySelector('[data-place=NORTH]').textContent.includes('▲ 1 of 2')", 30), page.evaluate(cells, "NORTH"))
    check("and has no figures", wait(page, "() => document.querySelectorAll('[data-place=beta] td')[3].textContent === '–'"), page.evaluate(cells, "beta"))
    aggregator.pause(True)
    check("without an answer nothing is shown", wait(page, "() => document.getElementById('places').textContent.includes('unknown: no answer')", 30), page.inner_text("#places"))
    aggregator.pause(False)
    page.set_viewport_size({"width": 390, "height": 844})
    check("it comes back", wait(page, "() => !!document.querySelector('[data-place=NORTH]')", 30))
    spills = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    check("nothing is wider than a telephone", spills <= 0, spills)
    browser.close()
print(f"{len(passed)} checks pass, {len(failed)} fail")
sys.exit(1 if failed else 0)
