"""A browser for the page: Chromium of the system, driven by Playwright."""

import shutil

import pytest

CHROMIUM = next(
    (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None
)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium: install the distribution's package `chromium` to test the page")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


class Opened:
    """A page from disk, and everything that must not happen on it."""

    def __init__(self, browser, path, width=1280, scheme="light", fragment=""):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
        )
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address + fragment)
        self.page.wait_for_function("document.getElementById('exact').textContent !== ''")

    @property
    def exact(self):
        return float(self.page.locator("#exact").text_content())

    def check_quiet(self):
        assert self.complaints == []
        assert {url.split("#")[0] for url in self.requests} == {self.address}


@pytest.fixture
def open_page(browser):
    opened = []

    def open_it(path, **options):
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield open_it
    for one in opened:
        one.check_quiet()
        one.page.context.close()
