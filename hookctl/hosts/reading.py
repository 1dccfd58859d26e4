"""Whether a host can read a settings file, and what happens if it cannot."""

from __future__ import annotations

from hookctl.documents import MISSING, Document
from hookctl.errors import UNREADABLE, HookctlError
from hookctl.hosts import Host

_MARK = b"\xef\xbb\xbf"


def cost(host: Host) -> str:
    """What the host does with a file that it cannot read, as a sentence."""
    return f"{host.title} {host.faults.file}"


def stops_client(host: Host) -> bool:
    """Whether the client refuses to start with a file that it cannot read."""
    return host.faults.stops_client


def refusal(host: Host, document: Document) -> HookctlError | None:
    """Why the host cannot read a document that hookctl can read; None if it can."""
    if not host.byte_order_mark and document.data.startswith(_MARK):
        message = "there is a byte order mark, which this host does not read"
        return _refused(host, document, message, 1, 1)
    try:
        document.require_strict(
            comments=host.comments,
            trailing_commas=host.trailing_commas,
            plain_comments=host.plain_comments,
        )
    except HookctlError as error:
        return _refused(host, document, error.message, error.line, error.column)
    return None


def require(host: Host, document: Document) -> None:
    """Refuse (strict_host) a document that the host cannot read: no edit would have an effect."""
    error = refusal(host, document)
    if error:
        raise error


def is_refused_as_empty(host: Host, document: Document) -> bool:
    """Whether the host refuses a document because it is empty; an edit fixes that."""
    return not host.empty and document.value is MISSING


def _refused(host: Host, document: Document, message: str, line: int, column: int) -> HookctlError:
    hint = f"Remove it, then run the command again: {cost(host)}."
    return HookctlError(
        "strict_host",
        message,
        path=document.where,
        line=line,
        column=column,
        hint=hint,
        exit_code=UNREADABLE,
    )
