# The login session on a host with systemd. When the last session of an ordinary account ends, systemd-logind removes
# its shared memory and semaphores (RemoveIPC). Clients could then no longer connect to a server of this account.

# hold_session EXPECTED   Make sure that the end of this session harms no server of this account; print the result, then
# the account `harmless`; `held`: a server is running, and the session is held; `ready`: none is running, and the
# session is held if one starts; `killed`: a server is running, and systemd ends whatever would hold the session.
# EXPECTED: `yes` if a server may still be started.
hold_session() {
  session_state=harmless
  if session_end_harms; then
    session_leader=$(session_leader) || exit
    if systemd_kills; then
      if server_is_running; then session_state=killed; fi
    elif server_is_running; then
      session_state=held
    elif [ "$1" = yes ]; then
      session_state=ready
    fi
  fi
  case $session_state in
    held | ready)
      # shellcheck disable=SC2154 # program stands ahead of all
      setsid sh -c "$program" sh keep_session "$session_leader" </dev/null >/dev/null 2>&1 &
      ;;
    *) ;;
  esac
  echo "$session_state $session_name"
}

# session_end_harms   Succeed if the end of this account's last session removes its shared memory; set session_name and
# session_number. Only if this is a session of systemd. If systemd does not answer, its default is assumed, which
# removes.
session_end_harms() {
  session_uid=$(id -u) || fail 'id failed'
  session_name=$(id -un) || fail 'id failed'
  session_number=''
  system_accounts
  [ "$session_uid" -gt "$accounts_most" ] || return 1
  control_group "/proc/$$/cgroup" "$session_uid"
  case $control_found in
    session-*.scope*) session_number=${control_found#session-} session_number=${session_number%%.scope*} ;;
    *) ;;
  esac
  [ -n "$session_number" ] && [ ! -e "/var/lib/systemd/linger/$session_name" ] || return 1
  session_said=$(login_manager RemoveIPC) || session_said=''
  [ "$session_said" != 'b false' ]
}

# system_accounts   Set accounts_most to the highest user id of system accounts, whose memory systemd-logind leaves
# alone.
system_accounts() {
  accounts_most=999
  while read -r accounts_word accounts_value _; do
    case $accounts_word-$accounts_value in
      SYS_UID_MAX-*[!0-9]*) ;;
      SYS_UID_MAX-?*) [ "$accounts_value" -ge "$accounts_most" ] || accounts_most=$accounts_value ;;
      *) ;;
    esac
  done 2>/dev/null </etc/login.defs
}

# control_group FILE UID   Set control_found to the group of this account in FILE that systemd has made; empty: none.
control_group() {
  control_found=''
  while read -r control_line; do
    case $control_line in
      */user-"$2".slice/*) control_found=${control_line##*/user-"$2".slice/} ;;
      *) ;;
    esac
  done 2>/dev/null <"$1"
}

# login_manager PROPERTY...   Print these settings of systemd-logind, one per line.
login_manager() {
  busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager "$@" 2>/dev/null
}

# session_leader   Print process id and start time of the process that lives as long as the connection; `0 0`: not
# known.
session_leader() {
  leader_said=$(loginctl show-session "$session_number" -p Leader 2>/dev/null) || leader_said=Leader=0
  leader_since=$(process_start "${leader_said#Leader=}") || exit
  echo "${leader_said#Leader=} ${leader_since:-0}"
}

# systemd_kills   Succeed if systemd-logind ends all processes of this account's sessions with the session.
systemd_kills() {
  kills_said=$(login_manager KillUserProcesses KillOnlyUsers KillExcludeUsers) || return 1
  # One per line: `b true`, `as 1 "app"`.
  # shellcheck disable=SC2086 # they are words
  kills_excluded=$(last_line "$kills_said") kills_only=${kills_said#*as } kills_only=${kills_only%%
*}
  case $kills_excluded in *"\"$session_name\""*) return 1 ;; *) ;; esac
  case $kills_only-$kills_said in
    *"\"$session_name\""*-* | '0-b true'*) return 0 ;;
    *) return 1 ;;
  esac
}

# server_is_running   Succeed if a server of this account is running outside of its own sessions.
server_is_running() {
  serves_uid=$(id -u) || fail 'id failed'
  serves_found=$(list_server_processes) || exit
  for serves_process in $serves_found; do
    [ -O "/proc/$serves_process" ] || continue
    control_group "/proc/$serves_process/cgroup" "$serves_uid"
    [ -n "$control_found" ] || return 0
  done
  return 1
}

# keep_session LEADER   Stay in this session as long as its end could harm a server, even if LEADER's connection has
# ended. A server that is restarted is gone for a while, so it waits for ten minutes. Of several that hold sessions of
# this account, one stays.
keep_session() {
  printf pghaul-session >"/proc/$$/comm" || fail 'the name of this process cannot be set'
  keep_leader=$1 keep_looks=30
  enter_folder /
  trap '' HUP
  while session_end_harms; do
    if server_is_running; then
      keep_looks=0
    else
      keep_looks=$((keep_looks + 1))
    fi
    # shellcheck disable=SC2086 # they are words
    if ! process_still_runs $keep_leader && { [ "$keep_looks" -ge 30 ] || another_holds_session; }; then break; fi
    sleep 20 || fail 'the program sleep is missing'
  done
}

# process_still_runs PROCESS SINCE   Succeed if the process that was started then is still running, whoever owns it.
process_still_runs() {
  another_since=$(process_start "$1") || exit
  [ -n "$another_since" ] && [ "$another_since" = "$2" ]
}

# another_holds_session   Succeed if a process of this account with a lower process id holds a session too.
another_holds_session() {
  for keeps_process in /proc/[0-9]*; do
    keeps_name=''
    read -r keeps_name 2>/dev/null <"$keeps_process/comm" || continue
    if [ "$keeps_name" = pghaul-session ] && [ -O "$keeps_process" ] && [ "${keeps_process#/proc/}" -lt $$ ]; then
      return 0
    fi
  done
  return 1
}

# removal_facts FOLDER   Print whether systemd-logind removes shared memory, as `removes=` in its words, and whose
# memory it leaves `most=`: the highest user id of system accounts; `lingers=NAME`. Nothing if FOLDER, which contains
# its sessions, does not exist.
removal_facts() {
  [ -d "$1" ] || return 0
  removal_said=$(login_manager RemoveIPC) || removal_said=''
  echo "removes=$removal_said"
  system_accounts
  echo "most=$accounts_most"
  for removal_name in /var/lib/systemd/linger/*; do
    case ${removal_name##*/} in *[!A-Za-z0-9_.@-]*) ;; *) echo "lingers=${removal_name##*/}" ;; esac
  done
}
