# The fence of a cluster, DATA/pghaul-fence, contains its control file or its PG_VERSION. Without either of them in its
# place no postmaster starts in DATA, whoever starts it, also after a reboot (postmaster.c, checkDataDir and
# checkControlFile). A running server does not need PG_VERSION. On the new server the fence contains more files: `mark`
# says whose copy DATA is; it becomes `opened` at the cutover; `server` says which server this copy has started, or with
# which options it is about to, and `socket` where its Unix socket is. All functions run as the owner of the cluster.
# Each can be repeated after an interruption, and its result is on disk when it ends.

# refuse_running_server DATA   Fail if a server is running there, by its working directory or by a lock file, except the
# lock file of a server of this copy that has crashed.
refuse_running_server() {
  server_found=$(list_servers_in "$1") || exit
  [ -z "$server_found" ] || fail "a PostgreSQL server is running in $1 (process ${server_found%%[!0-9]*})"
  [ ! -e "$1/postmaster.pid" ] || [ -e "$1/pghaul-fence/server" ] ||
    fail "a PostgreSQL server is running in $1 or has crashed: its lock file postmaster.pid exists"
}

# run_keeping_time FOLDER COMMAND...   Run COMMAND, which adds or removes a name in FOLDER, and keep the time of FOLDER.
run_keeping_time() {
  keep_folder=$1
  keep_since=$(stat -c %y -- "$1") || fail "$1 cannot be read"
  shift
  keep_said=$("$@" 2>&1) || fail "$* failed${keep_said:+: $keep_said}"
  touch -d "$keep_since" -- "$keep_folder" || fail "the modification time of $keep_folder cannot be restored"
}

# flush_fence DATA   Write the mark and the names in DATA, in its global folder and in its fence to disk.
flush_fence() {
  for flush_one in "$1" "$1/global" "$1/pghaul-fence" "$1/pghaul-fence/global" "$1/pghaul-fence/mark"; do
    [ ! -e "$flush_one" ] || sync -- "$flush_one" || fail "$flush_one cannot be written to disk"
  done
}

# move_behind_fence DATA NAME   Move global/pg_control or PG_VERSION, as NAME says, from DATA into the fence.
move_behind_fence() {
  [ -d "$1/pghaul-fence/global" ] || (umask 077 && run_keeping_time "$1" mkdir -p -- "$1/pghaul-fence/global") || exit
  behind_from=$1/$2
  [ ! -e "$behind_from" ] || run_keeping_time "${behind_from%/*}" mv -fT -- "$behind_from" "$1/pghaul-fence/$2"
  flush_fence "$1"
}

# move_out_of_fence DATA NAME   Move the file of that name from the fence back to its place.
move_out_of_fence() {
  if [ -e "$1/pghaul-fence/$2" ]; then
    out_to=$1/$2
    [ ! -e "$out_to" ] ||
      fail "$2 exists in $1 and in $1/pghaul-fence. Remove the one that does not belong to the cluster"
    run_keeping_time "${out_to%/*}" mv -fT -- "$1/pghaul-fence/$2" "$out_to"
  fi
  flush_fence "$1"
}

# open_fence DATA   Move all files of the fence back to their places.
open_fence() {
  move_out_of_fence "$1" PG_VERSION
  move_out_of_fence "$1" global/pg_control
}

# fence_cluster DATA   Prevent any server from starting there.
fence_cluster() {
  refuse_running_server "$1"
  move_behind_fence "$1" global/pg_control
  (refuse_running_server "$1") || { # a server has been started meanwhile
    move_out_of_fence "$1" global/pg_control
    exit 1
  }
}

# unfence_cluster DATA   Move all files back to their places and remove the fence; do nothing if there is none.
unfence_cluster() {
  [ -d "$1/pghaul-fence" ] || return 0
  refuse_after_cutover "$1"
  open_fence "$1"
  run_keeping_time "$1" rm -rf -- "$1/pghaul-fence"
  flush_fence "$1"
}

# find_control DATA   Set control_in to the folder in which global/pg_control lies: DATA, or its fence.
find_control() {
  control_in=$1
  [ -e "$1/global/pg_control" ] || [ ! -e "$1/pghaul-fence/global/pg_control" ] || control_in=$1/pghaul-fence
}

# print_control_data PATH DATA [AS]   Print the output of pg_controldata on that PATH; AS: words that run it as another
# user.
print_control_data() {
  find_control "$2"
  control=$(${3-} env PATH="$1" pg_controldata "$control_in") ||
    fail "pg_controldata cannot read the control file of $2"
  [ -n "$control" ] || fail "pg_controldata says nothing of $2"
  printf '%s\n' "$control"
}

# checksum_control_file DATA   Print the checksum of its control file.
checksum_control_file() {
  find_control "$1"
  sha256sum <"$control_in/global/pg_control" || fail "the control file of $1 cannot be read"
}

# fence_target DATA LINE...   On the new server, before anything else: prevent a server from starting there, and mark
# DATA as the target of this copy with LINEs. A dress rehearsal that was interrupted is ended first. One whose backup
# was copied and not started stays as it is.
fence_target() {
  [ ! -e "$1/pghaul-fence/dressed" ] || dress_stop_copy "$1"
  close_target "$1"
  fence_data=$1
  shift
  write_complete "$fence_data/pghaul-fence/mark" \
    printf '%s\n' '# a copy that pghaul has begun and not opened: no server starts in it' "$@"
  flush_fence "$fence_data"
}

# record_cutover DATA   On the old server, after the cutover: record in its fence that a rollback would lose what
# clients have written.
record_cutover() {
  echo 'The new cluster was opened for clients. What they have written since is on the new server' \
    'only.' >"$1/pghaul-fence/new-was-opened" ||
    fail "$1/pghaul-fence/new-was-opened cannot be written"
  sync -- "$1/pghaul-fence/new-was-opened" "$1/pghaul-fence" || fail "$1/pghaul-fence cannot be written to disk"
}

# refuse_after_cutover DATA   On the old server, before any rollback: fail if its fence says that the cutover has
# happened.
refuse_after_cutover() {
  [ ! -e "$1/pghaul-fence/new-was-opened" ] ||
    fail 'the new cluster was opened for clients, and what they have written since is on the new server only. To give' \
      "that up, stop the new cluster, prevent it from starting, and remove $1/pghaul-fence/new-was-opened"
}

# close_target DATA   Move what a start needs behind the fence, except PG_VERSION, and forget any server that was
# started there.
close_target() {
  fence_cluster "$1"
  move_out_of_fence "$1" PG_VERSION
  remove_socket_folder "$1"
  # In this order: without `server` the lock file would be that of an unknown server.
  rm -f -- "$1/postmaster.pid" "$1/pghaul-fence/server" "$1/pghaul-fence/control" \
    "$1/pghaul-fence/options" "$1/pghaul-fence/opened" "$1/pghaul-fence/new-was-opened" ||
    fail "$1/postmaster.pid cannot be removed"
}

# remove_socket_folder DATA   Remove the folder of the Unix socket that start_local_only has created, if there is one.
# What another user has put in its place is left alone: neither the start nor the rollback may depend on them.
remove_socket_folder() {
  [ -e "$1/pghaul-fence/socket" ] || return 0
  read -r socket_folder <"$1/pghaul-fence/socket" || fail "$1/pghaul-fence/socket cannot be read"
  case $socket_folder in
    /*/pghaul-local-????????????)
      [ -L "$socket_folder" ] || [ ! -O "$socket_folder" ] || rm -rf -- "$socket_folder" ||
        fail "$socket_folder cannot be removed"
      ;;
    *) ;;
  esac
  rm -f -- "$1/pghaul-fence/socket" || fail "$1/pghaul-fence/socket cannot be removed"
}

# roll_back_target DATA   Rollback on the new server: stop the server that this copy has started, and prevent any
# further start. A data directory without a mark does not belong to this copy, and is left alone.
roll_back_target() {
  if [ -e "$1/pghaul-fence/opened" ]; then
    refuse_changed_copy "$1" # while it can still be told
    mv -fT -- "$1/pghaul-fence/opened" "$1/pghaul-fence/mark" || fail "$1/pghaul-fence/mark cannot be written"
  fi
  [ -e "$1/pghaul-fence/mark" ] || return 0
  # Closed already, so nothing is written: a broken disk of the new server may be the reason for the rollback.
  [ -e "$1/pghaul-fence/server" ] || [ -e "$1/global/pg_control" ] || return 0
  stop_local_only "$1"
  close_target "$1"
}

# open_target DATA   Before the new cluster is started for clients: put all files in their places, and end the mark.
open_target() {
  rm -f -- "$1/pghaul-fence/new-was-opened" || fail "$1/pghaul-fence/new-was-opened cannot be removed"
  [ ! -e "$1/pghaul-fence/mark" ] || mv -fT -- "$1/pghaul-fence/mark" "$1/pghaul-fence/opened" ||
    fail "$1/pghaul-fence/opened cannot be written"
  open_fence "$1"
}

# check_own_server DATA   Fail unless the server that is running there was started by this copy: by its process id and
# start time or, if these were not recorded, by the isolation settings on its command line, which no other server has.
check_own_server() {
  own_lock='' own_known=''
  ! [ -e "$1/postmaster.pid" ] || own_lock=$(head -n 3 -- "$1/postmaster.pid") || own_lock=''
  ! [ -e "$1/pghaul-fence/server" ] || own_known=$(cat -- "$1/pghaul-fence/server") || own_known=''
  case $own_lock:$own_known in
    [0-9]*:"started with
"*)
      own_line=$(tr '\0' '\n' <"/proc/${own_lock%%[!0-9]*}/cmdline" && echo .) || own_line=''
      case $own_line in *"${own_known#started with}
"*) return 0 ;; *) ;; esac
      ;;
    *) [ -z "$own_lock" ] || [ "$own_lock" != "$own_known" ] || return 0 ;;
  esac
  fail "a PostgreSQL server that this copy has not started is running in $1, as after a reboot in the middle of its" \
    'start. Make sure that no client has used it, and stop it'
}

# stop_local_only DATA   Stop the server there that start_local_only has started, if it is running. It sends a signal:
# pg_ctl would need PG_VERSION in its place, where anybody could start the cluster at the next boot.
stop_local_only() {
  stop_found=$(list_servers_in "$1") || exit
  [ -n "$stop_found" ] || return 0
  check_own_server "$1"
  kill -s INT "${own_lock%%[!0-9]*}" || fail "the server in $1 does not take the signal to stop"
  stop_looks=0
  while [ -n "$stop_found" ]; do
    stop_looks=$((stop_looks + 1))
    [ "$stop_looks" -le 6000 ] ||
      fail "the server in $1, process ${own_lock%%[!0-9]*}, has not stopped within 10 minutes"
    sleep 0.1 || fail 'the program sleep is missing'
    stop_found=$(list_servers_in "$1") || exit
  done
}
