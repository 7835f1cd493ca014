"""Opens the aggregator's page in Chromium as a person does, and judges what is seen.

    browser_judge.py URL TOKEN SITE CAPTURE PICTURE [PAGE …]     prints OK, or says what is wrong

It logs in with a wrong token and with the right one, opens the site's incidents and the capture's page in its frame. Nothing
may be asked of another machine, no error may stand in the console, and no text of a site may run. PAGE: files that are
opened by themselves, as somebody does to whom they were sent.
"""
import sys
import urllib.parse

from playwright.sync_api import expect, sync_playwright


def main():
    url, token, site, capture, picture = sys.argv[1:6]
    host = urllib.parse.urlsplit(url).netloc
    errors, strangers = [], []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.on("request", lambda request: strangers.append(request.url) if is_strange(request.url, host) else None)

        page.goto(url + "/")
        page.fill("#token", "wrong")
        page.click("#login button")
        expect(page.locator("#link")).to_contain_text("no answer")
        expect(page.locator("section")).to_have_count(0)
        page.fill("#token", token)
        page.click("#login button")
        expect(page.locator("section h2").first).to_have_text(site)
        if "token" in page.url:
            fail("the token stands in the address")
        # A unit's name with markup in it is shown, and not run.
        expect(page.locator("section table").first).to_contain_text("<img")
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
    # The refusal of the wrong token stands in the console once, as it should.
    refusals = [error for error in errors if "401" in error]
    if len(refusals) != 1:
        fail(f"the wrong token was refused {len(refusals)} times")
    errors = [error for error in errors if error not in refusals]
    if errors:
        fail("in the console: " + "; ".join(errors[:5]))
    if strangers:
        fail("asked for: " + ", ".join(strangers[:5]))
    print("OK")


def is_strange(url, host):
    parts = urllib.parse.urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != host


def fail(text):
    print(text)
    sys.exit(1)


main()
