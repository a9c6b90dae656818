"""What every reader of a program's output needs, whatever package it stands in."""

from core.errors import ParseError

END_MARK = "# whole"
"""The last line of what a function of the remote half prints, where a part of an answer could be taken for all."""


def first_line(text: str) -> str:
    """The first line that says something, without the blanks around it; empty where there is none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def own_sentence(text: str) -> str:
    """The sentence by which a function of the remote half ended, `pghaul: WHY`; empty where there is none."""
    own = (line.removeprefix("pghaul: ").strip() for line in text.splitlines() if line.startswith("pghaul: "))
    return next(own, "")


def complaint(text: str) -> str:
    """What a command's standard error says went wrong: the sentence of a function of ours, else its first line."""
    return own_sentence(text) or first_line(text)


def counted(text: str, what: str) -> tuple[str, ...]:
    """The lines of a list whose last line says how many they are, such as `# 3 sessions`.

    Raises:
        ParseError: not all of it came.
    """
    *lines, end = text.splitlines() or [""]
    if end != f"# {len(lines)} {what}":
        raise ParseError(f"the list of {what} is not whole: it ends in {end!r}")
    return tuple(lines)
