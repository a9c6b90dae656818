"""The options on the command line of the old server, and in its environment, as far as its facts tell them."""

from core.facts.catalog import Setting
from core.facts.model import Cluster

OF_THE_LAYOUT = frozenset({"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"})
"""Each server has these of its own: the configuration comes along, or what starts the new server names it."""


def of_command_line(cluster: Cluster) -> tuple[Setting, ...]:
    """The settings that the command line of the running server gives, without those of the layout."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    return tuple(each for each in settings if each.source == "command line" and each.name not in OF_THE_LAYOUT)


def of_environment(cluster: Cluster) -> frozenset[str]:
    """The names of the settings that an environment variable gave the running server (PGPORT, PGDATESTYLE, …)."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    return frozenset(each.name for each in settings if each.source == "environment variable")


def as_typed(cluster: Cluster) -> tuple[str, ...]:
    """The same as `NAME=VALUE`, for people who start it by hand.

    A value that may be secret, or that no line can hold, stands as an ellipsis.
    """
    return tuple(f"{each.name}={_shown(each.value)}" for each in of_command_line(cluster))


def _shown(value: str | None) -> str:
    return value if value is not None and value.isprintable() else "…"
