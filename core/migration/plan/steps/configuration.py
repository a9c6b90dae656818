"""Steps that copy configuration which lies outside the data directory, where no pre-copy pass reaches it."""

from core.migration.findings.layout import configuration_copied, configuration_not_copied
from core.migration.model import step_ids
from core.migration.model.plan import ONLY_LOOKS, ROOT_USER, Phase, RemoteCall, ResumePolicy, Step, undone
from core.migration.plan.context import PlanContext
from core.servers.shell import Shell, call, command
from core.sides import Side


def check_configuration(context: PlanContext) -> list[Step]:
    """Return the steps that check the configuration outside the data directory before the copy.

    The owner must be able to read what is copied, and its place on the new server must be replaceable. What is not
    copied must exist there already.
    """
    writer, copied, not_copied = (
        context.channel.writer,
        configuration_copied(context.cluster),
        configuration_not_copied(context.cluster),
    )
    steps = [
        _check_step(
            step_ids.CHECK_CONFIGURATION_READABLE,
            f"Check that the configuration of the old cluster can be read: {', '.join(copied)}",
            Side.OLD,
            context.owner,
            call("check_packable", *copied),
            "It is packed during the downtime, by the user whose server reads it when it starts.",
            command("find", "-H", *copied, "!", "-readable"),
        ),
        _check_step(
            step_ids.CHECK_CONFIGURATION_REPLACEABLE,
            f"Check that the configuration on the new server can be replaced: {', '.join(copied)}",
            Side.NEW,
            ROOT_USER,
            call("check_replaceable", writer, context.move.target, *copied),
            f"Files that are there must belong to {writer}. They are put aside, and a rollback brings them back.",
            command("find", *copied, "!", "-user", writer),
        ),
        _check_step(
            step_ids.CHECK_OWN_CONFIGURATION,
            f"Check that the new server has its own {', '.join(not_copied)}",
            Side.NEW,
            writer,
            call("check_readable_files", *not_copied),
            "These files lie in a system directory, to which nothing is copied. The new cluster would not start "
            "without them.",
            command("ls", "-lL", "--", *not_copied),
        ),
    ]
    return [step for step, paths in zip(steps, (copied, copied, not_copied), strict=True) if paths]


def _check_step(step_id: str, title: str, side: Side, user: str, check: Shell, reason: str, native: Shell) -> Step:
    return Step(
        id=step_id,
        title=title,
        action=RemoteCall(side=side, user=user, call=str(check), native=(native.text,)),
        reason=reason,
        undo=ONLY_LOOKS,
        in_rehearsal=True,
        resume=ResumePolicy(required=True),
    )


def copy_configuration(context: PlanContext) -> list[Step]:
    """Return the steps that pack the old cluster's configuration and install it on the new server.

    The list is empty if all configuration lies in the data directory.
    """
    paths, writer = configuration_copied(context.cluster), context.channel.writer
    if not paths:
        return []
    return [
        Step(
            id=step_ids.PACK_CONFIGURATION,
            title=f"Pack the configuration of the old cluster: {', '.join(paths)}",
            action=RemoteCall(
                side=Side.OLD,
                user=context.owner,  # not root: no file that the owner cannot read may leave the old server
                call=str(call("pack_configuration", "/", *_below_root(paths))),
                native=(f"{command('tar', '-C', '/', '-hcf', '-', '--', *_below_root(paths))} | base64",),
                private=True,
            ),
            reason="It lies outside the data directory, so no pass has copied it.",
            undo=ONLY_LOOKS,
            phase=Phase.START,
            downtime=True,
        ),
        Step(
            id=step_ids.INSTALL_CONFIGURATION,
            title="Install the configuration on the new server",
            action=RemoteCall(
                side=Side.NEW,
                user=ROOT_USER,
                call=str(
                    call(
                        "unpack_configuration",
                        "/",
                        saved_configuration(context),
                        writer,
                        context.move.target,
                        *_below_root(paths),
                    )
                ),
                native=_native_unpack(context, paths),
                reads=step_ids.PACK_CONFIGURATION,
            ),
            reason=f"Files that it replaces are kept in {saved_configuration(context)}. Read the configuration for "
            "paths, memory sizes and addresses of the old server.",
            undo=undone(ROOT_USER, Side.NEW, *_native_restore(context, paths)),
            phase=Phase.START,
            downtime=True,
        ),
    ]


def restore_configuration(context: PlanContext) -> list[Step]:
    """Return the step of a rollback that restores the saved configuration of the new server."""
    paths = configuration_copied(context.cluster)
    if not paths:
        return []
    return [
        Step(
            id=step_ids.RESTORE_CONFIGURATION,
            title="Restore the configuration of the new server",
            action=RemoteCall(
                side=Side.NEW,
                user=ROOT_USER,
                call=str(
                    call(
                        "restore_configuration",
                        "/",
                        saved_configuration(context),
                        context.channel.writer,
                        *_below_root(paths),
                    )
                ),
                native=_native_restore(context, paths),
            ),
            reason="The new server gets back the files that were put aside. Where none were, nothing is done.",
            undo="Nothing to undo: another attempt installs the configuration again.",
        )
    ]


def saved_configuration(context: PlanContext) -> str:
    """Return the archive on the new server with the files that the copied configuration replaced.

    It does not lie below /etc, where its contents would be taken for a cluster.
    """
    return f"/var/lib/pghaul/{context.channel.marker}-{context.made_at:%Y%m%dT%H%M%S}.tar"


def _below_root(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path.removeprefix("/") for path in paths)


def _native_unpack(context: PlanContext, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commands by which a person unpacks the archive on standard input."""
    return (
        command("tar", "-C", "/", "-cf", saved_configuration(context), "--", *_below_root(paths)).text,
        command(*_as_writer(context), "rm", "-rf", "--", *paths).text,
        f"base64 -d | {command(*_as_writer(context), 'tar', '-C', '/', '-xf', '-')}",
    )


def _native_restore(context: PlanContext, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the commands by which a person restores the saved files of the new server, if there are any."""
    archive = saved_configuration(context)
    return (
        command(*_as_writer(context), "rm", "-rf", "--", *paths).text,
        f"{command(*_as_writer(context), 'tar', '-C', '/', '-xpf', '-')} <{command(archive)}",
        command("rm", "-f", "--", archive).text,
    )


def _as_writer(context: PlanContext) -> tuple[str, ...]:
    return ("runuser", "-u", context.channel.writer, "--")
