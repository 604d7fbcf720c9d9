"""The list of users."""

from __future__ import annotations

from urllib.parse import quote

from app.accounts.users import StoredUser
from app.paging import Sort
from app.web.tables import Column, ListTable, TableCell

USERS = ListTable[StoredUser](
    name="users",
    path="/users",
    columns=(
        Column(
            key="name",
            title="User",
            read=lambda user: TableCell(value=user.name, href=f"/users/{quote(user.name, safe='')}"),
        ),
        Column(key="role", title="Role", read=lambda user: user.role),
        Column(
            key="state",
            title="State",
            read=lambda user: (
                TableCell(value="disabled", severity="warning") if user.is_disabled else "active"
            ),
        ),
        Column(
            key="last_sign_in",
            title="Last sign-in",
            kind="date",
            read=lambda user: TableCell(
                value=user.last_sign_in_at, text="" if user.last_sign_in_at else "never"
            ),
        ),
        Column(key="created", title="Added", kind="date", read=lambda user: user.created_at),
    ),
    sort=Sort("name"),
    search_label="User name",
)
