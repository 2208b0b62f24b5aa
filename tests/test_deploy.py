"""The files of the lab server. Without a container engine they cannot be run, only read."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tests.shared_data import ROOT

DEPLOY = ROOT / "deploy"
SECRETS = {"SITE_ADDRESS": "jury.example.org", "POSTGRES_PASSWORD": "of-a-test"}


def compose(**secrets: str) -> subprocess.CompletedProcess[str]:
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) is None:
            continue
        if subprocess.run([*command, "version"], capture_output=True, check=False).returncode:
            continue
        environment = {k: v for k, v in os.environ.items() if k not in SECRETS}
        return subprocess.run(
            [*command, "-f", str(DEPLOY / "compose.yaml"), "config"],
            env={**environment, **secrets},
            capture_output=True,
            text=True,
            check=False,
        )
    pytest.skip("Docker Compose is not installed: deploy/compose.yaml is not checked")


def test_compose_understands_the_file() -> None:
    found = compose(**SECRETS)
    assert found.returncode == 0, found.stderr
    assert "postgresql://jury:of-a-test@db:5432/jury" in found.stdout


@pytest.mark.parametrize("missing", SECRETS)
def test_compose_names_what_was_not_set(missing: str) -> None:
    found = compose(**{name: value for name, value in SECRETS.items() if name != missing})
    assert found.returncode != 0
    assert missing in found.stderr


def test_every_secret_asked_for_is_in_the_example() -> None:
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    example = set(re.findall(r"^(\w+)=", (DEPLOY / "env.example").read_text(), re.MULTILINE))
    assert asked == example - {"COMPOSE_PROJECT_NAME"} == set(SECRETS)


def test_only_the_proxy_is_reached_from_outside() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert services["db"]["networks"] == ["inner"]
