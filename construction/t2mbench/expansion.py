"""Expansion of seeds into prompts (T2MBench 3.1), by grammar or by a language model in rounds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import NamedTuple

from benchmarks.items import Frozen, Provenance
from benchmarks.t2mbench import CATEGORIES
from construction.sampling import seeded_order
from construction.stages import Stages
from construction.t2mbench import clay, grammar
from construction.t2mbench.book import Book, Candidate, Cell
from construction.t2mbench.moves import find_moves, moves
from construction.t2mbench.seeds import Seed, builtin_seeds, seeds_of
from construction.t2mbench.wording import ABOUT
from construction.text.tables import table_hash
from llm.outcome import Reply, tool_version
from llm.prompts import Prompt
from llm.requests import Request

STAGE = "expand"
"""Name of the stage that may ask a language model."""
_DRY = 200
"""Candidates in a row that bring nothing new, after which the grammar gives a cell up (ours)."""
_TOLD = 4
"""Most mistakes that a later round is told."""
_MOST_CALLS = 10_000
_NO_ANSWER = "an earlier run had no answer and went on to the next round"


class Expanded(Frozen):
    """Answer of the stage ``expand``."""

    prompts: tuple[str, ...]
    """The instructions."""


class _Asked(NamedTuple):
    """A question of a round."""

    cell: Cell
    request: Request
    seeds: list[Seed]
    """The seeds it is given."""


def by_grammar(book: Book, quota: Sequence[Cell], seed: int, given: Sequence[Seed]) -> None:
    """Fill cells with prompts that the grammar puts together; a note where it cannot.

    Args:
        book: Takes the candidates.
        quota: The cells.
        seed: Seed of every choice.
        given: Seeds of one's own. One that names no move of the grammar is refused; a category
            none of whose seeds do takes our own.
    """
    used: set[str] = set()
    for cell in quota:
        pool = [seed for seed in seeds_of(cell.category, given) if _leads(seed, cell)]
        used |= {seed.id for seed in pool}
        if not pool and moves(cell.category):
            pool = list(builtin_seeds(cell.category))
            book.found.notes.append(
                f"{cell.category} {cell.length}: no seed names a move of the grammar; "
                "its own moves were taken"
            )
        _fill(book, cell, seed, pool)
    for one in given:
        if one.id not in used:
            reason = "the grammar knows no move of these words; a language model can expand it"
            book.refuse(None, one.id, "seed", "unknown_move", reason, one.text)


def _leads(seed: Seed, cell: Cell) -> bool:
    return bool(find_moves(seed.text, cell.category))


def _fill(book: Book, cell: Cell, seed: int, pool: list[Seed]) -> None:
    draw = random.Random(seeded_order(seed, "grammar", cell.category, cell.length))
    draw.shuffle(pool)
    rule_hash = table_hash(*grammar.TABLES)
    in_vain = number = 0
    while book.missing(cell) and in_vain < _DRY:
        source = pool[number % len(pool)] if pool else None
        lead = draw.choice(find_moves(source.text, cell.category)) if source else None
        text = grammar.expand(cell.category, cell.length, lead, draw)
        provenance = Provenance(
            rule=grammar.RULE,
            rule_hash=rule_hash,
            parameters={
                "lead": lead.name if lead else None,
                "seed_id": source.id if source else None,
                "check": clay.RULE,
            },
            tool_version=tool_version(),
        )
        name = f"{cell.category}.{cell.length}.{number}"
        kept = book.offer(Candidate(cell, text, name, provenance))
        in_vain = 0 if kept else in_vain + 1
        number += 1
    if book.missing(cell):
        book.found.notes.append(
            f"{cell.category} {cell.length}: the grammar makes no more different prompts of these "
            f"seeds; {book.missing(cell)} of {cell.planned} are missing"
        )


def by_model(
    book: Book,
    quota: Sequence[Cell],
    seed: int,
    stages: Stages,
    given: Sequence[Seed],
    per_call: int,
    rounds: int,
) -> None:
    """Ask a language model for what the cells lack, in rounds; each tells it the last mistakes.

    A run goes on from the round that an earlier one or the batch files reached: what had no answer
    before the next round was asked is not asked again, so that all rounds stay as they were.

    Args:
        book: Takes the candidates.
        quota: The cells.
        seed: Seed of the order of the seeds.
        stages: Has a model for ``expand``.
        given: Seeds of one's own.
        per_call: Prompts asked for in one call.
        rounds: Most rounds. A round without a usable answer is the last one.

    Raises:
        InputError: As ``Stages.ask``.
    """
    prompt = stages.prompts.load("t2mbench.expand")
    pools = {cell: _pool(cell, seed, given) for cell in quota}
    mistakes: dict[Cell, Counter[str]] = {cell: Counter() for cell in quota}

    def questions(number: int, book: Book, mistakes: dict[Cell, Counter[str]]) -> list[_Asked]:
        return [
            _Asked(cell, *question)
            for cell in quota
            for question in _questions(
                prompt, cell, book.missing(cell), pools[cell], mistakes[cell], number, per_call
            )
        ]

    def went_on(number: int, asked: list[_Asked], known: list[Reply[Expanded] | None]) -> bool:
        """Whether the round after this one was asked in an earlier run."""
        if number + 1 == rounds or all(reply is None for reply in known):
            return False
        trial, told = deepcopy((book, mistakes))
        _take(trial, asked, known, told)
        later = [one.request for one in questions(number + 1, trial, told)]
        return any(reply is not None for reply in stages.recall(STAGE, later, Expanded))

    for number in range(rounds):
        asked = questions(number, book, mistakes)
        if not asked:
            return
        requests = [one.request for one in asked]
        known = stages.recall(STAGE, requests, Expanded)
        if None in known and went_on(number, asked, known):
            known = [
                Reply(one.request.id, "error", None, _NO_ANSWER) if reply is None else reply
                for one, reply in zip(asked, known, strict=True)
            ]
        replies = stages.ask_open(STAGE, requests, known, Expanded)
        _take(book, asked, replies, mistakes)
        if stages.dry_run and None in known:
            return
        if not any(reply.usable for reply in replies):
            why = replies[-1].reason
            book.found.notes.append(f"expand: no usable answer in round {number + 1}: {why}")
            return


def _pool(cell: Cell, seed: int, given: Sequence[Seed]) -> list[Seed]:
    """Return the seeds of a cell in the order they are used."""
    own = seeds_of(cell.category, given)
    keys = ("expand", cell.category, cell.length)
    return sorted(own, key=lambda one: seeded_order(seed, *keys, one.id))


def _questions(
    prompt: Prompt,
    cell: Cell,
    missing: int,
    pool: Sequence[Seed],
    mistakes: Counter[str],
    number: int,
    per_call: int,
) -> list[tuple[Request, list[Seed]]]:
    """Return the questions that bring what a cell lacks, each with the seeds it is given."""
    fewest, most = clay.WORD_BOUNDS[cell.length]
    found = []
    for call, start in enumerate(range(0, missing, per_call)):
        count = min(per_call, missing - start)
        place = number * per_call + start
        chosen = [pool[(place + k) % len(pool)] for k in range(min(count, len(pool)))]
        values = {
            "category": cell.category.replace("_", " "),
            "about": ABOUT[cell.category],
            "length": cell.length,
            "fewest": fewest,
            "most": most,
            "digits": CATEGORIES[cell.category].dimension == "accuracy",
            "seeds": [one.text for one in chosen],
            "count": count,
            "mistakes": [words for words, _ in mistakes.most_common(_TOLD)],
        }
        name = f"{cell.category}.{cell.length}.r{number}.{call}"
        # The repetition tells alike questions apart: of one cell without seeds, of two rounds.
        repeat = number * _MOST_CALLS + call
        found.append((Request(id=name, prompt=prompt.render(values), repeat=repeat), chosen))
    return found


def _take(
    book: Book,
    asked: Sequence[_Asked],
    replies: Sequence[Reply[Expanded] | None],
    mistakes: Mapping[Cell, Counter[str]],
) -> None:
    """Offer the prompts of a round to the book, in the order of the questions."""
    for one, reply in zip(asked, replies, strict=True):
        if reply is not None:
            _offer(book, one.cell, reply, one.seeds, mistakes[one.cell])


def _offer(
    book: Book, cell: Cell, reply: Reply[Expanded], chosen: Sequence[Seed], mistakes: Counter[str]
) -> None:
    if reply.value is None:
        book.refuse(cell, reply.id, "expand", reply.outcome, reply.reason)
        return
    before = len(book.found.rejected)
    if not reply.value.prompts:
        book.refuse(cell, reply.id, "expand", "empty", "the answer has no prompt")
    for place, raw in enumerate(reply.value.prompts):
        source = chosen[place] if place < len(chosen) else None
        provenance = reply.provenance(
            seed_id=source.id if source else None,
            seed_text=source.text if source else None,
            check=clay.RULE,
        )
        text = " ".join(raw.split())
        book.offer(Candidate(cell, text, f"{reply.id}#{place + 1}", provenance))
    for refusal in book.found.rejected[before:]:
        if refusal.stage == "check" and refusal.code != "duplicate":
            mistakes[refusal.reason.split(";")[0].split(":")[0]] += 1
