"""The steps that bring configuration which lies outside the data directory, where no pass reaches."""

from core.migration.findings.layout import configuration_brought, configuration_left
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Phase, Step, undone
from core.migration.plan.site import Site
from core.servers.shell import Shell, call, command


def room_for_configuration(site: Site) -> list[Step]:
    """Ahead of the copy: whether what comes can be read and take its place, and new has its own of what does not."""
    writer, brought, left = site.channel.writer, configuration_brought(site.cluster), configuration_left(site.cluster)
    looks = [
        _look(
            "configuration-readable",
            f"Check that the configuration of the old cluster can be read: {', '.join(brought)}",
            "old",
            site.owner,
            call("packable", *brought),
            "It is packed during the downtime, by the user whose server reads it when it starts.",
            command("find", "-H", *brought, "!", "-readable"),
        ),
        _look(
            "configuration-replaceable",
            f"Check that the configuration on the new server can be replaced: {', '.join(brought)}",
            "new",
            ROOT_USER,
            call("replaceable", writer, site.move.target, *brought),
            f"Files that are there must belong to {writer}. They are put aside, and a rollback brings them back.",
            command("find", *brought, "!", "-user", writer),
        ),
        _look(
            "configuration-own",
            f"Check that the new server has its own {', '.join(left)}",
            "new",
            writer,
            call("readable_files", *left),
            "These files lie in a system directory, to which nothing is copied. The new cluster would not start "
            "without them.",
            command("ls", "-lL", "--", *left),
        ),
    ]
    return [look for look, paths in zip(looks, (brought, brought, left), strict=True) if paths]


def _look(name: str, title: str, side: str, user: str, looking: Shell, reason: str, native: Shell) -> Step:
    return Step(
        title,
        side,
        user,
        str(looking),
        reason,
        ONLY_LOOKS,
        native=(native.text,),
        name=name,
        skippable=False,
        rehearsed=True,
    )


def configuration(site: Site) -> list[Step]:
    """Old's as an archive, put in place of what new has there; nothing where all of it travels with the data."""
    paths, writer = configuration_brought(site.cluster), site.channel.writer
    if not paths:
        return []
    return [
        Step(
            f"Pack the configuration of the old cluster: {', '.join(paths)}",
            "old",
            site.owner,  # what its server reads its owner may read, and nothing else is to leave old
            str(call("pack_configuration", "/", *_below_root(paths))),
            "It lies outside the data directory, so no pass has copied it.",
            ONLY_LOOKS,
            (f"{command('tar', '-C', '/', '-hcf', '-', '--', *_below_root(paths))} | base64",),
            name="configuration",
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            private=True,
            stopped=True,
        ),
        Step(
            "Install the configuration on the new server",
            "new",
            ROOT_USER,
            str(call("unpack_configuration", "/", put_aside(site), writer, site.move.target, *_below_root(paths))),
            f"Files that it replaces are kept in {put_aside(site)}. Read the configuration for paths, memory sizes and "
            "addresses of the old server.",
            undone(ROOT_USER, "new", *_native_restore(site, paths)),
            _native_unpack(site, paths),
            name="put-configuration",
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            reads="configuration",
            stopped=True,
        ),
    ]


def restore_configuration(site: Site) -> list[Step]:
    """On the way back: what new had in those places, where it was put aside."""
    paths = configuration_brought(site.cluster)
    if not paths:
        return []
    return [
        Step(
            "Restore the configuration of the new server",
            "new",
            ROOT_USER,
            str(call("restore_configuration", "/", put_aside(site), site.channel.writer, *_below_root(paths))),
            "The new server gets back the files that were put aside. Where none were, nothing is done.",
            "Nothing to undo: another attempt installs the configuration again.",
            _native_restore(site, paths),
            name="restore-configuration",
        )
    ]


def put_aside(site: Site) -> str:
    """The archive on new of what old's configuration replaced; below /etc it would pass for a cluster."""
    return f"/var/lib/pghaul/{site.channel.marker}-{site.made_at:%Y%m%dT%H%M%S}.tar"


def _below_root(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path.removeprefix("/") for path in paths)


def _native_unpack(site: Site, paths: tuple[str, ...]) -> tuple[str, ...]:
    """What a person would type for it, with the archive on standard input."""
    return (
        command("tar", "-C", "/", "-cf", put_aside(site), "--", *_below_root(paths)).text,
        command(*_as_writer(site), "rm", "-rf", "--", *paths).text,
        f"base64 -d | {command(*_as_writer(site), 'tar', '-C', '/', '-xf', '-')}",
    )


def _native_restore(site: Site, paths: tuple[str, ...]) -> tuple[str, ...]:
    """What a person would type to have back what new had there, if anything."""
    kept = put_aside(site)
    return (
        command(*_as_writer(site), "rm", "-rf", "--", *paths).text,
        f"{command(*_as_writer(site), 'tar', '-C', '/', '-xpf', '-')} <{command(kept)}",
        command("rm", "-f", "--", kept).text,
    )


def _as_writer(site: Site) -> tuple[str, ...]:
    return ("runuser", "-u", site.channel.writer, "--")
