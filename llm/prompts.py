"""Prompts are files: an id, a version, the variables they take, and a hash.

A prompt file opens with TOML between two lines of ``+++``: ``id``, ``version``, ``variables`` and
perhaps ``system``. The rest is the message, a Jinja template in a sandbox.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from benchmarks.items import Frozen
from corpus.problems import InputError

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

_FENCE = "+++"
_MAX_BYTES = 200_000


class _Head(Frozen):
    """What stands between the fences."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")
    version: int = Field(ge=1)
    variables: tuple[str, ...] = ()
    system: str = ""


class RenderedPrompt(Frozen):
    """A prompt with its variables filled in."""

    rule: str
    """Id and version of the prompt file, e.g. ``stride.temporal/1``."""
    template_sha256: str
    """SHA-256 of the prompt file's text with Unix line ends, hex."""
    system: str
    """System message; empty for none."""
    text: str
    """User message."""

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of system and user message as sent, hex."""
        return hashlib.sha256(f"{self.system}\0{self.text}".encode()).hexdigest()


class Prompt(Frozen):
    """One prompt file."""

    id: str
    """Name of the prompt, e.g. ``stride.temporal``."""
    version: int
    """Raised whenever the text changes what is asked."""
    variables: frozenset[str]
    """Variables the template uses, all of them declared."""
    known: frozenset[str]
    """Variables it may be given; those it does not use are left out."""
    system: str
    """Template of the system message; empty for none."""
    body: str
    """Template of the user message."""
    sha256: str
    """SHA-256 of the file's text with Unix line ends, hex."""
    file: str
    """Where it was read from, for messages."""

    @property
    def rule(self) -> str:
        """Id and version as provenance names them."""
        return f"{self.id}/{self.version}"

    def render(self, values: Mapping[str, Any]) -> RenderedPrompt:
        """Fill in the variables.

        Args:
            values: One value for every declared variable, and perhaps for others it may be given.
                Text in a value is never read as a template.

        Returns:
            The messages and their hashes.

        Raises:
            InputError: A variable is missing or unknown, or the template cannot be filled in.
        """
        from jinja2 import TemplateError

        if not self.variables <= set(values) <= self.known:
            raise InputError(
                f"the prompt takes {sorted(self.variables)}, got {sorted(values)}", file=self.file
            )
        jinja = _environment()
        try:
            system, text = (
                jinja.from_string(part).render(values).strip() for part in (self.system, self.body)
            )
        except (TemplateError, TypeError, ValueError, ArithmeticError, OverflowError) as error:
            raise InputError(f"the prompt cannot be filled in: {error}", file=self.file) from error
        return RenderedPrompt(rule=self.rule, template_sha256=self.sha256, system=system, text=text)


def load_prompt(path: Path, provided: Sequence[str] | None = None) -> Prompt:
    """Read a prompt file.

    Args:
        path: The file.
        provided: Variables the caller will fill in, of which the file need not use all; None
            for those it uses.

    Returns:
        The prompt, its template parsed and its variables checked.

    Raises:
        InputError: No such file, not UTF-8, no head, a broken template, a variable that is used
            but not declared or declared but not used, or one the caller does not provide.
    """
    text = _read(path)
    head, body = _split(text, path)
    used = _used_variables(head.system, path) | _used_variables(body, path)
    declared = set(head.variables)
    for names, what in (
        (used - declared, "uses a variable it does not declare"),
        (declared - used, "declares a variable it does not use"),
        (declared - set(declared if provided is None else provided), "wants an unknown variable"),
    ):
        if names:
            known = sorted(declared if provided is None else provided)
            raise InputError(f"{what}: {sorted(names)}; known are {known}", file=str(path))
    if not body.strip():
        raise InputError("expected a message below the head, got nothing", file=str(path))
    return Prompt(
        id=head.id,
        version=head.version,
        variables=frozenset(declared),
        known=frozenset(declared if provided is None else provided),
        system=head.system,
        body=body,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        file=str(path),
    )


def _read(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    if len(raw) > _MAX_BYTES:
        raise InputError(f"expected at most {_MAX_BYTES} bytes, got {len(raw)}", file=str(path))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"expected UTF-8: {error}", file=str(path)) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(text: str, path: Path) -> tuple[_Head, str]:
    lines = text.split("\n")
    try:
        if lines[0].strip() != _FENCE:
            raise ValueError
        end = next(i for i, line in enumerate(lines[1:], start=1) if line.strip() == _FENCE)
    except (ValueError, StopIteration):
        message = f"expected a head between two lines of {_FENCE}"
        raise InputError(message, file=str(path)) from None
    try:
        head = _Head(**tomllib.loads("\n".join(lines[1:end])))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"the head is no TOML: {error}", file=str(path)) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(first["msg"], file=str(path), place=place) from None
    return head, "\n".join(lines[end + 1 :])


def _used_variables(template: str, path: Path) -> set[str]:
    from jinja2 import TemplateSyntaxError, meta

    try:
        return meta.find_undeclared_variables(_environment().parse(template))
    except TemplateSyntaxError as error:
        message = f"the template is broken: {error.message}"
        raise InputError(message, file=str(path), place=f"line {error.lineno}") from error


def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True)
