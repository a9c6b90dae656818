# Where a server listens, and whether its clients reach it there. The sockets of its process tell, which no setting does: a
# file may have been edited since, and a command line is stronger than every file.

# postmaster_of DATA   print the process id of the server in DATA
postmaster_of() {
  postmaster_found=
  [ ! -r "$1/postmaster.pid" ] || read -r postmaster_found <"$1/postmaster.pid"
  case $postmaster_found in
    '' | *[!0-9]*) ;;
    *)
      if lives_in "$postmaster_found" "$1"; then
        echo "$postmaster_found"
        return 0
      fi
      ;;
  esac
  fail "no server runs in $1"
}

# listeners DATA   print where the server in DATA listens, a line each: `tcp ADDRESS PORT` or `unix SOCKET`
# IPv6 addresses are written out: eight numbers, but for `::`. Source: proc(5), /proc/PID/net.
listeners() {
  listen_process=$(postmaster_of "$1") || exit
  listen_of=/proc/$listen_process
  listen_sockets=" $(find "$listen_of/fd/" -lname 'socket:*' -printf '%l ')" || fail "the sockets of process $listen_process cannot be read"
  for listen_file in tcp tcp6 unix; do
    [ -e "$listen_of/net/$listen_file" ] || continue # a kernel without IPv6
    case $listen_file in
      unix) listen_lines=$(grep ' 00010000 ' "$listen_of/net/$listen_file") || [ $? -eq 1 ] || fail 'grep failed' ;;
      *) listen_lines=$(grep ' 0A ' "$listen_of/net/$listen_file") || [ $? -eq 1 ] || fail 'grep failed' ;; # 1: none
    esac
    [ -z "$listen_lines" ] || printf '%s\n' "$listen_lines" | listeners_among "$listen_file" || exit
  done
}

# listeners_among FILE   of the lines of /proc/net/FILE on standard input those whose sockets are among listen_sockets
listeners_among() {
  while read -r _ listen_local _ listen_state _ _ listen_inode listen_path; do
    if [ "$1" = unix ]; then
      case $listen_sockets in *" socket:[$listen_inode] "*) ;; *) continue ;; esac
      case $listen_path in
        # without a lock file nobody can tell it from a made-up line
        @*)
          echo 'note: A Unix socket in the abstract namespace may belong to the server. It is not compared: see that' \
            'unix_socket_directories is the same on both servers.'
          ;;
        *) if own_socket "$listen_path"; then printf 'unix %s\n' "$listen_path"; fi ;;
      esac
      continue
    fi
    [ "$listen_state" = 0A ] || continue
    # shellcheck disable=SC2086 # words: user, timeout, then the inode
    set -- "$1" $listen_path
    case $listen_sockets in *" socket:[${4-}] "*) ;; *) continue ;; esac
    listen_address=$(address_text "${listen_local%:*}") || exit
    printf 'tcp %s %d\n' "$listen_address" "0x${listen_local##*:}"
  done
}

# own_socket PATH   whether the lock file beside the Unix socket there is of the server of listen_process
# The name of anybody's socket may hold a line break, and so make up a line for a socket of the server.
own_socket() {
  own_beside=$listen_of/cwd/$1.lock own_process=''
  case $1 in /*) own_beside=$listen_of/root$1.lock ;; *) ;; esac
  [ -f "$own_beside" ] && [ ! -L "$own_beside" ] || return 1
  # of whom the server is, and not of who looks: that may be root
  own_users=$(stat -c %u -- "$own_beside" "$listen_of") || fail "$own_beside cannot be looked at"
  [ "${own_users%
*}" = "${own_users#*
}" ] || return 1
  read -r own_process <"$own_beside" || return 1
  [ "$own_process" = "$listen_process" ]
}

# address_text DIGITS   print an address of /proc/net/tcp or tcp6, which holds numbers of 32 bits in the order of the machine
address_text() {
  address_one=$(printf '\1\0' | od -An -td2) || fail 'od failed'
  case ${#1}:$((address_one)) in
    8:1) address_parts='s/\(..\)\(..\)\(..\)\(..\)/0x\4 0x\3 0x\2 0x\1/' ;;
    8:*) address_parts='s/\(..\)\(..\)\(..\)\(..\)/0x\1 0x\2 0x\3 0x\4/' ;;
    32:1) address_parts='s/\(..\)\(..\)\(..\)\(..\)/0x\4\3 0x\2\1 /g' ;;
    *) address_parts='s/..../0x& /g' ;;
  esac
  address_parts=$(printf '%s\n' "$1" | sed "$address_parts") || fail 'sed failed'
  # shellcheck disable=SC2086 # they are words
  set -- $address_parts
  if [ $# -eq 4 ]; then
    printf '%d.%d.%d.%d\n' "$@"
  else
    printf '%x:%x:%x:%x:%x:%x:%x:%x\n' "$@" | sed 's/^0:0:0:0:0:0:0:0$/::/' || fail 'sed failed'
  fi
}

# listens_where DATA   print where the server in DATA listens, as `listeners` does; where its sockets cannot be read, what it has in
# force, with a note that says so
# The kernel shows the sockets of a process that has capabilities by its program's file to root alone, and a process of
# another container to nobody. Of several addresses in its lock file (since 9.1) stands the first: it is asked for the others.
listens_where() {
  if where_said=$(listeners "$1" 2>&1); then
    [ -z "$where_said" ] || printf '%s\n' "$where_said"
    return 0
  fi
  where_why=$(printf '%s\n' "$where_said" | sed -n 's/^pghaul: //p' | in_a_line) || exit
  where_port='' where_folder='' where_first=''
  [ ! -r "$1/postmaster.pid" ] || {
    read -r _ && read -r _ && read -r _ && read -r where_port && IFS= read -r where_folder && read -r where_first
  } <"$1/postmaster.pid"
  case $where_port in
    '' | *[!0-9]*)
      echo "note: Where the server in $1 listens is not known, because $where_why. Compare listen_addresses and port of both" \
        'servers by hand.'
      return 0
      ;;
    *) ;;
  esac
  if where_addresses=$(PGCONNECT_TIMEOUT=10 PGAPPNAME=pghaul timeout -k 5 60 psql -XAtqw ${where_folder:+-h "$where_folder"} \
    -p "$where_port" -d postgres -c 'show listen_addresses' </dev/null 2>/dev/null); then
    where_by='its settings in force'
  else
    where_addresses=$where_first where_by='the first address in its lock file'
  fi
  echo "note: The sockets of the server in $1 cannot be looked at, because $where_why. Where it listens is taken from $where_by."
  listens_by "$where_addresses" "$where_port"
  [ -z "$where_folder" ] || printf 'unix %s\n' "$where_folder/.s.PGSQL.$where_port"
}

# listens_by ADDRESSES PORT   print the lines of what listen_addresses and port say, as `listeners` has them
# A server listens on each address that a name stands for; a name that this host does not know stays.
listens_by() {
  by_addresses=$(printf '%s\n' "$1" | tr ',' ' ') || fail 'tr failed'
  set -f
  for by_address in $by_addresses; do
    case $by_address in
      '*') by_found='0.0.0.0 ::' ;;
      *:*) by_found=$by_address ;;
      *[!0-9.]*)
        # -A: as the server does, also where the loopback alone has IPv6; older ones do not know it
        by_found=$(getent -A ahosts "$by_address" 2>/dev/null || getent ahosts "$by_address" 2>/dev/null) || by_found=''
        by_found=$(printf '%s\n' "$by_found" | awk '$2 == "STREAM" && !seen[$1]++ { print $1 }') || fail 'awk failed'
        case ${by_found:-$by_address} in localhost) by_found=127.0.0.1 ;; *) ;; esac
        ;;
      *) by_found=$by_address ;;
    esac
    for by_each in ${by_found:-$by_address}; do
      by_each=$(written_out "$by_each") || exit
      echo "tcp $by_each $2"
    done
  done
  set +f
}

# written_out ADDRESS   print it with the eight numbers of IPv6, but for `::`; what is no address of IPv6 as it is
written_out() {
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

# see_listeners PATH DATA   print the system identifier of the running cluster in DATA, and where its server listens
see_listeners() {
  PATH=$1
  see_control=$(control_data "$1" "$2") || exit
  printf '%s\n' "$see_control" | sed -n 's/^Database system identifier: */identifier /p' || fail 'sed failed'
  listens_where "$2"
  end_mark
}

# would_listen PATH DATA CONFIG OPTIONS   the same as the files of the cluster say; CONFIG lies outside of DATA, or is `-`
# OPTIONS `started`: those of its last start are stronger than the files; `-`: they are not looked at.
would_listen() {
  PATH=$1
  would_control=$(control_data "$1" "$2") || exit
  printf '%s\n' "$would_control" | sed -n 's/^Database system identifier: */identifier /p' || fail 'sed failed'
  would_options=''
  [ "$4" = - ] || would_options=$(started_with "$2") || exit
  would_port=$(would_be port "$2" "$3") || exit
  would_addresses=$(would_be listen_addresses "$2" "$3") || exit
  listens_by "$would_addresses" "$would_port"
  end_mark
}

# would_be SETTING DATA CONFIG   print what SETTING would be with the options of would_listen, each quoted for a shell
would_be() {
  would_name=$1
  shift
  if [ "$2" = - ]; then set -- -D "$1"; else set -- -D "$1" -c "config_file=$2"; fi
  sh -c "exec postgres \"\$@\" $would_options -C $would_name" sh "$@" || fail "the server program does not tell $would_name"
}

# listens_as_old PATH DATA ADDRESS OWN...   on the new server, once it is open: it listens wherever the old server did, where that
# is told on standard input. Print the cluster's identifier, and what the old server is to connect to, `reach PORT ADDRESS...`
# each: one of the addresses is enough.
# ADDRESS is where the old server reaches this one, OWN are this one's addresses. The addresses of the old server do not move:
# one that this server lacks stands for ADDRESS, of IPv6 for each such address of this one, and so does every address at once. A
# name, or an address behind which a router leads here, cannot be compared: any socket at that port counts then, and the look
# from the old server decides.
listens_as_old() {
  PATH=$1
  listens_then=$(take_whole) || exit
  listens_control=$(control_data "$1" "$2") || exit
  listens_own=$(printf '%s\n' "$listens_control" | sed -n 's/^Database system identifier: *//p') || fail 'sed failed'
  listens_now=$(listens_where "$2") || exit
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
  listens_found=$(printf '%s\n' "$listens_then" | each_as_old) || exit
  listens_lacks=$(printf '%s\n' "$listens_found" | sed -n 's/^lacks //p') || fail 'sed failed'
  if [ -n "$listens_lacks" ]; then
    listens_lacks=$(printf '%s\n' "$listens_lacks" | in_a_line) || exit
    listens_now=$(printf '%s\n' "$listens_now" | sed 's/^tcp //; s/^unix //; s/^\([^/ ]*\) \([0-9]*\)$/\1 port \2/' | in_a_line) || exit
    fail "the old server listened on $listens_lacks; the new cluster in $listens_data listens on $listens_now. Clients do not find" \
      'it where they look. Set port and listen_addresses of the new cluster to what the old server had, restart it, and go on with' \
      '--resume'
  fi
  printf 'identifier %s\n%s\n' "$listens_own" "$listens_found"
  end_mark
}

# each_as_old   for each line of the old server's on standard input `reach PORT ADDRESS...`, `lacks WORDS` or `note: WORDS`
each_as_old() {
  while read -r each_kind each_rest; do
    each_address=${each_rest% *} each_port=${each_rest##* }
    case $each_kind:$each_address in
      identifier:"$listens_own" | note::*) ;;
      identifier:*) fail "another cluster lies here: its system identifier is $listens_own, and the moved one's is $each_rest" ;;
      unix:*) if ! has_socket "$each_rest"; then echo "lacks the Unix socket $each_rest"; fi ;;
      # a new server without IPv6 has no client there
      tcp:0:0:0:0:0:0:0:1) ! has_six || covers "$each_address" "$each_port" || echo "lacks $each_address port $each_port" ;;
      tcp:127.*) covers "$each_address" "$each_port" || echo "lacks $each_address port $each_port" ;;
      tcp:::)
        if has_six && ! covers :: "$each_port"; then
          echo "lacks :: port $each_port"
        elif [ -n "$listens_six" ]; then
          echo "reach $each_port $listens_six"
        else
          echo "note: Port $each_port was not looked at over IPv6: the old server listened on every address, and the new one has no" \
            'IPv6 address that another server could reach.'
        fi
        ;;
      tcp:*)
        each_to=$listens_address each_found=
        case $each_address in *:*) each_to=${listens_six:-$listens_address} ;; *) ;; esac
        case $listens_addresses in *" $each_address "*) each_to=$each_address ;; *) ;; esac
        for each_one in $each_to; do ! covers "$each_one" "$each_port" || each_found="$each_found $each_one"; done
        if [ -n "$each_found" ]; then echo "reach $each_port$each_found"; else echo "lacks $each_address port $each_port"; fi
        ;;
      *) fail "the old server's list of sockets holds what cannot be read: $each_kind" ;;
    esac
  done
}

# has_six   whether this host has IPv6, were it on its loopback alone
has_six() {
  read -r _ 2>/dev/null </proc/net/if_inet6 # its size is 0, as of every file there
}

# has_socket PATH   whether the server of listens_now listens on the Unix socket there, by that or another path to it
has_socket() {
  printf '%s\n' "$listens_now" | while read -r has_kind has_path; do
    if [ "$has_kind" = unix ] && { [ "$has_path" = "$1" ] || [ "$has_path" -ef "$1" ]; }; then exit 3; fi
  done
  [ $? -eq 3 ]
}

# covers ADDRESS PORT   whether a socket of listens_now takes connections to it
covers() {
  covers_all=0.0.0.0
  case $1 in *:*) covers_all=:: ;; *) ;; esac
  printf '%s\n' "$listens_now" | while read -r covers_kind covers_address covers_port; do
    [ "$covers_kind:$covers_port" = "tcp:$2" ] || continue
    case $covers_address in "$1" | "$covers_all") exit 3 ;; 127.* | 0:0:0:0:0:0:0:1) continue ;; *) ;; esac
    # every address of a family, and the loopback, are covered by themselves alone
    case $1 in :: | 127.* | 0:0:0:0:0:0:0:1) continue ;; *) ;; esac
    case $covers_address in
      *:*) covers_kind=:: ;;
      *[!0-9.]*) exit 3 ;; # a name that nobody knows: the look from the old server tells
      *) covers_kind=0.0.0.0 ;;
    esac
    [ "$covers_kind" = "$covers_all" ] || continue
    case $listens_addresses in *" $1 "*) ;; *) exit 3 ;; esac
  done
  [ $? -eq 3 ]
}

# reached_from_old PATH   from the old server, once the new one is open: what listens_as_old prints on standard input is reached,
# and the cluster with that identifier answers there. Print by what it is known, a line each.
# Ends with 68 where nothing but the way from the old server is closed: a firewall may be meant to keep it out, and a person knows.
reached_from_old() {
  PATH=$1
  reached_list=$(take_whole) || exit
  reached_identifier=$(printf '%s\n' "$reached_list" | sed -n 's/^identifier //p') || fail 'sed failed'
  reached_to=$(printf '%s\n' "$reached_list" | sed -n 's/^reach //p') || fail 'sed failed'
  reached_said=$(printf '%s\n' "$reached_to" | while read -r reached_port reached_addresses; do
    # shellcheck disable=SC2086 # they are words
    [ -z "$reached_port" ] || one_answers "$reached_identifier" "$reached_port" $reached_addresses
  done) || exit
  reached_closed=$(printf '%s\n' "$reached_said" | sed -n 's/^closed //p' | in_a_line) || exit
  printf '%s\n' "$reached_said" | sed '/^closed /d' || fail 'sed failed'
  [ -z "$reached_closed" ] || refuse 68 "From the old server the new cluster cannot be reached at $reached_closed. It listens there, as was" \
    'just seen on the new server: only the way from the old server is closed. Open the firewall of the new server for that port,' \
    'and go on with --resume'
}

# one_answers IDENTIFIER PORT ADDRESS...   at one of these addresses the cluster takes connections: print by what that is known. Else
# `closed WORDS` or, where no route of IPv6 leads there, a note
one_answers() {
  one_identifier=$1 one_port=$2 one_closed='' one_tries=10
  shift 2
  [ $# -eq 1 ] || one_tries=1
  for one_address; do
    one_said=$(cluster_answers "$one_address" "$one_port" "$one_identifier" "$one_tries") || exit
    case $one_said in
      'closed '*' (no route leads there)') case $one_address in *:*) ;; *) one_closed="$one_closed, ${one_said#closed }" ;; esac ;;
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
    echo "note: No route of IPv6 leads from the old server to the new one, so that port $one_port was not looked at there: $*"
  fi
}

# cluster_answers ADDRESS PORT IDENTIFIER TRIES   the cluster of IDENTIFIER takes connections there: print by what that is known, or
# `closed WORDS`; fails where another cluster answers, or something else
# Where a login is possible the server itself tells. Where it is not, a server answers, and the new server has seen that the
# socket is its cluster's: psql has no session, and pg_isready (since 9.3) knows whether a server refused it.
cluster_answers() {
  answers_status=0 answers_tries=0
  answers_said=$(identifier_at "$1" "$2") || answers_status=$?
  answers_last=$(last_line "$answers_said") # ahead of it the server may have warned, as of the version of a collation
  case $answers_status:$answers_last in
    0:"$3")
      echo "$1 port $2: the cluster answers with its system identifier $3, by a login"
      return 0
      ;;
    0:*[!0-9]*) ;;
    0:*) fail "another cluster answers at $1 port $2: its system identifier is $answers_last, and the moved one's is $3. Find out" \
      'which server has that address, lead the address to the new server, and go on with --resume' ;;
    *)
      until takes_connections "$1" "$2"; do
        answers_tries=$((answers_tries + 1))
        answers_kept=$(kept_away "$answers_said") || exit
        if [ "$answers_tries" -ge "$4" ] || [ "$answers_kept" = 'no route leads there' ]; then
          not_reached "$1" "$2"
          return 0
        fi
        sleep 1 || fail 'sleep is not there'
      done
      ;;
  esac
  echo "$1 port $2: a server answers, and its socket on the new server is the cluster's; no login told its system identifier"
}

# identifier_at ADDRESS PORT   print the system identifier of the cluster that answers there, or what psql says instead of it
identifier_at() {
  PGCONNECT_TIMEOUT=10 PGAPPNAME=pghaul timeout -k 5 60 psql -XAtqw -h "$1" -p "$2" -d postgres \
    -c 'select system_identifier from pg_catalog.pg_control_system()' </dev/null 2>&1
}

# takes_connections ADDRESS PORT   whether a PostgreSQL server answers there, without a login
# takes_status is 1 then where one answers and takes none.
takes_connections() {
  takes_status=0
  if command -v pg_isready >/dev/null; then
    pg_isready -q -t 5 -h "$1" -p "$2" || takes_status=$?
    return "$takes_status"
  else
    ! identifier_at "$1" "$2" | grep -qE 'could not connect|server closed the connection|time' || return 1
  fi
}

# kept_away SAID   print what keeps psql, which said that, from there; nothing where something answered
kept_away() {
  case $1 in
    *'onnection refused'*) echo 'the connection was refused' ;;
    *'timeout expired'* | *'timed out'*) echo 'the connection timed out' ;;
    *'etwork is unreachable'* | *'annot assign requested'* | *'ddress family not supported'*) echo 'no route leads there' ;;
    *'o route to host'* | *'ermission denied'*) echo 'the network refuses the way' ;;
    *'could not translate host name'*) echo 'the old server does not know that name' ;;
    *'failed to run command'*) echo 'the old server has no psql that could look' ;;
    *) ;;
  esac
}

# not_reached ADDRESS PORT   print `closed WORDS`; fails with what psql says where something answers there
not_reached() {
  not_said=$(identifier_at "$1" "$2")
  not_kept=$(kept_away "$not_said") || exit
  if [ -n "$not_kept" ] && [ "$takes_status" -ne 1 ]; then
    echo "closed $1 port $2 ($not_kept)"
    return 0
  fi
  not_said=$(printf '%s\n' "$not_said" | tr -c '[:print:]\n' '?' | in_a_line) || fail 'tr failed'
  fail "what answers at $1 port $2, where clients look for the new cluster, takes no connections to PostgreSQL: $not_said. See what" \
    'that is, and go on with --resume'
}
