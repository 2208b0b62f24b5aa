"""Items in the database, and the only way their state moves."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from benchmarks.items import ITEM_TRANSITIONS, Benchmark, Item, ItemState
from corpus.problems import InputError
from store.tables import ItemRow


def add_items(session: Session, items: Iterable[Item]) -> int:
    """Add drafted items; one that is there already is left as it is.

    Args:
        session: A writing session.
        items: Items in state ``drafted``.

    Returns:
        How many were new.

    Raises:
        ValueError: An item is in another state than ``drafted``.
    """
    wanted = {item.id: item for item in items}
    for item in wanted.values():
        if item.state != "drafted":
            raise ValueError(f"expected drafted items, got {item.id} in state {item.state!r}")
    known = set(session.scalars(select(ItemRow.id)))
    new = [item for item in wanted.values() if item.id not in known]
    # Parents before children, for the foreign key.
    for item in sorted(new, key=lambda item: item.parent is not None and item.parent in wanted):
        session.add(
            ItemRow(
                id=item.id,
                benchmark=item.benchmark,
                state=item.state,
                parent=item.parent,
                record=item.model_dump(mode="json", exclude={"state"}),
            )
        )
    session.flush()
    return len(new)


def get_item(session: Session, item_id: str) -> Item:
    """Return an item.

    Raises:
        InputError: No item has this id.
    """
    row = session.get(ItemRow, item_id)
    if row is None:
        raise InputError(f"unknown item {item_id!r}")
    return _item(row)


def list_items(
    session: Session,
    benchmark: Benchmark | None = None,
    state: ItemState | None = None,
    stratum: dict[str, str] | None = None,
) -> list[Item]:
    """Return items by id, narrowed by what is given.

    Args:
        session: Any session.
        benchmark: Only items of this benchmark.
        state: Only items in this state.
        stratum: Only items whose stratum has all of these values, e.g. ``{"axis": …}``.

    Returns:
        The items, ordered by id.
    """
    query = select(ItemRow).order_by(ItemRow.id)
    if benchmark is not None:
        query = query.where(ItemRow.benchmark == benchmark)
    if state is not None:
        query = query.where(ItemRow.state == state)
    items = [_item(row) for row in session.scalars(query)]
    wanted = (stratum or {}).items()
    return [item for item in items if all(item.stratum.get(k) == v for k, v in wanted)]


def set_state(session: Session, item_id: str, new_state: ItemState) -> None:
    """Move an item along an arrow of ``ITEM_TRANSITIONS``.

    Args:
        session: A writing session.
        item_id: The item.
        new_state: Where it goes.

    Raises:
        InputError: No item has this id.
        ValueError: There is no such arrow.
    """
    # Labels that refer to the item may be written meanwhile; its id does not change.
    row = session.get(ItemRow, item_id, with_for_update={"key_share": True}, populate_existing=True)
    if row is None:
        raise InputError(f"unknown item {item_id!r}")
    allowed = ITEM_TRANSITIONS[row.state]  # type: ignore[index]
    if new_state not in allowed:
        raise ValueError(
            f"item {item_id} cannot go from {row.state!r} to {new_state!r}; "
            f"allowed: {sorted(allowed) or 'nothing'}"
        )
    row.state = new_state
    session.flush()


def _item(row: ItemRow) -> Item:
    return Item.model_validate({**row.record, "state": row.state})
