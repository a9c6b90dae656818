"""The options of the old server from its command line and its environment, as far as its facts contain them."""

from core.facts.catalog import Setting
from core.facts.model import Cluster

OF_THE_LAYOUT = frozenset({"data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"})
"""Settings that each server has for itself: they are copied with the configuration, or its service names them."""


def command_line_settings(cluster: Cluster) -> tuple[Setting, ...]:
    """Return the settings on the command line of the running server, except those in `OF_THE_LAYOUT`."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    return tuple(each for each in settings if each.source == "command line" and each.name not in OF_THE_LAYOUT)


def environment_settings(cluster: Cluster) -> frozenset[str]:
    """Return the names of settings that the server got from environment variables (PGPORT, PGDATESTYLE, …)."""
    settings = cluster.wide.settings if cluster.wide is not None else ()
    return frozenset(each.name for each in settings if each.source == "environment variable")


def typed_options(cluster: Cluster) -> tuple[str, ...]:
    """Return the settings of the command line as `NAME=VALUE`, for a person who starts the server.

    An ellipsis stands for a value that may be secret or that does not fit on a line.
    """
    return tuple(f"{each.name}={_displayed_value(each.value)}" for each in command_line_settings(cluster))


def _displayed_value(value: str | None) -> str:
    return value if value is not None and value.isprintable() else "…"
