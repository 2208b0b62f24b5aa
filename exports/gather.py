"""From the workspace to a release folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.evidence import LabelEvidence, StudyEvidence, study_evidence
from audit.labelling import SHOWN
from audit.lineage import Version, relatives
from audit.protocols.registry import PROTOCOLS
from audit.records import Study, get_study
from audit.studies import list_studies
from benchmarks.items import Benchmark, Frozen
from corpus.problems import InputError
from exports.folder import MANIFEST, check_target, sha256, write_release
from exports.layouts import LAYOUTS
from exports.records import ReleaseCounts, ReleaseDecision, ReleaseLabel
from exports.release import counts_of, release_files
from exports.selection import ReleaseSpec, StudySource, release_content
from exports.stimuli import stimuli_of
from exports.versions import OtherVersion

if TYPE_CHECKING:
    from store.session import Database

RELEASED: tuple[Benchmark, ...] = tuple(LAYOUTS)
"""Benchmarks that a release can hold."""


class Built(Frozen):
    """What was written."""

    out: str
    """The folder."""
    manifest_sha256: str
    """SHA-256 of ``manifest.json``: quote it, and the release cannot be exchanged unseen."""
    counts: ReleaseCounts
    """Totals."""
    studies: tuple[str, ...]
    """Names of the studies that went in."""
    left_out: tuple[str, ...]
    """Names of studies of the benchmark that are not closed and were not asked for."""


def build_release(
    db: Database, out: Path, spec: ReleaseSpec, *, studies: Sequence[str] = ()
) -> Built:
    """Write a release of closed studies.

    Args:
        db: The workspace's database; only read.
        out: Folder to write, new or empty or a previous release.
        spec: What the coordinator chose; its ``motion_licences`` are read from the workspace.
        studies: Ids or names; all closed studies of the benchmark by default.

    Returns:
        What was written.

    Raises:
        InputError: A study is unknown, not closed or of another benchmark; no study is closed;
            simulated labels that were not let in; a target that holds other things. Nothing is
            written then.
    """
    if spec.benchmark not in RELEASED:
        raise InputError(f"expected a benchmark of {', '.join(RELEASED)}, got {spec.benchmark!r}")
    check_target(out)
    with db.read() as session:
        known = list_studies(session)
        named = [get_study(session, name) for name in studies]
        chosen, left_out = choose_studies(known, named, spec.benchmark)
        evidence = [study_evidence(session, study.id) for study in chosen]
        others = relatives(session, {item.id for one in evidence for item in one.items})
    sources = [study_source(*pair) for pair in zip(chosen, evidence, strict=True)]
    sources[0] = sources[0].model_copy(update={"others": tuple(map(_other, others))})
    licences: dict[str, set[str]] = {}
    for one in evidence:
        for corpus, found in one.licences.items():
            licences.setdefault(corpus, set()).update(found)
    sorted_licences = {corpus: tuple(sorted(found)) for corpus, found in licences.items()}
    spec = spec.model_copy(update={"motion_licences": sorted_licences})
    content = release_content(sources, spec)
    files = release_files(content, spec)
    write_release(out, files)
    return Built(
        out=str(out),
        manifest_sha256=sha256(files[MANIFEST]),
        counts=counts_of(content),
        studies=tuple(study.name for study in content.studies),
        left_out=tuple(left_out),
    )


def study_source(study: Study, evidence: StudyEvidence) -> StudySource:
    """Turn what a study found into what a release takes.

    Raises:
        InputError: The study was run with another version of its protocol than this program has.
    """
    protocol = PROTOCOLS.get(study.protocol)
    if protocol is None or protocol.version != study.protocol_version:
        known = f"version {protocol.version}" if protocol else "no such protocol"
        raise InputError(
            f"study {study.name!r} was run with {study.protocol} version "
            f"{study.protocol_version}; this program has {known}"
        )
    simulated = {label.item_id for label in evidence.labels if label.simulated}
    return StudySource(
        name=study.name,
        protocol=protocol,
        rule=study.rule,
        ratings_per_item=study.config.ratings_per_item,
        seed=study.config.seed,
        items=evidence.items,
        labels=tuple(_label(study.name, label) for label in evidence.labels),
        decisions=tuple(
            ReleaseDecision.model_validate(
                {
                    "study": study.name,
                    "simulated": decision.item_id in simulated,
                    **decision.model_dump(),
                }
            )
            for decision in evidence.decisions
        ),
        surplus_labels=evidence.surplus,
        label=study.config.label,
        stimuli=stimuli_of(study.name, evidence.shown),
    )


def choose_studies(
    known: Sequence[Study], named: Sequence[Study], benchmark: Benchmark
) -> tuple[list[Study], list[str]]:
    """Choose the studies of a release.

    Args:
        known: All studies of the workspace.
        named: Those asked for; with none, all closed ones of the benchmark.
        benchmark: Benchmark of the release.

    Returns:
        The studies, by name, and the names of studies of the benchmark that are not closed and
        were therefore left out.

    Raises:
        InputError: A study asked for is not closed or of another benchmark; none is closed.
    """
    if named:
        for study in named:
            found = _benchmark_of(study)
            if found != benchmark:
                raise InputError(
                    f"study {study.name!r} judges {found} items, expected {benchmark} "
                    f"(--benchmark {found} releases those)"
                )
            if study.state != "closed":
                raise InputError(
                    f"study {study.name!r} is {study.state}, expected closed: "
                    "close it first with `motionjury study close`"
                )
        return sorted({study.id: study for study in named}.values(), key=lambda s: s.name), []
    own = sorted((s for s in known if _benchmark_of(s) == benchmark), key=lambda s: s.name)
    closed = [study for study in own if study.state == "closed"]
    others = [study.name for study in own if study.state != "closed"]
    if not closed:
        hint = f"not closed: {', '.join(map(repr, others))}" if others else "there is no study"
        raise InputError(
            f"expected a closed study of {benchmark}, got none ({hint}); "
            "close one first with `motionjury study close`"
        )
    return closed, others


def _benchmark_of(study: Study) -> str | None:
    protocol = PROTOCOLS.get(study.protocol)
    return protocol.benchmark if protocol else None


def _label(study: str, label: LabelEvidence) -> ReleaseLabel:
    return ReleaseLabel(
        study=study,
        item_id=label.item_id,
        rater=label.rater,
        simulated=label.simulated,
        revision=label.revision,
        protocol_version=label.protocol_version,
        seconds=_measured(label.activity.get("seconds"), float),
        plays=_measured(label.activity.get("plays"), int),
        seconds_3d=_measured(label.activity.get("seconds_3d"), float),
        orbits=_measured(label.activity.get("orbits"), int),
        zooms=_measured(label.activity.get("zooms"), int),
        pans=_measured(label.activity.get("pans"), int),
        first_caption=_first_caption(label.activity.get(SHOWN)),
        answers=label.answers,
    )


def _other(version: Version) -> OtherVersion:
    outcome = version.decisions[-1].outcome if version.decisions else "undecided"
    return OtherVersion.model_validate({"item": version.item, "outcome": outcome})


def _first_caption(shown: Any) -> Any:
    first = shown.split(",")[0] if isinstance(shown, str) else None
    return first if first in ("caption", "perturbed") else None


def _measured(value: Any, kind: type[Any]) -> Any:
    # The client measures these; a value that is no number is none.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return kind(value)
