"""The steps that bring configuration which lies outside the data directory, where no pass reaches."""

from core.migration.findings.layout import configuration_brought, configuration_left
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Phase, Step, undone
from core.migration.plan.context import PlanContext
from core.servers.shell import Shell, call, command


def room_for_configuration(context: PlanContext) -> list[Step]:
    """Ahead of the copy: whether what comes can be read and take its place, and new has its own of what does not."""
    writer, brought, left = (
        context.channel.writer,
        configuration_brought(context.cluster),
        configuration_left(context.cluster),
    )
    looks = [
        _look(
            "configuration-readable",
            f"Check that the configuration of the old cluster can be read: {', '.join(brought)}",
            "old",
            context.owner,
            call("check_packable", *brought),
            "It is packed during the downtime, by the user whose server reads it when it starts.",
            command("find", "-H", *brought, "!", "-readable"),
        ),
        _look(
            "configuration-replaceable",
            f"Check that the configuration on the new server can be replaced: {', '.join(brought)}",
            "new",
            ROOT_USER,
            call("check_replaceable", writer, context.move.target, *brought),
            f"Files that are there must belong to {writer}. They are put aside, and a rollback brings them back.",
            command("find", *brought, "!", "-user", writer),
        ),
        _look(
            "configuration-own",
            f"Check that the new server has its own {', '.join(left)}",
            "new",
            writer,
            call("check_readable_files", *left),
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


def configuration(context: PlanContext) -> list[Step]:
    """Old's as an archive, put in place of what new has there; nothing where all of it travels with the data."""
    paths, writer = configuration_brought(context.cluster), context.channel.writer
    if not paths:
        return []
    return [
        Step(
            f"Pack the configuration of the old cluster: {', '.join(paths)}",
            "old",
            context.owner,  # what its server reads its owner may read, and nothing else is to leave old
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
            str(
                call("unpack_configuration", "/", put_aside(context), writer, context.move.target, *_below_root(paths))
            ),
            f"Files that it replaces are kept in {put_aside(context)}. Read the configuration for paths, memory sizes "
            "and addresses of the old server.",
            undone(ROOT_USER, "new", *_native_restore(context, paths)),
            _native_unpack(context, paths),
            name="put-configuration",
            phase=Phase.START,
            timed_as=Phase.VERIFY,
            reads="configuration",
            stopped=True,
        ),
    ]


def restore_configuration(context: PlanContext) -> list[Step]:
    """On the way back: what new had in those places, where it was put aside."""
    paths = configuration_brought(context.cluster)
    if not paths:
        return []
    return [
        Step(
            "Restore the configuration of the new server",
            "new",
            ROOT_USER,
            str(call("restore_configuration", "/", put_aside(context), context.channel.writer, *_below_root(paths))),
            "The new server gets back the files that were put aside. Where none were, nothing is done.",
            "Nothing to undo: another attempt installs the configuration again.",
            _native_restore(context, paths),
            name="restore-configuration",
        )
    ]


def put_aside(context: PlanContext) -> str:
    """The archive on new of what old's configuration replaced; below /etc it would pass for a cluster."""
    return f"/var/lib/pghaul/{context.channel.marker}-{context.made_at:%Y%m%dT%H%M%S}.tar"


def _below_root(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path.removeprefix("/") for path in paths)


def _native_unpack(context: PlanContext, paths: tuple[str, ...]) -> tuple[str, ...]:
    """What a person would type for it, with the archive on standard input."""
    return (
        command("tar", "-C", "/", "-cf", put_aside(context), "--", *_below_root(paths)).text,
        command(*_as_writer(context), "rm", "-rf", "--", *paths).text,
        f"base64 -d | {command(*_as_writer(context), 'tar', '-C', '/', '-xf', '-')}",
    )


def _native_restore(context: PlanContext, paths: tuple[str, ...]) -> tuple[str, ...]:
    """What a person would type to have back what new had there, if anything."""
    kept = put_aside(context)
    return (
        command(*_as_writer(context), "rm", "-rf", "--", *paths).text,
        f"{command(*_as_writer(context), 'tar', '-C', '/', '-xpf', '-')} <{command(kept)}",
        command("rm", "-f", "--", kept).text,
    )


def _as_writer(context: PlanContext) -> tuple[str, ...]:
    return ("runuser", "-u", context.channel.writer, "--")
