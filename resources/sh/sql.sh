# A bridge between standard input and output and the Unix socket of a PostgreSQL server. It uses whichever suitable
# program the server has.

# sql_bridge PORT FOLDER...   Connect standard input and output to the socket of PORT in the first FOLDER that contains
# it, until either side ends. Ends with 127 if no suitable program is installed.
sql_bridge() {
  bridge_port=$1
  shift
  for bridge_folder in "$@"; do
    bridge_socket=$bridge_folder/.s.PGSQL.$bridge_port
    [ ! -S "$bridge_socket" ] || break
  done
  [ -S "$bridge_socket" ] || fail "the socket $bridge_socket does not exist"
  # On a minimal system, perl lacks the module Socket.
  if command -v perl >/dev/null 2>&1 && perl -MSocket -e 1 2>/dev/null; then
    sql_bridge_by_perl "$bridge_socket"
  elif command -v python3 >/dev/null 2>&1; then
    sql_bridge_by_python "$bridge_socket"
  elif command -v socat >/dev/null 2>&1; then
    socat -t 5 - "UNIX-CONNECT:$bridge_socket" || fail "socat ended with $?"
  else
    refuse 127 'none of perl, python3 and socat is installed'
  fi
}

# sql_bridge_by_perl SOCKET   Be the bridge with perl. When standard input ends, the socket's write side is closed, and
# the rest of its output is read.
sql_bridge_by_perl() {
  perl -e '
    use strict; use Socket;
    socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "pghaul: socket: $!\n";
    connect($s, sockaddr_un($ARGV[0])) or die "pghaul: $ARGV[0]: $!\n";
    sub put { my ($to, $data) = @_; my $done = 0;
      while ($done < length $data) {
        my $n = syswrite($to, $data, length($data) - $done, $done) or exit 0; $done += $n } }
    my $want = ""; vec($want, 0, 1) = 1; vec($want, fileno $s, 1) = 1;
    while (1) {
      select(my $ready = $want, undef, undef, undef);
      if (vec($ready, fileno $s, 1)) { sysread($s, my $data, 65536) or exit 0; put(\*STDOUT, $data) }
      if (vec($ready, 0, 1)) {
        if (sysread(STDIN, my $data, 65536)) { put($s, $data) } else { shutdown($s, 1); vec($want, 0, 1) = 0 } }
    }' -- "$1" || fail "the bridge to $1 ended with $?"
}

# sql_bridge_by_python SOCKET   Be the bridge with python, in the same way as with perl.
sql_bridge_by_python() {
  python3 -c '
import os, select, socket, sys
s = socket.socket(socket.AF_UNIX)
try: s.connect(sys.argv[1])
except OSError as e: sys.exit("pghaul: %s: %s" % (sys.argv[1], e.strerror))
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
' "$1" || fail "the bridge to $1 ended with $?"
}
