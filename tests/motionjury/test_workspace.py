"""The workspace folder: made once, found from below, refused where it is none."""

from __future__ import annotations

import stat

import pytest

from corpus.problems import InputError
from motionjury.commands.house import workspace_summary
from motionjury.workspace import DATABASE_ENV, WORKSPACE_ENV, init_workspace, open_workspace


def test_made_once_and_kept(tmp_path) -> None:
    first = init_workspace(tmp_path / "w", name='Ada\'s "jury"')
    again = init_workspace(tmp_path / "w", name="another")
    assert again.name == first.name == 'Ada\'s "jury"'
    assert again.secret == first.secret
    assert workspace_summary(again)["clips"] == 0


def test_the_secret_is_readable_by_its_owner_only(tmp_path) -> None:
    root = init_workspace(tmp_path / "w").root
    assert stat.S_IMODE((root / "session.key").stat().st_mode) == 0o600


def test_found_from_a_folder_below_and_from_the_environment(tmp_path, monkeypatch) -> None:
    root = init_workspace(tmp_path / "w").root
    monkeypatch.delenv(WORKSPACE_ENV, raising=False)
    monkeypatch.chdir(root / "media")
    assert open_workspace().root == root
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no workspace found here or above"):
        open_workspace()
    monkeypatch.setenv(WORKSPACE_ENV, str(root))
    assert open_workspace().root == root


def test_a_folder_with_other_things_is_left_alone(tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="expected an empty or new folder"):
        init_workspace(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_damaged_settings_are_named(tmp_path) -> None:
    root = init_workspace(tmp_path / "w").root
    (root / "workspace.toml").write_text("name = ")
    with pytest.raises(InputError, match=r"workspace\.toml: expected TOML"):
        open_workspace(root)
    (root / "workspace.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(InputError, match=r"workspace\.toml: expected TOML"):
        open_workspace(root)


def test_control_characters_in_the_name_are_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="without control characters"):
        init_workspace(tmp_path / "w", name="a\nb = 1")


def test_a_database_of_ones_own_is_named_for_the_owner_only(tmp_path) -> None:
    url = f"sqlite:///{tmp_path / 'other.db'}"
    root = init_workspace(tmp_path / "w", database_url=url).root
    assert open_workspace(root).database_url == url
    assert (tmp_path / "other.db").exists()
    assert not (root / "jury.db").exists()
    assert stat.S_IMODE((root / "workspace.toml").stat().st_mode) == 0o600


def test_the_environment_names_the_database_first(tmp_path, monkeypatch) -> None:
    url = f"sqlite:///{tmp_path / 'server.db'}"
    monkeypatch.setenv(DATABASE_ENV, url)
    root = init_workspace(tmp_path / "w").root
    assert "server.db" not in (root / "workspace.toml").read_text()
    assert open_workspace(root).database_url == url
    assert (tmp_path / "server.db").exists()


@pytest.mark.postgres
def test_a_workspace_on_postgresql(tmp_path, postgres) -> None:
    opened = init_workspace(tmp_path / "w", database_url=postgres.new())
    assert workspace_summary(opened)["clips"] == 0
    assert workspace_summary(open_workspace(opened.root))["studies"] == []
