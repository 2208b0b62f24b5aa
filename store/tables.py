"""The tables. Times are UTC seconds since 1970-01-01; ids are text; nothing is deleted."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Registry of the tables."""

    type_annotation_map = {dict[str, Any]: JSON, list[Any]: JSON}


class ClipRow(Base):
    """A motion clip; ``record`` is ``corpus.clips.Clip``."""

    __tablename__ = "clip"
    id: Mapped[str] = mapped_column(primary_key=True)
    corpus: Mapped[str] = mapped_column(index=True)
    split: Mapped[str | None]
    content_hash: Mapped[str]
    record: Mapped[dict[str, Any]]


class CaptionRow(Base):
    """A caption of a clip; ``record`` is ``corpus.clips.Caption``."""

    __tablename__ = "caption"
    id: Mapped[str] = mapped_column(primary_key=True)
    clip_id: Mapped[str] = mapped_column(ForeignKey("clip.id"), index=True)
    record: Mapped[dict[str, Any]]


class MediaRow(Base):
    """A rendered stimulus; its key is the hash of motion content and settings."""

    __tablename__ = "media"
    key: Mapped[str] = mapped_column(primary_key=True)
    clip_id: Mapped[str] = mapped_column(ForeignKey("clip.id"), index=True)
    file: Mapped[str]
    """File name below the workspace's ``media/`` folder."""
    settings: Mapped[dict[str, Any]]
    frames: Mapped[int]
    fps: Mapped[float]
    seconds: Mapped[float]
    sha256: Mapped[str]
    size: Mapped[int]
    """Bytes."""
    fit_error_mm: Mapped[dict[str, Any] | None]
    """``store.clips.Media.fit_error_mm``."""
    motion_hash: Mapped[str | None]
    """``store.clips.Media.motion_hash``."""
    rendered_at: Mapped[float | None]
    """``store.clips.Media.rendered_at``."""


class ItemRow(Base):
    """One version of an item; ``record`` is ``benchmarks.items.Item`` without its state."""

    __tablename__ = "item"
    id: Mapped[str] = mapped_column(primary_key=True)
    benchmark: Mapped[str] = mapped_column(index=True)
    state: Mapped[str] = mapped_column(index=True)
    parent: Mapped[str | None] = mapped_column(ForeignKey("item.id"))
    record: Mapped[dict[str, Any]]


class PersonRow(Base):
    """Someone with access. The name is for coordinators only and never leaves the workspace."""

    __tablename__ = "person"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    role: Mapped[str]
    simulated: Mapped[bool] = mapped_column(default=False)
    active: Mapped[bool] = mapped_column(default=True)
    created_at: Mapped[float]
    email: Mapped[str | None]
    """Verified address under which a sign-in service knows them, in lower case."""
    __table_args__ = (
        CheckConstraint("role IN ('expert','coordinator','analyst')", name="person_role_ck"),
        Index("person_email_ix", "email", unique=True),
    )


class InviteRow(Base):
    """A personal link. Only the hash of its secret is kept."""

    __tablename__ = "invite"
    id: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), index=True)
    secret_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[float]
    expires_at: Mapped[float | None]
    revoked_at: Mapped[float | None]


class StudyRow(Base):
    """A study; ``config`` is ``audit.studies.StudyConfig`` and is frozen from launch on."""

    __tablename__ = "study"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    protocol: Mapped[str]
    protocol_version: Mapped[int]
    state: Mapped[str] = mapped_column(default="draft")
    config: Mapped[dict[str, Any]]
    created_at: Mapped[float]
    launched_at: Mapped[float | None]
    closed_at: Mapped[float | None]
    paused_at: Mapped[float | None]
    """Since when nobody is given new items; null while the study runs."""
    deadline: Mapped[float | None]
    """After it nobody is given new items; null for none."""
    unblinded_at: Mapped[float | None]
    """Since when coordinators may see who said what; null while nobody may."""
    __table_args__ = (CheckConstraint("state IN ('draft','open','closed')", name="study_state_ck"),)


class StudyItemRow(Base):
    """An item shown in a study. ``purpose`` is ``work``, ``training`` or ``attention``."""

    __tablename__ = "study_item"
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), primary_key=True)
    item_id: Mapped[str] = mapped_column(ForeignKey("item.id"), primary_key=True)
    purpose: Mapped[str] = mapped_column(default="work")
    position: Mapped[int]
    gold: Mapped[dict[str, Any] | None]
    """Expected answers of a training or attention item; null for work."""
    media_key: Mapped[str | None] = mapped_column(ForeignKey("media.key"))
    """The rendered clip that experts see, fixed at launch so that all see the same."""
    group_key: Mapped[str | None]
    """What it shares with the items it is compared with, e.g. its prompt."""
    withdrawn_at: Mapped[float | None]
    """Since when it is no longer part of the study."""
    reserved_for: Mapped[list[Any] | None]
    """Ids of the only people who judge it: those who judged the version before; null: everybody."""
    __table_args__ = (
        CheckConstraint("purpose IN ('work','training','attention')", name="study_item_purpose_ck"),
    )


class MemberRow(Base):
    """A person's part in a study."""

    __tablename__ = "member"
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    code: Mapped[str]
    """Anonymous code within the study: A1, A2 …"""
    joined_at: Mapped[float]
    guidelines_at: Mapped[float | None]
    """When the expert said they had read the guidelines."""
    trained_at: Mapped[float | None]
    """When the expert passed training."""
    retired_at: Mapped[float | None]
    """Since when they take no part any more; what they did is kept."""
    __table_args__ = (UniqueConstraint("study_id", "code", name="member_code_uq"),)


class AssignmentRow(Base):
    """One item given to one person in one study; the lease says until when it is held."""

    __tablename__ = "assignment"
    id: Mapped[str] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    item_id: Mapped[str] = mapped_column(ForeignKey("item.id"))
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    state: Mapped[str] = mapped_column(default="held")
    """``held`` (lease running or run out), ``done``, ``surplus``, or ``retired``: done, kept, and
    given anew because its expert was replaced."""
    purpose: Mapped[str] = mapped_column(default="work", server_default="work")
    """``work``, ``attention`` (answers known), or ``repeat`` (the expert's own item again)."""
    created_at: Mapped[float]
    lease_until: Mapped[float]
    done_at: Mapped[float | None]
    __table_args__ = (
        UniqueConstraint("study_id", "item_id", "person_id", "purpose", name="assignment_once_uq"),
        CheckConstraint("state IN ('held','done','surplus','retired')", name="assignment_state_ck"),
        CheckConstraint("purpose IN ('work','attention','repeat')", name="assignment_purpose_ck"),
        Index("assignment_study_item_ix", "study_id", "item_id"),
        Index("assignment_study_person_ix", "study_id", "person_id"),
    )


class MediaGrantRow(Base):
    """An opaque token under which one person may fetch one rendered clip."""

    __tablename__ = "media_grant"
    token: Mapped[str] = mapped_column(primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    media_key: Mapped[str] = mapped_column(ForeignKey("media.key"))
    created_at: Mapped[float]
    __table_args__ = (
        UniqueConstraint("person_id", "study_id", "media_key", name="media_grant_once_uq"),
    )


class DraftRow(Base):
    """Autosaved answers of an assignment that was not submitted yet."""

    __tablename__ = "draft"
    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignment.id"), primary_key=True)
    version: Mapped[int]
    """Counts up with every save; a save with an older version is refused."""
    answers: Mapped[dict[str, Any]]
    activity: Mapped[dict[str, Any]]
    """Seconds, plays, frames stepped so far."""
    saved_at: Mapped[float]


class LabelRow(Base):
    """One submitted answer. Append-only: a changed answer is a new revision."""

    __tablename__ = "label"
    id: Mapped[str] = mapped_column(primary_key=True)
    assignment_id: Mapped[str] = mapped_column(ForeignKey("assignment.id"), index=True)
    submission_id: Mapped[str] = mapped_column(unique=True)
    """Chosen by the client, so that a retry is the same submission."""
    revision: Mapped[int]
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), index=True)
    item_id: Mapped[str] = mapped_column(ForeignKey("item.id"))
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"))
    protocol_version: Mapped[int]
    answers: Mapped[dict[str, Any]]
    activity: Mapped[dict[str, Any]]
    """Seconds active, plays, frames stepped, speed, and what was shown (caption order)."""
    simulated: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[float]
    __table_args__ = (UniqueConstraint("assignment_id", "revision", name="label_revision_uq"),)


class DecisionRow(Base):
    """What a study decided about an item, by rule or by a person, and why. Append-only."""

    __tablename__ = "decision"
    id: Mapped[str] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), index=True)
    item_id: Mapped[str] = mapped_column(ForeignKey("item.id"))
    outcome: Mapped[str]
    """``accepted``, ``rejected`` or ``revise``."""
    rule: Mapped[str]
    """Rule of the protocol, or ``coordinator``."""
    person_id: Mapped[str | None] = mapped_column(ForeignKey("person.id"))
    reason: Mapped[str]
    votes: Mapped[dict[str, Any]]
    created_at: Mapped[float]
    __table_args__ = (UniqueConstraint("study_id", "item_id", name="decision_once_uq"),)


class JointSeatRow(Base):
    """An expert invited to the joint editing of an item they judged."""

    __tablename__ = "joint_seat"
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), primary_key=True)
    item_id: Mapped[str] = mapped_column(ForeignKey("item.id"), primary_key=True)
    person_id: Mapped[str] = mapped_column(ForeignKey("person.id"), primary_key=True)
    created_at: Mapped[float]


class JointNoteRow(Base):
    """A remark made during joint editing; shown without its author."""

    __tablename__ = "joint_note"
    id: Mapped[str] = mapped_column(primary_key=True)
    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"))
    item_id: Mapped[str] = mapped_column(ForeignKey("item.id"))
    person_id: Mapped[str | None] = mapped_column(ForeignKey("person.id"))
    text: Mapped[str]
    created_at: Mapped[float]
    __table_args__ = (Index("joint_note_item_ix", "study_id", "item_id"),)


class EventRow(Base):
    """Who did what when. Append-only."""

    __tablename__ = "event"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[float]
    person_id: Mapped[str | None]
    action: Mapped[str]
    study_id: Mapped[str | None] = mapped_column(index=True)
    subject: Mapped[str | None]
    """Id of the item, assignment, label or person concerned."""
    details: Mapped[dict[str, Any]]
    __table_args__ = (Index("event_person_ix", "study_id", "person_id", "action"),)
