"""`pghaul completion`: what a shell needs to complete the command line."""

import argparse
import sys

from core.cli.context import Context, add_common, print_document
from core.cli.reports import KINDS

_NAMES = ("moves", "reports", "servers", "suites")

_INSTALLING = """\
The packages of pghaul install completion. Without a package, install it with:
  pghaul completion bash >~/.local/share/bash-completion/completions/pghaul
  pghaul completion zsh >~/.zfunc/_pghaul          and add fpath+=~/.zfunc before compinit in ~/.zshrc
  pghaul completion fish >~/.config/fish/completions/pghaul.fish"""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    completion = nouns.add_parser(
        "completion",
        help="print the completion script for a shell",
        epilog=_INSTALLING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    completion.add_argument(
        "what",
        choices=("bash", "fish", "zsh", *_NAMES),
        help="a shell: print its script; any other word: print the names that the scripts ask for",
    )
    add_common(completion)
    completion.set_defaults(run=_run, without_settings=True)  # a shell that completes shows no errors


def _run(context: Context, options: argparse.Namespace) -> int:
    lines = _names(context, options.what) if options.what in _NAMES else _script(options)
    if options.json:
        print_document({"lines": lines})
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0


def _names(context: Context, what: str) -> list[str]:
    """Those that a shell can take as one word; what a stranger's history calls its moves is quoted by nobody."""
    return [name for name in _known(context, what) if name.replace("-", "").replace("_", "").replace(".", "").isalnum()]


def _known(context: Context, what: str) -> list[str]:
    if what == "suites":
        from core.benchmarks.suites import suites

        return [*suites()]
    if what == "servers":
        return [profile.name for profile in context.store.profiles()]
    moves = [move.name for move in context.store.moves()]
    return [*KINDS, *moves] if what == "reports" else moves


def _script(options: argparse.Namespace) -> list[str]:
    from core.cli.manual.completion import script
    from core.cli.manual.outline import outline

    return script(outline(options.whole), options.what).splitlines()
