# A cluster is started for its clients, enabled and stopped by what its host has for that: a function for each layout.
# Units that refused to start while a fence stood may be held back by systemd (start-limit-hit) until they are reset.

# start_debian SERIES NAME DATA   through pg_ctlcluster, which asks systemd where that runs
start_debian() {
  debian_since=$(date +%s) || fail 'date failed'
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || fail 'systemd has not read what starts clusters'
    systemctl reset-failed "postgresql@$1-$2.service" 2>/dev/null # it is not loaded where it never ran
  fi
  debian_said=$(pg_ctlcluster "$1" "$2" start 2>&1) || [ $? -eq 2 ] || debian_not_opened "$@" # 2: it runs
  [ -z "$debian_said" ] || printf '%s\n' "$debian_said"
  accepts "$3" || debian_not_opened "$@"
}

# debian_not_opened SERIES NAME DATA   not_opened, with what pg_ctlcluster, the journal and the log say
debian_not_opened() {
  debian_why=$(why_not "$3" "$debian_since" debian_words "$1" "$2") || exit
  not_opened "$3" "read its log in /var/log/postgresql" "$debian_why"
}

# debian_words SERIES NAME   print what pg_ctlcluster said, and the ends of the journal and of the log where they are of this start
debian_words() {
  printf '%s\n' "$debian_said"
  [ ! -d /run/systemd/system ] || journal "$debian_since" -u "postgresql@$1-$2.service"
  debian_log=/var/log/postgresql/postgresql-$1-$2.log
  debian_changed=$(stat -c %Y -- "$debian_log" 2>/dev/null) || return 0
  [ "$debian_changed" -lt "$debian_since" ] || tail -c 20000 -- "$debian_log"
}

# journal SINCE WORDS...   print what the journal has since then, of what journalctl's WORDS name
journal() {
  journal_since=$1
  shift
  journalctl --no-pager -q -o cat -n 50 --since "@$journal_since" "$@" || fail 'the journal cannot be read'
}

# start_unit UNIT DATA   through the host's systemd
start_unit() {
  unit_is_free "$1" "$2"
  unit_since=$(date +%s) || fail 'date failed'
  systemctl reset-failed "$1" 2>/dev/null # it is not loaded where it never ran
  if ! systemctl start "$1" || ! accepts "$2"; then
    systemctl stop "$1" || fail "$1 did not stop: journalctl -u $1" # it would be tried again and again
    unit_why=$(why_not "$2" "$unit_since" journal "$unit_since" -u "$1") || exit
    not_opened "$2" "journalctl -u $1" "$unit_why"
  fi
}

# start_user_unit UNIT DATA   through the systemd of the user whom this runs as
start_user_unit() {
  unit_user=$(id -u) || fail 'id does not say who this is'
  unit_is_free "$1" "$2" "$unit_user"
  unit_since=$(date +%s) || fail 'date failed'
  (own_systemd reset-failed "$1") 2>/dev/null # it is not loaded where it never ran
  if ! (own_systemd start "$1") || ! accepts "$2"; then
    own_systemd stop "$1"
    unit_why=$(why_not "$2" "$unit_since" journal "$unit_since" --user -u "$1") || exit
    not_opened "$2" "journalctl --user -u $1" "$unit_why"
  fi
}

# start_folder PATH DATA CONFIG [OPTIONS]   by pg_ctl, as postmaster.opts says; CONFIG is its configuration file outside of DATA, or `-`
# OPTIONS, quoted for a shell, come behind: what was in force where the files say otherwise. Where it does not start with them
# (pg_ctl before 15 cuts a long command line off), it is started without, and says so.
start_folder() {
  PATH=$1
  PGDATA=$2 pg_ctl status >/dev/null && return 0
  folder_why=$(start_by_pg_ctl "$2" "$3" "${4-}" 2>&1) || {
    stop_folder "$1" "$2"
    folder_why=${folder_why#"pghaul: the server in $2 did not start: "}
    folder_why=${folder_why#pghaul: }
    [ -z "${4-}" ] || {
      echo "warning: The server in $2 did not start with the options $4, and is started without: $folder_why"
      start_folder "$1" "$2" "$3"
      return
    }
    not_opened "$2" "read $2/pghaul-start.log" "${folder_why%"; read $2/pghaul-start.log"}"
  }
}

# stop_debian SERIES NAME DATA   a fast shutdown, which needs no recovery; where it is stopped already nothing is done
stop_debian() {
  [ -e "$3/postmaster.pid" ] || return 0
  pg_ctlcluster "$1" "$2" stop -m fast || fail "cluster $1/$2 did not stop: read its log in /var/log/postgresql"
}

# stop_unit UNIT DATA   where it is stopped already nothing is done
stop_unit() {
  unit_is_free "$1" "$2"
  systemctl stop "$1" || fail "$1 did not stop: journalctl -u $1"
}

# stop_user_unit UNIT DATA   the same through the systemd of the user whom this runs as
stop_user_unit() {
  unit_user=$(id -u) || fail 'id does not say who this is'
  unit_is_free "$1" "$2" "$unit_user"
  own_systemd stop "$1"
}

# unit_is_free UNIT DATA [UID]   fails where servers run in UNIT, of the host or of that user, and none of them lives in DATA: since the
# checks somebody has given it to another cluster
unit_is_free() {
  unit_other=''
  for unit_process in $(server_processes); do
    in_unit "/proc/$unit_process/cgroup" "$1" "${3-}" || continue
    ! lives_in "$unit_process" "$2" || return 0
    unit_other=$unit_process
  done
  [ -n "$unit_other" ] && unit_folder=$(readlink "/proc/$unit_other/cwd") || return 0 # it may have ended meanwhile
  fail "$1 runs another server now, in $unit_folder, and none in $2: it is neither started nor stopped. Give that server a" \
    'unit of its own, or stop it for good, and have the unit start this cluster; then go on with --resume'
}

# in_unit CGROUP UNIT UID   whether a process, of which CGROUP is that file of /proc, runs in UNIT, of the host or, with a UID, of that user
in_unit() {
  while IFS=: read -r _ _ in_path; do
    in_user=''
    case $in_path in */user@*.service/*) in_user=${in_path#*/user@} in_user=${in_user%%.*} ;; *) ;; esac
    case $in_user:$in_path/ in "$3":*/"$2"/*) return 0 ;; *) ;; esac
  done 2>/dev/null <"$1" # it may have ended meanwhile
  return 1
}

# stop_folder PATH DATA   where it is stopped already nothing is done
stop_folder() {
  PATH=$1
  [ -e "$2/postmaster.pid" ] || return 0
  PGDATA=$2 pg_ctl -m fast -w -t 3600 stop || fail "the server in $2 did not stop: read its log"
}

# start_conf FOLDER WORD   the cluster whose configuration lies there starts with the host, or not: auto or manual
start_conf() {
  echo "$2" >"$1/start.conf" || fail "$1/start.conf cannot be written"
}

# own_systemd VERB UNIT   tell it to the systemd of this user, also in a session that did not log in
own_systemd() {
  own_number=$(id -u) || fail 'id does not say who this is'
  XDG_RUNTIME_DIR=/run/user/$own_number systemctl --user "$1" "$2" || fail "$1 $2 failed: journalctl --user -u $2"
}

# linger USER   this user's systemd runs from the boot on; wait until it does
linger() {
  loginctl enable-linger "$1" || fail "the systemd of $1 cannot be started with the host"
  linger_number=$(id -u "$1") || fail "there is no $1"
  systemctl start "user@$linger_number.service" || fail "the systemd of $1 did not start"
}

# accepts DATA   wait until the server there says that it takes connections, a minute at most; 1: none does
# Not every service waits for its server.
accepts() {
  accepts_tries=0
  until server_ready "$1"; do
    accepts_tries=$((accepts_tries + 1))
    [ "$accepts_tries" -le 600 ] || return 1
    sleep 0.1 || fail 'sleep is not there'
  done
}

# server_ready DATA   whether the server there says that it takes connections; before 10, whether one is there
# The eighth line of its lock file tells (LOCK_FILE_LINE_PM_STATUS, pidfile.h); the first, which process says so: a lock file
# outlives a server that lost its power.
server_ready() {
  [ -e "$1/postmaster.pid" ] || return 1
  ready_version=$1/PG_VERSION
  [ -e "$ready_version" ] || ready_version=$1/pghaul-fence/PG_VERSION
  read -r ready_series <"$ready_version" || return 1
  ready_line=0
  while IFS= read -r ready_said; do
    ready_line=$((ready_line + 1))
    [ "$ready_line" -gt 1 ] || lives_in "$ready_said" "$1" || return 1
    case $ready_series:$ready_line:$ready_said in 8.*:1:* | 9.*:1:* | *:8:ready*) return 0 ;; *) ;; esac
  done <"$1/postmaster.pid"
  return 1
}

# register_debian FILE DATA NAME   FILE, Debian's postgresql.conf, takes all from that in DATA; what it was stays beside it
# NAME is as 15-main. Where the cluster's configuration travelled in its data directory it stays there as it is.
register_debian() {
  [ ! -e "$1" ] || [ -e "$1.before-pghaul" ] || mv -- "$1" "$1.before-pghaul" || fail "$1 cannot be kept"
  register_data=$(printf '%s' "$2" | sed "s/'/''/g") || fail 'sed failed'
  printf '%s\n' "include '$register_data/postgresql.conf'" "data_directory = '$register_data'" \
    "external_pid_file = '/run/postgresql/$3.pid'" >"$1" || fail "$1 cannot be written"
}

# unregister_debian FILE   FILE as it was before; where it was not changed nothing is done
unregister_debian() {
  [ ! -e "$1.before-pghaul" ] || mv -fT -- "$1.before-pghaul" "$1" || fail "$1 cannot be put back"
}

# adopt_debian FILE [SETTING VALUE]...   FILE, Debian's postgresql.conf, which came from elsewhere, says these
adopt_debian() {
  adopt_file=$1
  shift
  # what is added must not join a last line that has no end
  adopt_end=$(tail -c 1 -- "$adopt_file") || fail "$adopt_file cannot be read"
  [ -z "$adopt_end" ] || echo >>"$adopt_file" || fail "$adopt_file cannot be written"
  while [ $# -gt 1 ]; do
    adopt_set "$adopt_file" "$1" "$2"
    shift 2
  done
}

# adopt_set FILE SETTING VALUE   in its place; where a later line, or a file that FILE includes, says otherwise, at the end too
adopt_set() {
  pg_conftool -s "$1" set "$2" "$3" || fail "$2 cannot be set in $1"
  adopt_now=$(pg_conftool -s "$1" show "$2") || fail "$1 does not say what $2 is"
  [ "$adopt_now" != "$3" ] || return 0
  adopt_value=$(printf '%s' "$3" | sed "s/['\\]/&&/g") || fail 'sed failed'
  printf "%s = '%s'\n" "$2" "$adopt_value" >>"$1" || fail "$1 cannot be written"
}
