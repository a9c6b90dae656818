# A trial cluster: made by the binaries of a PATH in a scratch folder, read, asked, and removed at once.
# It is never opened to anybody: the server program runs in its single-user mode. Whatever a library prints cannot pass
# for a line of ours: what the server says is read from the line that follows a mark of the asked statements.

# trial_cluster PATH [KIND WORD]... [sql STATEMENT...]   print the version, the control file and the answers, each
# behind its mark KIND is preload (a library at the server's start), library (one that a session loads), setting
# (NAME=VALUE), path (a file, or a program by name) or pgbackrest (a file of its configuration, or a folder of them).
trial_cluster() {
  PATH=$1
  export PATH
  shift
  umask 077
  remove_old_trials
  trial_folder=$(mktemp -d /tmp/pghaul-trial.XXXXXX) || fail 'no folder for a trial cluster can be created in /tmp'
  trap 'rm -rf -- "$trial_folder" || fail "$trial_folder cannot be removed"' EXIT
  trap 'exit 143' HUP INT TERM
  enter_folder "$trial_folder"
  postgres --version || fail 'no server program (postgres) can be run'
  make_trial
  echo pghaul-control-data
  pg_controldata "$trial_folder/data" || fail 'pg_controldata failed'
  echo pghaul-binaries
  ask_trial "$@"
}

# remove_old_trials   remove what a killed trial left an hour ago or more
remove_old_trials() {
  trials_user=$(id -un) || fail 'id failed'
  find /tmp -maxdepth 1 -ignore_readdir_race -name 'pghaul-trial.*' -user "$trials_user" -mmin +60 -exec rm -rf -- {} + ||
    fail 'the files of an earlier trial in /tmp cannot be removed'
}

# make_trial   the trial cluster, by initdb; it knows -N (no sync) since 9.3
make_trial() {
  trial_said=$(initdb -N --locale=C -E UTF8 -D "$trial_folder/data" 2>&1 >/dev/null) && return
  rm -rf -- "$trial_folder/data" || fail "$trial_folder/data cannot be removed"
  trial_said=$(initdb --locale=C -E UTF8 -D "$trial_folder/data" 2>&1 >/dev/null) ||
    fail "initdb failed: ${trial_said##*'
'}"
}

# ask_trial [KIND WORD]... [sql STATEMENT...]   a line KIND|WORD|COMPLAINT for each, and what the server prints to the
# statements
ask_trial() {
  trial_loaded=
  while [ $# -gt 0 ]; do
    case $1 in
      preload) try_preload "$2" ;;
      library) try_library "$2" ;;
      setting) try_setting "$2" ;;
      path) try_path "$2" ;;
      pgbackrest) try_pgbackrest "$2" ;;
      *) break ;;
    esac
    shift 2
  done
  [ $# -gt 0 ] || return 0
  shift
  printf '%s\n' "$@" | single_user ${trial_loaded:+-c shared_preload_libraries="$trial_loaded"}
  return 0
}

# single_user [OPTION...]   the server program in single-user mode, statements on standard input
single_user() {
  postgres --single -D "$trial_folder/data" "$@" postgres 2>&1
}

# try_preload LIBRARY   whether the server starts with it; those that it starts with stay loaded for all that follows
# shellcheck disable=SC2154 # loadable sets loadable_file
try_preload() {
  check_loadable preload "$1" || return 0
  try_status=0
  try_said=$(single_user -c shared_preload_libraries="$loadable_file" </dev/null) || try_status=$?
  [ "$try_status" -ne 0 ] || trial_loaded=${trial_loaded:+$trial_loaded,}$loadable_file
  try_said=$(server_complaint "$try_status" "$try_said") || exit
  print_answer preload "$1" "$try_said"
}

# try_library LIBRARY   whether a session can load it; in a server of its own, which it may bring down
# shellcheck disable=SC2154 # as above
try_library() {
  check_loadable library "$1" || return 0
  try_status=0
  try_said=$(printf "load '%s'\n" "$loadable_file" |
    single_user ${trial_loaded:+-c shared_preload_libraries="$trial_loaded"}) || try_status=$?
  # a statement that fails is no end of the server
  case $try_said in *'ERROR:  '*) try_status=1 ;; *) ;; esac
  try_said=$(server_complaint "$try_status" "$try_said") || exit
  print_answer library "$1" "$try_said"
}

# check_loadable KIND LIBRARY   whether it may be loaded here; else print `unverified|LIBRARY|WHY`, or that it is not
# there
# shellcheck disable=SC2154 # loadable sets them
check_loadable() {
  may_user=$(id -u) || fail 'id failed'
  check_library "$may_user" "$2"
  case $? in
    0) return 0 ;;
    1) print_answer unverified "$2" "$loadable_why" ;;
    *) print_answer "$1" "$2" "$loadable_why" ;;
  esac
  return 1
}

# try_setting NAME=VALUE   whether the server takes it
try_setting() {
  try_status=0
  try_said=$(postgres -C port -D "$trial_folder/data" -c "$1" 2>&1) || try_status=$?
  try_said=$(server_complaint "$try_status" "$try_said") || exit
  print_answer setting "$1" "$try_said"
}

# try_path PATH   whether it is there; a program in PATH where it has no slash ahead; share:PATH is one below what the
# programs share, host:NAME a host whose address can be told
try_path() {
  try_said=
  case $1 in
    share:*)
      [ -n "${trial_share-}" ] || trial_share=$(initdb -s -D "$trial_folder/none" 2>&1 | sed -n 's/^share_path=//p') ||
        fail 'sed failed'
      [ -e "$trial_share/${1#share:}" ] || try_said="no such file in ${trial_share:-the folder that the programs share}"
      ;;
    host:*) getent ahosts "${1#host:}" >/dev/null || try_said='no such host' ;;
    /*) [ -e "$1" ] || try_said='no such file or folder' ;;
    *) command -v -- "$1" >/dev/null || try_said='no such program' ;;
  esac
  print_answer path "$1" "$try_said"
}

# try_pgbackrest PATH   of that file, or of each in that folder, the lines that say where the data directory is; nothing
# where there is none No other line is read: they hold keys and passwords.
try_pgbackrest() {
  if [ -d "$1" ]; then
    set -- "$1"/*.conf
  fi
  for try_file; do
    [ -e "$try_file" ] || continue
    [ -r "$try_file" ] || { # and pgBackRest runs as this user
      print_answer pgbackrest "$try_file" unreadable
      continue
    }
    try_said=$(sed -n '/^[[:space:]]*\[.*\][[:space:]]*$/p; /^[[:space:]]*pg[0-9]*-\(path\|host\)[[:space:]]*=/p' "$try_file") ||
      fail "$try_file cannot be read"
    print_answer pgbackrest "$try_file" "$try_said"
  done
}

# server_complaint STATUS SAID   print the last complaint of what a server said; nothing where its exit status is 0
server_complaint() {
  [ "$1" -ne 0 ] || return 0
  # 1: none
  complaint_said=$(printf '%s\n' "$2" | grep -aE '(FATAL|PANIC|ERROR): ') || [ $? -eq 1 ] || fail 'grep failed'
  complaint_said=${complaint_said##*'
'}
  printf '%s\n' "${complaint_said:-it ended with exit status $1}"
}

# print_answer KIND WORD COMPLAINT   KIND|WORD|COMPLAINT, both as `hex` prints them
print_answer() {
  answer_word=$(hex "$2") || exit
  answer_said=$(hex "$3") || exit
  printf '%s|%s|%s\n' "$1" "$answer_word" "$answer_said"
}
