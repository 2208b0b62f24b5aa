"""A workspace: one folder with its settings, database, media, results, reports, releases."""

from __future__ import annotations

import os
import secrets
import tomllib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from corpus.problems import InputError

if TYPE_CHECKING:
    from store.session import Database

CONFIG_NAME = "workspace.toml"
SECRET_NAME = "session.key"
FOLDERS = ("media", "llm-cache", "results", "reports", "releases")
WORKSPACE_ENV = "MOTIONJURY_WORKSPACE"
DATABASE_ENV = "MOTIONJURY_DATABASE_URL"
"""Names the database in place of ``workspace.toml``, so that a server's password is in no file."""
_SQLITE_NAME = "jury.db"


class Workspace:
    """Paths and the database of one workspace folder."""

    def __init__(self, root: Path) -> None:
        """Read the settings.

        Raises:
            InputError: The folder is no workspace, or ``workspace.toml`` cannot be read.
        """
        self.root = root.resolve()
        config = self.root / CONFIG_NAME
        if not config.is_file():
            raise InputError(
                f"no workspace here: {CONFIG_NAME} is missing; make one with `motionjury init DIR`",
                file=str(self.root),
            )
        try:
            self.settings = tomllib.loads(config.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"expected TOML, got: {error}", file=str(config)) from error

    @property
    def name(self) -> str:
        """Name shown to people."""
        return str(self.settings.get("name", self.root.name))

    @property
    def database_url(self) -> str:
        """SQLAlchemy URL: of the environment, else of the settings, else SQLite in the folder."""
        default = f"sqlite:///{self.root / _SQLITE_NAME}"
        named = os.environ.get(DATABASE_ENV) or self.settings.get("database_url")
        return str(named or default)

    @property
    def media_dir(self) -> Path:
        """Rendered stimuli."""
        return self.root / "media"

    @property
    def bodies_folder(self) -> str | None:
        """Folder with licensed body models, ``folder`` under ``[bodies]``; null where not set."""
        table = self.settings.get("bodies")
        folder = table.get("folder") if isinstance(table, dict) else None
        return str(self.root / Path(str(folder)).expanduser()) if folder else None

    @property
    def results_dir(self) -> Path:
        """Tables and lists written by commands."""
        return self.root / "results"

    @property
    def reports_dir(self) -> Path:
        """Agreement reports."""
        return self.root / "reports"

    @property
    def releases_dir(self) -> Path:
        """Releases."""
        return self.root / "releases"

    @cached_property
    def secret(self) -> str:
        """Key that signs session cookies; kept in the folder, readable by its owner only."""
        return (self.root / SECRET_NAME).read_text(encoding="ascii").strip()

    @cached_property
    def db(self) -> Database:
        """The database, migrated to the newest schema."""
        from store.session import open_database

        return open_database(self.database_url)


def init_workspace(
    root: Path, name: str | None = None, database_url: str | None = None
) -> Workspace:
    """Make a workspace folder, or open the one that is there.

    Args:
        root: Folder to make.
        name: Name shown to people; the folder's name by default.
        database_url: SQLAlchemy URL of another database, e.g. PostgreSQL.

    Returns:
        The workspace with its database migrated.

    Raises:
        InputError: ``root`` is a file, or a folder that holds other things.
    """
    if root.exists() and not root.is_dir():
        raise InputError("expected a folder, got a file", file=str(root))
    config = root / CONFIG_NAME
    if not config.exists():
        if root.is_dir() and any(root.iterdir()):
            raise InputError("expected an empty or new folder, got one with files", file=str(root))
        root.mkdir(parents=True, exist_ok=True)
        for folder in FOLDERS:
            (root / folder).mkdir(exist_ok=True)
        _write_private(root / SECRET_NAME, secrets.token_urlsafe(32))
        lines = ["schema_version = 1", f"name = {_toml_string(name or root.resolve().name)}"]
        if database_url:
            lines.append(f"database_url = {_toml_string(database_url)}")
            # It may hold a password.
            _write_private(config, "\n".join(lines) + "\n")
        else:
            config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    workspace = Workspace(root)
    workspace.db.check()
    return workspace


def open_workspace(path: Path | None = None) -> Workspace:
    """Open the workspace named, else ``MOTIONJURY_WORKSPACE``, else the nearest folder upward.

    Raises:
        InputError: None was found.
    """
    named = path or (Path(os.environ[WORKSPACE_ENV]) if os.environ.get(WORKSPACE_ENV) else None)
    if named is not None:
        return Workspace(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / CONFIG_NAME).is_file():
            return Workspace(folder)
    raise InputError(
        "no workspace found here or above; make one with `motionjury init DIR` "
        "or name it with --workspace",
        file=str(here),
    )


def _write_private(path: Path, text: str) -> None:
    """Write a new file that its owner alone can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _toml_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if any(ord(c) < 32 or ord(c) == 127 for c in escaped):
        raise InputError("expected a name without control characters")
    return f'"{escaped}"'
