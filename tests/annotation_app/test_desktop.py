"""A window of its own: which browser is taken, and how it is asked."""

from __future__ import annotations

import os
import shutil
import signal
import time

import pytest

from annotation_app import desktop


def test_the_browser_named_is_taken_and_else_the_default_one(monkeypatch, tmp_path):
    browser = tmp_path / "a-browser"
    browser.write_text("")
    monkeypatch.setenv(desktop.CHROMIUM_ENV, str(browser))
    assert desktop.find_browser() == str(browser)
    monkeypatch.delenv(desktop.CHROMIUM_ENV)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setattr(desktop.sys, "platform", "linux")
    assert desktop.find_browser() is None
    asked = []
    monkeypatch.setattr(desktop.webbrowser, "open", asked.append)
    assert desktop.open_window("http://localhost:1/") is None
    assert asked == ["http://localhost:1/"]


@pytest.mark.browser
def test_a_window_shows_the_page(site, chromium_path, monkeypatch, tmp_path):
    # Without a screen, the same command draws the window in memory.
    command = desktop.window_command
    monkeypatch.setattr(desktop, "window_command", lambda *a: [*command(*a), "--headless=new"])
    monkeypatch.setenv(desktop.CHROMIUM_ENV, chromium_path)
    monkeypatch.setattr(desktop.Path, "home", lambda: tmp_path)
    window = desktop.open_window(site.url)
    try:
        # A fresh profile that has visited the page: the window came up and loaded it.
        history = tmp_path / ".motionjury" / "window" / "Default" / "History"
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if history.is_file() and site.url.encode() in history.read_bytes():
                break
            time.sleep(0.5)
        assert window.poll() is None
        assert site.url.encode() in history.read_bytes()
    finally:
        os.killpg(window.pid, signal.SIGTERM)
        window.wait(timeout=20)
