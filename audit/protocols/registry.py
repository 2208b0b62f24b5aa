"""All protocols by name."""

from __future__ import annotations

from audit.protocol import Protocol
from audit.protocols.expert_verification import EXPERT_VERIFICATION
from audit.protocols.likert import LIKERT
from audit.protocols.mrbench_validation import MRBENCH_VALIDATION
from audit.protocols.pilot_qa import PILOT_QA
from audit.protocols.prompt_review import PROMPT_REVIEW
from audit.protocols.stride_audit import STRIDE_AUDIT
from audit.protocols.t2m_dimensions import T2M_DIMENSIONS

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        STRIDE_AUDIT,
        PILOT_QA,
        EXPERT_VERIFICATION,
        MRBENCH_VALIDATION,
        LIKERT,
        T2M_DIMENSIONS,
        PROMPT_REVIEW,
    )
}
"""Protocols by name; adding one is one file and one entry here."""
