# Where a server listens, and whether its clients can reach it there. The sockets of its process show it, which no
# setting does: a file may have been edited since, and the command line overrides every file.

# find_postmaster DATA   Print the process id of the server in DATA.
find_postmaster() {
  postmaster_found=
  [ ! -r "$1/postmaster.pid" ] || read -r postmaster_found <"$1/postmaster.pid"
  case $postmaster_found in
    '' | *[!0-9]*) ;;
    *)
      if process_lives_in "$postmaster_found" "$1"; then
        echo "$postmaster_found"
        return 0
      fi
      ;;
  esac
  fail "no PostgreSQL server is running in $1"
}

# list_listeners DATA   Print where the server in DATA listens, a line each: `tcp ADDRESS PORT` or `unix SOCKET`. IPv6
# addresses are written out: eight numbers, but for `::`. Source: proc(5), /proc/PID/net.
list_listeners() {
  listen_process=$(find_postmaster "$1") || exit
  listen_of=/proc/$listen_process
  listen_sockets=" $(find "$listen_of/fd/" -lname 'socket:*' -printf '%l ')" ||
    fail "the sockets of process $listen_process cannot be read"
  listen_order=$(byte_order) || exit
  for listen_file in tcp tcp6 unix; do
    [ -e "$listen_of/net/$listen_file" ] || continue # a kernel without IPv6
    case $listen_file in
      unix) listen_lines=$(grep ' 00010000 ' "$listen_of/net/$listen_file") || [ $? -eq 1 ] || fail 'grep failed' ;;
      *) listen_lines=$(grep ' 0A ' "$listen_of/net/$listen_file") || [ $? -eq 1 ] || fail 'grep failed' ;; # 1: none
    esac
    [ -z "$listen_lines" ] || printf '%s\n' "$listen_lines" | filter_listeners "$listen_file" "$listen_order" || exit
  done
}

# filter_listeners FILE ORDER   Print the lines of /proc/net/FILE on standard input whose sockets are among
# listen_sockets. ORDER is that of address_text.
filter_listeners() {
  listen_order=$2
  while read -r _ listen_local _ listen_state _ _ listen_inode listen_path; do
    if [ "$1" = unix ]; then
      case $listen_sockets in *" socket:[$listen_inode] "*) ;; *) continue ;; esac
      case $listen_path in
        # without a lock file it cannot be told from a forged line
        @*)
          echo 'note: A Unix socket in the abstract namespace may belong to the server. It is not compared. Check' \
            'that unix_socket_directories is the same on both servers.'
          ;;
        *) if is_own_socket "$listen_path"; then printf 'unix %s\n' "$listen_path"; fi ;;
      esac
      continue
    fi
    [ "$listen_state" = 0A ] || continue
    # shellcheck disable=SC2086 # words: user, timeout, then the inode
    set -- "$1" $listen_path
    case $listen_sockets in *" socket:[${4-}] "*) ;; *) continue ;; esac
    listen_address=$(address_text "${listen_local%:*}" "$listen_order") || exit
    printf 'tcp %s %d\n' "$listen_address" "0x${listen_local##*:}"
  done
}

# is_own_socket PATH   Succeed if the lock file of the Unix socket there belongs to the server of listen_process. The
# name of anybody's socket may contain a line break, and so could imitate a line of the server's socket.
is_own_socket() {
  own_beside=$listen_of/cwd/$1.lock own_process=''
  case $1 in /*) own_beside=$listen_of/root$1.lock ;; *) ;; esac
  [ -f "$own_beside" ] && [ ! -L "$own_beside" ] || return 1
  # Compared with the user of the server, and not with this user, who may be root.
  own_users=$(stat -c %u -- "$own_beside" "$listen_of") || fail "$own_beside cannot be examined"
  [ "${own_users%
*}" = "${own_users#*
}" ] || return 1
  read -r own_process <"$own_beside" || return 1
  [ "$own_process" = "$listen_process" ]
}

# byte_order   Print 1 if this machine stores the lowest byte of a number first, otherwise 256.
byte_order() {
  order_said=$(printf '\1\0' | od -An -td2) || fail 'od failed'
  echo $((order_said))
}

# address_text DIGITS ORDER   Print an address of /proc/net/tcp or tcp6, which holds numbers of 32 bits in the order of
# the machine. ORDER is what byte_order prints. By the shell alone, because a server can listen on many addresses.
address_text() {
  address_rest=$1 address_order=$2 address_groups=''
  while [ "${#address_rest}" -ge 8 ]; do
    address_next=${address_rest#????????}
    address_one=${address_rest%"$address_next"}
    address_rest=$address_next
    address_high=${address_one%????} address_low=${address_one#????}
    if [ "$address_order" -eq 1 ]; then
      address_one=$address_high
      address_high=${address_low#??}${address_low%??} address_low=${address_one#??}${address_one%??}
    fi
    address_groups="$address_groups 0x$address_high 0x$address_low"
  done
  # shellcheck disable=SC2086 # they are words
  set -- $address_groups
  if [ $# -eq 2 ]; then
    printf '%d.%d.%d.%d\n' $(($1 >> 8)) $(($1 & 255)) $(($2 >> 8)) $(($2 & 255))
    return
  fi
  address_groups=$(printf '%x:%x:%x:%x:%x:%x:%x:%x' "$@")
  [ "$address_groups" != 0:0:0:0:0:0:0:0 ] || address_groups=::
  printf '%s\n' "$address_groups"
}

# print_listeners DATA   Print where the server in DATA listens, as list_listeners does; if its sockets cannot be read,
# print its settings in force, with a note that says so. The kernel shows the sockets of a process with file
# capabilities to root only, and those of another container to nobody. The lock file contains only the first of several
# addresses (since 9.1), so the server is queried for the others.
print_listeners() {
  if where_said=$(list_listeners "$1" 2>&1); then
    [ -z "$where_said" ] || printf '%s\n' "$where_said"
    return 0
  fi
  where_why=$(printf '%s\n' "$where_said" | sed -n 's/^pghaul: //p' | join_lines) || exit
  where_port='' where_folder='' where_first=''
  [ ! -r "$1/postmaster.pid" ] || {
    read -r _ && read -r _ && read -r _ && read -r where_port && IFS= read -r where_folder && read -r where_first
  } <"$1/postmaster.pid"
  case $where_port in
    '' | *[!0-9]*)
      echo "note: The addresses on which the server in $1 listens are not known: $where_why. Compare listen_addresses" \
        'and port of both servers by hand.'
      return 0
      ;;
    *) ;;
  esac
  if where_addresses=$(PGCONNECT_TIMEOUT=10 PGAPPNAME=pghaul timeout -k 5 60 \
    psql -XAtqw ${where_folder:+-h "$where_folder"} \
    -p "$where_port" -d postgres -c 'show listen_addresses' </dev/null 2>/dev/null); then
    where_by='its settings in force'
  else
    where_addresses=$where_first where_by='the first address in its lock file'
  fi
  echo "note: The sockets of the server in $1 cannot be examined: $where_why. Its addresses are taken from $where_by."
  print_listeners_by_settings "$where_addresses" "$where_port"
  [ -z "$where_folder" ] || printf 'unix %s\n' "$where_folder/.s.PGSQL.$where_port"
}

# print_listeners_by_settings ADDRESSES PORT   Print the lines for listen_addresses and port, as list_listeners has
# them. A server listens on each address of a name. A name that this host does not know is printed as it is.
print_listeners_by_settings() {
  by_addresses=$(printf '%s\n' "$1" | tr ',' ' ') || fail 'tr failed'
  set -f
  for by_address in $by_addresses; do
    case $by_address in
      '*') by_found='0.0.0.0 ::' ;;
      *:*) by_found=$by_address ;;
      *[!0-9.]*)
        # -A: as the server does, also where the loopback alone has IPv6; older ones do not know it.
        by_found=$(getent -A ahosts "$by_address" 2>/dev/null || getent ahosts "$by_address" 2>/dev/null) || by_found=''
        by_found=$(printf '%s\n' "$by_found" | awk '$2 == "STREAM" && !seen[$1]++ { print $1 }') || fail 'awk failed'
        case ${by_found:-$by_address} in localhost) by_found=127.0.0.1 ;; *) ;; esac
        ;;
      *) by_found=$by_address ;;
    esac
    for by_each in ${by_found:-$by_address}; do
      by_each=$(expand_address "$by_each") || exit
      echo "tcp $by_each $2"
    done
  done
  set +f
}

# expand_address ADDRESS   Print an IPv6 address with its eight numbers, except `::`. Any other address is printed
# unchanged.
expand_address() {
  case $1 in
    *:*) printf '%s\n' "$1" | awk '
      function plain(text) {
        sub(/^0+/, "", text)
        return text == "" ? "0" : text
      }
      {
        sub(/%.*/, "") # the interface
        if (match($0, /[0-9]+(\.[0-9]+)+$/)) { # its last two numbers as an address of IPv4
          split(substr($0, RSTART), byte, ".")
          $0 = substr($0, 1, RSTART - 1) sprintf("%x:%x", byte[1] * 256 + byte[2], byte[3] * 256 + byte[4])
        }
        split(tolower($0), half, "::")
        left = split(half[1], ahead, ":")
        right = split(half[2], behind, ":")
        for (at = 1; at <= 8; at++) {
          number = at <= left ? ahead[at] : at > 8 - right ? behind[at - 8 + right] : 0
          whole = whole (at > 1 ? ":" : "") plain(number "")
        }
        print whole == "0:0:0:0:0:0:0:0" ? "::" : whole
      }' || fail 'awk failed' ;;
    *) printf '%s\n' "$1" ;;
  esac
}

# record_listeners PATH DATA   Print the system identifier of the running cluster in DATA, and where its server listens.
record_listeners() {
  PATH=$1
  see_control=$(print_control_data "$1" "$2") || exit
  printf '%s\n' "$see_control" | sed -n 's/^Database system identifier: */identifier /p' || fail 'sed failed'
  print_listeners "$2"
  print_end_mark
}

# print_configured_listeners PATH DATA CONFIG OPTIONS   The same by the files of the cluster. CONFIG is its
# configuration file if that is not DATA/postgresql.conf, or `-`. OPTIONS `started`: the options of its last start
# override the files; `-`: they are not used.
print_configured_listeners() {
  PATH=$1
  would_control=$(print_control_data "$1" "$2") || exit
  printf '%s\n' "$would_control" | sed -n 's/^Database system identifier: */identifier /p' || fail 'sed failed'
  would_options=''
  [ "$4" = - ] || would_options=$(print_start_options "$2") || exit
  would_port=$(print_configured port "$2" "$3") || exit
  would_addresses=$(print_configured listen_addresses "$2" "$3") || exit
  print_listeners_by_settings "$would_addresses" "$would_port"
  print_end_mark
}

# print_configured SETTING DATA CONFIG   Print what SETTING would be with the options of print_configured_listeners.
print_configured() {
  would_name=$1
  shift
  if [ "$2" = - ]; then set -- -D "$1"; else set -- -D "$1" -c "config_file=$2"; fi
  sh -c "exec postgres \"\$@\" $would_options -C $would_name" sh "$@" ||
    fail "the server program does not print the setting $would_name"
}

# compare_listeners PATH DATA ADDRESS OWN...   On the new server, after the cutover: fail unless it listens wherever the
# old server did, as standard input says. Print the identifier of the cluster, and what the old server is to connect to,
# `reach PORT ADDRESS...` each: one of the addresses is enough. ADDRESS is that by which the old server reaches this
# server, OWN are all addresses of this server. The addresses of the old server do not move: one that this server lacks
# stands for ADDRESS (for IPv6, for each such address of this server), and so does `*`. A name, or an address behind
# which a router leads here, cannot be compared: any socket at that port counts then, and the connection from the old
# server decides.
compare_listeners() {
  PATH=$1
  listens_then=$(read_complete) || exit
  listens_control=$(print_control_data "$1" "$2") || exit
  listens_own=$(printf '%s\n' "$listens_control" | sed -n 's/^Database system identifier: *//p') || fail 'sed failed'
  listens_now=$(print_listeners "$2") || exit
  printf '%s\n' "$listens_now" | sed -n '/^note: /p' || fail 'sed failed'
  listens_now=$(printf '%s\n' "$listens_now" | sed '/^note: /d') || fail 'sed failed'
  listens_address=$3 listens_data=$2
  shift 3
  listens_addresses=" $* " listens_six=
  for listens_each in "$listens_address" "$@"; do
    case " $listens_six:$listens_each" in
      *" $listens_each "*) ;;
      *:*:*) listens_six="$listens_six$listens_each " ;;
      *) ;;
    esac
  done
  listens_found=$(printf '%s\n' "$listens_then" | compare_each_listener) || exit
  listens_lacks=$(printf '%s\n' "$listens_found" | sed -n 's/^lacks //p') || fail 'sed failed'
  if [ -n "$listens_lacks" ]; then
    listens_wanted=$(printf '%s\n' "$listens_lacks" | sed 's/^the Unix socket /unix /; t
      s/^\(.*\) port /tcp \1 /') || fail 'sed failed'
    listens_taken=$(print_holders "$listens_wanted" "$listens_now") || exit
    listens_lacks=$(printf '%s\n' "$listens_lacks" | join_lines) || exit
    [ -z "$listens_taken" ] ||
      fail "the old server listened on $listens_lacks. The new cluster in $listens_data could not, because another" \
        "program listens there: $listens_taken. End that program (of a service: stop its unit), restart" \
        'the new cluster, and go on with --resume'
    listens_now=$(printf '%s\n' "$listens_now" | sed 's/^tcp //; s/^unix //; s/^\([^/ ]*\) \([0-9]*\)$/\1 port \2/' |
      join_lines) || exit
    fail "the old server listened on $listens_lacks. The new cluster in $listens_data listens on $listens_now." \
      'Clients will not find it. Set port and listen_addresses of the new cluster to the values of the old server,' \
      'restart it, and go on with --resume'
  fi
  printf 'identifier %s\n%s\n' "$listens_own" "$listens_found"
  print_end_mark
}

# compare_each_listener   Print for each line of the old server on standard input `reach PORT ADDRESS...`, `lacks WORDS`
# or `note: WORDS`.
compare_each_listener() {
  while read -r each_kind each_rest; do
    each_address=${each_rest% *} each_port=${each_rest##* }
    case $each_kind:$each_address in
      identifier:"$listens_own" | note::*) ;;
      identifier:*) fail "this is another cluster: its system identifier is $listens_own, and that of the moved" \
        "cluster is $each_rest" ;;
      unix:*) if ! listens_on_socket "$each_rest"; then echo "lacks the Unix socket $each_rest"; fi ;;
      # A new server without IPv6 has no client there.
      tcp:0:0:0:0:0:0:0:1) ! has_ipv6 || has_listener_for "$each_address" "$each_port" ||
        echo "lacks $each_address port $each_port" ;;
      tcp:127.*) has_listener_for "$each_address" "$each_port" || echo "lacks $each_address port $each_port" ;;
      tcp:::)
        if has_ipv6 && ! has_listener_for :: "$each_port"; then
          echo "lacks :: port $each_port"
        elif [ -n "$listens_six" ]; then
          echo "reach $each_port $listens_six"
        else
          echo "note: Port $each_port was not tested over IPv6: the old server listened on every address, but the" \
            'new server has no IPv6 address that another server could reach.'
        fi
        ;;
      tcp:*)
        each_to=$listens_address each_found=
        case $each_address in *:*) each_to=${listens_six:-$listens_address} ;; *) ;; esac
        case $listens_addresses in *" $each_address "*) each_to=$each_address ;; *) ;; esac
        for each_one in $each_to; do ! has_listener_for "$each_one" "$each_port" ||
          each_found="$each_found $each_one"; done
        if [ -n "$each_found" ]; then echo "reach $each_port$each_found"; else echo "lacks $each_address port" \
          "$each_port"; fi
        ;;
      *) fail "the list of sockets of the old server contains an unknown entry: $each_kind" ;;
    esac
  done
}

# has_ipv6   Succeed if this host has IPv6, even if only on its loopback.
has_ipv6() {
  read -r _ 2>/dev/null </proc/net/if_inet6 # like every file in /proc, it has the size 0
}

# listens_on_socket PATH   Succeed if the server of listens_now listens on the Unix socket there, by this or another
# path to it.
listens_on_socket() {
  printf '%s\n' "$listens_now" | while read -r has_kind has_path; do
    if [ "$has_kind" = unix ] && { [ "$has_path" = "$1" ] || [ "$has_path" -ef "$1" ]; }; then exit 3; fi
  done
  [ $? -eq 3 ]
}

# has_listener_for ADDRESS PORT   Succeed if a socket of listens_now accepts connections to it.
has_listener_for() {
  covers_all=0.0.0.0
  case $1 in *:*) covers_all=:: ;; *) ;; esac
  printf '%s\n' "$listens_now" | while read -r covers_kind covers_address covers_port; do
    [ "$covers_kind:$covers_port" = "tcp:$2" ] || continue
    case $covers_address in "$1" | "$covers_all") exit 3 ;; 127.* | 0:0:0:0:0:0:0:1) continue ;; *) ;; esac
    # Every address of a family, and the loopback, are covered by themselves alone.
    case $1 in :: | 127.* | 0:0:0:0:0:0:0:1) continue ;; *) ;; esac
    case $covers_address in
      *:*) covers_kind=:: ;;
      *[!0-9.]*) exit 3 ;; # a name that cannot be resolved: the connection from the old server decides
      *) covers_kind=0.0.0.0 ;;
    esac
    [ "$covers_kind" = "$covers_all" ] || continue
    case $listens_addresses in *" $1 "*) ;; *) exit 3 ;; esac
  done
  [ $? -eq 3 ]
}

# check_reachability PATH   From the old server, after the cutover: fail unless the addresses of compare_listeners on
# standard input can be reached and the cluster with that identifier answers there. Print for each how it was
# recognised. Exit with 68 if only the way from the old server is closed: a firewall may be meant to keep it out, and a
# person can accept that.
check_reachability() {
  PATH=$1
  reached_list=$(read_complete) || exit
  reached_identifier=$(printf '%s\n' "$reached_list" | sed -n 's/^identifier //p') || fail 'sed failed'
  reached_to=$(printf '%s\n' "$reached_list" | sed -n 's/^reach //p') || fail 'sed failed'
  reached_said=$(printf '%s\n' "$reached_to" | while read -r reached_port reached_addresses; do
    # shellcheck disable=SC2086 # they are words
    [ -z "$reached_port" ] || check_addresses "$reached_identifier" "$reached_port" $reached_addresses
  done) || exit
  reached_closed=$(printf '%s\n' "$reached_said" | sed -n 's/^closed //p' | join_lines) || exit
  printf '%s\n' "$reached_said" | sed '/^closed /d' || fail 'sed failed'
  [ -z "$reached_closed" ] ||
    refuse 68 "the old server cannot reach the new cluster at $reached_closed. The new cluster listens there, as was" \
      'just seen on the new server, so only the way from the old server is closed. Open the firewall of the' \
      'new server for this port, and go on with --resume'
}

# check_addresses IDENTIFIER PORT ADDRESS...   Print how the cluster was recognised at the first of these addresses
# where it accepts connections; else print `closed WORDS` or, if no IPv6 route leads there, a note.
check_addresses() {
  one_identifier=$1 one_port=$2 one_closed='' one_tries=10
  shift 2
  [ $# -eq 1 ] || one_tries=1
  for one_address; do
    one_said=$(check_cluster_answers "$one_address" "$one_port" "$one_identifier" "$one_tries") || exit
    case $one_said in
      'closed '*' (no route leads there)')
        case $one_address in
          *:*) ;;
          *) one_closed="$one_closed, ${one_said#closed }" ;;
        esac
        ;;
      'closed '*) one_closed="$one_closed, ${one_said#closed }" ;;
      *)
        printf '%s\n' "$one_said"
        return 0
        ;;
    esac
  done
  if [ -n "$one_closed" ]; then
    echo "closed ${one_closed#, }"
  else
    echo "note: The old server has no IPv6 route to the new server, so port $one_port was not tested there: $*"
  fi
}

# check_cluster_answers ADDRESS PORT IDENTIFIER TRIES   Print how the cluster of IDENTIFIER was recognised there, or
# `closed WORDS`; fail if another cluster or another program answers. With a login, the server itself tells its
# identifier. Without one, a server answers, and the new server has seen that the socket belongs to its cluster: psql
# gets no session, and pg_isready (since 9.3) knows whether a server has refused it.
check_cluster_answers() {
  answers_status=0 answers_tries=0
  answers_said=$(query_identifier "$1" "$2") || answers_status=$?
  answers_last=$(last_line "$answers_said") # ahead of it the server may have warned, as of the version of a collation
  case $answers_status:$answers_last in
    0:"$3")
      echo "$1 port $2: the cluster answers with its system identifier $3 after a login"
      return 0
      ;;
    0:*[!0-9]*) ;;
    0:*) fail "another cluster answers at $1 port $2: its system identifier is $answers_last, and that of the moved" \
      "cluster is $3. Find out which server has this address, point the address to the new server," \
      'and go on with --resume' ;;
    *)
      until accepts_connections "$1" "$2"; do
        answers_tries=$((answers_tries + 1))
        answers_kept=$(explain_refusal "$answers_said") || exit
        if [ "$answers_tries" -ge "$4" ] || [ "$answers_kept" = 'no route leads there' ]; then
          report_unreachable "$1" "$2"
          return 0
        fi
        sleep 1 || fail 'the program sleep is missing'
      done
      ;;
  esac
  echo "$1 port $2: a server answers. Its socket on the new server belongs to the cluster, but no login was possible" \
    'to read its system identifier'
}

# query_identifier ADDRESS PORT   Print the system identifier of the cluster that answers there, or the message of psql.
query_identifier() {
  PGCONNECT_TIMEOUT=10 PGAPPNAME=pghaul timeout -k 5 60 psql -XAtqw -h "$1" -p "$2" -d postgres \
    -c 'select system_identifier from pg_catalog.pg_control_system()' </dev/null 2>&1
}

# accepts_connections ADDRESS PORT   Succeed if a PostgreSQL server answers there, without a login takes_status is 1 if
# a server answers and accepts no connection.
accepts_connections() {
  takes_status=0
  if command -v pg_isready >/dev/null; then
    pg_isready -q -t 5 -h "$1" -p "$2" || takes_status=$?
    return "$takes_status"
  else
    ! query_identifier "$1" "$2" | grep -qE 'could not connect|server closed the connection|time' || return 1
  fi
}

# explain_refusal SAID   Print what prevents the connection, by the message of psql in SAID; nothing if something
# answered.
explain_refusal() {
  case $1 in
    *'onnection refused'*) echo 'the connection was refused' ;;
    *'timeout expired'* | *'timed out'*) echo 'the connection timed out' ;;
    *'etwork is unreachable'* | *'annot assign requested'* | *'ddress family not supported'*)
      echo 'no route leads there'
      ;;
    *'o route to host'* | *'ermission denied'*) echo 'the network refuses the connection' ;;
    *'could not translate host name'*) echo 'the old server cannot resolve the name' ;;
    *'failed to run command'*) echo 'psql is missing on the old server' ;;
    *) ;;
  esac
}

# report_unreachable ADDRESS PORT   Print `closed WORDS`; fail with the message of psql if something answers there.
report_unreachable() {
  not_said=$(query_identifier "$1" "$2")
  not_kept=$(explain_refusal "$not_said") || exit
  if [ -n "$not_kept" ] && [ "$takes_status" -ne 1 ]; then
    echo "closed $1 port $2 ($not_kept)"
    return 0
  fi
  not_said=$(printf '%s\n' "$not_said" | tr -c '[:print:]\n' '?' | join_lines) || fail 'tr failed'
  fail "the program that answers at $1 port $2, where clients expect the new cluster, accepts no PostgreSQL" \
    "connections: $not_said. Find out what it is, and go on with --resume"
}
