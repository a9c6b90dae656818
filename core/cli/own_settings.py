"""`pghaul settings`: what its user has set for pghaul. And options whose default is one of these settings."""

import argparse
from collections.abc import Callable
from typing import Any

from core.cli import sizes
from core.cli.context import Choices, Context, add_common, print_document
from core.cli.terminal import show, table
from core.user_settings import file
from core.user_settings.declaration import Setting, declared
from core.user_settings.file import Loaded
from core.user_settings.kinds import Value

_FILE, _DEFAULT = "file", "default"

_DESCRIPTION = """\
Show and change the settings of pghaul on this workstation. They are in a TOML file, which you can also edit yourself.
An option of a command takes precedence over the file, and the file over the default. If the file cannot be used, every
command says why and does nothing."""


def register(nouns: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the subcommand."""
    settings = nouns.add_parser("settings", help="show and change the settings of pghaul", description=_DESCRIPTION)
    verbs = settings.add_subparsers(dest="verb", metavar="VERB", required=True)

    shown = verbs.add_parser("show", help="show each setting, its value, where it comes from, and what is allowed")
    add_common(shown)
    shown.set_defaults(run=_show)

    changed = verbs.add_parser("set", help="change a setting in the file")
    _keyed(changed)
    changed.add_argument("value", metavar="VALUE", help="the value as in pghaul settings show, without quotes")
    add_common(changed)
    changed.set_defaults(run=_set)

    unset = verbs.add_parser("unset", help="remove a setting from the file, so that its default applies")
    _keyed(unset)
    add_common(unset)
    unset.set_defaults(run=_unset)

    path = verbs.add_parser("path", help="show the path of the settings file")
    add_common(path)
    path.set_defaults(run=_path, without_settings=True)


def add_from_setting(
    parser: argparse._ActionsContainer,
    key: str,
    *names: str,
    help: str,  # noqa: A002  argparse's own name
    default: str = "",
    convert: Callable[[Any], object] | None = None,
    **more: Any,
) -> argparse.Action:
    """Add an option whose default is a setting.

    Args:
        parser: the parser of a subcommand.
        key: of the setting.
        names: of the option.
        help: what it means, without its default.
        default: what applies if neither is given, if it is not the value of the setting.
        convert: makes the value of the option from that of the setting, if they differ.
        more: what argparse takes besides.
    """
    usual = default or str(declared()[key].default)
    action = parser.add_argument(*names, help=f"{help} (default: {usual}; setting: {key})", **more)
    taken = {**(parser.get_default("from_settings") or {}), action.dest: (key, convert)}
    parser.set_defaults(from_settings=taken)
    return action


def apply(options: argparse.Namespace) -> None:
    """Read the settings, and take from them what no option says.

    Raises:
        InputError: the file cannot be used.
    """
    if getattr(options, "without_settings", False):
        return
    settings = file.load().settings
    sizes.choose(binary=settings.display.units == "binary")
    for name, (key, convert) in getattr(options, "from_settings", {}).items():
        if getattr(options, name) is None:
            value = settings.value(key)
            setattr(options, name, value if convert is None else convert(value))


def _keyed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "key", metavar="KEY", choices=Choices(lambda: tuple(declared())), help="the setting, for example report.paper"
    )


def _show(_: Context, options: argparse.Namespace) -> int:
    loaded = file.load()
    found = [_shown(setting, loaded) for setting in declared().values()]
    if options.json:
        print_document({"path": str(file.path()), "exists": loaded.content is not None, "settings": found})
        return 0
    rows = [(each["key"], _text(each["value"]), each["source"], each["allowed"]) for each in found]
    show(table(("setting", "value", "from", "allowed"), rows))
    show(f"\nfile: {file.path()}{'' if loaded.content is not None else ', which does not exist'}")
    return 0


def _set(_: Context, options: argparse.Namespace) -> int:
    setting = file.find(options.key)
    return _changed(setting, file.change({setting.key: setting.kind.typed(options.value)}), options)


def _unset(_: Context, options: argparse.Namespace) -> int:
    setting = file.find(options.key)
    return _changed(setting, file.change({setting.key: None}), options)


def _changed(setting: Setting, loaded: Loaded, options: argparse.Namespace) -> int:
    found = _shown(setting, loaded)
    if options.json:
        print_document(found)
    else:
        show(f"{found['key']} = {_text(found['value'])} ({found['source']})")
    return 0


def _path(_: Context, options: argparse.Namespace) -> int:
    if options.json:
        print_document({"path": str(file.path())})
    else:
        show(str(file.path()))
    return 0


def _shown(setting: Setting, loaded: Loaded) -> dict[str, Any]:
    return {
        "key": setting.key,
        "value": loaded.settings.value(setting.key),
        "default": setting.default,
        "source": _FILE if setting.key in loaded.given else _DEFAULT,
        "allowed": setting.kind.describe(),
        "meaning": setting.declaration.text,
    }


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
