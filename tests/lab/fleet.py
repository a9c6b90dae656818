"""Many servers that are one host: addresses of its own by which its sshd answers, each a server to whoever connects."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.hosts import Host

_FIRST, _MOST = 100, 150


@contextmanager
def addresses(host: Host, count: int) -> Iterator[tuple[str, ...]]:
    """So many further addresses of a host, from .100 on in its subnet; gone afterwards."""
    if count > _MOST:
        raise ValueError(f"a subnet of the lab has room for {_MOST} further addresses, not for {count}")
    subnet = host.address.rpartition(".")[0]
    made = tuple(f"{subnet}.{_FIRST + number}" for number in range(count))
    try:
        host.exec("ip", "-batch", "-", input="".join(f"address add {each}/24 dev eth0\n" for each in made))
        yield made
    finally:
        removed = "".join(f"address del {each}/24 dev eth0\n" for each in made)
        host.exec("ip", "-batch", "-", "-force", input=removed, check=False)
