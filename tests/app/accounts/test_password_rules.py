"""Rules for passwords that users meet: length, characters, age, and how forms treat them."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from app.accounts.models import User
from app.clock import utc_now
from app.settings import Settings
from tests.app.accounts.support import PASSWORD, Browser, add_user, app_with_accounts, signed_in
from tests.app.monitoring.logging_support import configured
from tests.app.web.support import get

ACCEPTED = (
    "only small letters here",
    "UPPERCASE WITHOUT DIGITS",
    "øæå ñ 漢字仮名交じり文 🚂🌊",
    "sails! harbor? <lantern> & 'quiet' \"mast\";--%00",
    " with blanks at both ends ",
    "mast lantern quiet " * 4,
)


def change(browser: Browser, new: str) -> int:
    return browser.post("/account/password", current=PASSWORD, new=new, again=new).status


@pytest.mark.parametrize("new", ACCEPTED, ids=range(len(ACCEPTED)))
def test_password_of_many_kinds_of_characters_and_up_to_76_is_accepted(new: str, tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    add_user(app, "anna", "viewer")
    assert change(signed_in(app, "anna"), new) == 303
    assert Browser(app).sign_in("anna", new).status == 303
    # Nothing is cut off or changed in case.
    for wrong in (new[:-1], new.swapcase()):
        if wrong != new:
            assert Browser(app).sign_in("anna", wrong).status != 303


@pytest.mark.parametrize("new", ["", "short", "elevenchars"])
def test_short_password_is_refused(new: str, tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    add_user(app, "anna", "viewer")
    assert change(signed_in(app, "anna"), new) == 422
    assert Browser(app).sign_in("anna").status == 303


@pytest.mark.parametrize(
    "new", ["Password2026!", "cfplan-cfplan-cfplan", "sysplexsysplex", "administrator", "anna-anna-anna"]
)
def test_common_words_of_the_product_and_the_user_are_refused(new: str, tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    add_user(app, "anna", "viewer")
    assert change(signed_in(app, "anna"), new) == 422


def test_old_password_stays_valid(tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    add_user(app, "anna", "viewer")
    times = [column.name for column in User.__table__.columns if column.name.endswith("_at")]
    with app.state.database.session(writes=True) as session:
        long_ago = utc_now() - timedelta(days=4_000)
        nullable = {column.name: column.nullable for column in User.__table__.columns}
        session.execute(update(User).values({name: long_ago for name in times if not nullable[name]}))
    answer = Browser(app).sign_in("anna")
    assert answer.status == 303
    assert "password" not in answer.headers["location"]


def test_password_fields_hide_and_accept_pasted_passwords(tmp_path: Path) -> None:
    app = app_with_accounts(tmp_path)
    add_user(app, "anna", "viewer")
    pages = [
        get(app, "/sign-in", accept="text/html").text,
        signed_in(app, "anna").get("/account/password").text,
    ]
    fields = [field for text in pages for field in re.findall(r"<input[^>]*password[^>]*>", text)]
    assert len(fields) >= 4
    for field in fields:
        assert 'type="password"' in field
        assert re.search(r'autocomplete="(current|new)-password"', field)
        assert "onpaste" not in field
        assert "maxlength" not in field or int(re.findall(r'maxlength="(\d+)"', field)[0]) >= 64


def test_sign_ins_and_refused_access_are_logged_without_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = app_with_accounts(tmp_path, log_format="json")
    add_user(app, "anna", "viewer")
    browser = Browser(app)
    capsys.readouterr()  # a command of an earlier test may have configured the log in the other format
    with configured(Settings(log_format="json")):
        browser.sign_in("anna", "my wrong password")
        browser.sign_in("anna")
        refused = browser.post("/sign-in/confirm", password="my wrong password")
        assert browser.get("/users").status == 403
        assert get(app, "/api/v1/plans").status == 401
    written = capsys.readouterr().err
    records = [json.loads(line) for line in written.splitlines()]
    access = [
        (each.get("user"), each["path"], each["status"])
        for each in records
        if each["logger"] == "cfplan.access"
    ]
    assert [path for _, path, _ in access] == [
        "/sign-in",
        "/sign-in",
        "/sign-in/confirm",
        "/users",
        "/api/v1/plans",
    ]
    assert access[0][2] >= 400
    assert access[1][2] == 303
    assert access[2] == ("anna", "/sign-in/confirm", refused.status)
    assert access[3] == ("anna", "/users", 403)
    assert access[4] == ("anonymous", "/api/v1/plans", 401)
    assert all(each["address"] == "127.0.0.1" for each in records if each["logger"] == "cfplan.access")
    assert not any(secret in written for secret in ("my wrong password", PASSWORD, browser.secret))
