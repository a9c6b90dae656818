"""Options of the last release under their former names: they work, and help, manual pages and completion do not show
them.
"""

import pytest

from core.cli.main import main, parser
from core.cli.manual import completion, markdown, roff
from core.cli.manual.outline import outline

RENAMED = [
    ("execute spring", "--anew", "--start-over", []),
    ("execute spring", "--yes-to-hooks", "--manual-steps-done", []),
    ("execute spring", "--other-way", "--client-route", ["by DNS"]),
    ("survey", "--anew", "--refresh", []),
    ("bench spring", "--at-once", "--parallel", []),
    ("move add spring --old a --new b --cluster /srv", "--plain-text", "--allow-unencrypted", []),
    ("storage prepare /srv /dev/sdb", "--whole", "--no-partition", []),
]


@pytest.mark.parametrize(("command", "former", "name", "value"), RENAMED)
def test_a_former_name_means_the_option(command: str, former: str, name: str, value: list[str]) -> None:
    words = command.split()
    without, given = parser().parse_args(words), parser().parse_args([*words, name, *value])
    assert parser().parse_args([*words, former, *value]) == given
    assert without != given


@pytest.mark.parametrize(("command", "former", "name"), [each[:3] for each in RENAMED])
def test_help_shows_the_new_name_alone(
    command: str, former: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--help"]) == 0
    shown = capsys.readouterr().out.split()
    assert any(word.strip("[]") == name for word in shown)
    assert not any(word.strip("[]") == former for word in shown)


def test_manual_and_completion_show_no_former_name() -> None:
    program = outline(parser())
    known = {
        (" ".join(command.words), option)
        for command in program.all()
        for each in command.options
        for option in each.options
    }
    for command, former, name, _ in RENAMED:
        words = next(
            " ".join(each.words)
            for each in program.all()
            if each.words and not each.verbs and command.startswith(" ".join(each.words))
        )
        assert (words, name) in known
        assert (words, former) not in known
    written = [*markdown.command_line(program).values(), *roff.pages(program, "1").values()]
    written += [completion.script(program, shell) for shell in completion.SHELLS]
    for former in {each[1] for each in RENAMED}:
        assert not any(former in text or former.replace("-", "\\-") in text for text in written)
