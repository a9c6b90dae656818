"""System folders of a host: no target may be there, and no file of the old server is put there."""

from pathlib import PurePosixPath
from posixpath import normpath

_ITSELF = """
/bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var
/usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var/cache /var/lib /var/log /var/run /var/spool
/var/tmp /var/lib/postgresql /var/lib/pgsql
"""
"""Folders that are never a data directory themselves: a deletion there would take a host down."""
_BELOW = """
/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /root /run /sbin /sys /usr /var/cache /var/lib/dpkg /var/lib/rpm
/var/log /var/run /var/spool
"""
"""Folders whose own folders are the system's too, as where a link leads out of the data directory."""
_OWN_BELOW = "/usr/local"


def in_system_folder(path: str) -> bool:
    """Whether it lies, or would, once its `..` are gone, below a folder of the system's."""
    place = PurePosixPath(normpath(path))
    return not place.is_relative_to(_OWN_BELOW) and any(map(place.is_relative_to, _BELOW.split()))


def is_system_folder(path: str) -> bool:
    """Whether it is one of those, lies below one, or is a place where others have theirs."""
    return in_system_folder(path) or normpath(path) in _ITSELF.split()
