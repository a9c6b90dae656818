# A cluster is proven stopped, and new is started for us alone.
# pg_ctl is told the folder by PGDATA: with -D it puts it into a shell between double quotes, where a name that holds $(...)
# would be run (pg_ctl.c, start_postmaster).

# prove_stopped PATH DATA   no server lives there, and it was shut down cleanly; print its state and its control file's sum
prove_stopped() {
  no_server "$2"
  stopped_control=$(control_data "$1" "$2") || exit
  stopped_state=$(printf '%s\n' "$stopped_control" | sed -n '/^Database cluster state: *shut down$/p') || fail 'sed failed'
  [ -n "$stopped_state" ] || fail "it was not shut down cleanly: start the server in $2, and stop it again"
  printf '%s\n' "$stopped_state"
  control_sum "$2"
}

# stays_stopped DATA   once new is open: no server runs in DATA, on old; print a warning where one has run since the stop, whose proof
# comes on standard input
# Ends with 67 where one runs. A file that was edited there is no matter: nothing is copied from it any more.
stays_stopped() {
  stays_then=$(tail -n 1) || fail 'tail failed'
  case $stays_then in *[0-9a-f]'  -') ;; *) fail 'the proof of the stop did not come whole' ;; esac
  stays_found=$(servers_in "$1") || exit
  [ -z "$stays_found" ] || refuse 67 "the old server was started again in $1: process ${stays_found%%[!0-9]*}. What clients write to one" \
    'of both servers the other one lacks. Stop it, and go on with --resume'
  if [ ! -d "$1" ]; then
    echo "warning: The data directory of the old server, $1, is not there any more."
    return 0
  fi
  stays_now=$(control_sum "$1") || exit
  [ "$stays_now" = "$stays_then" ] || echo "warning: The old server was started after its stop, and has ended again. What clients wrote" \
    'to it since is not on the new server: look for it in the log of the old server.'
}

# prove_running PATH DATA PORTS UNIT [SETTING...]   a server runs there, takes connections, and is reached at one of PORTS, with commas
# between; `-`: not known
# UNIT is the one in which it ran: where it runs in another one a warning says so, and where it was started with a SETTING,
# NAME=VALUE. The fourth line of its lock file is its port, from 9.1 on.
prove_running() {
  PATH=$1
  PGDATA=$2 pg_ctl status || fail "no server runs in $2"
  accepts "$2" || fail "the server in $2 runs, and takes no connections: read its log"
  running_port=$(sed -n 4p -- "$2/postmaster.pid") || fail "$2/postmaster.pid cannot be read"
  case "-,$3," in
    -,-, | *,"${running_port:-$3}",*) ;;
    *) fail "the server in $2 runs on port $running_port, and was to run on port $3: stop it, start it with that port, and go on" ;;
  esac
  [ "$4" = - ] || ran_in "$2" "$4"
  [ $# -le 4 ] || given_besides "$@"
}

# given_besides PATH DATA PORTS UNIT SETTING...   print a warning with each SETTING among the options of the last start in DATA
given_besides() {
  given_options=$(started_with "$2" 2>/dev/null) || {
    echo "warning: With which options the old server was started cannot be read from $2/postmaster.opts: look whether they are its own."
    return 0
  }
  shift 4
  given_names=''
  for given_one; do
    given_quoted=$(printf '%s\n' "$given_one" | sed "s/'/'\\\\''/g") || fail 'sed failed'
    case $given_options in *" '$given_quoted'"*) given_names="$given_names${given_names:+, }$given_one" ;; *) ;; esac
  done
  [ -z "$given_names" ] || echo "warning: The old server was started with $given_names on its command line, as its files say otherwise. That is" \
    'stronger than its files, at a reload too. Once they say what is to hold, start it without that.'
}

# ran_in DATA UNIT   print a warning where the server there runs in another unit than UNIT
ran_in() {
  ran_process=$(head -n 1 -- "$1/postmaster.pid") || fail "$1/postmaster.pid cannot be read"
  # a line for each hierarchy of control groups, of which each may be the one with units
  ran_groups=$(sed 's,$,/,' "/proc/$ran_process/cgroup") || fail "process $ran_process has ended"
  case $ran_groups in
    */"$2"/*) ;;
    *) echo "warning: the old cluster runs outside of $2, in which it ran before: stop it, and start it by systemctl start $2" ;;
  esac
}

# start_locally PATH DATA PORT CONFIG OPTIONS   start it for us alone; where ours runs, it only waits until that takes connections
# CONFIG is its configuration file outside of DATA, or `-`. OPTIONS hold back what would start work by itself; they come behind
# those of the old server, which came along in postmaster.opts, and which that file goes on to name. As soon as the server runs,
# its PG_VERSION lies behind the fence: after a restart of the host nothing starts it before a person has decided.
# Where this ends between the start of the server and the record of its lock file, own_server tells by the options whose it is.
start_locally() {
  PATH=$1
  start_found=$(servers_in "$2") || exit
  if [ -z "$start_found" ]; then
    no_server "$2"
    start_known=$2/pghaul-fence/server
    # as the shell of pg_ctl will take them apart
    (eval "set -- $5 -c port=$3" && whole "$start_known" printf '%s\n' 'started with' "$@") || exit
    open_fence "$2"
    keep_options "$2"
    (start_by_pg_ctl "$2" "$4" "$5 -c port=$3") || {
      put_behind "$2" PG_VERSION # it may run all the same
      options_again "$2"
      exit 1
    }
  else
    own_server "$2"
    accepts "$2" || fail "the server in $2 runs, and takes no connections: read its log"
  fi
  options_again "$2"
  whole "$2/pghaul-fence/server" head -n 3 -- "$2/postmaster.pid"
  put_behind "$2" PG_VERSION
}

# lift_fence DATA   end what start_locally started there, and let whoever starts new start it; nothing where that was done
# The sum of its control file stays: by it unopened knows whether anybody has.
lift_fence() {
  [ -e "$1/pghaul-fence/mark" ] || return 0
  stop_locally "$1"
  [ ! -e "$1/postmaster.pid" ] || fail "the server in $1 has ended by itself: read its log; --resume starts it again"
  whole "$1/pghaul-fence/control" control_sum "$1"
  open_target "$1"
}

# unopened DATA   no server has run there since its fence was lifted, if it was: else clients may have written to it
# A server writes into its control file before it lets anybody in; source: PostgreSQL's xlog.c, StartupXLOG.
unopened() {
  [ -e "$1/pghaul-fence/opened" ] || return 0
  no_server "$1"
  unopened_then=$(cat -- "$1/pghaul-fence/control") || fail "$1/pghaul-fence/control cannot be read"
  unopened_now=$(control_sum "$1") || exit
  [ "$unopened_now" = "$unopened_then" ] || fail 'new was started for clients: they may have written to it'
}

# not_opened DATA LOG WHY   a start has failed, WHY says why, where anything did, LOG where to read more; ends with 69 where it was
# new's and nobody can have written to it
not_opened() {
  [ -e "$1/pghaul-fence/opened" ] || fail "the server in $1 did not start: ${3:+$3; }$2"
  no_server "$1"
  unopened "$1"
  refuse 69 "new did not open, and nobody has written to it: mend what its log says and go on, or go back to old; ${3:+$3; }$2"
}

# start_by_pg_ctl DATA CONFIG OPTIONS   start the server there as postmaster.opts says, OPTIONS behind that, which so are stronger
# What it says goes to pghaul-start.log in DATA.
start_by_pg_ctl() {
  start_before=$(started_with "$1") || exit
  start_options="$start_before $3"
  if [ "$2" != - ]; then
    # quoted once more: pg_ctl hands them to a shell of its own
    start_files=$(printf '%s\n' "config_file=$2" "data_directory=$1" |
      sed "N; s/'/'\\\\''/g; s/\\(.*\\)\\n\\(.*\\)/-c '\\1' -c '\\2'/") || fail 'sed failed'
    start_options="$start_options $start_files"
  fi
  start_since=$(date +%s) || fail 'date failed'
  PGDATA=$1 pg_ctl -w -t 600 -o "$start_options" start </dev/null >"$1/pghaul-start.log" 2>&1 || {
    start_why=$(why_not "$1" "$start_since" tail -c 20000 -- "$1/pghaul-start.log") || exit
    fail "the server in $1 did not start: ${start_why:+$start_why; }read $1/pghaul-start.log"
  }
}

# keep_in_force DATA SETTING...   on the new server, before its first start: each SETTING, NAME=VALUE, stands in the last lines of its
# postgresql.auto.conf
# They are stronger than those above, which stay, an earlier move's too, and than every other file. In a value an apostrophe and a
# backslash are doubled (guc-file.l). A file that is not there is an empty one.
keep_in_force() {
  keep_file=$1/postgresql.auto.conf
  shift
  keep_now='' keep_mode=600
  if [ -e "$keep_file" ]; then
    keep_now=$(cat -- "$keep_file") || fail "$keep_file cannot be read"
    keep_mode=$(stat -c %a -- "$keep_file") || fail "$keep_file cannot be read"
  fi
  keep_more=$(printf '%s\n' "$@" | sed "s/['\\]/&&/g; s/=\(.*\)/ = '\1' # by pghaul: in force on the old server/") || fail 'sed failed'
  umask 077
  whole "$keep_file" printf '%s\n' "$keep_now" "$keep_more"
  chmod -- "$keep_mode" "$keep_file" || fail 'chmod failed'
}
