import base64

import pytest
from sqlalchemy import create_engine, inspect, text

import audit.access
from audit.access import (
    AccessError,
    add_person,
    find_person,
    grant_media,
    invite,
    list_people,
    media_for_token,
    redeem,
    require,
    revoke,
)
from audit.attempts import BadCodes
from corpus.problems import InputError
from store.events import list_events
from store.session import Database
from tests.audit.world import START, World, fill

DAY = 86400.0


@pytest.fixture(autouse=True)
def fresh_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit.access, "_bad_codes", BadCodes(limit=10, window_seconds=600.0))


def dump(db: Database) -> str:
    with create_engine(db.url).connect() as connection:
        return "\n".join(
            str(row)
            for table in inspect(connection).get_table_names()
            for row in connection.execute(text(f"SELECT * FROM {table}"))
        )


def test_a_link_opens_for_its_person_and_is_not_stored(world: World) -> None:
    with world.db.write() as session:
        secret = invite(session, world.experts[0], actor=world.coordinator, now=START)
    with world.db.write() as session:
        assert redeem(session, secret, "10.0.0.1", START + 1).id == world.experts[0]
    assert len(secret) == 32
    assert secret not in dump(world.db)


def test_a_link_expires(world: World) -> None:
    with world.db.write() as session:
        secret = invite(session, world.experts[0], 2, now=START)
        assert redeem(session, secret, now=START + 2 * DAY - 1).active
        with pytest.raises(AccessError, match="expired"):
            redeem(session, secret, now=START + 2 * DAY)


def test_a_link_without_end_stays(world: World) -> None:
    with world.db.write() as session:
        secret = invite(session, world.experts[0], None, now=START)
        assert redeem(session, secret, now=START + 10_000 * DAY).active


def test_a_revoked_link_says_so(world: World) -> None:
    with world.db.write() as session:
        secret = invite(session, world.experts[0], now=START)
        revoke(session, world.experts[0], actor=world.coordinator)
        with pytest.raises(AccessError, match="revoked"):
            redeem(session, secret, now=START + 1)
        with pytest.raises(AccessError, match="revoked"):
            invite(session, world.experts[0])


def test_too_many_wrong_codes_turn_away_wrong_codes_of_that_client_only(world: World) -> None:
    with world.db.write() as session:
        for attempt in range(10):
            with pytest.raises(AccessError, match="not known"):
                redeem(session, f"wrong-{attempt}", "a", START)
        with pytest.raises(AccessError, match="too many wrong codes"):
            redeem(session, "wrong", "a", START + 599)
        with pytest.raises(AccessError, match="not known"):
            redeem(session, "wrong", "b", START + 599)
        with pytest.raises(AccessError, match="not known"):
            redeem(session, "wrong", "a", START + 601)


def test_a_right_code_opens_where_a_colleague_sent_too_many_wrong_ones(world: World) -> None:
    with world.db.write() as session:
        secret = invite(session, world.experts[0], 2, now=START)
        old = invite(session, world.experts[1], 1, now=START - 2 * DAY)
        for _ in range(11):
            with pytest.raises(AccessError):
                redeem(session, secret[:-1], "lab", START)
        assert redeem(session, secret, "lab", START + 1).id == world.experts[0]
        with pytest.raises(AccessError, match="expired"):
            redeem(session, old, "lab", START + 1)
        with pytest.raises(AccessError, match="too many wrong codes"):
            redeem(session, secret[:-1], "lab", START + 2)
    assert len(base64.urlsafe_b64decode(secret)) * 8 == 192


def test_the_memory_of_wrong_codes_is_bounded() -> None:
    codes = BadCodes(limit=1, window_seconds=60.0, clients=3)
    for client in "abcd":
        codes.record(client, START)
    assert [codes.blocked(client, START) for client in "abcd"] == [False, True, True, True]


@pytest.mark.parametrize("code", ["", "x" * 100_000, "\x00", "\ud800", "' OR 1=1 --"])
def test_any_code_is_only_unknown(world: World, code: str) -> None:
    with world.db.write() as session, pytest.raises(AccessError, match="not known"):
        redeem(session, code, "c", START)


def test_only_coordinators_and_the_command_line_manage_people(world: World) -> None:
    expert = world.experts[0]
    with world.db.write() as session:
        analyst = add_person(session, "Ana", "analyst").id
        for actor in (expert, analyst, "nobody"):
            with pytest.raises(AccessError):
                add_person(session, "X", "expert", actor=actor)
            with pytest.raises(AccessError):
                invite(session, expert, actor=actor)
            with pytest.raises(AccessError):
                revoke(session, expert, actor=actor)
        add_person(session, "Y", "expert", actor=world.coordinator)


def test_roles_and_names_are_checked(db: Database) -> None:
    with db.write() as session:
        with pytest.raises(InputError, match="unknown role 'boss'"):
            add_person(session, "X", "boss")
        for name in ("", "   ", "x" * 121, "a\nb", "a\x00b"):
            with pytest.raises(InputError, match="expected a name"):
                add_person(session, name, "expert")
        assert add_person(session, "  Zoë 高橋 ", "expert", True).name == "Zoë 高橋"


def test_require_says_what_is_missing(world: World) -> None:
    with world.db.read() as session:
        assert require(session, world.coordinator, "coordinator").name == "Cora"
        with pytest.raises(AccessError, match="needs the role coordinator; yours is expert"):
            require(session, world.experts[0], "coordinator")
        with pytest.raises(AccessError, match="open your personal link again"):
            require(session, "nobody")


def test_people_are_found_by_id_or_an_unambiguous_name(db: Database) -> None:
    with db.write() as session:
        one = add_person(session, "Same", "expert")
        two = add_person(session, "Same", "expert")
        assert find_person(session, one.id) == one
        with pytest.raises(InputError, match="2 people are called 'Same'"):
            find_person(session, "Same")
        with pytest.raises(InputError, match="unknown person 'Else'"):
            find_person(session, "Else")
        assert {person.id for person in list_people(session)} == {one.id, two.id}


def test_media_go_to_their_owner_only(world: World) -> None:
    owner, other = world.experts[:2]
    key = f"{1:032x}"
    with world.db.write() as session:
        token = grant_media(session, owner, world.study, key)
        assert grant_media(session, owner, world.study, key) == token
        assert grant_media(session, other, world.study, key) != token
        assert key not in token
    with world.db.read() as session:
        assert media_for_token(session, token, owner).key == key
        for stranger in (other, world.coordinator, "nobody"):
            with pytest.raises(AccessError, match="no such clip"):
                media_for_token(session, token, stranger)
        with pytest.raises(AccessError, match="no such clip"):
            media_for_token(session, "made-up", owner)


def test_a_revoked_owner_gets_no_media(world: World) -> None:
    with world.db.write() as session:
        token = grant_media(session, world.experts[0], world.study, f"{1:032x}")
        revoke(session, world.experts[0])
        with pytest.raises(AccessError):
            media_for_token(session, token, world.experts[0])


def test_media_need_a_part_in_a_launched_study(db: Database) -> None:
    one = fill(db, items=1)
    two = fill(db, items=1, name="other", first=10)
    with db.write() as session:
        with pytest.raises(AccessError, match="take no part"):
            grant_media(session, two.experts[0], one.study, f"{1:032x}")
        with pytest.raises(AccessError, match="not part of the study"):
            grant_media(session, one.experts[0], one.study, f"{10:032x}")
        with pytest.raises(AccessError, match="unknown study"):
            grant_media(session, one.experts[0], "nope", f"{1:032x}")
        token = grant_media(session, one.coordinator, one.study, f"{1:032x}")
        assert media_for_token(session, token, one.coordinator).key == f"{1:032x}"


def test_secrets_and_names_are_not_in_the_log(world: World) -> None:
    with world.db.write() as session:
        secret = invite(session, world.experts[0], now=START)
        redeem(session, secret, now=START)
        events = list_events(session)
    assert {"person_added", "invited", "signed_in"} <= {event.action for event in events}
    assert secret not in str(events)
    assert "Ella" not in str(events)
