"""What a check is: its declaration, the facts that it needs, and the function that compares them.

    @check(
        "clocks", "System clocks", compares="time of both servers", page="backup-file", needs=(OLD_CLOCK, NEW_CLOCK)
    )
    def check_clocks(context: CheckContext, here: Clock, there: Clock) -> Finding: ...

The function is called with complete facts only. If one of its needs is missing in the facts, the result is unknown, and
the need says why and what to do.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, NotRequired, TypedDict, TypeVar, Unpack, overload

from core.facts.sections import Section
from core.migration.findings.finding import NOTHING, CheckContext, Finding, explain_gap, no_cluster_finding, unknown
from core.servers.shell import for_hint

T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


READ_AGAIN = "Read the facts again: `{command}`."
_OWNERS = {"cluster": "of the old cluster", "old": "on the old server", "new": "on the new server"}


@dataclass(frozen=True, slots=True)
class Need(Generic[T_co]):
    """Facts of one subject that checks need; `needs.py` declares all of them.

    Attributes:
        id: names it in programs: `new.memory`. The part before the point says whose facts these are.
        words: names it for people: `memory`.
        read: returns the facts; None if they were not read.
        sections: the sections of the facts whose gap is the reason if they were not read.
        hint: what to do then, with `{server}` or with `{command}`, which reads its facts again.
        missing: the sentence that says so, with `{server}` and `{reason}`; made from `words` if it is empty.
        explain: returns the whole finding instead.
    """

    id: str
    words: str
    read: Callable[[CheckContext], T_co | None]
    sections: tuple[Section[object] | str, ...] = ()
    hint: str = READ_AGAIN
    missing: str = ""
    explain: Callable[[CheckContext], Finding] | None = None

    @property
    def title(self) -> str:
        """Return what it is and whose, for people: `memory on the new server`."""
        owner, point, _ = self.id.partition(".")
        return f"{self.words} {_OWNERS[owner]}" if point else self.words

    @property
    def sentence(self) -> str:
        """Return the sentence that says that it is missing, with `{server}` and `{reason}`."""
        owner = "the old cluster on the server {server}" if self.id.startswith("cluster") else "the server {server}"
        return self.missing or f"The {self.words} of {owner} could not be read ({{reason}})."

    def value_or_finding(self, context: CheckContext, old: str = NOTHING) -> T_co | Finding:
        """Return the facts, or the finding of `unread` if they were not read."""
        value = self.read(context)
        return value if value is not None else self.unread(context, old)

    def unread(self, context: CheckContext, old: str = NOTHING) -> Finding:
        """Return the unknown that says why these facts were not read and what to do.

        Args:
            context: the move and the facts of both servers.
            old: the evidence of the old server, as far as the check knows it.
        """
        of_cluster = self.id.startswith("cluster")
        if self.explain is not None or (of_cluster and context.cluster is None):
            finding = (self.explain or no_cluster_finding)(context)
            return finding if old == NOTHING else replace(finding, old=old)
        facts = context.new if self.id.startswith("new") else context.old
        names = [each if isinstance(each, str) else each.name for each in self.sections]
        reason = explain_gap(facts, *names, of=context.move.cluster if of_cluster else None)
        message = self.sentence.format(server=facts.server, reason=reason)
        hint = self.hint.format(server=facts.server, command=for_hint("pghaul", "facts", facts.server))
        return unknown(old, NOTHING, message, hint)


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a check is, apart from any move.

    Attributes:
        blocking: it can stop a real execution; an unknown then counts as a blocker.
        compares: what it compares on both servers, for people.
        page: the page of PostgreSQL's documentation that says why.
    """

    id: str
    title: str
    blocking: bool
    compares: str
    page: str

    @property
    def severity(self) -> str:
        """`blocker` where it can stop a real execution, else `warning`."""
        return "blocker" if self.blocking else "warning"


@dataclass(frozen=True, slots=True)
class Check(Declaration):
    """A check as it is listed.

    Attributes:
        needs: the facts without which nothing is compared, in the order in which the function takes them.
        uses: further facts that the function asks for in some cases, or uses only if they were read.
        function: compares; `check` guarantees that its parameters match `needs`.
    """

    needs: tuple[Need[object], ...]
    uses: tuple[Need[object], ...]
    function: Callable[..., Finding]

    @property
    def declaration(self) -> Declaration:
        """Return the check without its function, as `pghaul check --list --json` shows it."""
        return Declaration(self.id, self.title, self.blocking, self.compares, self.page)

    def run(self, context: CheckContext) -> Finding:
        """Return what the check finds, or an unknown for the first of its needs that was not read."""
        complete = []
        for need in self.needs:
            value = need.value_or_finding(context)
            if isinstance(value, Finding):
                return value
            complete.append(value)
        return self.function(context, *complete)


class _Declared(TypedDict):
    blocking: NotRequired[bool]
    compares: str
    page: str
    uses: NotRequired[tuple[Need[object], ...]]


_Context = CheckContext


@overload
def check(
    name: str, title: str, *, needs: tuple[()] = (), **declared: Unpack[_Declared]
) -> Callable[[Callable[[_Context], Finding]], Check]: ...
@overload
def check(
    name: str, title: str, *, needs: tuple[Need[A]], **declared: Unpack[_Declared]
) -> Callable[[Callable[[_Context, A], Finding]], Check]: ...
@overload
def check(
    name: str, title: str, *, needs: tuple[Need[A], Need[B]], **declared: Unpack[_Declared]
) -> Callable[[Callable[[_Context, A, B], Finding]], Check]: ...
@overload
def check(
    name: str, title: str, *, needs: tuple[Need[A], Need[B], Need[C]], **declared: Unpack[_Declared]
) -> Callable[[Callable[[_Context, A, B, C], Finding]], Check]: ...
@overload
def check(
    name: str, title: str, *, needs: tuple[Need[A], Need[B], Need[C], Need[D]], **declared: Unpack[_Declared]
) -> Callable[[Callable[[_Context, A, B, C, D], Finding]], Check]: ...


def check(
    name: str, title: str, *, needs: tuple[Need[object], ...] = (), **declared: Unpack[_Declared]
) -> Callable[[Callable[..., Finding]], Check]:
    """Return a decorator that makes a check of the function that compares. `name` is its ID, which never changes.

    What `declared` may contain is described at `Declaration` and `Check`. Without `blocking` a check cannot block.
    """

    def declare(function: Callable[..., Finding]) -> Check:
        return Check(
            name,
            title,
            declared.get("blocking", False),
            declared["compares"],
            declared["page"],
            needs,
            declared.get("uses", ()),
            function,
        )

    return declare
