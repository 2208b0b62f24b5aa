"""Sign-in with an organisation's account: settings, whom an account is, and a whole sign-in."""

from __future__ import annotations

import stat
import threading
import time
import tomllib

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from annotation_app import sign_in
from annotation_app.context import AppContext
from annotation_app.identity import Signer
from annotation_app.sign_in import known_person, read_settings, write_secrets
from audit.access import add_person, revoke
from corpus.problems import InputError
from tests.annotation_app import site as site_module
from tests.annotation_app.site import free_port

TABLE = {
    "server_metadata_url": "http://localhost:1/.well-known/openid-configuration",
    "client_id": "jury",
    "client_secret": 'a "quoted" secret',
    "redirect_uri": "http://localhost:2/oauth2callback",
}


def test_settings(tmp_path, monkeypatch):
    assert read_settings(None, "w") is None
    settings = read_settings(TABLE, "w")
    path = write_secrets(tmp_path, settings, "the workspace's secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    auth = tomllib.loads(path.read_text())["auth"]
    assert {name: auth[name] for name in TABLE} == TABLE
    assert len(auth["cookie_secret"]) == 64
    assert "workspace's" not in path.read_text()
    with pytest.raises(InputError, match=r"\[oidc\] client_id: Field required"):
        read_settings({name: TABLE[name] for name in TABLE if name != "client_id"}, "w")
    with pytest.raises(InputError, match="ending in /oauth2callback, got 'http://x'"):
        read_settings({**TABLE, "redirect_uri": "http://x"}, "w")
    monkeypatch.setattr(sign_in, "find_spec", lambda _name: None)
    with pytest.raises(InputError, match="needs Authlib"):
        read_settings(TABLE, "w")


def test_only_a_verified_address_is_somebody(site, tmp_path):
    signer = Signer("a secret of enough letters")
    context = AppContext(site.workspace.db, tmp_path, signer, "x")
    with site.workspace.db.write() as session:
        ida = add_person(session, "Ida Mailbox", "expert", email="ida@example.org")
    told = {"email": "Ida@Example.org", "email_verified": True}
    assert known_person(context, told).id == ida.id
    for claims in (
        {**told, "email_verified": False},
        {**told, "email_verified": "true"},
        {"email": "ida@example.org"},
        {**told, "email": "eva@example.org"},
        {"email_verified": True},
    ):
        assert known_person(context, claims) is None
    with site.workspace.db.write() as session:
        revoke(session, ida.id)
    assert known_person(context, told) is None


def test_a_pass_is_for_ten_minutes_and_no_cookie(site, monkeypatch):
    signer = Signer(site.workspace.secret)
    good = signer.sign_pass(site.people["Cora"])
    with site.client() as client:
        assert client.get(f"/signed-in/{signer.sign(site.people['Cora'])}").status_code == 403
        assert client.get("/signed-in/forged").status_code == 403
        assert client.get(f"/signed-in/{signer.sign_pass('nobody')}").status_code == 403
        assert client.get(f"/signed-in/{good}").status_code == 303
    assert signer.verify(good) is None
    monkeypatch.setattr("annotation_app.identity.PASS_SECONDS", -1)
    assert signer.verify_pass(good) is None


class Service:
    """A sign-in service that says who ``self.claims`` are, without asking."""

    def __init__(self):
        from joserfc import jwk

        self.key = jwk.RSAKey.generate_key(2048, {"kid": "k1"})
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.nonces = {}
        self.claims = {}
        routes = [
            Route("/.well-known/openid-configuration", self.about),
            Route("/authorize", self.authorize),
            Route("/token", self.token, methods=["POST"]),
            Route("/jwks", self.keys),
        ]
        config = uvicorn.Config(Starlette(routes=routes), port=self.port, log_level="error")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)

    async def about(self, _request):
        names = ("authorize", "token", "jwks")
        authorize, token, keys = (f"{self.url}/{name}" for name in names)
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": authorize,
                "token_endpoint": token,
                "jwks_uri": keys,
                "id_token_signing_alg_values_supported": ["RS256"],
            }
        )

    async def authorize(self, request):
        asked = request.query_params
        code = f"code-{len(self.nonces)}"
        self.nonces[code] = asked["nonce"]
        return RedirectResponse(f"{asked['redirect_uri']}?code={code}&state={asked['state']}")

    async def token(self, request):
        from joserfc import jwt

        code = (await request.form())["code"]
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": "jury",
            "sub": "someone",
            "iat": now,
            "exp": now + 600,
            "nonce": self.nonces[code],
            **self.claims,
        }
        signed = jwt.encode({"alg": "RS256", "kid": "k1"}, claims, self.key)
        return JSONResponse({"access_token": "a", "token_type": "Bearer", "id_token": signed})

    async def keys(self, _request):
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})


@pytest.fixture
def service():
    pytest.importorskip("joserfc")
    one = Service()
    one.thread.start()
    while not one.server.started:
        time.sleep(0.05)
    yield one
    one.server.should_exit = True
    one.thread.join(timeout=10)


@pytest.mark.browser
def test_someone_signs_in_and_labels(service, new_page, tmp_path):
    built = site_module.build(tmp_path / "workspace")
    with built.workspace.db.write() as session:
        cora = add_person(session, "Ottilie Openid", "coordinator", email="otti@example.org")
    assert cora.email == "otti@example.org"
    port = free_port()
    table = {
        **TABLE,
        "server_metadata_url": f"{service.url}/.well-known/openid-configuration",
        "redirect_uri": f"http://127.0.0.1:{port}/oauth2callback",
    }
    settings = "\n".join(f"{name} = '{value}'" for name, value in table.items())
    with (built.workspace.root / "workspace.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[oidc]\n{settings}\n")
    process = site_module.start(built, tmp_path / "server.log", port=port)
    try:
        page = new_page()
        page.set_default_timeout(45_000)
        service.claims = {"email": "stranger@example.org", "email_verified": True}
        page.goto(built.url)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("You are signed in as stranger@example.org, but nobody").wait_for()
        page.get_by_role("button", name="Sign out").click()
        service.claims = {"email": "otti@example.org", "email_verified": True}
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Go on as Ottilie Openid").click()
        page.get_by_text("Ottilie Openid · coordinator").wait_for()
    finally:
        process.terminate()
        process.wait(timeout=20)
        built.workspace.db.close()
    assert "Traceback" not in (tmp_path / "server.log").read_text()
