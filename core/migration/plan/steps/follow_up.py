"""What a plan leaves behind when it is done, and what is still to do then: sentences for people."""

from core.migration.findings.edited import kept_in_force
from core.migration.findings.layout import configuration_brought
from core.migration.plan import cluster_control, service
from core.migration.plan.site import Site
from core.migration.plan.steps.configuration import put_aside


def remains(site: Site) -> tuple[str, ...]:
    """What lies on the servers in the end, and when it may go."""
    cluster, target = site.cluster, site.move.target
    until = "remove it when new has proven itself and has a backup of its own"
    said = [f"{site.old.name}: the cluster as it was stopped, in {cluster.data_directory} and its tablespaces; {until}"]
    said.append(
        f"{site.old.name}: {cluster.data_directory}/{cluster_control.FENCE} with its control file, which keeps it from "
        "starting"
    )
    if configuration_brought(cluster):
        said.append(f"{site.new.name}: {put_aside(site)}, what new had where old's configuration came, if anything")
    elif (file := service.config_file(site)) is not None:
        said.append(f"{site.new.name}: {file}{service.KEPT}, what Debian's tools read there before")
    said.append(f"{site.new.name}: {target}/{cluster_control.LOG}, what the server said when pg_ctl started it")
    return tuple(said)


def advice(site: Site) -> tuple[str, ...]:
    """What to do once new is open, the most urgent first, and what not."""
    archiving = ""
    backup = "take a backup of new"
    if site.cluster.settings.get("archive_mode", "off") != "off":
        backup = (
            "take a new base backup: nothing was archived while new was started for local connections alone, so the "
            "archive may have a gap"
        )
        archiving = (
            "see that new archives, which it has done by old's command since it was opened: select archived_count, "
            "failed_count, last_failed_time from pg_stat_archiver; while it fails, WAL fills new's disk"
        )
    return (
        backup,
        *([archiving] if archiving else []),
        *_kept(site),
        *_followers(site),
        "warm up new's memory, which is empty: by pg_prewarm, or by the first queries, which are slow",
        "run no ANALYZE: the planner's statistics were copied with the tables, the cumulative ones as files",
    )


def _kept(site: Site) -> list[str]:
    """What new was given in the place of what its files say."""
    kept = kept_in_force(site.move, site.cluster)
    if not kept:
        return []
    names = ", ".join(each.partition("=")[0] for each in kept)
    said = (
        f"decide on what was edited on old and never loaded: postgresql.auto.conf of new sets {names} as in force then"
    )
    return [f"{said}; ALTER SYSTEM RESET of one brings what the other files say, at the next reload or restart"]


def _followers(site: Site) -> list[str]:
    """What hung on old, and now must hang on new."""
    wide = site.cluster.wide
    if wide is None:
        return []
    said = []
    if wide.receivers:
        names = dict.fromkeys(each.name for each in wide.receivers)
        said.append(f"lead to new what received WAL from old: {', '.join(names)}")
    if wide.slots:
        names = dict.fromkeys(each.name for each in wide.slots)
        said.append(f"drop slots that nobody reads on new, for they came along and keep WAL: {', '.join(names)}")
    return said
