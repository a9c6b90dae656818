"""System folders of a host: no target may be there, and no file of the old server is copied there."""

from pathlib import PurePosixPath
from posixpath import normpath

_ITSELF = """
/bin /boot /dev /etc /home /lib /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var
/usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var/cache /var/lib /var/log /var/run /var/spool
/var/tmp /var/lib/postgresql /var/lib/pgsql
"""
"""Folders that are never a data directory themselves: deleting files there would break the host."""
_BELOW = """
/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /root /run /sbin /sys /usr /var/cache /var/lib/dpkg /var/lib/rpm
/var/log /var/run /var/spool
"""
"""Folders whose subfolders belong to the system, too."""
_OWN_BELOW = "/usr/local"


def is_in_system_folder(path: str) -> bool:
    """Return whether the path, without its `..`, lies below a system folder."""
    place = PurePosixPath(normpath(path))
    return not place.is_relative_to(_OWN_BELOW) and any(map(place.is_relative_to, _BELOW.split()))


def is_system_folder(path: str) -> bool:
    """Return whether the path is a system folder, lies below one, or is a folder that programs share."""
    return is_in_system_folder(path) or normpath(path) in _ITSELF.split()
