"""The steps that bring configuration which lies outside the data directory, where no pass reaches."""

from core.migration.findings.layout import configuration_outside, own_folder
from core.migration.model.plan import ROOT_USER, Phase, Step
from core.migration.plan.site import Site
from core.servers.shell import call, command


def configuration(site: Site) -> list[Step]:
    """Old's as an archive, put in place of what new has there; nothing where all of it travels with the data."""
    paths = configuration_outside(site.cluster)
    if not paths:
        return []
    return [
        Step(
            f"pack old's configuration: {', '.join(paths)}",
            "old",
            site.owner,  # what its server reads its owner may read, and nothing else is to leave old
            str(call("pack_configuration", "/", *_packed(site, paths))),
            "it lies outside the data directory, so no pass has copied it",
            "nothing to undo: it only looks",
            (f"{command('tar', '-C', '/', '-cf', '-', *_packed(site, paths))} | base64",),
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
            str(call("unpack_configuration", "/", put_aside(site), site.channel.writer, *_below_root(paths))),
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
    paths = configuration_outside(site.cluster)
    if not paths:
        return []
    return [
        Step(
            "put new's own configuration back",
            "new",
            ROOT_USER,
            str(call("restore_configuration", "/", put_aside(site), *_below_root(paths))),
            "as if there had been no move; where it has not come that far nothing is done",
            "nothing to undo: another try brings old's again",
            _native_restore(site, paths),
        )
    ]


def put_aside(site: Site) -> str:
    """The archive on new of what old's configuration replaced; below /etc it would pass for a cluster."""
    return f"/var/lib/pghaul/{site.channel.marker}-{site.made_at:%Y%m%dT%H%M%S}.tar"


def _packed(site: Site, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Words of tar: of single files what a link stands for; in Debian's folder one may lead to the data."""
    return (*(("-h",) if own_folder(site.cluster) not in paths else ()), "--", *_below_root(paths))


def _below_root(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path.removeprefix("/") for path in paths)


def _native_unpack(site: Site, paths: tuple[str, ...]) -> tuple[str, ...]:
    """What a person would type for it, with the archive on standard input."""
    return (
        command("tar", "-C", "/", "-cf", put_aside(site), "--", *_below_root(paths)).text,
        command("rm", "-rf", "--", *paths).text,
        f"base64 -d | {command('tar', '-C', '/', '-xf', '-')}",
        command("chown", "-R", f"{site.channel.writer}:", "--", *paths).text,
    )


def _native_restore(site: Site, paths: tuple[str, ...]) -> tuple[str, ...]:
    """What a person would type to have back what new had there, if anything."""
    kept = put_aside(site)
    return (
        command("rm", "-rf", "--", *paths).text,
        command("tar", "-C", "/", "-xpf", kept).text,
        command("rm", "-f", "--", kept).text,
    )
