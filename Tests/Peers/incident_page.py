"""Opens incident pages in Chromium as somebody does to whom they were sent, and judges what is seen.

    incident_page.py FILE CAUSE     prints what is shown first out, or says what is wrong

At 1280 and 390 px, light and dark: a heading, curves, the cause marked as first out, no script, no request, nothing in the
console, nothing wider than the window.
"""
import sys

from playwright.sync_api import expect, sync_playwright


def main():
    path, cause = sys.argv[1:3]
    wrong = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for width, height, scheme in [(1280, 900, "light"), (390, 844, "dark")]:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.on("console", lambda message: wrong.append(message.text))
            page.on("request", lambda ask: ask.url.startswith("file:") or wrong.append("asks for " + ask.url))
            page.goto("file://" + path)
            expect(page.locator("h1")).to_contain_text("Incident at")
            first = page.get_by_text("first out").first
            expect(first).to_be_visible()
            if not page.get_by_text(cause).count():
                wrong.append(f"no word of {cause}")
            if page.locator("svg").count() < 3 or page.locator("script").count():
                wrong.append("no curves, or a script")
            if page.evaluate("document.documentElement.scrollWidth") > width + 1:
                wrong.append(f"wider than {width} px")
            if scheme == "light":
                page.screenshot(path=path.rsplit(".", 1)[0] + ".png")
        browser.close()
    if wrong:
        sys.exit("; ".join(wrong[:5]))
    print(f"the page of {cause} is whole in a browser: {path}")


main()
