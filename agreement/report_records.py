"""What an agreement report holds; its JSON is the machine's twin of the page."""

from __future__ import annotations

from agreement.analysis import Analysis
from agreement.coefficient import Coefficient
from agreement.timing import RaterTime
from benchmarks.items import SCHEMA_VERSION, Frozen


class DisputedItem(Frozen):
    """An item on which raters differ."""

    item: str
    """Item id."""
    agreement: float
    """Share of agreeing pairs, 0..1; near labels count in part on ordered axes."""
    labels: dict[str, str | None]
    """Label by rater; null where there is none."""
    link: str | None = None
    """Where a coordinator can see the item."""
    text: tuple[str, ...] = ()
    """What raters read, e.g. both captions."""


class Group(Frozen):
    """The headline coefficients of one stratum."""

    stratum: dict[str, str]
    """Which items, e.g. ``{"axis": "mirror_reflection", "difficulty": "easy"}``."""
    n_items: int
    """Items in the stratum."""
    n_pairable: int
    """Items with at least two ratings."""
    coefficients: tuple[Coefficient, ...]
    """The headline coefficients of the stratum, in the order of the whole."""
    warnings: tuple[str, ...] = ()
    """Why its intervals are not to be trusted; empty where they are."""


class LeftOut(Frozen):
    """The headline coefficients without one rater."""

    rater: str
    """Who was left out."""
    coefficients: tuple[Coefficient, ...]
    """Without intervals."""


class PairTable(Frozen):
    """Labels of two raters, crossed."""

    raters: tuple[str, str]
    """Whose labels stand in rows and in columns."""
    counts: tuple[tuple[int, ...], ...]
    """(q, q) items, in the order of the domain."""


class CheckReport(Frozen):
    """All about one axis."""

    analysis: Analysis
    """Data block and coefficients."""
    headline: tuple[Coefficient, ...]
    """The few that a reader looks at first: percent agreement, Fleiss, alpha, AC1 or AC2."""
    groups: tuple[Group, ...]
    """By stratum; empty where items have none."""
    left_out: tuple[LeftOut, ...]
    """One entry per rater; empty with fewer than three raters or more than twelve."""
    pairs_of_labels: tuple[tuple[int, ...], ...]
    """(q, q) symmetric: how many pairs of ratings of one item bear these two labels, each pair
    counted in both orders; empty for more than twenty labels."""
    pair_tables: tuple[PairTable, ...] = ()
    """One per pair of raters; empty for more than ten labels or more than six raters."""
    n_unanimous: int
    """Pairable items on which all ratings are the same."""
    disputed: tuple[DisputedItem, ...]
    """The most disputed items, worst first."""
    notes: tuple[str, ...]
    """What the numbers alone would hide."""
    shaky: bool = False
    """True where there are too few units, or too few items that bear another label than the
    commonest, for intervals that can be trusted; ``analysis.warnings`` says which."""


class Report(Frozen):
    """A whole report. Its JSON is the machine's twin of the page."""

    schema_version: int = SCHEMA_VERSION
    """Version of this record."""
    title: str
    """What was judged, e.g. the study's name."""
    tool_version: str
    """Version of MotionJury."""
    meta: dict[str, str]
    """Configuration that the numbers depend on, as it was given."""
    seed: int
    """Seed of the resamples."""
    simulated_raters: tuple[str, ...]
    """Raters that are simulated; a report with any is marked so throughout."""
    checks: tuple[CheckReport, ...]
    """One per axis, in the order given."""
    times: tuple[RaterTime, ...] = ()
    """Time per item: all raters together, then each; empty where none was recorded."""
    methods: str
    """A paragraph on how the numbers were made, ready to paste."""
