"""The steps that bring configuration which lies outside the data directory, where no pass reaches."""

from core.migration.findings.layout import configuration_brought, configuration_left
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Phase, Step
from core.migration.plan.site import Site
from core.servers.shell import Shell, call, command


def room_for_configuration(site: Site) -> list[Step]:
    """Ahead of the copy: whether what comes can be read and take its place, and new has its own of what does not."""
    writer, brought, left = site.channel.writer, configuration_brought(site.cluster), configuration_left(site.cluster)
    looks = [
        _look(
            f"see that all of old's configuration can be read: {', '.join(brought)}",
            "old",
            site.owner,
            call("packable", *brought),
            "it is packed in the stop, by who reads it when its server starts",
            command("find", "-H", *brought, "!", "-readable"),
        ),
        _look(
            f"see that old's configuration can take its place: {', '.join(brought)}",
            "new",
            ROOT_USER,
            call("replaceable", writer, site.move.target, *brought),
            f"what new has there must be {writer}'s, to be put aside and brought back as it was",
            command("find", *brought, "!", "-user", writer),
        ),
        _look(
            f"look for new's own {', '.join(left)}",
            "new",
            writer,
            call("readable_files", *left),
            "it lies in a folder of the system's, where nothing of old's is put; new would not start without it",
            command("ls", "-lL", "--", *left),
        ),
    ]
    return [look for look, paths in zip(looks, (brought, brought, left), strict=True) if paths]


def _look(title: str, side: str, user: str, looking: Shell, reason: str, native: Shell) -> Step:
    return Step(
        title, side, user, str(looking), reason, ONLY_LOOKS, native=(native.text,), skippable=False, rehearsed=True
    )


def configuration(site: Site) -> list[Step]:
    """Old's as an archive, put in place of what new has there; nothing where all of it travels with the data."""
    paths, writer = configuration_brought(site.cluster), site.channel.writer
    if not paths:
        return []
    return [
        Step(
            f"pack old's configuration: {', '.join(paths)}",
            "old",
            site.owner,  # what its server reads its owner may read, and nothing else is to leave old
            str(call("pack_configuration", "/", *_below_root(paths))),
            "it lies outside the data directory, so no pass has copied it",
            "nothing to undo: it only looks",
            (f"{command('tar', '-C', '/', '-hcf', '-', '--', *_below_root(paths))} | base64",),
            name="configuration",
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            private=True,
            stopped=True,
        ),
        Step(
            "put old's configuration in its place on new",
            "new",
            ROOT_USER,
            str(call("unpack_configuration", "/", put_aside(site), writer, site.move.target, *_below_root(paths))),
            f"what new has there is kept in {put_aside(site)}; read it for paths, memory and addresses of old",
            f"on new as root: {'; '.join(_native_restore(site, paths))}",
            _native_unpack(site, paths),
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
            "put new's own configuration back",
            "new",
            ROOT_USER,
            str(call("restore_configuration", "/", put_aside(site), site.channel.writer, *_below_root(paths))),
            "as if there had been no move; where it has not come that far nothing is done",
            "nothing to undo: another try brings old's again",
            _native_restore(site, paths),
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
