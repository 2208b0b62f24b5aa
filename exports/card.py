"""The card: README.md of a release, with the front matter that Hugging Face reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.protocol import Question
from exports.records import Content, Manifest
from exports.tables import canonical_json

TEMPLATES = Path(__file__).parent / "templates"
SOURCES = {
    "amass": "fetch from https://amass.is.tue.mpg.de",
    "humanml3d": "fetch as https://github.com/EricGuo5513/HumanML3D tells",
    "synthetic": "made anew by the demo of MotionJury",
}
"""Where the motions of a corpus come from."""

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def write_card(
    manifest: Manifest,
    content: Content,
    agreement: dict[str, Any],
    questions: Sequence[Question],
) -> str:
    """Write the card.

    Args:
        manifest: Manifest of the release; its list of files is not used.
        content: Records of the release.
        agreement: What ``agreement.json`` holds.
        questions: Columns of ``labels``.

    Returns:
        Markdown with YAML front matter. Text that people chose is escaped.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # No autoescape: the result is Markdown, and the filters below escape for Markdown and YAML.
    environment = Environment(  # noqa: S701
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters["text"] = markdown_text
    environment.filters["scalar"] = canonical_json
    return environment.get_template("card.md.j2").render(
        manifest=manifest,
        content=content,
        questions=questions,
        cells=_cells(content),
        dropped=len(content.excluded),
        corpora=_corpora(manifest, content),
        agreement_rows=_agreement_rows(agreement),
    )


def markdown_text(value: Any) -> str:
    r"""Write text so that Markdown and HTML draw it as it is, on one line.

    >>> markdown_text("a|b <script>")
    'a\\|b \\<script\\>'
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(value).split()))


def _cells(content: Content) -> list[dict[str, Any]]:
    kept = Counter((item.corpus, str(item.axis)) for item in content.items)
    dropped = Counter((row.corpus, row.axis) for row in content.excluded)
    return [
        {"corpus": cell[0], "axis": cell[1], "kept": kept[cell], "dropped": dropped[cell]}
        for cell in sorted({*kept, *dropped})
    ]


def _corpora(manifest: Manifest, content: Content) -> list[dict[str, str]]:
    return [
        {
            "name": name,
            "source": SOURCES.get(name, "fetch from its owner"),
            "licences": "; ".join(manifest.motion_licences.get(name, ())) or "not recorded",
        }
        for name in sorted({item.corpus for item in content.items})
    ]


def _agreement_rows(agreement: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for study, found in agreement["studies"].items():
        for question, table in found["questions"].items():
            row = {"study": study, "question": question, **table}
            for name in ("percent_agreement", "fleiss_kappa", "krippendorff_alpha"):
                row[name] = _number(table["coefficients"], name)
            rows.append(row)
    return rows


def _number(coefficients: list[dict[str, Any]], name: str) -> str:
    for entry in coefficients:
        if entry["coefficient"] == name and entry["value"] is not None:
            interval = entry["ci"]
            ends = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
            return f"{entry['value']:.3f}{ends}"
    return "–"
