"""The card: README.md of a release, with the front matter that Hugging Face reads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.protocol import Question
from exports.layouts import LAYOUTS, AnyDropped, AnyItem, Content
from exports.records import ExcludedItem, Manifest, StrideItem
from exports.tables import canonical_json
from render.fit import FAR_MM, far_joints

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
        about=LAYOUTS[manifest.benchmark].about,
        lineage=LAYOUTS[manifest.benchmark].lineage,
        cells=_cells(content),
        rated=sum(
            not isinstance(item, StrideItem) and item.outcome == "rated" for item in content.items
        ),
        dropped=len(content.excluded),
        corpora=_corpora(manifest, content),
        far=_far(content),
        agreement_rows=_agreement_rows(agreement),
    )


def markdown_text(value: Any) -> str:
    r"""Write text so that Markdown and HTML draw it as it is, on one line.

    >>> markdown_text("a|b <script>")
    'a\\|b \\<script\\>'
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(value).split()))


def _cells(content: Content) -> list[dict[str, Any]]:
    kept = Counter(_cell(item) for item in content.items)
    dropped = Counter(_cell(row) for row in content.excluded)
    return [
        {"cell": cell, "kept": kept[cell], "dropped": dropped[cell]}
        for cell in sorted({*kept, *dropped})
    ]


def _cell(row: AnyItem | AnyDropped) -> tuple[str, str]:
    """Return what a row is counted under: corpus and axis, or kind and strata."""
    if isinstance(row, StrideItem | ExcludedItem):
        return row.corpus, str(row.axis)
    strata = ", ".join(f"{name}: {value}" for name, value in sorted(row.stratum.items()))
    return row.kind, strata or "all"


def _corpora(manifest: Manifest, content: Content) -> list[dict[str, str]]:
    return [
        {
            "name": name,
            "source": SOURCES.get(name, "fetch from its owner"),
            "licences": "; ".join(manifest.motion_licences.get(name, ())) or "not recorded",
        }
        for name in sorted(_corpus_names(manifest, content))
    ]


def _far(content: Content) -> str:
    count = sum(bool(far_joints(one.fit_error_mm)) for one in content.stimuli or ())
    return f" In {count} the drawn body missed joints by over {FAR_MM:g} mm." if count else ""


def _corpus_names(manifest: Manifest, content: Content) -> set[str]:
    if manifest.benchmark != "stride":
        return set(manifest.motion_licences)
    return {item.corpus for item in content.items if isinstance(item, StrideItem)}


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
