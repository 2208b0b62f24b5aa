"""All protocols by name."""

from __future__ import annotations

from audit.protocol import Protocol
from audit.protocols.stride_audit import STRIDE_AUDIT

PROTOCOLS: dict[str, Protocol] = {STRIDE_AUDIT.name: STRIDE_AUDIT}
"""Protocols by name; adding one is one file and one entry here."""
