"""Plain words for people: a line as a sentence, and a page of one outside Streamlit."""

from __future__ import annotations

from html import escape

_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center;
  font: 17px/1.5 system-ui, sans-serif; color: light-dark(#16212b, #e8edf1);
  background: light-dark(#f3f6f8, #12181e); }
main { max-width: 34rem; padding: 2.5rem; border-radius: 14px;
  background: light-dark(#fff, #1c252d); border: 1px solid light-dark(#d5dde3, #38434d); }
h1 { font-size: 1.5rem; margin: 0 0 .75rem; }
p { margin: 0; }
"""


def plain_page(title: str, line: str, language: str = "en") -> str:
    """Return an HTML page; both texts are escaped."""
    return (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
        f"<main><h1>{escape(title)}</h1><p>{escape(line)}</p></main></html>"
    )


def sentence(line: str) -> str:
    """Return a message as a sentence.

    >>> sentence("this link is not known")
    'This link is not known.'
    """
    return line[:1].upper() + line[1:] + ("" if line.endswith((".", "!", "?")) else ".")
