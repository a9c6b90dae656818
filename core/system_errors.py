"""What an error of the operating system means, by its code: a cause in pghaul's own words, which can be translated.

The words of the system itself are in the language of Python's C library, and differ between systems. The name of the
code stands behind the cause, as in `the disk is full (ENOSPC)`: one can search for it.
"""

import errno

from core.language import marked

_CAUSES = {
    "ENOENT": marked("there is no such file or folder (ENOENT)"),
    "EACCES": marked("the permissions do not allow it (EACCES)"),
    "EPERM": marked("the system does not allow it (EPERM)"),
    "EROFS": marked("the file system is read-only (EROFS)"),
    "ENOSPC": marked("the disk is full (ENOSPC)"),
    "EDQUOT": marked("the disk quota of the user is used up (EDQUOT)"),
    "EFBIG": marked("the file would be too large (EFBIG)"),
    "EIO": marked("the disk reports errors (EIO)"),
    "EISDIR": marked("it is a folder (EISDIR)"),
    "ENOTDIR": marked("a part of the path is not a folder (ENOTDIR)"),
    "ENOTEMPTY": marked("the folder is not empty (ENOTEMPTY)"),
    "EEXIST": marked("it exists already (EEXIST)"),
    "ENAMETOOLONG": marked("the name is too long (ENAMETOOLONG)"),
    "ELOOP": marked("it is a symbolic link, or leads through too many of them (ELOOP)"),
    "EBUSY": marked("another program uses it (EBUSY)"),
    "EINVAL": marked("the system refuses it as invalid (EINVAL)"),
    "ENXIO": marked("there is no such device (ENXIO)"),
    "EMFILE": marked("the program may open no more files (EMFILE)"),
    "ENFILE": marked("the system may open no more files (ENFILE)"),
    "ENOMEM": marked("there is not enough memory (ENOMEM)"),
    "ENOLCK": marked("the file system has no locks (ENOLCK)"),
    "ENOEXEC": marked("it is not a program (ENOEXEC)"),
    "ESTALE": marked("the network drive no longer has it (ESTALE)"),
    "EPIPE": marked("the other side has closed the connection (EPIPE)"),
    "ECONNREFUSED": marked("the connection was refused (ECONNREFUSED)"),
    "ECONNRESET": marked("the other side has broken off the connection (ECONNRESET)"),
    "ECONNABORTED": marked("the connection was broken off (ECONNABORTED)"),
    "ETIMEDOUT": marked("there was no answer in time (ETIMEDOUT)"),
    "EHOSTUNREACH": marked("there is no route to the host (EHOSTUNREACH)"),
    "EHOSTDOWN": marked("the host is down (EHOSTDOWN)"),
    "ENETUNREACH": marked("there is no route to the network (ENETUNREACH)"),
    "ENETDOWN": marked("the network is down (ENETDOWN)"),
    "EADDRNOTAVAIL": marked("this machine does not have the address (EADDRNOTAVAIL)"),
    "EADDRINUSE": marked("another program uses the address (EADDRINUSE)"),
    "EAFNOSUPPORT": marked("this machine does not have this kind of address (EAFNOSUPPORT)"),
}
"""By the name of the code, see errno(3)."""
_BY_CODE = {
    getattr(errno, kind + name): cause
    for name, cause in _CAUSES.items()
    for kind in ("", "WSA")
    if hasattr(errno, kind + name)
}
"""Each system has other codes, and not all of them. On Windows, sockets have further codes for some of the errors."""
CAUSES = (*_CAUSES.values(), marked("the system says: {said}"))


def reason(error: OSError) -> str:
    """Return why the system has not done something: `the disk is full (ENOSPC)`; for other codes its own words."""
    cause = _CAUSES["ETIMEDOUT"] if isinstance(error, TimeoutError) else _BY_CODE.get(error.errno or 0)
    return cause or f"the system says: {error.strerror or str(error) or type(error).__name__}"
