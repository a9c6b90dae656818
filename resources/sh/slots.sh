# The connections that a server allows its clients. pghaul leaves two of them free, and uses none that is reserved.

# watch_slots SOCKET PORT   Let require_free_slot count the connections of the server there. If they cannot be
# determined, they are not counted. The limits are read with the server program and the options of the running server,
# because a session would itself use a connection.
watch_slots() {
  slots_server='' slots_all=''
  for slots_folder in "$1" /var/run/postgresql /tmp; do
    slots_lock=$slots_folder/.s.PGSQL.$2.lock
    # Anybody can create one in /tmp: only the lock file of a server of this account is trusted, and its program run.
    [ -f "$slots_lock" ] && [ ! -L "$slots_lock" ] && [ -O "$slots_lock" ] || continue
    read -r slots_server <"$slots_lock" || slots_server=''
    break
  done
  case $slots_server in '' | *[!0-9]*) return 0 ;; *) ;; esac
  # A crash leaves the lock file behind, and process ids are used again.
  slots_running=$(list_server_processes | tr '\n' ' ') || return 0
  case " $slots_running" in *" $slots_server "*) ;; *) return 0 ;; esac
  [ -O "/proc/$slots_server" ] && [ -r "/proc/$slots_server/task/$slots_server/children" ] || return 0
  slots_all=$(slots_setting max_connections) || slots_all=''
  case $slots_all in '' | *[!0-9]*) slots_all='' ;; *) ;; esac
  [ -n "$slots_all" ] || return 0
  for slots_name in superuser_reserved_connections reserved_connections; do
    slots_reserved=$(slots_setting "$slots_name") || slots_reserved=0 # the second one came with 16
    case $slots_reserved in '' | *[!0-9]*) slots_reserved=0 ;; *) ;; esac
    slots_all=$((slots_all - slots_reserved))
  done
  slots_left=2
  [ "$slots_all" -gt 2 ] || slots_left=$((slots_all - 1)) # a server with so few connections is used only by its owner
}

# slots_setting NAME   Print that setting of the running server, by its options and files; fail if they do not have it.
slots_setting() {
  # shellcheck disable=SC2016 # for the inner shell
  PGDATA=/proc/$slots_server/cwd timeout 5 xargs -0 sh -c 'name=$1; shift; exec "$@" -C "$name"' sh "$1" \
    2>/dev/null <"/proc/$slots_server/cmdline"
}

# require_free_slot   Fail if a session of pghaul would not leave two connections free for clients, after waiting for
# three seconds; one, if the server allows no more than two. The connection of a session that has ended is free a moment
# later.
require_free_slot() {
  [ -n "$slots_all" ] || return 0
  slots_tries=0
  while :; do
    slots_used=$(count_client_sessions) || return 0
    slots_free=$((slots_all - slots_used))
    [ "$slots_free" -le "$slots_left" ] || return 0
    slots_tries=$((slots_tries + 1))
    [ "$slots_tries" -lt 30 ] || break
    sleep 0.1 || fail 'the program sleep is missing'
  done
  [ "$slots_free" -ge 0 ] || slots_free=0
  fail "of $slots_all sessions that the server allows its clients, $slots_free are free, and pghaul leaves" \
    "$slots_left free. End some sessions, or raise max_connections"
}

# count_client_sessions   Print how many client sessions the server has; fail if that cannot be read.
count_client_sessions() {
  sessions_found=$(cat "/proc/$slots_server/task/$slots_server/children") || exit
  sessions_number=0
  for sessions_process in $sessions_found; do
    sessions_title=''
    read -r sessions_title 2>/dev/null <"/proc/$sessions_process/cmdline"
    if is_client_title "$sessions_title"; then sessions_number=$((sessions_number + 1)); fi
  done
  echo "$sessions_number"
}

# is_client_title TITLE   Succeed if a server process of that title has a client, or may have one.
is_client_title() {
  title_left=${1##*: }
  title_left=${title_left%"${title_left##*[! ]}"}
  case ${title_left% process} in
    checkpointer | 'background writer' | walwriter | 'wal writer') return 1 ;;
    'autovacuum launcher' | 'stats collector') return 1 ;;
    'logger' | archiver | walsummarizer | 'logical replication launcher') return 1 ;;
    'autovacuum worker'* | 'parallel worker for'* | 'io worker '*) return 1 ;;
    *) return 0 ;;
  esac
}
