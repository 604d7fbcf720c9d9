"""Pages of accounts: signing in and out, the user's own account, and the administration of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from app.accounts import sessions, sign_in, tokens, users
from app.accounts.addresses import own_address, returning
from app.accounts.authentication import PASSWORD, SIGN_IN, Accounts, client_of
from app.accounts.context import (
    AccountsDep,
    acting_user,
    can_send_password,
    has_recent_sign_in,
    require_recent_sign_in,
    signed_in_user,
    user_of,
)
from app.accounts.cookies import remove_session, session_secret, set_session
from app.accounts.errors import Busy, ConfirmationRequired, SignInRefused, TooManyAttempts
from app.accounts.forms import FormDep, role_field, token_fields, user_fields
from app.accounts.lists import USERS
from app.accounts.methods import SignInMethod, methods_of
from app.accounts.passwords import SHORTEST_PASSWORD
from app.accounts.sessions import OwnSession
from app.accounts.tokens import StoredToken
from app.accounts.users import StoredUser
from app.actor import Actor, ActorKind, Role, current_actor
from app.audit.actions import Action
from app.audit.recording import AuditObject, record
from app.clock import utc_now
from app.database.session import DatabaseDep, SessionDep, WriteTurn
from app.errors import FieldsInvalid, NameTaken
from app.problem_types import UNAUTHORIZED
from app.web.field_values import digits_in
from app.web.forms import FormField, filled
from app.web.rendering import Page, render, root_path
from app.web.router import Router
from app.web.tables import ListView

router = Router(include_in_schema=False)

CONFIRM = "/sign-in/confirm"
ACCOUNT, USERS_PAGE = "/account", "/users"
SAID = {
    "signed-out": "You have signed out.",
    "password": "Password changed. Your other sessions have ended.",
    "session": "Session ended.",
    "revoked": "Token revoked.",
    "role": "Role changed.",
    "disabled": "User disabled. All sessions have ended, and all tokens are revoked.",
    "enabled": "User enabled.",
    "tokens": "All tokens of the user are revoked.",
    "sessions": "All sessions of the user have ended.",
}
NOTHING_ENTERED = "Enter your password."
NO_TLS = (
    "This connection is not encrypted, so a password could be read on the network. Use an address that begins with "
    "https. Operators: see CFPLAN_TRUSTED_PROXIES and CFPLAN_SIGN_IN_OVER_HTTP."
)


@dataclass(frozen=True, kw_only=True)
class SignInPage(Page):
    """The form to sign in, or to confirm the sign-in."""

    action: Annotated[str, "Address to which the form is sent"]
    user: Annotated[str, "The signed-in user who confirms; empty for a new sign-in"]
    has_password: Annotated[bool, "Whether a password can be entered"]
    name: Annotated[FormField, "The field for the user name"]
    next: Annotated[str, "Address of the page that follows"]
    errors: Annotated[Mapping[str, str], "Errors by field"]
    methods: Annotated[tuple[SignInMethod, ...], "Other ways to sign in"]
    wrong: Annotated[str, "Why the sign-in was refused; empty if it was not"]
    said: Annotated[str, "The last action"]
    is_without_users: Annotated[bool, "Whether there is no user yet"]


@dataclass(frozen=True, kw_only=True)
class AccountPage(Page):
    """The user's own account."""

    account: Annotated[StoredUser, "The signed-in user"]
    sessions: Annotated[tuple[OwnSession, ...], "Sessions of the user, the last used first"]
    tokens: Annotated[tuple[StoredToken, ...], "Tokens of the user that are not revoked, the newest first"]
    boxes: Annotated[tuple[FormField, ...], "The fields for a new token"]
    is_recent: Annotated[bool, "Whether the sign-in is recent enough for a new token"]
    secret: Annotated[str, "The new token, which is shown once; empty for none"]
    said: Annotated[str, "The last action"]
    confirm: Annotated[str, "Address of the page that confirms the sign-in"]


@dataclass(frozen=True, kw_only=True)
class PasswordPage(Page):
    """The form to change the password."""

    is_required: Annotated[bool, "Whether an administrator set the current password"]
    errors: Annotated[Mapping[str, str], "Errors by field"]
    shortest: Annotated[int, "Characters of the shortest password"]


@dataclass(frozen=True, kw_only=True)
class UsersPage(Page):
    """All users, for administrators."""

    found: Annotated[ListView, "The list of users"]
    boxes: Annotated[tuple[FormField, ...], "The fields for a new user"]
    is_recent: Annotated[bool, "Whether the sign-in is recent enough for changes"]
    created: Annotated[
        str, "Name of the user just added, or whose password was just replaced; empty for none"
    ]
    password: Annotated[str, "The initial password, which is shown once"]
    confirm: Annotated[str, "Address of the page that confirms the sign-in"]


@dataclass(frozen=True, kw_only=True)
class UserPage(Page):
    """One user, for administrators."""

    account: Annotated[StoredUser, "The user whose account it is"]
    role: Annotated[FormField, "The field for the role"]
    tokens: Annotated[tuple[StoredToken, ...], "Tokens of the user that are not revoked"]
    open_sessions: Annotated[int, "Number of the user's sessions"]
    is_self: Annotated[bool, "Whether the administrator looks at their own account"]
    is_recent: Annotated[bool, "Whether the sign-in is recent enough for changes"]
    password: Annotated[str, "A new initial password, which is shown once; empty for none"]
    wrong: Annotated[str, "Why the last change was refused; empty if it was not"]
    said: Annotated[str, "The last action"]
    confirm: Annotated[str, "Address of the page that confirms the sign-in"]


# ---- signing in -----------------------------------------------------------------------------------------------------


@router.get(SIGN_IN)
def show_sign_in(request: Request, session: SessionDep) -> Response:
    """Show the form; users who have signed in already continue to their page."""
    to = own_address(request.query_params.get("next", ""))
    if current_actor().kind != ActorKind.ANONYMOUS:
        return _see(request, to)
    return _sign_in_page(request, to, without_users=not users.has_any(session))


@router.post(SIGN_IN, dependencies=[WriteTurn])
def send_sign_in(request: Request, accounts: AccountsDep, database: DatabaseDep, form: FormDep) -> Response:
    """Sign in with a name and a password."""
    to = own_address(form.get("next", ""))
    if not can_send_password(request, accounts):
        return _sign_in_page(request, to, wrong=NO_TLS, status=403)
    name = form.get("name", "")
    if missing := _missing(
        {**form, "name": name.strip()}, name="Enter your user name.", password=NOTHING_ENTERED
    ):
        return _sign_in_page(request, to, name=name, errors=missing)
    try:
        signed_in = sign_in.sign_in(
            database, accounts.passwords, name, form.get("password", ""),
            client=client_of(request.scope), lifetimes=accounts.lifetimes,
            earlier_secret=session_secret(request.scope),
        )  # fmt: skip
    except (SignInRefused, TooManyAttempts, Busy) as error:
        return _sign_in_page(request, to, name=name, wrong=str(error), error=error)
    response = _see(request, returning(PASSWORD, to) if signed_in.must_change_password else to)
    set_session(response, request.scope, signed_in.secret)
    return response


@router.post("/sign-out")
def sign_out(request: Request, accounts: AccountsDep, session: SessionDep) -> Response:
    """End the session, and let the browser forget it with all pages in its cache."""
    del accounts
    # A token or a trusted header has no session, and could otherwise add entries without end.
    if sessions.end_with_secret(session, session_secret(request.scope)):
        actor = current_actor()
        record(session, Action.SIGNED_OUT, AuditObject("user", actor.name, id=actor.user_id))
    response = _see(request, f"{SIGN_IN}?said=signed-out")
    remove_session(response, request.scope)
    response.headers["clear-site-data"] = '"cache"'
    return response


@router.get(CONFIRM)
def show_confirmation(request: Request, accounts: AccountsDep) -> Response:
    """Ask for the password of the signed-in user."""
    del accounts
    signed_in_user()
    return _sign_in_page(request, own_address(request.query_params.get("next", "")))


@router.post(CONFIRM, dependencies=[WriteTurn])
def send_confirmation(
    request: Request, accounts: AccountsDep, database: DatabaseDep, form: FormDep
) -> Response:
    """Confirm the sign-in with the password, so that sensitive changes are possible for some minutes."""
    actor = signed_in_user()
    to = own_address(form.get("next", ""))
    if missing := _missing(form, password=NOTHING_ENTERED):
        return _sign_in_page(request, to, errors=missing)
    try:
        sign_in.check_own_password(
            database,
            accounts.passwords,
            actor.name,
            form.get("password", ""),
            client=client_of(request.scope),
        )
    except (SignInRefused, TooManyAttempts, Busy) as error:
        return _sign_in_page(request, to, wrong=_own_password_fault(error), error=error)
    if actor.session_id is not None:
        with database.session(writes=True) as session:
            sessions.confirm(session, actor.session_id, utc_now())
            record(session, Action.SIGN_IN_CONFIRMED, AuditObject("user", actor.name, id=actor.user_id))
    return _see(request, to)


# ---- the own account ------------------------------------------------------------------------------------------------


@router.get(ACCOUNT)
def account(request: Request, accounts: AccountsDep, session: SessionDep) -> Response:
    """Show the user's role, sessions and tokens."""
    return _account_page(request, accounts, session)


@router.get(PASSWORD)
def show_password(request: Request, accounts: AccountsDep, session: SessionDep) -> Response:
    """Show the form to change the password."""
    del accounts
    return _password_page(request, session)


@router.post(PASSWORD, dependencies=[WriteTurn])
def change_password(
    request: Request, accounts: AccountsDep, database: DatabaseDep, form: FormDep
) -> Response:
    """Change the password, and end the user's other sessions."""
    actor = signed_in_user()
    new = form.get("new", "")
    errors = _missing(form, current="Enter your current password.", new="Enter a new password.")
    if errors:
        with database.session(writes=False) as session:
            return _password_page(request, session, errors)
    try:
        current_hash = sign_in.check_own_password(
            database, accounts.passwords, actor.name, form.get("current", ""), client=client_of(request.scope)
        )
        if new != form.get("again", ""):
            errors["again"] = "The two new passwords differ."
        elif new == form.get("current", ""):
            errors["new"] = "Choose a password other than the current one."
        else:
            new_hash = users.checked_hash(accounts.passwords, new, user_name=actor.name, field="new")
    except (SignInRefused, TooManyAttempts, Busy) as error:
        errors["current"] = _own_password_fault(error)
    except FieldsInvalid as error:
        errors |= {each.field: each.message for each in error.problems}
    with database.session(writes=True) as session:
        if errors:
            return _password_page(request, session, errors)
        user = acting_user(session, actor)
        if user.password_hash != current_hash:
            # Replaced while it was checked: the old one must not be enough to replace the new one.
            return _password_page(request, session, {"current": _own_password_fault(SignInRefused())})
        users.set_password(
            session, user, new_hash, must_change=False, keep_session=actor.session_id, now=utc_now()
        )
        if "tokens" in form:
            tokens.revoke_all(session, user.id, utc_now())
    return _see(request, f"{ACCOUNT}?said=password")


@router.post("/account/sessions/end")
def end_session(request: Request, accounts: AccountsDep, session: SessionDep, form: FormDep) -> Response:
    """End one of the user's sessions."""
    del accounts
    actor = signed_in_user()
    number = digits_in(form.get("session", ""), most=18)
    if (
        number is not None
        and actor.user_id is not None
        and sessions.end(session, number, user_id=actor.user_id)
    ):
        about = AuditObject("user", actor.name, id=actor.user_id)
        record(session, Action.SESSIONS_ENDED, about, {"session": number})
    return _see(request, f"{ACCOUNT}?said=session")


@router.post("/account/tokens")
def create_token(request: Request, accounts: AccountsDep, session: SessionDep, form: FormDep) -> Response:
    """Create a token, and show it once."""
    try:
        actor = require_recent_sign_in(session)
    except ConfirmationRequired:
        return _see(request, returning(CONFIRM, ACCOUNT))
    try:
        new = tokens.create(
            session, acting_user(session, actor), name=form.get("name", ""), scope=form.get("scope", ""),
            days=digits_in(form.get("days", ""), most=6) or 0, most_days=accounts.settings.token_days,
            now=utc_now(),
        )  # fmt: skip
    except FieldsInvalid as error:
        errors = {each.field: each.message for each in error.problems}
        return _account_page(request, accounts, session, typed=form, errors=errors)
    return _account_page(request, accounts, session, secret=new.secret)


@router.post("/account/tokens/revoke")
def revoke_token(request: Request, accounts: AccountsDep, session: SessionDep, form: FormDep) -> Response:
    """Revoke one of the user's tokens."""
    del accounts
    actor = signed_in_user()
    tokens.revoke(session, digits_in(form.get("token", ""), most=18) or 0, utc_now(), user_id=actor.user_id)
    return _see(request, f"{ACCOUNT}?said=revoked")


# ---- users ----------------------------------------------------------------------------------------------------------


@router.get(USERS_PAGE)
def list_users(request: Request, accounts: AccountsDep, session: SessionDep) -> Response:
    """Show all users."""
    del accounts
    return _users_page(request, session)


@router.get("/users.csv")
def users_file(request: Request, accounts: AccountsDep, session: SessionDep) -> Response:
    """Return the users that match the filter as a file."""
    del accounts
    return USERS.file(users.list_page(session, USERS.file_request(request)).items)


@router.post(USERS_PAGE)
def add_user(request: Request, accounts: AccountsDep, session: SessionDep, form: FormDep) -> Response:
    """Add a user with an initial password, which is shown once."""
    password = users.initial_password()
    # Before the first statement, so that no lock is held meanwhile.
    new_hash = accounts.passwords.hash(password)
    try:
        require_recent_sign_in(session)
        user = users.add(
            session, form.get("name", ""), form.get("role", ""), password_hash=new_hash, must_change=True,
            now=utc_now(),
        )  # fmt: skip
    except ConfirmationRequired:
        return _see(request, returning(CONFIRM, USERS_PAGE))
    except FieldsInvalid as error:
        return _users_page(request, session, form, {each.field: each.message for each in error.problems})
    except NameTaken as error:
        return _users_page(request, session, form, {"name": str(error)})
    return _users_page(request, session, created=user.name, password=password)


@router.get("/users/{name}")
def show_user(request: Request, accounts: AccountsDep, session: SessionDep, name: str) -> Response:
    """Show one user."""
    del accounts
    return _user_page(request, session, name)


@router.post("/users/{name}")
def change_user(
    request: Request, accounts: AccountsDep, session: SessionDep, name: str, form: FormDep
) -> Response:
    """Carry out the action of a button: change the role, disable, enable, replace the password, end sessions."""
    action, password = form.get("action", ""), users.initial_password()
    new_hash = accounts.passwords.hash(password) if action == "password" else ""
    try:
        require_recent_sign_in(session)
    except ConfirmationRequired:
        return _see(request, returning(CONFIRM, f"{USERS_PAGE}/{users.name_of(name)}"))
    user, now = users.get_to_change(session, name), utc_now()
    if new_hash:
        users.set_password(session, user, new_hash, must_change=True, keep_session=None, now=now)
        return _user_page(request, session, name, password=password)
    actions: Mapping[str, Callable[[], object]] = {
        "role": lambda: users.set_role(session, user, form.get("role", "")),
        "disabled": lambda: users.disable(session, user, now),
        "enabled": lambda: users.enable(session, user),
        "tokens": lambda: tokens.revoke_all(session, user.id, now),
        "sessions": lambda: users.end_sessions(session, user),
    }
    if action in actions:
        try:
            actions[action]()
        except FieldsInvalid as error:
            session.rollback()
            return _user_page(request, session, name, wrong=str(error))
    return _see(request, f"{USERS_PAGE}/{user.name}?said={action}")


# ---- inside ---------------------------------------------------------------------------------------------------------


def _missing(form: Mapping[str, str], **messages: str) -> dict[str, str]:
    """Return the messages of the fields that are empty: an empty password is neither checked nor counted as an attempt."""
    return {name: message for name, message in messages.items() if not form.get(name)}


def _sign_in_page(
    request: Request,
    to: str,
    *,
    name: str = "",
    errors: Mapping[str, str] | None = None,
    wrong: str = "",
    error: Exception | None = None,
    status: int = 0,
    without_users: bool = False,
) -> Response:
    actor, accounts = current_actor(), request.app.state.accounts
    is_new = actor.kind != ActorKind.USER
    page = SignInPage(
        title="Sign in" if is_new else "Confirm your sign-in",
        section="sign-in" if is_new else "account",
        action=SIGN_IN if is_new else CONFIRM,
        user="" if is_new else actor.name,
        has_password="accounts" in accounts.settings.authentication
        and (is_new or _has_password(accounts, actor)),
        name=FormField("name", "User name", "name", value=name, required=True),
        next=to,
        errors=errors or {},
        methods=methods_of(
            request,
            to,
            is_confirmation=not is_new,
            has_signed_out=request.query_params.get("said") == "signed-out",
        ),
        wrong=wrong,
        said=_said(request),
        is_without_users=without_users,
    )
    problem = getattr(error, "problem", None)
    code = status or (problem.status if problem else 422 if errors else 200)
    headers = getattr(error, "headers", {})
    # A response with 401 would have to name an authentication scheme of HTTP.
    code = 422 if code == UNAUTHORIZED.status else code
    return render(request, "accounts/sign_in.html", page, status_code=code, headers=headers)


def _has_password(accounts: Accounts, actor: Actor) -> bool:
    with accounts.database.session(writes=False) as session:
        return user_of(session, actor).password_hash is not None


def _own_password_fault(error: Exception) -> str:
    return "This is not your current password." if isinstance(error, SignInRefused) else str(error)


def _account_page(
    request: Request,
    accounts: Accounts,
    session: SessionDep,
    *,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    secret: str = "",
) -> Response:
    actor, now = signed_in_user(), utc_now()
    user = user_of(session, actor)
    boxes = token_fields(Role.of(user.role), most_days=accounts.settings.token_days)
    page = AccountPage(
        title="Your account",
        section="",
        account=users.stored(user),
        sessions=sessions.list_of(session, actor, lifetimes=accounts.lifetimes, now=now),
        tokens=tokens.list_of(session, now, user_id=user.id, with_revoked=False),
        boxes=filled(boxes, typed or {}, errors),
        is_recent=has_recent_sign_in(session, actor),
        secret=secret,
        said=_said(request),
        confirm=returning(CONFIRM, ACCOUNT),
    )
    return render(request, "accounts/account.html", page, status_code=422 if errors else 200)


def _password_page(
    request: Request, session: SessionDep, errors: Mapping[str, str] | None = None
) -> Response:
    user = user_of(session, signed_in_user())
    page = PasswordPage(
        title="Choose a new password" if user.must_change_password else "Change your password",
        section="",
        is_required=user.must_change_password,
        errors=errors or {},
        shortest=SHORTEST_PASSWORD,
    )
    return render(request, "accounts/password.html", page, status_code=422 if errors else 200)


def _users_page(
    request: Request,
    session: SessionDep,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    *,
    created: str = "",
    password: str = "",
) -> Response:
    asked = USERS.request(request)
    page = UsersPage(
        title="Users",
        section="",
        found=USERS.view(users.list_page(session, asked), asked),
        boxes=filled(user_fields(), typed or {}, errors),
        is_recent=has_recent_sign_in(session, signed_in_user()),
        created=created,
        password=password,
        confirm=returning(CONFIRM, USERS_PAGE),
    )
    return render(request, "accounts/users.html", page, status_code=422 if errors else 200)


def _user_page(
    request: Request, session: SessionDep, name: str, *, password: str = "", wrong: str = ""
) -> Response:
    actor = signed_in_user()
    user = users.get(session, name)
    page = UserPage(
        title=user.name,
        section="",
        account=users.stored(user),
        role=replace(role_field(user.role), label=f"Role of {user.name}"),
        tokens=tokens.list_of(session, utc_now(), user_id=user.id, with_revoked=False),
        open_sessions=sessions.count_of(
            session, user.id, lifetimes=request.app.state.accounts.lifetimes, now=utc_now()
        ),
        is_self=actor.user_id == user.id,
        is_recent=has_recent_sign_in(session, actor),
        password=password,
        wrong=wrong,
        said=_said(request),
        confirm=returning(CONFIRM, f"{USERS_PAGE}/{user.name}"),
    )
    return render(request, "accounts/user.html", page, status_code=422 if wrong else 200)


def _said(request: Request) -> str:
    return SAID.get(request.query_params.get("said", ""), "")


def _see(request: Request, path: str) -> Response:
    return RedirectResponse(root_path(request) + path, status_code=303)
