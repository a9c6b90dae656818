"""The schema of the first release."""

import sqlalchemy as sa
from alembic import op

from core.history.types import TEXT, WHOLE

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _servers_and_moves()
    _runs()
    _findings()
    _executions()
    _log()


def _servers_and_moves() -> None:
    op.create_table(
        "profiles",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("address", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=True),
        sa.Column("port", WHOLE, nullable=True),
        sa.Column("identity_file", TEXT, nullable=True),
        sa.Column("jump", TEXT, nullable=True),
        sa.Column("rights", TEXT, nullable=False),
        sa.Column("database_user", TEXT, nullable=False),
        sa.Column("copy_address", TEXT, nullable=True),
        sa.Column("changed_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_profiles")),
        sa.UniqueConstraint("name", name=op.f("uq_profiles_name")),
    )
    op.create_table(
        "moves",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("old_id", WHOLE, nullable=False),
        sa.Column("new_id", WHOLE, nullable=False),
        sa.Column("cluster", TEXT, nullable=False),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("old_volume", TEXT, nullable=False),
        sa.Column("new_volume", TEXT, nullable=False),
        sa.Column("tablespace_targets", TEXT, nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("changed_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["new_id"], ["profiles.id"], name=op.f("fk_moves_new_id_profiles"), ondelete="RESTRICT"
        ),
        sa.ForeignKeyConstraint(
            ["old_id"], ["profiles.id"], name=op.f("fk_moves_old_id_profiles"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_moves")),
        sa.UniqueConstraint("name", name=op.f("uq_moves_name")),
    )
    op.create_index(op.f("ix_moves_new_id"), "moves", ["new_id"], unique=False)
    op.create_index(op.f("ix_moves_old_id"), "moves", ["old_id"], unique=False)
    op.create_table(
        "facts",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("profile_id", WHOLE, nullable=False),
        sa.Column("taken_at", sa.DateTime(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("system", TEXT, nullable=True),
        sa.Column("architecture", TEXT, nullable=True),
        sa.Column("threads", WHOLE, nullable=True),
        sa.Column("memory_bytes", WHOLE, nullable=True),
        sa.Column("clusters", WHOLE, nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["profile_id"], ["profiles.id"], name=op.f("fk_facts_profile_id_profiles"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_facts")),
    )
    op.create_index(op.f("ix_facts_profile_id_taken_at"), "facts", ["profile_id", "taken_at"], unique=False)


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("side", TEXT, nullable=False),
        sa.Column("server", TEXT, nullable=False),
        sa.Column("mount_point", TEXT, nullable=False),
        sa.Column("folder", TEXT, nullable=False),
        sa.Column("workload", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("tool", TEXT, nullable=False),
        sa.Column("tool_version", TEXT, nullable=True),
        sa.Column("headline", TEXT, nullable=False),
        sa.Column("parameters", TEXT, nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("outcome", TEXT, nullable=True),
        sa.Column("stopped", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_runs_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index(op.f("ix_runs_move_id_started_at"), "runs", ["move_id", "started_at"], unique=False)
    op.create_table(
        "repetitions",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("run_id", WHOLE, nullable=False),
        sa.Column("number", WHOLE, nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("outcome", TEXT, nullable=False),
        sa.Column("command", TEXT, nullable=False),
        sa.Column("cached", sa.Boolean(), nullable=False),
        sa.Column("message", TEXT, nullable=False),
        sa.Column("marks", TEXT, nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_repetitions_run_id_runs"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repetitions")),
        sa.UniqueConstraint("run_id", "number", name=op.f("uq_repetitions_run_id_number")),
    )
    op.create_table(
        "metrics",
        sa.Column("repetition_id", WHOLE, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["repetition_id"], ["repetitions.id"], name=op.f("fk_metrics_repetition_id_repetitions"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("repetition_id", "name", name=op.f("pk_metrics")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_metrics_name"), "metrics", ["name"], unique=False)


def _findings() -> None:
    op.create_table(
        "probes",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("quantity", TEXT, nullable=False),
        sa.Column("bytes_per_second", sa.Float(), nullable=False),
        sa.Column("bytes", WHOLE, nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("method", TEXT, nullable=False),
        sa.Column("command", TEXT, nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("taken_at", sa.DateTime(), nullable=False),
        sa.Column("transport", TEXT, nullable=True),
        sa.Column("ratio", sa.Float(), nullable=True),
        sa.Column("began_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_probes_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_probes")),
    )
    op.create_index(op.f("ix_probes_move_id_taken_at"), "probes", ["move_id", "taken_at"], unique=False)
    op.create_table(
        "check_passes",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("taken_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["move_id"], ["moves.id"], name=op.f("fk_check_passes_move_id_moves"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_check_passes")),
    )
    op.create_index(op.f("ix_check_passes_move_id_taken_at"), "check_passes", ["move_id", "taken_at"], unique=False)
    op.create_table(
        "check_results",
        sa.Column("pass_id", WHOLE, nullable=False),
        sa.Column("position", WHOLE, nullable=False),
        sa.Column("check", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("old", TEXT, nullable=False),
        sa.Column("new", TEXT, nullable=False),
        sa.Column("message", TEXT, nullable=False),
        sa.Column("hint", TEXT, nullable=False),
        sa.Column("blocking", sa.Boolean(), nullable=False),
        sa.Column("documentation", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["pass_id"], ["check_passes.id"], name=op.f("fk_check_results_pass_id_check_passes"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("pass_id", "position", name=op.f("pk_check_results")),
    )
    op.create_table(
        "waivers",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("check", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("waived_by", TEXT, nullable=False),
        sa.Column("waived_at", sa.DateTime(), nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("old", TEXT, nullable=False),
        sa.Column("new", TEXT, nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_waivers_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_waivers")),
    )
    op.create_index(op.f("ix_waivers_move_id_waived_at"), "waivers", ["move_id", "waived_at"], unique=False)
    op.create_table(
        "estimates",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("made_at", sa.DateTime(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_estimates_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_estimates")),
    )
    op.create_index(op.f("ix_estimates_move_id_made_at"), "estimates", ["move_id", "made_at"], unique=False)
    op.create_table(
        "plans",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("made_at", sa.DateTime(), nullable=False),
        sa.Column("transport", TEXT, nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_plans_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
    )
    op.create_index(op.f("ix_plans_move_id_made_at"), "plans", ["move_id", "made_at"], unique=False)


def _executions() -> None:
    op.create_table(
        "executions",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("token", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("process", TEXT, nullable=True),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("message", TEXT, nullable=False),
        sa.Column("cancel_asked", sa.Boolean(), nullable=False),
        sa.Column("plan", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["move_id"], ["moves.id"], name=op.f("fk_executions_move_id_moves"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_executions")),
    )
    op.create_index(op.f("ix_executions_move_id_started_at"), "executions", ["move_id", "started_at"], unique=False)
    op.create_table(
        "execution_steps",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("execution_id", WHOLE, nullable=False),
        sa.Column("number", WHOLE, nullable=False),
        sa.Column("attempt", WHOLE, nullable=False),
        sa.Column("back", sa.Boolean(), nullable=False),
        sa.Column("void", sa.Boolean(), nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("ended_at", sa.DateTime(), nullable=True),
        sa.Column("exit_status", WHOLE, nullable=True),
        sa.Column("bytes", WHOLE, nullable=True),
        sa.Column("output", sa.LargeBinary(), nullable=False),
        sa.Column("message", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["execution_id"],
            ["executions.id"],
            name=op.f("fk_execution_steps_execution_id_executions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_execution_steps")),
    )
    op.create_index(op.f("ix_execution_steps_execution_id"), "execution_steps", ["execution_id"], unique=False)
    op.create_table(
        "hooks",
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("hook", TEXT, nullable=False),
        sa.Column("side", TEXT, nullable=False),
        sa.Column("command", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=True),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_hooks_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("move_id", "hook", name=op.f("pk_hooks")),
    )


def _log() -> None:
    op.create_table(
        "commands",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=True),
        sa.Column("server", TEXT, nullable=False),
        sa.Column("user", TEXT, nullable=False),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("command", TEXT, nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        sa.Column("exit_status", WHOLE, nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_commands_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commands")),
    )
    op.create_index(op.f("ix_commands_move_id_started_at"), "commands", ["move_id", "started_at"], unique=False)
    op.create_index(op.f("ix_commands_server_started_at"), "commands", ["server", "started_at"], unique=False)
    op.create_table(
        "reports",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("move_id", WHOLE, nullable=False),
        sa.Column("made_at", sa.DateTime(), nullable=False),
        sa.Column("path", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["move_id"], ["moves.id"], name=op.f("fk_reports_move_id_moves"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reports")),
    )
    op.create_index(op.f("ix_reports_move_id_made_at"), "reports", ["move_id", "made_at"], unique=False)
