"""What every reader of a program's output needs, whatever package it stands in."""


def first_line(text: str) -> str:
    """The first line that says something, without the blanks around it; empty where there is none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
