"""perf/browsers.py in small: browsers that label at once, and the server's memory on the way."""

import pytest

from perf import browsers


@pytest.mark.browser
def test_browsers_at_once_lose_and_double_nothing(chromium_path, tmp_path):
    found = browsers.browsers(tmp_path, number=2, items=2, think=0.1)
    counted = ("submits", "labels_stored", "doubled", "failures")
    assert [found[name] for name in counted] == [4, 4, 0, []]
    assert 0 < found["seconds_p50"] <= found["seconds_p95"] <= found["seconds_max"]


def test_memory_is_read_on_the_way_and_every_item_is_kept(tmp_path):
    found = browsers.memory(tmp_path, items=12, experts=2, warm=4, every=6)
    assert [found[name] for name in ("items", "labels_stored", "doubled")] == [12, 16, 0]
    assert list(found["megabytes_by_items"]) == [0, 6, 12]
    assert found["megabytes_start"] > 0 < found["megabytes_end"]
