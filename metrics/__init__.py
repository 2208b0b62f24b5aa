"""Verified items, scores and motions in; the papers' tables out."""
