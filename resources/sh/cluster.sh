# A cluster is stopped, proven stopped and started, by the layout that it was installed in.
# LAYOUT is debian, NAME then as 15/main; unit, NAME that of systemd; or folder, NAME the pg_ctl of a data directory by itself.
# pg_ctl is told the folder by PGDATA: with -D it puts it into a shell between double quotes, where a name that holds $(...)
# would be run (pg_ctl.c, start_postmaster).

# stop_cluster LAYOUT NAME DATA   a fast shutdown, which needs no recovery; where it is stopped already nothing is done
stop_cluster() {
  [ "$1" = unit ] || [ -e "$3/postmaster.pid" ] || return 0
  case $1 in
    debian) pg_ctlcluster "${2%%/*}" "${2#*/}" stop -m fast ;;
    unit) systemctl stop "$2" ;;
    *) PGDATA=$3 "$2" -m fast -w -t 3600 stop ;;
  esac || fail "the server in $3 did not stop: read its log"
}

# start_cluster LAYOUT NAME DATA CONFIG   start it as this host always does; where its lock file is there nothing is done
# CONFIG: of a data directory by itself its configuration file outside of DATA, else `-`.
start_cluster() {
  [ ! -e "$3/postmaster.pid" ] || return 0
  case $1 in
    debian) pg_ctlcluster "${2%%/*}" "${2#*/}" start ;;
    unit) systemctl start "$2" ;;
    *) (PATH=${2%/*}:$PATH && start_by_pg_ctl "$3" "$4" '') ;;
  esac || fail "the server in $3 did not start: read its log"
}

# prove_stopped PATH DATA   no server lives there, and it was shut down cleanly; print its state and its control file's sum
prove_stopped() {
  no_server "$2"
  stopped_control=$(control_data "$1" "$2") || exit
  printf '%s\n' "$stopped_control" | grep -x 'Database cluster state: *shut down' ||
    fail "it was not shut down cleanly: start the server in $2, and stop it again"
  control_sum "$2"
}

# prove_running PATH DATA   a server runs there
prove_running() {
  PATH=$1
  PGDATA=$2 pg_ctl status || fail "no server runs in $2"
}

# start_locally PATH DATA PORT CONFIG OPTIONS   start it for us alone; where ours runs nothing is done
# CONFIG is its configuration file outside of DATA, or `-`. OPTIONS hold back what would start work by itself. As soon as it
# runs its PG_VERSION lies behind the fence: after a boot nobody starts what nobody has decided on.
start_locally() {
  PATH=$1
  start_found=$(servers_in "$2") || exit
  if [ -z "$start_found" ]; then
    no_server "$2"
    printf '' >"$2/pghaul-fence/server" || fail "$2/pghaul-fence/server cannot be written"
    open_fence "$2"
    (start_by_pg_ctl "$2" "$4" "$5 -c port=$3") || {
      put_behind "$2" PG_VERSION # it may run all the same
      exit 1
    }
    whole "$2/pghaul-fence/server" head -n 3 -- "$2/postmaster.pid"
  fi
  own_server "$2"
  put_behind "$2" PG_VERSION
}

# open_for_clients PATH DATA CONFIG   stop it, and start it with its own configuration
open_for_clients() {
  PATH=$1
  if [ -e "$2/pghaul-fence/mark" ]; then
    stop_locally "$2"
    open_target "$2"
  fi
  if ! PGDATA=$2 pg_ctl status >/dev/null; then
    open_control=$(control_sum "$2") || exit
    (start_by_pg_ctl "$2" "$3" '') || not_opened "$1" "$2" "$open_control"
  fi
  unfence_cluster "$2"
}

# not_opened PATH DATA SUM   new did not start for clients: stop what is left of it; ends with 69 where nobody can have written to it
# SUM was that of its control file ahead of the start: a server writes into it before it lets anybody in; source: PostgreSQL's
# xlog.c, StartupXLOG. Then it is fenced again.
not_opened() {
  (stop_cluster folder pg_ctl "$2") || exit
  not_opened_control=$(control_sum "$2") || exit
  [ "$not_opened_control" = "$3" ] || fail 'new was started for clients and has ended: they may have written to it'
  give_back "$2"
  refuse 69 'new did not open, and nobody has written to it: mend what its log says and go on, or go back to old'
}

# start_by_pg_ctl DATA CONFIG OPTIONS   start the server there; what it says goes to pghaul-start.log in DATA
start_by_pg_ctl() {
  start_options=$3
  if [ "$2" != - ]; then
    # quoted once more: pg_ctl hands them to a shell of its own
    start_files=$(printf '%s\n' "config_file=$2" "data_directory=$1" |
      sed "N; s/'/'\\\\''/g; s/\\(.*\\)\\n\\(.*\\)/-c '\\1' -c '\\2'/") || fail 'sed failed'
    start_options="$3 $start_files"
  fi
  PGDATA=$1 pg_ctl -w -t 600 -o "$start_options" start </dev/null >"$1/pghaul-start.log" 2>&1 ||
    fail "the server in $1 did not start: read $1/pghaul-start.log"
}
