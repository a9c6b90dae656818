"""What every reader of a program's output needs, whatever package it stands in."""


def first_line(text: str) -> str:
    """The first line that says something, without the blanks around it; empty where there is none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def complaint(text: str) -> str:
    """What a command's standard error says went wrong: the sentence of a function of ours, else its first line.

    A function of the remote half says `pghaul: WHY` behind what its tools said.
    """
    own = [line.removeprefix("pghaul: ") for line in text.splitlines() if line.startswith("pghaul: ")]
    return own[0].strip() if own else first_line(text)
