"""Word tables of NextMotionQA drafting."""
