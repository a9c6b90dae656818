"""What the result of a trial start depends on: while it is the same, so is the result, as far as facts can tell."""

import json
from hashlib import sha256

from core.documents import to_plain
from core.facts.model import Cluster, Facts
from core.migration.findings.services import service_of_target


def trial_basis(cluster: Cluster, new: Facts, target: str) -> str:
    """Return a checksum of the facts that decide whether a server starts with the old cluster's configuration.

    Facts do not contain the text of every configuration file, so an edited one may leave the checksum as it is.

    Args:
        cluster: the old cluster.
        new: the facts of the new server.
        target: the data directory of the new cluster.
    """
    depends_on = (
        (cluster.series, cluster.config_file, cluster.settings, cluster.configuration_files),
        cluster.wide.settings if cluster.wide is not None else None,
        (cluster.edited, cluster.options, cluster.start_complaints),
        (new.system.libc if new.system is not None else None, sorted(new.addresses)),
        sorted((tool.name, tool.version or "") for tool in new.tools),
        service_of_target(target, cluster, new),
    )
    return sha256(json.dumps(to_plain(depends_on), sort_keys=True, default=str).encode()).hexdigest()[:16]
