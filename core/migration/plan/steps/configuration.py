"""The steps that bring configuration which lies outside the data directory, where no pass reaches."""

from core.migration.findings.layout import configuration_folder
from core.migration.model.plan import ROOT_USER, Phase, Step, undone
from core.migration.plan.cluster_control import KEPT
from core.migration.plan.site import Site
from core.servers.shell import call, command


def configuration(site: Site) -> list[Step]:
    """Configuration outside the data directory: old's as an archive, put beside what new has there."""
    folder = configuration_folder(site.cluster)
    if folder is None:
        return []
    kept = f"{folder}{KEPT}"
    return [
        Step(
            f"pack old's configuration in {folder}",
            "old",
            ROOT_USER,
            str(call("pack_configuration", folder)),
            "it lies outside the data directory, so no pass has copied it",
            "nothing to undo: it only looks",
            native_pack_configuration(folder),
            name="configuration",
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            private=True,
            stopped=True,
        ),
        Step(
            f"put old's configuration into {folder}",
            "new",
            ROOT_USER,
            str(call("unpack_configuration", folder, site.channel.writer)),
            f"what new has there is kept as {kept}; read it for paths, memory and addresses of old",
            undone(ROOT_USER, "new", *native_restore_configuration(folder)),
            native_unpack_configuration(folder, site.channel.writer),
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            reads="configuration",
            stopped=True,
        ),
    ]


def native_pack_configuration(folder: str) -> tuple[str, ...]:
    """What a person would type for it."""
    return (f"{command('tar', '-C', folder, '-cf', '-', '.')} | base64",)


def native_unpack_configuration(folder: str, user: str) -> tuple[str, ...]:
    """What a person would type for it, with the archive on standard input."""
    return (
        command("mv", "--", folder, f"{folder}{KEPT}").text,
        command("install", "-d", "-m", "0755", "-o", user, "--", folder).text,
        f"base64 -d | {command('tar', '-C', folder, '-xf', '-')}",
        command("chown", "-R", f"{user}:", "--", folder).text,
    )


def native_restore_configuration(folder: str) -> tuple[str, ...]:
    """What a person would type to have back what new had there, if anything."""
    kept = f"{folder}{KEPT}"
    return (
        command("rm", "-rf", "--", folder).text,
        f"test ! -e {command(kept)} || {command('mv', '--', kept, folder)}",
    )
