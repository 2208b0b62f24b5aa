"""An item as its experts see it, drawn small on the coordinator's pages: clip, captions, facts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote

import streamlit as st

from annotation_app.texts import Texts
from audit.blind import BlindItem

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def draw(item: BlindItem, texts: Texts) -> None:
    """Draw a blind item.

    Args:
        item: What the experts see, in the order of whoever looks at it here.
        texts: Words of the page.
    """
    left, right = st.columns([2, 3])
    for stimulus in item.stimuli:
        # Served by our own route to the owner of the token only.
        left.html(
            f'<video class="mj-clip" src="/clip/{quote(stimulus.token, safe="")}" controls loop '
            f'muted playsinline preload="metadata" aria-label="{escape(texts("page.clip"))}">'
            "</video>"
        )
    pairs = [(texts("item.prompt"), item.prompt)] if item.prompt else []
    pairs += [(one.letter, one.text) for one in item.captions]
    pairs += [(option.letter, option.text) for option in item.options]
    pairs += [(fact.name, fact.text) for fact in item.facts]
    facts(pairs, right if item.stimuli else None)


def facts(pairs: list[tuple[str, str]], place: DeltaGenerator | None = None) -> None:
    """Draw names with their values, both escaped."""
    body = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs)
    (place or st).html(f'<dl class="mj-facts">{body}</dl>')
