"""Ratings made by hand or by chance for tests."""

import numpy as np
from hypothesis import strategies as st

from agreement.axis import Axis
from agreement.ratings import from_columns


def table(rows, level="nominal", domain=("a", "b", "c"), **kwargs):
    """Ratings from rows of labels, items by raters; None is missing."""
    items, raters, labels = [], [], []
    for i, row in enumerate(rows):
        for j, label in enumerate(row):
            items.append(f"i{i}")
            raters.append(f"A{j + 1}")
            labels.append(label)
    for name in ("clusters", "weights"):
        if name in kwargs:
            kwargs[name] = [v for v, row in zip(kwargs[name], rows, strict=True) for _ in row]
    return from_columns(Axis(name="x", level=level, domain=domain), items, raters, labels, **kwargs)


def noisy(n, raters=3, q=5, missing=0.0, seed=0, fidelity=0.7, level="ordinal", **kwargs):
    """Ratings that agree with a hidden truth now and then."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, q, n)
    own = rng.integers(0, q, (n, raters))
    codes = np.where(rng.random((n, raters)) < fidelity, truth[:, None], own)
    gone = rng.random((n, raters)) < missing
    rows = [
        [None if g else str(c + 1) for c, g in zip(row, out, strict=True)]
        for row, out in zip(codes, gone, strict=True)
    ]
    return table(rows, level=level, domain=tuple(str(k + 1) for k in range(q)), **kwargs)


@st.composite
def rating_rows(draw, min_items=2, max_items=12, complete=False, labels=("1", "2", "3", "4")):
    """Rows of labels of two to four raters, with or without gaps."""
    raters = draw(st.integers(2, 4))
    cell = st.sampled_from(labels) if complete else st.sampled_from([*labels, None])
    row = st.lists(cell, min_size=raters, max_size=raters)
    return draw(st.lists(row, min_size=min_items, max_size=max_items))
