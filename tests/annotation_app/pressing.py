"""Presses that a page may miss while Streamlit still draws it anew."""

from __future__ import annotations

TRIES = 5
EACH_MS = 9_000


def press(button, following) -> None:
    """Press a button again, as a person would, until what follows is there.

    A press is missed where its element is replaced between the mouse's down and up. Only for
    buttons whose second press does no harm.
    """
    from playwright.sync_api import TimeoutError as NotYet

    for last in (*[False] * (TRIES - 1), True):
        try:
            if button.is_visible():
                button.click(timeout=EACH_MS)
            following.wait_for(timeout=EACH_MS)
        except NotYet:
            if last:
                raise
        else:
            return
