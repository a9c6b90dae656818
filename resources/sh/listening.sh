# What listens on this host, of any user. A server that is to start here may find its port in use.

# listening_sockets   Print `listed`, then `tcp ADDRESS PORT PROCESS NAME` for each TCP socket that listens on this
# host, and `unix PROCESS NAME PATH` for each Unix socket with a name of PostgreSQL's kind. PROCESS is 0 and NAME is `-`
# if they cannot be seen. The sockets of processes in another container, and without root those of other users'
# processes, are not visible. Source: proc(5), /proc/PID/net.
listening_sockets() {
  # Some processes end meanwhile, and find then fails.
  listening_held=$(find /proc/[0-9]*/fd -lname 'socket:*' -printf '%l %h\n' 2>/dev/null) || true
  echo listed
  set --
  for listening_file in tcp tcp6 unix; do
    [ ! -e "/proc/net/$listening_file" ] || set -- "$@" "/proc/net/$listening_file" # a kernel may have no IPv6
  done
  listening_lines=$(printf '%s\n' "$listening_held" | awk '
    NR == FNR {
      if ($1 ~ /^socket:\[[0-9]+\]$/ && $2 ~ /^\/proc\/[0-9]+\/fd$/ && !($1 in holder)) {
        split($2, folder, "/")
        holder[$1] = folder[3]
      }
      next
    }
    FILENAME ~ /unix$/ {
      place = $0 # behind seven words, and with spaces
      for (word = 1; word < 8; word++) sub(/^ *[^ ]+ +/, "", place)
      if ($4 == "00010000" && place ~ /^\/.*\/[.]s[.]PGSQL[.][0-9][0-9]?[0-9]?[0-9]?[0-9]?$/)
        print "unix", held_by($7), place
      next
    }
    $4 == "0A" { print "tcp", held_by($10), $2 }
    function held_by(inode) { inode = "socket:[" inode "]"; return inode in holder ? holder[inode] : 0 }
  ' - "$@") || fail 'awk failed'
  [ -z "$listening_lines" ] || printf '%s\n' "$listening_lines" | print_listening_sockets || exit
}

# print_listening_sockets   Print the line of listening_sockets for each line `KIND PROCESS PLACE` on standard input.
# PLACE of KIND tcp is as in /proc/net/tcp.
print_listening_sockets() {
  listening_order=$(byte_order) || exit
  while read -r each_kind each_holder each_place; do
    each_program=-
    [ "$each_holder" = 0 ] || { read -r each_program <"/proc/$each_holder/comm"; } 2>/dev/null ||
      each_holder=0 each_program=-
    case $each_program in
      '') each_program='?' ;; # a process can give itself a name of spaces
      *[!A-Za-z0-9:.@_-]*)
        each_program=$(printf '%s\n' "$each_program" | tr -c '[:alnum:]:.@_\n-' '?') || fail 'tr failed'
        ;;
      *) ;;
    esac
    if [ "$each_kind" = unix ]; then
      printf 'unix %s %s %s\n' "$each_holder" "$each_program" "$each_place"
    else
      each_address=$(address_text "${each_place%:*}" "$listening_order") || exit
      printf 'tcp %s %d %s %s\n' "$each_address" "0x${each_place##*:}" "$each_holder" "$each_program"
    fi
  done
}

# check_port_free PORT ADDRESSES USER FOLDER...   As root, before a server is started here with this port, these
# listen_addresses and these folders of Unix sockets: fail if any program listens where it would. A server that has one
# of its addresses starts without the others, and clients would then reach that program. Fail as well if USER, as whom
# pg_ctl starts it, cannot create its sockets in a FOLDER; `-`: a service starts it, and may create the folder itself.
check_port_free() {
  free_port=$1 free_user=$3
  free_wanted=$(print_listeners_by_settings "$2" "$1") || exit
  shift 3
  for free_folder; do
    free_wanted="$free_wanted
unix $free_folder/.s.PGSQL.$free_port"
  done
  free_taken=$(print_holders "$free_wanted" '') || exit
  [ -z "$free_taken" ] ||
    fail "other programs of this server listen where the new cluster will: $free_taken. It would not start, or clients" \
      'would reach them. End them (of a service: stop its unit), and go on with --resume'
  [ "$free_user" != - ] || return 0
  for free_folder; do
    run_as "$free_user" test -d "$free_folder" -a -w "$free_folder" -a -x "$free_folder" ||
      fail "$free_user cannot create a file in the folder $free_folder. The new cluster would not start, because" \
        "unix_socket_directories names this folder for its Unix socket. Create the folder, give it to $free_user, and" \
        'go on with --resume'
  done
}

# print_holders WANTED OWN   Print in one line which sockets on this host keep a server from listening where WANTED
# says, and whose they are; nothing if there are none. WANTED and OWN are lines as of list_listeners. The sockets of OWN
# do not count.
print_holders() {
  holders_wanted=$1 holders_own="
$2
"
  holders_all=$(listening_sockets) || exit
  holders_found=$(printf '%s\n' "$holders_all" | while read -r holders_kind holders_a holders_b holders_c holders_d; do
    case $holders_kind in
      tcp)
        holders_at="tcp $holders_a $holders_b" holders_shown="$holders_a port $holders_b"
        holders_process=$holders_c holders_program=$holders_d
        ;;
      unix)
        holders_at="unix $holders_c${holders_d:+ $holders_d}" holders_shown=$holders_c${holders_d:+ $holders_d}
        holders_process=$holders_a holders_program=$holders_b
        ;;
      *) continue ;;
    esac
    case $holders_own in *"
$holders_at
"*) continue ;; *) ;; esac
    printf '%s\n' "$holders_wanted" | is_in_the_way "$holders_at" || continue
    if [ "$holders_process" = 0 ]; then
      printf '%s (by a process that is not visible here: ss -lntxp shows it to root)\n' "$holders_shown"
    else
      printf '%s (by %s, process %s)\n' "$holders_shown" "$holders_program" "$holders_process"
    fi
  done) || exit
  [ -z "$holders_found" ] || printf '%s\n' "$holders_found" | join_lines || exit
}

# is_in_the_way SOCKET   Succeed if SOCKET keeps a server from listening at one of the places on standard input; both as
# list_listeners has them. A socket for all addresses of IPv6 may accept IPv4, too.
is_in_the_way() {
  while IFS= read -r way_wanted; do
    [ "$way_wanted" != "$1" ] || return 0
    case $1:$way_wanted in
      unix*:unix*) [ ! "${1#unix }" -ef "${way_wanted#unix }" ] || return 0 ;;
      tcp*:tcp*)
        [ "${1##* }" = "${way_wanted##* }" ] || continue
        case ${1#tcp }:$way_wanted in
          ::\ * | 0.0.0.0\ *:tcp\ *.*\ * | *.*\ *:tcp\ 0.0.0.0\ * | *:*:tcp\ ::\ *) return 0 ;;
          *) ;;
        esac
        ;;
      *) ;;
    esac
  done
  return 1
}
