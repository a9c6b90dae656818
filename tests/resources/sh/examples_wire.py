"""Examples of the probes of the wire."""

from tests.resources.sh.examples import Example

_MIB = 1024**2
_TAKES = {"ssh": "cat >/dev/null", "socat": "cat >/dev/null"}
_TIMES = r"bytes (?P<bytes>\d+)\nnanoseconds \d+\n"
_CIPHER = ("@folder@", "aes128-ctr", str(64 * _MIB), "1")
_WIRE = ("192.0.2.12", "5201", str(64 * _MIB), "1")
_IPERF3 = ("192.0.2.12", "5201", "3")
_REFUSED = '{"error": "unable to connect to server: Connection refused"}'
_TAKE = """{ exec python3 -c 'import socket, time
taken = socket.socket(); taken.setsockopt(1, 2, 1); taken.bind(("127.0.0.1", 22201)); taken.listen(); time.sleep(20)' \
>/dev/null 2>&1 & } && echo $! >taker
until port_is_taken 22201; do sleep 0.05; done"""
_LEAVE = 'kill "$(cat taker)"'

EXAMPLES = [
    Example("cipher_probe", _CIPHER, programs=_TAKES, matches=r"nanoseconds -?\d+\nconnect \d+\nbytes \d+\n"),
    Example(
        "cipher_probe",
        ("@folder@", "-", *_CIPHER[2:]),
        programs={
            "ssh": 'case $* in "-F "*"/ssh_config new pghaul-receive discard") cat >/dev/null ;; *) exit 9 ;; esac'
        },
        matches=r"nanoseconds -?\d+\nconnect \d+\nbytes \d+\n",
        name="ssh's own cipher",
    ),
    Example(
        "cipher_probe",
        _CIPHER,
        programs={"ssh": "echo 'no such key' >&2; echo 'Host key verification failed.' >&2; exit 255"},
        status=1,
        complains="pghaul: ssh to the new server failed: Host key verification failed.",
        name="no connection",
    ),
    Example(
        "cipher_probe",
        _CIPHER,
        programs={
            "ssh": """[ -e second ] || { : >second; exec cat >/dev/null; }
head -c 1 >/dev/null; echo 'Connection closed' >&2; exit 255"""
        },
        status=1,
        complains="ssh failed: Connection closed",
        name="a connection that is lost",
    ),
    Example("wire_probe", _WIRE, programs=_TAKES, matches=_TIMES),
    Example(
        "wire_probe",
        ("2001:db8::12", *_WIRE[1:]),
        programs={"socat": '[ "$3" = "TCP:[2001:db8::12]:5201,retry=10,interval=0.2" ] || exit 9; cat >/dev/null'},
        matches=_TIMES,
        name="IPv6",
    ),
    Example("send_zeros", (str(16 * _MIB), "1", "wc", "-c"), matches=rf"bytes {16 * _MIB}\nnanoseconds \d+\n"),
    Example(
        "send_zeros",
        (str(10**12), "1", "cat"),
        matches=r"bytes \d+\nnanoseconds 1\d{9}\n",
        name="until the time is up",
        programs={"cat": "exec /usr/bin/cat >/dev/null"},
    ),
    Example(
        "send_zeros",
        (str(64 * _MIB), "1", "true"),
        status=1,
        complains="the zeros sent to true are incomplete",
        name="a receiver that ends early",
    ),
    Example("iperf3_probe", _IPERF3, programs={"iperf3": "echo '{}'"}, prints="{}\n"),
    Example(
        "iperf3_probe",
        _IPERF3,
        programs={"iperf3": f"[ ! -e up ] || {{ echo '{{}}'; exit; }}; : >up; echo '{_REFUSED}'"},
        prints="{}\n",
        name="a listener that is late",
    ),
    Example(
        "iperf3_probe",
        _IPERF3,
        programs={"iperf3": f"echo '{_REFUSED}'"},
        status=1,
        complains="port 5201 of 192.0.2.12 ",
        name="no listener",
    ),
    Example(
        "iperf3_probe",
        _IPERF3,
        programs={"iperf3": """echo '{"error": "unable to connect to server: No route to host"}'; exit 1"""},
        status=1,
        complains="No route to host",
        name="no route",
    ),
    Example("free_port", ("64999", "65000"), matches="(64999|65000)\n"),
    Example(
        "free_port",
        ("22201",),
        arrange=_TAKE,
        after=_LEAVE,
        status=1,
        complains="all of these ports are in use: 22201",
        name="none",
    ),
]
