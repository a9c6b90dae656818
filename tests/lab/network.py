"""The lab's network: a bridge with a subnet of its own and a cable to each host, which can be shaped and cut."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from tests.lab.machine import LabError, run

SUBNETS = range(1, 255)
"""10.77.N.0/24; the bridge is 10.77.N.1, old 10.77.N.11, new 10.77.N.12."""


def bridge_name(subnet: int) -> str:
    return f"pghaul{subnet}"


def cable_name(subnet: int, host: str) -> str:
    """This machine's end of a host's cable; the host's end is eth0."""
    return f"pghaul{subnet}{host[0]}"


def address(subnet: int, host: str) -> str:
    return f"10.77.{subnet}.{ {'old': 11, 'new': 12}[host] }"


def hardware_address(subnet: int, host: str) -> str:
    """Of a host's network card, which it keeps when it is restarted: others remember it."""
    return "02:00:" + ":".join(f"{int(part):02x}" for part in address(subnet, host).split("."))


def gateway(subnet: int) -> str:
    return f"10.77.{subnet}.1"


def links() -> Iterator[tuple[str, str]]:
    """Name and alias of every link of this machine."""
    for link in json.loads(run("ip", "-json", "link", "show")):
        yield link["ifname"], link.get("ifalias", "")


def create(lab: str) -> int:
    """A bridge on the first free subnet; call it under the lock. The alias tells whose it is."""
    used = {
        int(found) for found in re.findall(r"\b10\.77\.(\d+)\.", run("ip", "-4", "addr") + run("ip", "-4", "route"))
    }
    for name, alias in list(links()):
        if re.fullmatch(r"pghaul\d+", name) and not alias:  # its maker was killed before it could name it
            run("ip", "link", "del", name, accept_failure=True)
    names = {name for name, _ in links()}
    for subnet in SUBNETS:
        name = bridge_name(subnet)
        if subnet not in used and name not in names:
            run("ip", "link", "add", name, "type", "bridge")
            run("ip", "link", "set", name, "alias", _alias(lab), "up")
            run("ip", "addr", "add", f"{gateway(subnet)}/24", "dev", name)
            return subnet
    raise LabError("no free subnet in 10.77.0.0/16: 254 labs are up")


def attach(subnet: int, host: str, lab: str, pid: int) -> None:
    """Lay a cable from the bridge to the network namespace of a process; it goes with that namespace."""
    cable = cable_name(subnet, host)
    peer = ("peer", "name", "eth0", "address", hardware_address(subnet, host), "netns", str(pid))
    run("ip", "link", "add", cable, "type", "veth", *peer)
    run("ip", "link", "set", cable, "alias", _alias(lab), "master", bridge_name(subnet), "up")
    _batch(pid, "link set eth0 up", "link set lo up", *_ipv4(subnet, host))


@contextmanager
def ipv6_alone(subnet: int, pids: dict[str, int]) -> Iterator[dict[str, str]]:
    """The addresses of the hosts while they have none of IPv4; afterwards all is as before."""
    made = {host: f"fd77:{subnet:x}::{number}" for number, host in enumerate(pids, 2)}
    here = (f"fd77:{subnet:x}::1/64", "dev", bridge_name(subnet))
    run("ip", "addr", "add", *here, "nodad")
    try:
        for host, pid in pids.items():
            _batch(pid, f"addr del {address(subnet, host)}/24 dev eth0", f"addr add {made[host]}/64 dev eth0 nodad")
        yield made
    finally:
        for host, pid in pids.items():
            _batch(pid, f"addr del {made[host]}/64 dev eth0", *_ipv4(subnet, host))
        run("ip", "addr", "del", *here)


def _ipv4(subnet: int, host: str) -> tuple[str, str]:
    return f"addr add {address(subnet, host)}/24 dev eth0", f"route add default via {gateway(subnet)}"


def _batch(pid: int, *commands: str) -> None:
    run("nsenter", f"--net=/proc/{pid}/ns/net", "ip", "-batch", "-", stdin="\n".join(commands).encode())


def attach_machine(subnet: int, host: str, lab: str) -> str:
    """A cable from the bridge for a virtual machine to take by its name."""
    cable = cable_name(subnet, host)
    run("ip", "tuntap", "add", cable, "mode", "tap")
    run("ip", "link", "set", cable, "alias", _alias(lab), "master", bridge_name(subnet), "up")
    return cable


def shape(subnet: int, pids: dict[str, int], rate: str) -> None:
    """Cap both directions of both cables at a rate as tc writes it (`1gbit`); `off` lifts it."""
    for host, pid in pids.items():
        inside = ["nsenter", f"--net=/proc/{pid}/ns/net", "tc"]
        for tc, device in ((["tc"], cable_name(subnet, host)), (inside, "eth0")):
            if rate == "off":
                run(*tc, "qdisc", "del", "dev", device, "root", accept_failure=True)
            else:
                tbf = f"root tbf rate {rate} burst 256kb latency 50ms".split()
                run(*tc, "qdisc", "replace", "dev", device, *tbf)


def cut(subnet: int, host: str) -> None:
    run("ip", "link", "set", cable_name(subnet, host), "down")


def mend(subnet: int, host: str) -> None:
    run("ip", "link", "set", cable_name(subnet, host), "up")


def remove(lab: str) -> None:
    """Take away every link that bears the lab's alias."""
    for name, alias in list(links()):
        if alias == _alias(lab):
            run("ip", "link", "del", name, accept_failure=True)


def _alias(lab: str) -> str:
    return f"pghaul-lab:{lab}"
