"""`agreement judge` and `agreement pilot`: judges and experts against a reference, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionjury.options import JsonOption
from motionjury.writing import write_text

if TYPE_CHECKING:
    from agreement.coefficient import Coefficient
    from agreement.judge_records import JudgeReport, JudgeStudy
    from agreement.pilot import Pilot

ResamplesOption = Annotated[int, typer.Option(help="Resamples behind each interval; 0 for none.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the resamples.")]
LatexOption = Annotated[Path | None, typer.Option(help="Write the paper's table here as LaTeX.")]
HtmlOption = Annotated[Path | None, typer.Option(help="Write the report here as HTML.")]
FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet or JSONL, one row per score.")
]


def judge_command(
    file: FileArgument,
    clip: Annotated[str, typer.Option(help="Column of clips, or of prompts.")] = "clip",
    human: Annotated[
        str, typer.Option(help="Column of people's scores; one per rater, comma between.")
    ] = "human",
    judge: Annotated[
        str, typer.Option(help="Column of the judge's scores; several judges, comma between.")
    ] = "judge",
    method: Annotated[
        str | None,
        typer.Option(help="Column of the rated systems; `method` where there is one."),
    ] = None,
    rater: Annotated[
        str | None, typer.Option(help="Column of rater ids, where each rater has a row.")
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="Column of questions or dimensions, e.g. realism.")
    ] = None,
    version: Annotated[str | None, typer.Option(help="Column of versions, e.g. V1.")] = None,
    axis: Annotated[str | None, typer.Option(help="Column of axes.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="Column of difficulties.")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Column of what clips share, e.g. the prompt.")
    ] = None,
    categories: Annotated[
        str | None, typer.Option(help="Verdicts in words: all of them, in order, comma between.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Verdict that counts as 1, e.g. yes; others count as 0.")
    ] = None,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    html: HtmlOption = None,
    latex: LatexOption = None,
) -> None:
    """Compare a judge with people: clip by clip, question by question, system by system.

    Example: `motionjury agreement judge scores.csv --method method --clip clip --human h1,h2,h3
    --judge gemini,gpt --question question --version version --json`
    """
    from agreement.files import read_table
    from agreement.judge_table import JudgeColumns, read_scores
    from agreement.judges import study_judges
    from motionjury import __version__

    check_resampling(resamples, seed)
    table = read_table(file)
    if method is None and "method" in table.columns:
        method = "method"
    strata = (("version", version), ("axis", axis), ("difficulty", difficulty))
    scores = read_scores(
        table,
        JudgeColumns(
            clip=clip,
            human=_names(human, "--human"),
            judge=_names(judge, "--judge"),
            method=method,
            rater=rater,
            question=question,
            cluster=cluster,
            strata=tuple((name, column) for name, column in strata if column is not None),
        ),
        categories=[part.strip() for part in categories.split(",")] if categories else [],
        positive=positive,
    )
    study = study_judges(
        scores, title=file.name, tool_version=__version__, resamples=resamples, seed=seed
    )
    if html is not None:
        from agreement.judge_page import render_judges

        write_text(html, render_judges(study))
    if latex is not None:
        from agreement.export_studies import judges_to_latex

        write_text(latex, judges_to_latex(study))
    if as_json:
        print(study.model_dump_json(indent=2))
        return
    _print_study(study)
    _say_written(html, latex)


def pilot_command(
    file: FileArgument,
    item: Annotated[str, typer.Option(help="Column of item ids.")] = "item",
    rater: Annotated[str, typer.Option(help="Column of rater ids.")] = "rater",
    correct: Annotated[
        str | None,
        typer.Option(help="Column of right (1, yes) or wrong (0, no); or --answer and --gold."),
    ] = None,
    answer: Annotated[
        str | None, typer.Option(help="Column of answers; also gives Fleiss' kappa of them.")
    ] = None,
    gold: Annotated[str | None, typer.Option(help="Column of the benchmark's own answers.")] = None,
    confidence: Annotated[
        str | None, typer.Option(help="Column of stated confidence, e.g. 1 to 5.")
    ] = None,
    high: Annotated[float, typer.Option(help="Confidence from which an answer is confident.")] = 4,
    query_type: Annotated[
        str | None, typer.Option(help="Column of query types, e.g. direction.")
    ] = None,
    failure: Annotated[
        str | None, typer.Option(help="Column of failure modes F1 to F4, comma between.")
    ] = None,
    link: Annotated[
        str | None, typer.Option(help="Column of addresses where an item can be seen.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Column of what items share, e.g. the clip.")
    ] = None,
    resamples: ResamplesOption = 5_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    html: HtmlOption = None,
    latex: LatexOption = None,
) -> None:
    """Ask whether experts recover a benchmark's answers, and know when they do.

    Example: `motionjury agreement pilot answers.csv --item item --rater who --correct correct
    --confidence confidence --query-type type --json`
    """
    from agreement.axis import identity
    from agreement.files import read_table
    from agreement.pilot import analyse_pilot
    from agreement.pilot_table import PilotColumns, read_answers
    from motionjury import __version__

    check_resampling(resamples, seed)
    table = read_table(file)
    columns = PilotColumns(
        item=item,
        rater=rater,
        correct=correct or (None if answer and gold else "correct"),
        answer=answer,
        gold=gold,
        confidence=confidence,
        query_type=query_type,
        failure=failure,
        cluster=cluster,
    )
    answers = read_answers(table, columns)
    addresses = table.column(link) if link else [""] * table.n_rows
    pilot = analyse_pilot(
        answers,
        title=file.name,
        tool_version=__version__,
        high=high,
        links={
            identity(name): str(address)
            for name, address in zip(table.column(item), addresses, strict=True)
            if address
        },
        resamples=resamples,
        seed=seed,
    )
    if html is not None:
        from agreement.pilot_page import render_pilot

        write_text(html, render_pilot(pilot))
    if latex is not None:
        from agreement.export_studies import pilot_to_latex

        write_text(latex, pilot_to_latex(pilot))
    if as_json:
        print(pilot.model_dump_json(indent=2))
        return
    _print_pilot(pilot)
    _say_written(html, latex)


def _say_written(*files: Path | None) -> None:
    for file in files:
        if file is not None:
            print(f"written to {file}")


def check_resampling(resamples: int, seed: int) -> None:
    """Refuse a negative number of resamples or seed.

    Raises:
        InputError: One of them is negative.
    """
    from corpus.problems import InputError

    if resamples < 0:
        raise InputError(f"--resamples {resamples}, expected 0 or more")
    if seed < 0:
        raise InputError(f"--seed {seed}, expected 0 or more")


def _names(text: str, option: str) -> tuple[str, ...]:
    from corpus.problems import InputError

    names = tuple(part.strip() for part in text.split(",") if part.strip())
    if not names or len(set(names)) != len(names):
        raise InputError(f"{option} {text!r}, expected one or more different columns")
    return names


def _print_study(study: JudgeStudy) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for report in (study, *study.others):
        table = Table(title=f"{study.title}: {report.judge}", title_justify="left")
        for name in ("level", "measure", "value", "95 % interval", "people", "n", "note"):
            table.add_column(name, justify="right" if name in ("value", "n", "people") else "left")
        for level, measure, row, people in judge_rows(report):
            span = "" if row.ci is None else f"{row.ci[0]:.3f} … {row.ci[1]:.3f}"
            note = "; ".join([*([row.reason] if row.reason else []), *row.warnings])
            if level == "system" and report.system.p is not None:
                note = "; ".join([f"exact p {report.system.p:.3f}", *([note] if note else [])])
            table.add_row(level, measure, _value(row), span, _value(people), str(row.n), note)
        console.print(table)
        for warning in report.warnings:
            console.print(f"note: {warning}", style="yellow", highlight=False)
        for reason, n in report.dropped.items():
            console.print(f"note: {n} rows left out: {reason}", style="yellow", highlight=False)
    if study.selection is not None and len(study.judges) > 1:
        console.print("mean absolute difference to the mean of the raters, smallest marked *")
        table = Table()
        for name in ("judge", *study.selection.dimensions):
            table.add_column(name, justify="left" if name == "judge" else "right")
        for judge in study.selection.rows:
            cells = [
                _value(c.mean_absolute_difference) + ("*" if c.smallest else "")
                for c in judge.cells
            ]
            table.add_row(judge.judge, *cells)
        console.print(table)
    for text in study.notes:
        console.print(f"note: {text}", style="yellow", highlight=False)


def judge_rows(
    report: JudgeReport,
) -> list[tuple[str, str, Coefficient, Coefficient | None]]:
    """List what a short table of a judge shows.

    Args:
        report: The judge.

    Returns:
        Level, measure, the judge's value, and the human ceiling where there is one.
    """
    people = {row.measure: row.human for row in report.ceiling.rows} if report.ceiling else {}
    level, question = report.instance, report.question
    rows = [
        ("instance", "Pearson r", level.pearson_r, people.get("instance_pearson_r")),
        ("instance", "Spearman ρ", level.spearman_rho, people.get("instance_spearman_rho")),
    ]
    if level.within_method is not None:
        rows.append(("instance", "r within method", level.within_method.pearson_r, None))
    rows += [
        ("instance", "mean bias", level.mean_bias, None),
        ("question", "accuracy", question.accuracy, people.get("question_accuracy")),
        ("question", "Cohen’s κ", question.cohen_kappa, people.get("question_cohen_kappa")),
        *(
            ("question", f"says {c.label!r} when people do", c.recall, None)
            for c in (question.classes if len(question.classes) == 2 else ())
        ),
        ("system", "Pearson r", report.system.pearson_r, people.get("system_pearson_r")),
    ]
    return rows


def _print_pilot(pilot: Pilot) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(title=pilot.title, title_justify="left")
    for name in ("", "items", "per annotator", "pooled", "all correct", "either correct"):
        table.add_column(name, justify="right" if name else "left")
    for name, part in (("all", pilot.whole), *((t.query_type, t) for t in pilot.by_query_type)):
        mean, sd = part.per_annotator_mean, part.per_annotator_sd
        spread = "" if sd is None else f" ± {100 * sd:.1f}"
        table.add_row(
            name,
            str(part.n_items),
            "—" if mean is None else f"{mean:.1%}{spread}",
            *(
                "—" if c.value is None else f"{c.value:.1%}"
                for c in (part.pooled, part.all_correct, part.either_correct)
            ),
        )
    console.print(table)
    of_answers = pilot.fleiss_answers
    if of_answers is not None:
        console.print(f"Fleiss’ κ of the answers {_with_ci(of_answers)}")
    console.print(f"Fleiss’ κ of right and wrong {_with_ci(pilot.fleiss_correct)}")
    found = pilot.calibration
    if found is not None:
        console.print(
            f"confidence ≥ {found.high:g}: {_with_ci(found.high_share)} of the answers, right "
            f"{_with_ci(found.high_accuracy)}; AUROC {_with_ci(found.auroc)}, "
            f"gamma {_with_ci(found.gamma)}, Pearson r {_with_ci(found.pearson_r)}"
        )
        for level in found.levels:
            console.print(
                f"  confidence {level.confidence:g}: {level.accuracy:.1%} of {level.n} right "
                f"({level.wilson[0]:.1%} … {level.wilson[1]:.1%})"
            )
    if pilot.failures:
        tally = ", ".join(f"{f.mode} {f.n_items}" for f in pilot.failures)
        console.print(f"failure modes, items: {tally}")
    for text in pilot.warnings:
        console.print(f"note: {text}", style="yellow", highlight=False)


def _with_ci(row: Coefficient) -> str:
    if row.value is None:
        return f"— ({row.reason})"
    return f"{row.value:.3f}" + (f" [{row.ci[0]:.3f}, {row.ci[1]:.3f}]" if row.ci else "")


def _value(row: Coefficient | None) -> str:
    if row is None:
        return ""
    return "—" if row.value is None else f"{row.value:.3f}"
