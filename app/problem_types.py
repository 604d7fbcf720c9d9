"""The kinds of problems that the service reports; an error class names its kind as `problem`.

docs/reference/problems.md describes each kind with its HTTP status.
"""

from __future__ import annotations

from dataclasses import dataclass

DOCUMENTATION = "/docs/problems"
"""Part of the URI of each type, which never changes; this address redirects to PAGE."""
PAGE = "/docs/reference/problems"


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A kind of problem: its heading in docs/reference/problems.md, its HTTP status, and its title."""

    slug: str | None
    status: int
    title: str

    @property
    def uri(self) -> str:
        """Relative URI of the description, or about:blank (RFC 9457) if the status alone is sufficient."""
        return f"{DOCUMENTATION}#{self.slug}" if self.slug else "about:blank"

    @property
    def page(self) -> str | None:
        """Address of the description; None if the status alone is sufficient."""
        return f"{PAGE}#{self.slug}" if self.slug else None


REQUEST_INVALID = ProblemType("request-invalid", 422, "The request is not valid")
DOCUMENT_INVALID = ProblemType("document-invalid", 422, "The plan document is not valid")
PLAN_REFUSED = ProblemType("plan-refused", 422, "No such plan can exist")
OUTPUT_REFUSED = ProblemType("output-refused", 422, "This output is not available for the plan as it is")
OUT_OF_RANGE = ProblemType("out-of-range", 422, "A value is outside the range that can be computed")
INPUT_REFUSED = ProblemType("input-refused", 422, "The input was refused")
UNAUTHORIZED = ProblemType("unauthorized", 401, "Sign in first")
FORBIDDEN = ProblemType("forbidden", 403, "Your role does not permit this")
CONFIRMATION_REQUIRED = ProblemType("confirmation-required", 403, "This needs a recent sign-in")
PASSWORD_CHANGE_REQUIRED = ProblemType("password-change-required", 403, "Choose a new password first")
ACCOUNTS_OFF = ProblemType("accounts-off", 409, "This service has no accounts")
USER_NOT_FOUND = ProblemType("user-not-found", 404, "There is no such user")
USER_EXISTS = ProblemType("user-exists", 409, "Another user has this name")
TOKEN_NOT_FOUND = ProblemType("token-not-found", 404, "There is no such token or session")
TOO_MANY_ATTEMPTS = ProblemType("too-many-attempts", 429, "Too many failed attempts")
SIGN_IN_FAILED = ProblemType("sign-in-failed", 403, "The sign-in did not succeed")
PROVIDER_UNAVAILABLE = ProblemType("provider-unavailable", 502, "The OpenID provider cannot be used")
TRUSTED_HEADER_REFUSED = ProblemType("trusted-header-refused", 400, "The header with the user was refused")
SERVICE_BUSY = ProblemType("service-busy", 503, "The service is busy")
CROSS_ORIGIN = ProblemType("cross-origin", 403, "The request comes from another site")
NOT_FOUND = ProblemType("not-found", 404, "There is nothing at this address")
METHOD_NOT_ALLOWED = ProblemType("method-not-allowed", 405, "This address does not support this method")
REQUEST_TIMEOUT = ProblemType("request-timeout", 408, "The request body took too long to arrive")
CONTENT_TOO_LARGE = ProblemType("content-too-large", 413, "The request body is too large")
UNSUPPORTED_MEDIA_TYPE = ProblemType(
    "unsupported-media-type", 415, "The request body has an unsupported media type"
)
MISDIRECTED_REQUEST = ProblemType("misdirected-request", 421, "The service does not accept this host name")
PLAN_NOT_FOUND = ProblemType("plan-not-found", 404, "There is no such plan")
PLAN_NAME_INVALID = ProblemType("plan-name-invalid", 422, "This is not a valid plan name")
NAME_TAKEN = ProblemType("name-taken", 409, "Another plan has this name")
PLAN_CHANGED = ProblemType("plan-changed", 412, "The plan has changed since it was read")
PRECONDITION_REQUIRED = ProblemType(
    "precondition-required", 428, "The request must name the version that it changes"
)
APPROVAL_MISSING = ProblemType("approval-missing", 409, "The version of the plan is not approved")
APPROVAL_REFUSED = ProblemType("approval-refused", 403, "The version cannot be approved by this user")
SCENARIO_NOT_FOUND = ProblemType("scenario-not-found", 404, "The plan has no such scenario")
SCENARIO_EXISTS = ProblemType("scenario-exists", 409, "Another scenario of the plan has this name")
SCENARIO_CHANGED = ProblemType("scenario-changed", 412, "The scenario has changed since it was read")
UPLOAD_NOT_FOUND = ProblemType("upload-not-found", 404, "There is no such upload, job or entry")
UPLOAD_INVALID = ProblemType("upload-invalid", 422, "The upload cannot be accepted as it is")
JOB_BUSY = ProblemType("job-busy", 409, "A job is under way")
REPORT_NOT_READY = ProblemType("report-not-ready", 409, "There is no report yet")
FILE_GONE = ProblemType("file-gone", 409, "The file is no longer kept")
FILE_IN_USE = ProblemType("file-in-use", 409, "The file belongs to an upload")
INSUFFICIENT_STORAGE = ProblemType("insufficient-storage", 507, "There is not enough space on the disk")
DATABASE_UNAVAILABLE = ProblemType("database-unavailable", 503, "The database is not available")
NOT_READY = ProblemType("not-ready", 503, "The service is not ready")
CPU_LIMIT = ProblemType("cpu-limit", 503, "The request needs too much processor time")
SERVICE_STOPPING = ProblemType("service-stopping", 503, "The service is stopping")
CONNECTION_NOT_FOUND = ProblemType("connection-not-found", 404, "There is no such connection")
CONNECTION_FAILED = ProblemType("connection-failed", 502, "The other system did not answer as expected")
UNEXPECTED = ProblemType("unexpected", 500, "The service failed unexpectedly")

PROBLEM_TYPES = (
    REQUEST_INVALID, DOCUMENT_INVALID, PLAN_REFUSED, OUTPUT_REFUSED, OUT_OF_RANGE, INPUT_REFUSED, UNAUTHORIZED,
    FORBIDDEN, CONFIRMATION_REQUIRED, PASSWORD_CHANGE_REQUIRED, ACCOUNTS_OFF, USER_NOT_FOUND, USER_EXISTS,
    TOKEN_NOT_FOUND, TOO_MANY_ATTEMPTS, SIGN_IN_FAILED, PROVIDER_UNAVAILABLE, TRUSTED_HEADER_REFUSED, SERVICE_BUSY, CROSS_ORIGIN,
    NOT_FOUND, METHOD_NOT_ALLOWED, REQUEST_TIMEOUT, CONTENT_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, MISDIRECTED_REQUEST,
    PLAN_NOT_FOUND, PLAN_NAME_INVALID, NAME_TAKEN, PLAN_CHANGED, PRECONDITION_REQUIRED, APPROVAL_MISSING,
    APPROVAL_REFUSED, SCENARIO_NOT_FOUND,
    SCENARIO_EXISTS, SCENARIO_CHANGED, UPLOAD_NOT_FOUND,
    UPLOAD_INVALID, JOB_BUSY, REPORT_NOT_READY, FILE_GONE, FILE_IN_USE, INSUFFICIENT_STORAGE, DATABASE_UNAVAILABLE, NOT_READY,
    CPU_LIMIT, SERVICE_STOPPING, CONNECTION_NOT_FOUND, CONNECTION_FAILED, UNEXPECTED,
)  # fmt: skip
