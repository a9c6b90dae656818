# A cluster is stopped, fenced, proven stopped and started, by the layout that it was installed in.
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

# start_cluster LAYOUT NAME DATA   start it as this host always does; where its lock file is there nothing is done
start_cluster() {
  [ ! -e "$3/postmaster.pid" ] || return 0
  case $1 in
    debian) pg_ctlcluster "${2%%/*}" "${2#*/}" start ;;
    unit) systemctl start "$2" ;;
    *) PGDATA=$3 "$2" -w start </dev/null >"$3/pghaul-start.log" 2>&1 ;;
  esac || fail "the server in $3 did not start: read its log"
}

# fence_cluster LAYOUT PATH   keep the stopped cluster from whatever starts it, also after a boot
# PATH: of debian start.conf; of unit a drop-in, with which systemd refuses it (it does not mask a unit of the DBA's own);
# of folder the data directory: no postmaster starts where it cannot write its lock file.
fence_cluster() {
  case $1 in
    debian)
      conf_folder "$2"
      [ -e start.conf.before-pghaul ] || conf_run cp -p --remove-destination start.conf start.conf.part ||
        fail "$2 cannot be kept beside"
      [ -e start.conf.before-pghaul ] || conf_run mv -T start.conf.part start.conf.before-pghaul ||
        fail "$2 cannot be kept beside"
      echo disabled | conf_run tee start.conf >/dev/null || fail "$2 cannot be written"
      ;;
    unit)
      install -d -m 0755 -- "${2%/*}" || fail "${2%/*} cannot be made"
      printf '[Unit]\nAssertPathExists=!%s\n' "$2" >"$2" || fail "$2 cannot be written"
      systemctl daemon-reload || fail "systemd has not read $2: the fence does not hold"
      ;;
    *) chmod u-w -- "$2" || fail "$2 cannot be closed to writing" ;;
  esac
}

# unfence_cluster LAYOUT PATH   let it start again, as before the fence; where there is none nothing is done
unfence_cluster() {
  case $1 in
    debian)
      [ -e "$2.before-pghaul" ] || return 0
      conf_folder "$2"
      conf_run mv -T start.conf.before-pghaul start.conf || fail "$2 cannot be put back"
      ;;
    unit)
      [ -d "${2%/*}" ] || return 0
      rm -f -- "$2" || fail "$2 cannot be removed"
      systemctl daemon-reload || fail "systemd has not noticed that $2 is gone"
      rmdir --ignore-fail-on-non-empty -- "${2%/*}" || fail "${2%/*} cannot be removed"
      ;;
    *) chmod u+w -- "$2" || fail "$2 cannot be opened to writing" ;;
  esac
}

# conf_folder FILE   go to its folder, and run what conf_run runs as who owns that: root follows no link that another user made
conf_folder() {
  enter "${1%/*}"
  conf_owner=$(stat -c %U .) || fail "nobody can tell whose ${1%/*} is"
  conf_user=$(id -un) || fail 'id does not say who this is'
}

# conf_run COMMAND...   run it as who owns this folder
conf_run() {
  if [ "$conf_owner" = "$conf_user" ]; then "$@"; else runuser -u "$conf_owner" -- "$@"; fi
}

# control_data PATH DATA   print what pg_controldata says of it
control_data() {
  PATH=$1
  control=$(pg_controldata "$2") || fail "pg_controldata cannot read the control file of $2"
  [ -n "$control" ] || fail "pg_controldata says nothing of $2"
  printf '%s\n' "$control"
}

# prove_stopped PATH DATA   no server lives there, and it was shut down cleanly; print its state and its control file's sum
prove_stopped() {
  [ ! -e "$2/postmaster.pid" ] || fail "a server runs in $2, or crashed: its lock file postmaster.pid is there"
  stopped_server=$(servers_in "$2") || exit
  [ -z "$stopped_server" ] || fail "a server runs in it: process ${stopped_server%%[!0-9]*}"
  stopped_control=$(control_data "$1" "$2") || exit
  printf '%s\n' "$stopped_control" | grep -x 'Database cluster state: *shut down' ||
    fail "it was not shut down cleanly: start the server in $2, and stop it again"
  sha256sum <"$2/global/pg_control" || fail "the control file of $2 cannot be read"
}

# prove_running PATH DATA   a server runs there
prove_running() {
  PATH=$1
  PGDATA=$2 pg_ctl status || fail "no server runs in $2"
}

# start_locally PATH DATA PORT CONFIG OPTIONS   start it for us alone; where it runs nothing is done
# CONFIG is its configuration file outside of DATA, or `-`. OPTIONS hold back what would start work by itself.
start_locally() {
  PATH=$1
  PGDATA=$2 pg_ctl status >/dev/null
  case $? in
    0) return 0 ;;
    3) start_by_pg_ctl "$2" "$4" "$5 -c port=$3" ;;
    *) fail "pg_ctl cannot tell whether a server runs in $2" ;;
  esac
}

# open_for_clients PATH DATA CONFIG   stop it, and start it with its own configuration
open_for_clients() {
  stop_locally "$1" "$2"
  open_control=$(control_sum "$2") || exit
  (start_by_pg_ctl "$2" "$3" '') || not_opened "$1" "$2" "$open_control"
}

# not_opened PATH DATA SUM   new did not start for clients: stop what is left of it; ends with 69 where nobody can have written to it
# SUM was that of its control file ahead of the start: a server writes into it before it lets anybody in; source: PostgreSQL's
# xlog.c, StartupXLOG.
not_opened() {
  (stop_locally "$1" "$2") || exit
  not_opened_control=$(control_sum "$2") || exit
  [ "$not_opened_control" = "$3" ] || fail 'new was started for clients and has ended: they may have written to it'
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

# stop_locally PATH DATA   stop the server there, if one runs
stop_locally() {
  PATH=$1
  stop_cluster folder pg_ctl "$2"
}
