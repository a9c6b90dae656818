# A cluster's fence, DATA/pghaul-fence: its control file lies there, or its PG_VERSION. Without either in its place no postmaster
# starts in DATA, whoever starts it, also after a boot (postmaster.c, checkDataDir and checkControlFile); a server that runs
# does without PG_VERSION. On new it holds `mark` too, which says whose copy DATA is; `opened` instead of it when new is about to
# be opened; `server`, which server this copy has started, or the options with which it is about to.
# All as the cluster's owner. Each may be called again wherever it was broken off; what it has done is on the disk when it ends.

# no_server DATA   no server lives there: its working directory tells, or a lock file, but for that of one of ours that crashed
no_server() {
  server_found=$(servers_in "$1") || exit
  [ -z "$server_found" ] || fail "a server runs in $1: process ${server_found%%[!0-9]*}"
  [ ! -e "$1/postmaster.pid" ] || [ -e "$1/pghaul-fence/server" ] ||
    fail "a server runs in $1, or crashed: its lock file postmaster.pid is there"
}

# keep_time FOLDER COMMAND...   run what adds or takes away a name in FOLDER, whose time stays as it is
keep_time() {
  keep_folder=$1
  keep_since=$(stat -c %y -- "$1") || fail "$1 cannot be read"
  shift
  keep_said=$("$@" 2>&1) || fail "$* failed${keep_said:+: $keep_said}"
  touch -d "$keep_since" -- "$keep_folder" || fail "the time of $keep_folder cannot be set back"
}

# flush_names DATA   the names in DATA, in its global and in its fence are on the disk, and so is the mark
flush_names() {
  for flush_one in "$1" "$1/global" "$1/pghaul-fence" "$1/pghaul-fence/global" "$1/pghaul-fence/mark"; do
    [ ! -e "$flush_one" ] || sync -- "$flush_one" || fail "$flush_one cannot be flushed"
  done
}

# put_behind DATA NAME   what DATA holds by that name, global/pg_control or PG_VERSION, lies behind the fence
put_behind() {
  [ -d "$1/pghaul-fence/global" ] || (umask 077 && keep_time "$1" mkdir -p -- "$1/pghaul-fence/global") || exit
  behind_from=$1/$2
  [ ! -e "$behind_from" ] || keep_time "${behind_from%/*}" mv -fT -- "$behind_from" "$1/pghaul-fence/$2"
  flush_names "$1"
}

# take_out DATA NAME   what lies behind the fence by that name is in its place again
take_out() {
  if [ -e "$1/pghaul-fence/$2" ]; then
    out_to=$1/$2
    [ ! -e "$out_to" ] || fail "$2 is both in $1 and in $1/pghaul-fence: remove the one that is not the cluster's"
    keep_time "${out_to%/*}" mv -fT -- "$1/pghaul-fence/$2" "$out_to"
  fi
  flush_names "$1"
}

# open_fence DATA   all is in its place
open_fence() {
  take_out "$1" PG_VERSION
  take_out "$1" global/pg_control
}

# fence_cluster DATA   no server starts there from here on
fence_cluster() {
  no_server "$1"
  put_behind "$1" global/pg_control
  (no_server "$1") || { # somebody was faster
    take_out "$1" global/pg_control
    exit 1
  }
}

# unfence_cluster DATA   all is in its place, and the fence is gone; where there is none nothing is done
unfence_cluster() {
  [ -d "$1/pghaul-fence" ] || return 0
  never_opened "$1"
  open_fence "$1"
  keep_time "$1" rm -rf -- "$1/pghaul-fence"
  flush_names "$1"
}

# find_control DATA   set control_in to the folder in which global/pg_control lies: DATA, or its fence
find_control() {
  control_in=$1
  [ -e "$1/global/pg_control" ] || [ ! -e "$1/pghaul-fence/global/pg_control" ] || control_in=$1/pghaul-fence
}

# control_data PATH DATA [AS]   print what pg_controldata of that PATH says of it; AS: words that make another user of who runs it
control_data() {
  find_control "$2"
  control=$(${3-} env PATH="$1" pg_controldata "$control_in") || fail "pg_controldata cannot read the control file of $2"
  [ -n "$control" ] || fail "pg_controldata says nothing of $2"
  printf '%s\n' "$control"
}

# control_sum DATA   print the sum of its control file
control_sum() {
  find_control "$1"
  sha256sum <"$control_in/global/pg_control" || fail "the control file of $1 cannot be read"
}

# fence_target DATA LINE...   on new, ahead of all else: nobody starts a server there, and DATA bears the mark of this copy, LINEs
# A dress rehearsal that was broken off there has ended ahead of that. One whose backup has come and was not started stays as it is.
fence_target() {
  [ ! -e "$1/pghaul-fence/dressed" ] || dress_end "$1"
  close_target "$1"
  fence_data=$1
  shift
  whole "$fence_data/pghaul-fence/mark" printf '%s\n' '# a copy that pghaul has begun and not opened: no server starts in it' "$@"
  flush_names "$fence_data"
}

# say_opened DATA   on old, behind the opening: its fence says that the way back loses what clients wrote to new
say_opened() {
  echo 'new was opened to clients: what they wrote since is on new alone' >"$1/pghaul-fence/new-was-opened" ||
    fail "$1/pghaul-fence/new-was-opened cannot be written"
  sync -- "$1/pghaul-fence/new-was-opened" "$1/pghaul-fence" || fail "$1/pghaul-fence cannot be flushed"
}

# never_opened DATA   on old, ahead of the way back, whoever goes it: its fence does not say so
never_opened() {
  [ ! -e "$1/pghaul-fence/new-was-opened" ] ||
    fail 'new was opened to clients: what they wrote since is on new alone. To give it up, stop new, keep it from starting,' \
      "and remove $1/pghaul-fence/new-was-opened"
}

# close_target DATA   what a start needs lies behind the fence, but for PG_VERSION, and no server of ours is known any more
close_target() {
  fence_cluster "$1"
  take_out "$1" PG_VERSION
  # in this order: without `server` the lock file would be a stranger's
  rm -f -- "$1/postmaster.pid" "$1/pghaul-fence/server" "$1/pghaul-fence/control" \
    "$1/pghaul-fence/options" "$1/pghaul-fence/opened" "$1/pghaul-fence/new-was-opened" || fail "$1/postmaster.pid cannot be removed"
}

# give_back DATA   the way back on new: the server that this copy started is stopped, and none starts any more
# A data directory that bears no mark is none of ours.
give_back() {
  if [ -e "$1/pghaul-fence/opened" ]; then
    unopened "$1" # while it can still be told
    mv -fT -- "$1/pghaul-fence/opened" "$1/pghaul-fence/mark" || fail "$1/pghaul-fence/mark cannot be written"
  fi
  [ -e "$1/pghaul-fence/mark" ] || return 0
  # closed as it was, nothing to write: new's disk may be what the way back is gone for
  [ -e "$1/pghaul-fence/server" ] || [ -e "$1/global/pg_control" ] || return 0
  stop_locally "$1"
  close_target "$1"
}

# open_target DATA   ahead of new's own start: all is in its place, and the mark is none any more
open_target() {
  rm -f -- "$1/pghaul-fence/new-was-opened" || fail "$1/pghaul-fence/new-was-opened cannot be removed"
  [ ! -e "$1/pghaul-fence/mark" ] || mv -fT -- "$1/pghaul-fence/mark" "$1/pghaul-fence/opened" ||
    fail "$1/pghaul-fence/opened cannot be written"
  open_fence "$1"
}

# own_server DATA   fail unless the server that runs there is the one that this copy started: by its process and when it began, or,
# where nobody has come to record these, by the options on its command line, which hold it back as none of another's are
own_server() {
  own_lock=$(head -n 3 -- "$1/postmaster.pid") || own_lock=
  own_known=$(cat -- "$1/pghaul-fence/server") || own_known=
  case $own_lock:$own_known in
    [0-9]*:"started with
"*)
      own_line=$(tr '\0' '\n' <"/proc/${own_lock%%[!0-9]*}/cmdline" && echo .) || own_line=''
      case $own_line in *"${own_known#started with}
"*) return 0 ;; *) ;; esac
      ;;
    *) [ -z "$own_lock" ] || [ "$own_lock" != "$own_known" ] || return 0 ;;
  esac
  fail "a server runs in $1 that this copy has not started: look at it, and stop it"
}

# stop_locally DATA   stop the server there that start_locally started, if it runs
# By its signal: pg_ctl would want PG_VERSION in its place, where anybody could start it at the next boot.
stop_locally() {
  stop_found=$(servers_in "$1") || exit
  [ -n "$stop_found" ] || return 0
  own_server "$1"
  kill -s INT "${own_lock%%[!0-9]*}" || fail "the server in $1 cannot be told to stop"
  stop_looks=0
  while [ -n "$stop_found" ]; do
    stop_looks=$((stop_looks + 1))
    [ "$stop_looks" -le 6000 ] || fail "the server in $1, process ${own_lock%%[!0-9]*}, has not stopped within 10 minutes"
    sleep 0.1 || fail 'sleep is not there'
    stop_found=$(servers_in "$1") || exit
  done
}
