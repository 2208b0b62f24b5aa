"""Streamlit puts the app's folder first on the path: no file there may hide another module."""

from __future__ import annotations

import sys

from tests.annotation_app.site import ROOT


def test_no_file_hides_a_module():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"annotation_app"}
    mine = {path.stem for path in (ROOT / "annotation_app").iterdir()} - {"__init__"}
    assert mine & (packages | set(sys.stdlib_module_names)) == set()
