"""One server and one browser for all tests of the app."""

from __future__ import annotations

import pytest

from tests.annotation_app import seven as seven_module
from tests.annotation_app import site as site_module

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("app")
    built = site_module.build(folder / "workspace")
    process = site_module.start(built, folder / "server.log")
    yield built
    process.terminate()
    process.wait(timeout=20)
    built.workspace.db.close()
    text = (folder / "server.log").read_text()
    assert "Traceback" not in text, text


@pytest.fixture(scope="session")
def seven(tmp_path_factory):
    """A server with a study of each protocol; its log is looked at in the end."""
    folder = tmp_path_factory.mktemp("seven")
    built = seven_module.build(folder / "workspace")
    process = site_module.start(built.site, folder / "server.log")
    yield built
    process.terminate()
    process.wait(timeout=20)
    built.db.close()
    text = (folder / "server.log").read_text()
    # Frames that are no message are noted by Streamlit itself.
    assert text.count("Traceback") == text.count("Error deserializing back message"), text


@pytest.fixture(scope="session")
def chromium_path():
    path = site_module.find_chromium()
    if path is None:
        pytest.skip("no Chromium found (set MOTIONJURY_CHROMIUM)")
    return path


@pytest.fixture(scope="session")
def chromium(chromium_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium):
    """Return a function that opens a page with a fresh profile."""
    contexts = []

    def open_page(**options):
        settings = {"viewport": {"width": 1366, "height": 650}, **options}
        context = chromium.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(45_000)
        return page

    open_page.contexts = contexts
    yield open_page
    for context in contexts:
        context.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Say with a failure what stood on the pages; a browser leaves nothing else behind."""
    report = yield
    opened = item.funcargs.get("new_page")
    if report.failed and opened is not None:
        for page in (page for context in opened.contexts for page in context.pages):
            try:
                shown = page.locator("body").aria_snapshot(timeout=5000)
            except Exception as error:  # noqa: BLE001  # whatever broke the page broke the test
                shown = repr(error)
            report.sections.append((f"page {page.url.partition('?')[0]}", shown))
    return report
