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
from audit.protocols.target_check import TARGET_CHECK

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
        TARGET_CHECK,
    )
}
"""Protocols by name; adding one is one file and one entry here."""
