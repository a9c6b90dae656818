# A trial cluster: it is created by the binaries of a PATH in a scratch folder, examined and queried, and removed at
# once. No connection to it is possible, because the server program runs in its single-user mode. The output of the
# server is read only from the line after a mark that the statements print. So the output of a library cannot imitate an
# answer.

# trial_cluster PATH [KIND WORD]... [sql STATEMENT...]
# Print the version, the control file and the answers of a trial cluster, each after its mark. KIND is preload (a
# library that the server loads at its start), library (one that a session loads), setting (NAME=VALUE), path (a file,
# or a program by its name) or pgbackrest (a configuration file of pgBackRest, or a folder of them).
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

# remove_old_trials   Remove the files of trials that were killed at least an hour ago.
remove_old_trials() {
  trials_user=$(id -un) || fail 'id failed'
  allow_gone /tmp -- find /tmp -maxdepth 1 -ignore_readdir_race -name 'pghaul-trial.*' -user "$trials_user" -mmin +60 \
    -exec rm -rf -- {} + || fail 'the files of an earlier trial in /tmp cannot be removed'
}

# make_trial   Create the trial cluster with initdb. Since 9.3 initdb has the option -N, which avoids flushing it to
# disk.
make_trial() {
  trial_said=$(initdb -N --locale=C -E UTF8 -D "$trial_folder/data" 2>&1 >/dev/null) && return
  rm -rf -- "$trial_folder/data" || fail "$trial_folder/data cannot be removed"
  trial_said=$(initdb --locale=C -E UTF8 -D "$trial_folder/data" 2>&1 >/dev/null) ||
    fail "initdb failed: ${trial_said##*'
'}"
}

# ask_trial [KIND WORD]... [sql STATEMENT...]   Print a line KIND|WORD|COMPLAINT for each WORD, and the answers of the
# server to the STATEMENTs.
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

# single_user [OPTION...]   Run the server program in single-user mode, with the statements on standard input.
single_user() {
  postgres --single -D "$trial_folder/data" "$@" postgres 2>&1
}

# try_preload LIBRARY   Print whether the server starts with LIBRARY. If it does, the library stays loaded for all later
# questions.
# shellcheck disable=SC2154 # loadable sets loadable_file
try_preload() {
  check_loadable preload "$1" || return 0
  try_status=0
  try_said=$(single_user -c shared_preload_libraries="$loadable_file" </dev/null) || try_status=$?
  [ "$try_status" -ne 0 ] || trial_loaded=${trial_loaded:+$trial_loaded,}$loadable_file
  try_said=$(server_complaint "$try_status" "$try_said") || exit
  print_answer preload "$1" "$try_said"
}

# try_library LIBRARY   Print whether a session can load LIBRARY. This uses a server of its own, because the library may
# crash it.
# shellcheck disable=SC2154 # as above
try_library() {
  check_loadable library "$1" || return 0
  try_status=0
  try_said=$(printf "load '%s'\n" "$loadable_file" |
    single_user ${trial_loaded:+-c shared_preload_libraries="$trial_loaded"}) || try_status=$?
  # The server does not end when a statement fails.
  case $try_said in *'ERROR:  '*) try_status=1 ;; *) ;; esac
  try_said=$(server_complaint "$try_status" "$try_said") || exit
  print_answer library "$1" "$try_said"
}

# check_loadable KIND LIBRARY   Succeed if LIBRARY may be loaded here. Otherwise print `unverified|LIBRARY|WHY`, or that
# it does not exist.
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

# try_setting NAME=VALUE   Print whether the server accepts this setting.
try_setting() {
  try_status=0
  try_said=$(postgres -C port -D "$trial_folder/data" -c "$1" 2>&1) || try_status=$?
  try_said=$(server_complaint "$try_status" "$try_said") || exit
  print_answer setting "$1" "$try_said"
}

# try_path PATH   Print whether PATH exists. Without a slash at its beginning it is the name of a program. `share:PATH`
# is below the shared files of the programs. `host:NAME` is a host whose address must be known.
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

# try_pgbackrest PATH   Print the lines of the file PATH, or of each file in the folder PATH, that name the data
# directory. Prints nothing if there is no such line. No other line is read, because other lines contain keys and
# passwords.
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
    try_said=$(sed -n -e '/^[[:space:]]*\[.*\][[:space:]]*$/p' \
      -e '/^[[:space:]]*pg[0-9]*-\(path\|host\)[[:space:]]*=/p' "$try_file") ||
      fail "$try_file cannot be read"
    print_answer pgbackrest "$try_file" "$try_said"
  done
}

# server_complaint STATUS SAID   Print the last error message in SAID, the output of a server. Prints nothing if STATUS,
# its exit status, is 0.
server_complaint() {
  [ "$1" -ne 0 ] || return 0
  # 1: none.
  complaint_said=$(printf '%s\n' "$2" | grep -aE '(FATAL|PANIC|ERROR): ') || [ $? -eq 1 ] || fail 'grep failed'
  complaint_said=${complaint_said##*'
'}
  printf '%s\n' "${complaint_said:-it ended with exit status $1}"
}

# print_answer KIND WORD COMPLAINT   Print KIND|WORD|COMPLAINT, with WORD and COMPLAINT in hexadecimal digits.
print_answer() {
  answer_word=$(hex "$2") || exit
  answer_said=$(hex "$3") || exit
  printf '%s|%s|%s\n' "$1" "$answer_word" "$answer_said"
}
