"""From standard input and output to a PostgreSQL server's Unix socket, by whichever program the server has."""

from core.servers.shell import Shell, script

_PERL = r"""
use strict; use Socket;
socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n";
connect($s, sockaddr_un($ARGV[0])) or die "$ARGV[0]: $!\n";
sub put { my ($to, $data) = @_; my $done = 0;
  while ($done < length $data) {
    my $n = syswrite($to, $data, length($data) - $done, $done) or exit 0; $done += $n } }
my $want = ""; vec($want, 0, 1) = 1; vec($want, fileno $s, 1) = 1;
while (1) {
  select(my $ready = $want, undef, undef, undef);
  if (vec($ready, fileno $s, 1)) { sysread($s, my $data, 65536) or exit 0; put(\*STDOUT, $data) }
  if (vec($ready, 0, 1)) {
    if (sysread(STDIN, my $data, 65536)) { put($s, $data) } else { shutdown($s, 1); vec($want, 0, 1) = 0 } }
}
"""
_PYTHON = r"""
import os, select, socket, sys
s = socket.socket(socket.AF_UNIX)
try: s.connect(sys.argv[1])
except OSError as e: sys.exit('%s: %s' % (sys.argv[1], e.strerror))
def put(data):
    while data: data = data[os.write(1, data):]
want = [0, s]
while True:
    ready = select.select(want, [], [])[0]
    if s in ready:
        data = s.recv(65536)
        if not data: break
        put(data)
    if 0 in ready:
        data = os.read(0, 65536)
        if data: s.sendall(data)
        else: s.shutdown(1); want.remove(0)
"""


def bridge(folder: str, other: str, port: int) -> Shell:
    """Bridge to the socket of that port in `folder`, or else in `other`, by the first program that is there."""
    return script(
        """
for folder in @folder@ @other@; do path=$folder/.s.PGSQL.@port@; [ -S "$path" ] && break; done
[ -S "$path" ] || { echo "there is no socket $path" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
if has perl && perl -MSocket -e 1 2>/dev/null; then exec perl -e @perl@ -- "$path"
elif has python3; then exec python3 -c @python@ "$path"
elif has socat; then exec socat -t 5 - "UNIX-CONNECT:$path"
fi
echo "none of perl, python3 and socat is installed" >&2
exit 127
""",
        folder=folder,
        other=other,
        port=port,
        perl=Shell(_PERL, "…"),
        python=Shell(_PYTHON, "…"),
    )
