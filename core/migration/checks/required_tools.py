"""Checks of the tools that the copy needs."""

from core.facts.model import Facts
from core.migration.checks.declaration import Check, check
from core.migration.findings.finding import CheckContext, Finding, blocker, passed, unknown


@check("rsync", title="Installation of rsync", blocking=True, compares="rsync on both servers", page="backup-file")
def check_rsync(context: CheckContext) -> Finding:
    """Check that rsync is installed on both servers."""
    return _compare_tools(context, "rsync", on_old=("rsync",), on_new=("rsync",))


@check("ssh", title="SSH client on the old server", blocking=True, compares="ssh on the old server", page="backup-file")
def check_ssh(context: CheckContext) -> Finding:
    """Check that ssh is installed on the old server; sshd runs on the new one, since pghaul uses it."""
    return _compare_tools(context, "ssh", on_old=("ssh",), on_new=())


@check("gnu-tools", "GNU find and GNU tar", blocking=True, compares="find and tar on both servers", page="backup-file")
def check_gnu_tools(context: CheckContext) -> Finding:
    """Check that find and tar are GNU's: busybox's lack `-printf`, `-lname` and `-I`."""
    names = ("find", "tar")
    shown = _describe_tools(context.old, names), _describe_tools(context.new, names)
    tools = [(facts, name, facts.tool(name)) for facts in (context.old, context.new) for name in names]
    unread = [f"{name} (server {facts.server})" for facts, name, tool in tools if tool is None]
    if unread:
        return unknown(
            *shown,
            f"It is not known whether these programs are GNU's: {'; '.join(unread)}.",
            "Look with `find --version` and `tar --version`.",
        )
    others = [
        f"{name} (server {facts.server})" for facts, name, tool in tools if tool is not None and tool.version is None
    ]
    if others:
        return blocker(
            *shown,
            f"These programs are missing or are not GNU's: {'; '.join(others)}.",
            "Install them with the system's packages (Debian, Alpine and others: findutils, tar).",
        )
    return passed(*shown, "find and tar are GNU's on both servers.")


def _compare_tools(context: CheckContext, what: str, *, on_old: tuple[str, ...], on_new: tuple[str, ...]) -> Finding:
    wanted = [(context.old, on_old), (context.new, on_new)]
    shown = _describe_tools(context.old, on_old), _describe_tools(context.new, on_new)
    missing = [
        (facts, name)
        for facts, names in wanted
        for name in names
        if (tool := facts.tool(name)) is not None and tool.path is None
    ]
    if missing:
        names = "; ".join(f"{name} (server {facts.server})" for facts, name in missing)
        return blocker(
            *shown,
            f"These programs are not installed: {names}.",
            "Install them with the system's packages (Debian: `apt-get install rsync openssh-client`).",
        )
    unread = [(facts, name) for facts, names in wanted for name in names if facts.tool(name) is None]
    if unread:
        names = "; ".join(f"{name} (server {facts.server})" for facts, name in unread)
        return unknown(
            *shown,
            f"It is not known whether these programs are installed: {names}.",
            f"Look with `command -v {unread[0][1]}`.",
        )
    mute = [(facts, name) for facts, names in wanted for name in names if _version(facts, name) is None]
    if mute:
        names = "; ".join(f"{name} (server {facts.server})" for facts, name in mute)
        return unknown(
            *shown,
            f"These programs are installed but do not print their version: {names}.",
            f"Try `{mute[0][1]} --version` (for ssh: `ssh -V`).",
        )
    return passed(*shown, f"{what} is installed.")


def _version(facts: Facts, name: str) -> str | None:
    tool = facts.tool(name)
    return tool.version if tool is not None else None


def _describe_tools(facts: Facts, names: tuple[str, ...]) -> str:
    found = [(name, facts.tool(name)) for name in names]
    return (
        ", ".join(
            f"{name} {tool.version or 'found' if tool.path else 'missing'}" if tool else f"{name} not read"
            for name, tool in found
        )
        or "–"
    )


CHECKS: tuple[Check, ...] = (check_rsync, check_gnu_tools, check_ssh)
