"""Opens the aggregator's page in Chromium as a person does, and judges what is seen.

    browser_judge.py URL TOKEN SITE CAPTURE PICTURE [PAGE …]     prints OK, or says what is wrong

It logs in with a wrong token and with the right one, on a desk, at 390 px and in the dark, opens a site, its incidents and
the capture's page in its frame, and waits until the site, which says nothing more, is told as silent. Nothing may be asked of
another machine, no error may stand in the console, and no text of a site may run. PAGE: files that are opened by
themselves, as somebody does to whom they were sent.
"""
import sys
import urllib.parse

from playwright.sync_api import expect, sync_playwright

errors, strangers = [], []
CONTRAST = """() => {
  const lum = c => { const v = c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; });
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const rgb = s => (s.match(/[\\d.]+/g) || []).map(Number);
  const ground = node => { for (; node; node = node.parentElement) { const c = rgb(getComputedStyle(node).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const bad = [];
  for (const node of document.querySelectorAll("body *")) {
    if (![...node.childNodes].some(c => c.nodeType === 3 && c.textContent.trim()) || !node.checkVisibility()) continue;
    const a = lum(rgb(getComputedStyle(node).color).slice(0, 3)), b = lum(ground(node));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push(node.textContent.trim().slice(0, 30) + " " + ratio.toFixed(2));
  }
  return bad;
}"""


def main():
    url, token, site, capture, picture = sys.argv[1:6]
    host = urllib.parse.urlsplit(url).netloc
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for width, height, scheme in [(1280, 900, "light"), (390, 844, "dark")]:
            page = open_page(browser, width, height, scheme, host)
            log_in(page, url, token)
            fleet(page, site, width)
            one_site(page, url, site, capture, picture, width)
            if page.evaluate("window.wasRun"):
                fail("a site's text was run as a script")
            page.click("#logout")
            expect(page.locator("#login")).to_be_visible()
        for path in sys.argv[6:]:
            page.goto("file://" + path)
            expect(page.locator("h1")).to_contain_text("Incident at")
            if page.locator("svg").count() < 3 or page.locator("script").count():
                fail(f"{path} is no incident page")
        browser.close()
    # The refusal of the wrong token stands in the console once for each, as it should.
    refusals = [error for error in errors if "401" in error]
    if len(refusals) != 2:
        fail(f"the wrong token was refused {len(refusals)} times")
    rest = [error for error in errors if error not in refusals]
    if rest:
        fail("in the console: " + "; ".join(rest[:5]))
    if strangers:
        fail("asked for: " + ", ".join(strangers[:5]))
    print("OK")


def open_page(browser, width, height, scheme, host):
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    page.on("request", lambda request: strangers.append(request.url) if is_strange(request.url, host) else None)
    return page


def log_in(page, url, token):
    answer = page.goto(url + "/")
    policy = answer.headers.get("content-security-policy", "")
    if "script-src 'self'" not in policy or "default-src 'none'" not in policy:
        fail("the policy is " + policy)
    if page.locator("script:not([src])").count():
        fail("a script stands in the page")
    page.fill("#token", "wrong")
    page.click("#login button")
    expect(page.locator("#link")).to_contain_text("no answer")
    expect(page.locator("section")).to_have_count(0)
    # By the keyboard alone.
    page.fill("#token", token)
    page.press("#token", "Enter")


def fleet(page, site, width):
    rows = page.locator(".fleet tbody tr")
    expect(rows).to_have_count(2)
    # One in danger, one that never spoke: the danger first, and above everything.
    expect(rows.first).to_contain_text("DANGER")
    expect(rows.nth(1)).to_contain_text("never reported")
    expect(page.locator("#dangers")).to_contain_text("evacuate and call the fire brigade")
    if page.locator("#dangers").bounding_box()["y"] > 1:
        fail("something stands above the danger")
    layout(page, width)
    page.click("#alarms-link")
    expect(page.locator("#alarm-list tbody tr").first).to_contain_text("life safety")
    expect(page.locator("#alarm-list button", has_text="shelve")).to_have_count(0)
    layout(page, width)


def one_site(page, url, site, capture, picture, width):
    page.goto(f"{url}/#/site/{site}")
    expect(page.locator("section h2").first).to_have_text(site)
    if "token" in page.url:
        fail("the token stands in the address")
    # A unit's name with markup in it is shown, and not run.
    expect(page.locator("table.units")).to_contain_text("<img")
    expect(page.locator(".notes").first).to_contain_text("tripped: smoke")
    # Its last word was some seconds ago: the figures say so. The units' boxes go grey with it.
    expect(page.locator("#data-state")).to_contain_text("no data since", timeout=15000)
    expect(page.locator(".figure b").first).to_contain_text("(old)")
    layout(page, width)
    page.locator("section button", has_text="incidents").first.click()
    page.locator("#incidents-list button", has_text=capture).click()
    frame = page.frame_locator("#incident")
    expect(frame.locator("h1")).to_contain_text(f"Incident at {site}")
    expect(frame.locator(".first").first).to_have_text("first out")
    if frame.locator("svg").count() < 3:
        fail("the incident has no curves")
    height = frame.locator("svg").first.bounding_box()["height"]
    if height < 100:
        fail(f"the curves are {height} px high")
    page.screenshot(path=picture)
    page.click("#incidents-close")
    expect(page.locator("#incidents")).to_be_hidden()


def layout(page, width):
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        fail(f"the page is {wide} px wide at {width}")
    pale = page.evaluate(CONTRAST)
    if pale:
        fail("contrast below 4.5: " + "; ".join(pale[:5]))


def is_strange(url, host):
    parts = urllib.parse.urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != host


def fail(text):
    print(text)
    sys.exit(1)


main()
