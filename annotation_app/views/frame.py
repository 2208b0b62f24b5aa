"""The look of the pages around the labelling component, and small parts they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from annotation_app.context import AppContext
from annotation_app.texts import PARAMETER, Texts, choose
from corpus.problems import InputError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session
    from streamlit.delta_generator import DeltaGenerator

_COMMON = """
:root { --mj-accent: #0b6380; --mj-on-accent: #ffffff; --mj-paper: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --mj-accent: #62c4e3; --mj-on-accent: #12181e; --mj-paper: #12181e; } }
[data-testid="stMainBlockContainer"] h1 { font-size: 2.1rem; padding: .5rem 0; }
header[data-testid="stHeader"], [data-testid="stToolbar"], [data-testid="stDecoration"],
[data-testid="stStatusWidget"] { display: none !important; }
[data-testid="stMainBlockContainer"] button:focus-visible { outline: 3px solid
  var(--mj-accent); outline-offset: 2px; }
[data-testid="stMainBlockContainer"] button { min-height: 44px; }
[data-testid="stMainBlockContainer"] [data-testid="stTooltipIcon"]
  button:not([data-testid^="stBaseButton"]) { min-height: 0; }
[data-testid^="stBaseButton-primary"], [data-testid^="stBaseButton-primary"] p {
  color: var(--mj-on-accent) !important; }
.mj-paste { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: .5rem 0 1rem; }
.mj-paste label { display: grid; gap: .35rem; flex: 1 1 24rem; font-weight: 600; }
.mj-paste input { min-height: 44px; padding: .4rem .7rem; border-radius: 8px; font: inherit;
  color: inherit; background: transparent; border: 1px solid currentColor; }
.mj-paste button { min-height: 44px; padding: .4rem 1.2rem; border-radius: 8px; border: 0;
  font: inherit; font-weight: 600; cursor: pointer; background: var(--mj-accent);
  color: var(--mj-on-accent); }
[data-testid="stLayoutWrapper"]:has(> .st-key-told, > .st-key-link) { position: sticky; top: .5rem;
  z-index: 20; }
.st-key-told > *, .st-key-link { background: var(--mj-paper); border-radius: 8px; }
.mj-go { display: inline-block; padding: .7rem 1.2rem; border-radius: 8px; font-weight: 600;
  text-decoration: none; background: var(--mj-accent); color: var(--mj-on-accent) !important; }
[data-testid="stCaptionContainer"] p, [data-testid="stCaptionContainer"] {
  color: inherit !important; opacity: 1 !important; }
[data-testid="stMainBlockContainer"] ::placeholder { color: inherit; opacity: .8; }
.mj-facts { margin: 0 0 .5rem !important; padding: 0 !important; }
.mj-facts dt { font-weight: 600; float: left; clear: left;
  margin-inline-end: .6em; }
.mj-facts dd { margin: 0 !important; overflow-wrap: anywhere; white-space: pre-wrap; }
.mj-clip { width: min(100%, 22rem); border-radius: 8px; display: block; }
.mj-files a { color: var(--mj-accent); margin-inline-start: .6em; }
"""
_READING = """
[data-testid="stMainBlockContainer"] { max-width: 56rem; padding: 1.75rem 2rem 3rem; }
.mj-top { display: flex; gap: .75rem; align-items: center; font-size: .95rem; opacity: .8;
  margin-bottom: .25rem; }
.mj-top b { font-weight: 600; } .mj-top a { margin-inline-start: auto; color: inherit; }
"""
_TABLE = """
.mj-table { border-collapse: collapse; width: 100%; font-size: .95rem; }
.mj-table caption { text-align: start; font-weight: 600; padding: .25rem 0 .5rem; }
.mj-table th { text-align: start; font-weight: 600; opacity: .8; white-space: nowrap; }
.mj-table th, .mj-table td { padding: .5rem .9rem .5rem 0; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
.mj-table td.n, .mj-table th.n { text-align: end; font-variant-numeric: tabular-nums; }
.mj-small { font-size: .85rem; opacity: .8; white-space: nowrap; }
.mj-scroll { overflow-x: auto; }
.mj-tag { font-size: .8rem; font-weight: 600; padding: .1rem .5rem; border-radius: 1rem;
  background: #7a3d00; color: #fff; white-space: nowrap; }
.mj-banner { border: 2px solid #b3611a; border-radius: 8px; padding: .6rem 1rem; font-weight: 600; }
.mj-bar { display: block; height: 8px; margin-top: .5rem; border-radius: 4px;
  min-width: 8rem; overflow: hidden;
  background: color-mix(in srgb, currentColor 18%, transparent); }
.mj-bar i { display: block; height: 100%; background: var(--mj-accent); }
.mj-caution { font-size: .9rem; } .mj-caution p, .mj-caution ul { margin: .25rem 0; }
.mj-computing::before { content: ""; display: inline-block; width: 1em; height: 1em;
  margin-inline-end: .6em; vertical-align: -.15em; border-radius: 50%; border: 2px solid
  var(--mj-accent); border-inline-start-color: transparent; animation: mj-turn 1s linear infinite; }
@keyframes mj-turn { to { transform: rotate(1turn); } }
@media (prefers-reduced-motion: reduce) { .mj-computing::before { animation: none; } }
"""
_WIDE = _TABLE + _READING.replace("56rem", "76rem")
_FULL = """
[data-testid="stMainBlockContainer"] { max-width: none; padding: 0; }
[data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"] { gap: 0; }
[data-testid="stAppViewContainer"], [data-testid="stMain"] { overflow-y: auto; }
[data-testid="stElementContainer"][data-stale="true"]:has([data-testid="stMarkdown"], button),
[data-testid="stVerticalBlock"]:has(> [data-stale="true"] [data-testid="stMarkdown"]) > *
  { visibility: hidden; }
"""
_STYLES = {"reading": _READING, "wide": _WIDE, "full": _FULL}


def words() -> Texts:
    """Return the words for whoever looks at the page, by ``?lang`` or their browser's language."""
    return choose(st.query_params.get(PARAMETER), st.context.headers.get("Accept-Language"))


_TOLD = "told"
"""Session key: what is to be said after the rerun that follows an action."""


def act(context: AppContext, change: Callable[[Session], object], texts: Texts) -> bool:
    """Change something in a transaction of its own; say what is wrong where it is refused.

    Args:
        context: The server's context.
        change: What is done with the writing session.
        texts: Words of the page.

    Returns:
        Whether it was done.
    """
    try:
        with context.db.write() as session:
            change(session)
    except InputError as error:
        st.error(plain_text(texts.message(str(error))))
        return False
    return True


def done(text: str) -> None:
    """Draw the page anew, with a word on what was done."""
    st.session_state[_TOLD] = text
    st.rerun()


def tell() -> None:
    """Draw the word on what was done, once."""
    text = st.session_state.pop(_TOLD, None)
    if text:
        with st.container(key="told"):
            st.success(plain_text(text))


def distinct(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels by id that differ from each other; a choice is told by its label alone.

    >>> distinct({"7a01": "Ann", "9c44": "Bob", "b3f0": "Ann"})
    {'7a01': 'Ann (7a01)', '9c44': 'Bob', 'b3f0': 'Ann (b3f0)'}
    """
    often = Counter(labels.values())
    return {
        key: f"{label} ({key[:6]})" if often[label] > 1 else label for key, label in labels.items()
    }


def pick(
    label: str, options: Mapping[str, str], texts: Texts, place: DeltaGenerator | None = None
) -> str | None:
    """Draw a choice in which nothing is chosen beforehand.

    What was chosen and is gone meanwhile is no choice any more, rather than another one.

    Args:
        label: What is asked.
        options: Labels by id.
        texts: Words of the page.
        place: Where it is drawn, if not below all else.

    Returns:
        The id, or None where nothing is chosen.
    """
    shown = distinct(options)
    return (place or st).selectbox(
        label,
        list(shown),
        index=None,
        format_func=shown.__getitem__,
        placeholder=texts("console.choose"),
    )


def act_on_one(
    context: AppContext,
    key: str,
    label: str,
    options: Mapping[str, str],
    button: str,
    change: Callable[[Session, str], object],
    texts: Texts,
) -> str | None:
    """Draw a form in which one of several is chosen; change something for it once it is sent.

    Args:
        context: The server's context.
        key: Key of the form.
        label: What is asked.
        options: Labels by id.
        button: What the button says.
        change: What is done with the writing session and the id.
        texts: Words of the page.

    Returns:
        The id once it is done, else None.
    """
    with st.form(key, border=False):
        chosen = pick(label, options, texts)
        sent = st.form_submit_button(button)
    if not sent:
        return None
    if chosen is None:
        st.error(texts("console.choose_first"))
        return None
    return chosen if act(context, lambda session: change(session, chosen), texts) else None


def style(kind: str) -> None:
    """Set the page's look: ``reading`` (text), ``wide`` (tables) or ``full`` (labelling)."""
    st.html(f"<style>{_COMMON}{_STYLES[kind]}</style>")


def top(title: str, note: str = "") -> None:
    """Draw the line above a page: study, the person's code, the way out."""
    more = f"<span>{escape(note)}</span>" if note else ""
    st.html(
        f'<div class="mj-top"><b>{escape(title)}</b>{more}'
        f'<a href="/leave" target="_self">{escape(words()("lobby.leave"))}</a></div>'
    )


class Markup(str):
    """HTML made here from escaped parts; only this is set into a table unescaped."""


def tag(text: str) -> Markup:
    """Return a small mark, e.g. ``simulated``."""
    return Markup(f'<span class="mj-tag">{escape(text)}</span>')


def bar(share: float) -> Markup:
    """Return a bar filled to a share between 0 and 1."""
    percent = round(100 * min(max(share, 0.0), 1.0))
    return Markup(f'<span class="mj-bar"><i style="width:{percent}%"></i></span>')


def small(text: str) -> Markup:
    """Return a second, smaller line for a cell."""
    return Markup(f'<br><span class="mj-small">{escape(text)}</span>')


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Draw a table; numbers stand to the right, everything but ``Markup`` is escaped.

    Args:
        caption: What the table shows.
        columns: Headings.
        rows: Cells, as many as there are headings.
    """
    numeric = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    kind = [' class="n"' if number else "" for number in numeric]
    head = "".join(
        f'<th scope="col"{k}>{escape(c)}</th>' for c, k in zip(columns, kind, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{k}>{_cell(c)}</td>" for c, k in zip(row, kind, strict=True))
        + "</tr>"
        for row in rows
    )
    st.html(
        f'<div class="mj-scroll"><table class="mj-table"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def banner(text: str) -> None:
    """Draw a line that nobody should overlook."""
    st.html(f'<div class="mj-banner" role="note">{escape(text)}</div>')


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: object) -> str:
    if isinstance(value, Markup):
        return value
    return escape("—" if value is None else str(value))


def plain_text(text: str) -> str:
    r"""Escape Markdown so that a text from data is shown as it is.

    >>> plain_text("<b>a*b</b>")
    '\\<b\\>a\\*b\\</b\\>'
    """
    return "".join(f"\\{c}" if c in "\\`*_{}[]()<>#+-.!|$~:" else c for c in text)
