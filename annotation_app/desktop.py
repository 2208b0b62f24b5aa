"""A window of its own for the app: a Chromium, Chrome or Edge in app mode, else the browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path

CHROMIUM_ENV = "MOTIONJURY_CHROMIUM"
"""Environment variable that names the browser to use."""
_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
_MAC = ("Chromium", "Google Chrome", "Microsoft Edge")
_WINDOWS = (
    r"Google\Chrome\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
    r"Chromium\Application\chrome.exe",
)


def find_browser() -> str | None:
    """Return the path of a browser that has an app mode; None where there is none."""
    return next((path for path in _candidates() if path and Path(path).is_file()), None)


def open_window(url: str) -> subprocess.Popen[bytes] | None:
    """Open an address in a window of its own, with a profile of its own that is kept.

    Args:
        url: Address of the app.

    Returns:
        The browser; None where the default browser was asked instead.
    """
    browser = find_browser()
    if browser is None:
        webbrowser.open(url)
        return None
    return subprocess.Popen(
        window_command(browser, url, str(profile())),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def profile() -> Path:
    """Return the folder where the window keeps that someone signed in; made when absent."""
    folder = Path.home() / ".motionjury" / "window"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def window_command(browser: str, url: str, profile: str) -> list[str]:
    """Return the command that opens a window of its own.

    >>> window_command("chromium", "http://localhost:8501/", "/tmp/p")[1]
    '--app=http://localhost:8501/'
    """
    command = [
        browser,
        f"--app={url}",
        f"--user-data-dir={profile}",
        "--no-first-run",
        "--no-default-browser-check",
        "--window-size=1366,768",
    ]
    # Chromium refuses to run as root inside its own sandbox, as in a container.
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--no-sandbox")
    return command


def _candidates() -> Iterator[str | None]:
    yield os.environ.get(CHROMIUM_ENV)
    for name in _NAMES:
        yield shutil.which(name)
    if sys.platform == "darwin":
        for name in _MAC:
            yield f"/Applications/{name}.app/Contents/MacOS/{name}"
    for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
        folder = os.environ.get(variable)
        if folder:
            yield from (str(Path(folder) / rest) for rest in _WINDOWS)
