# The passes of rsync, on the old server, by each route: ssh, daemon (file contents only, the rest by ssh), nfs, local.
# Settings name the functions for the route and the number of streams, so that a plan contains only those that it uses:
# copy_send, copy_listed, copy_stream, copy_share, copy_warm, copy_cold. Further settings: copy_folder, copy_marker,
# copy_streams, copy_options, copy_progress, copy_vanish, copy_ssh, copy_daemon; copy_path and copy_data for the control
# file; copy_target, the target as the old server itself sees it, or `-`: no pass writes where a server is running. A
# sample sets copy_limit, words before rsync. copy_limit_pass and copy_limit_stream limit what a pre-copy pass sends, by
# one rsync and by one of several streams; they are empty without a limit.
#   --inplace       only the changed parts of a file are written; an interrupted pass continues where it stopped
#   --ignore-times  files that are not marked as synced are compared byte by byte, whatever their size and time
#   --existing, then --ignore-existing
#                   only existing files are written in place: rsync truncates such a file at its end, and for a new file
#                   XFS would then wait for the disk (xfs_setattr_size)
#   --rsync-path    the line of the key in authorized_keys chooses the target folder, so no path crosses a remote shell
# shellcheck disable=SC2154

# send_by_ssh LABEL SOURCE TARGET OPTION...   Copy SOURCE, as far as the OPTIONs select it, into the data root LABEL of
# the new server. RSYNC_PROTECT_ARGS=0 keeps the server's options on its command line, where the receiver on the new
# server checks them.
send_by_ssh() {
  send_label=$1 send_source=$2
  shift 3
  # shellcheck disable=SC2086 # options without blanks, several in a variable
  RSYNC_PROTECT_ARGS=0 ${copy_limit-} rsync $copy_options "$@" -e "$copy_ssh" \
    --rsync-path="pghaul-receive $send_label" "$send_source" new:.
}

# send_by_nfs LABEL SOURCE TARGET OPTION...   Copy through the NFS mount of LABEL.
send_by_nfs() {
  send_label=$1 send_source=$2
  shift 3
  # shellcheck disable=SC2086 # as above
  ${copy_limit-} rsync $copy_options "$@" "$send_source" "/run/$copy_marker/$send_label/"
}

# send_locally LABEL SOURCE TARGET OPTION...   Copy within one server that has both clusters.
send_locally() {
  send_source=$2 send_target=$3
  shift 3
  # shellcheck disable=SC2086 # as above
  ${copy_limit-} rsync $copy_options "$@" "$send_source" "$send_target/"
}

# send_listed STREAM LABEL TARGET OPTION...   Copy the files in the list of that stream from the current folder.
send_listed() {
  listed_names=$copy_folder/files-$2-$1.names listed_label=$2 listed_target=$3
  shift 3
  "$copy_send" "$listed_label" ./ "$listed_target" --from0 --files-from="$listed_names" "$@"
}

# send_to_daemon STREAM LABEL TARGET OPTION...   Copy the files in the list of that stream to the rsync daemon of the
# new server.
send_to_daemon() {
  listed_names=$copy_folder/files-$2-$1.names listed_label=$2
  shift 3
  listed_port=$(read_daemon_port "$copy_folder") || exit
  # shellcheck disable=SC2086 # as above
  ${copy_limit-} rsync $copy_options "$@" --contimeout=10 --password-file="$copy_folder/password" \
    --port="$listed_port" --from0 --files-from="$listed_names" ./ "$copy_daemon::$listed_label/"
}

# send_streams LABEL TARGET OPTION...   Copy the listed files by all streams at once; end with the worst of their exit
# statuses.
send_streams() {
  streams_log=$copy_folder/stream-$1
  show_streams "$streams_log" 2>/dev/null &
  streams_shown=$!
  run_streams "$streams_log" "$@"
  streams_status=$?
  kill -s TERM "$streams_shown" 2>/dev/null
  wait "$streams_shown" 2>/dev/null # it may be ended before it has set its trap, and dash would say so
  printf '\n==> <==\n'              # it may have been ended behind a name
  sed '/\r/d' "$streams_log"-[0-9] || fail "the logs of the streams in $copy_folder cannot be read"
  rm -f -- "$streams_log"-[0-9] || fail "$streams_log cannot be removed"
  return "$streams_status"
}

# run_streams LOG LABEL TARGET OPTION...   Run all streams, each with its output in LOG-NUMBER; LOG `-`, for a sample:
# without logs. There are at most nine streams. So the logs of the root `pg_wal` cannot be confused with those of a root
# `pg_wal-old`.
run_streams() {
  run_log=$1 run_label=$2 run_target=$3 run_ids='' run_number=1
  shift 3
  while [ "$run_number" -le "$copy_streams" ]; do
    if [ "$run_log" = - ]; then
      "$copy_stream" "$run_number" "$run_label" "$run_target" "$@" &
    else
      "$copy_stream" "$run_number" "$run_label" "$run_target" "$@" >"$run_log-$run_number" &
    fi
    run_ids="$run_ids $!" run_number=$((run_number + 1))
  done
  run_worst=0
  for run_id in $run_ids; do
    wait "$run_id"
    run_status=$?
    case $run_worst:$run_status in
      *:0 | [!0]*:24) ;;
      *) run_worst=$run_status ;;
    esac
  done
  return "$run_worst"
}

# show_streams LOG   Print the end of the log of each stream every second, under `==> LOG-1 <==`, until it is ended.
show_streams() {
  # The sleep is ended too, because a new one must not keep the log open.
  trap 'kill "$!"; exit' TERM
  while :; do
    sleep 1 >/dev/null &
    wait "$!"
    tail -v -c 99 -- "$1"-[0-9]
    printf '\n==> <==\n'
  done
}

# send_root LABEL SOURCE TARGET OPTION...   Copy everything in the data root that the OPTIONs select, folders and links
# too. If copy_parts are in a folder of the new server that other clusters use too, only these are named to rsync, so
# that the folder keeps its mode.
send_root() {
  root_label=$1 root_source=$2/ root_target=$3 root_rest=${copy_parts:+$copy_parts/}
  shift 3
  [ -z "${copy_new_folder-}" ] || root_rest=''
  while [ -n "$root_rest" ]; do
    # shellcheck disable=SC2086 # a pattern, here in the data root
    for root_part in ./${root_rest%%/*}; do
      [ -e "$root_part" ] || [ -L "$root_part" ] || continue
      case $root_source in ./*) set -- "$@" "$root_source" ;; *) ;; esac
      root_source=$root_part
    done
    root_rest=${root_rest#*/}
  done
  # shellcheck disable=SC2086 # as above
  "$copy_send" "$root_label" "$root_source" "$root_target" $copy_left_out "$@"
}

# detect_new_folder LABEL TARGET   Before the first pass: set copy_new_folder if the folder of copy_parts is empty on
# the new server. It then gets the mode that it has on the old server
detect_new_folder() {
  copy_new_folder=''
  [ -z "$copy_parts" ] || ! target_root_is_empty "$@" || copy_new_folder=yes
}

# begin_pass LABEL SOURCE WAL [NAME]   Change to the data root, and set copy_left_out, the options of all its passes.
# WAL is the folder of its WAL (`.` for the root itself), or `-`. Its idle WAL is listed under NAME, for steps that run
# at the same time. Or WAL is copy_parts, the names in the folder of a tablespace that belong to the cluster:
# PG_15_202209061/wal, as patterns without blanks.
begin_pass() {
  copy_left_out="$copy_progress --exclude=lost+found/" copy_parts=''
  if [ "$1" = data ]; then
    # The control file in the fence of the old cluster is copied into that of the new one, unless the old cluster is not
    # fenced yet.
    begin_fence=/pghaul-fence
    [ ! -e "$2/pghaul-fence/global/pg_control" ] || begin_fence=/pghaul-fence/mark
    copy_left_out="$copy_left_out --exclude=/postmaster.pid --exclude=/pghaul-start.log --exclude=/global/pg_control"
    copy_left_out="$copy_left_out --exclude=$begin_fence"
  fi
  case $3 in
    PG_*)
      copy_parts=$3
      begin_rest=$3/
      while [ -n "$begin_rest" ]; do
        copy_left_out="$copy_left_out --include=/${begin_rest%%/*}"
        begin_rest=${begin_rest#*/}
      done
      # Other files in the folder are neither sent nor removed.
      copy_left_out="$copy_left_out --exclude=/*"
      ;;
    *) ;;
  esac
  if [ "$3" != - ] && [ -z "$copy_parts" ] && [ "$copy_data" != - ]; then
    begin_ahead=/$3/
    [ "$3" != . ] || begin_ahead=/
    # Hidden from the sender: not sent, and removed on the new server by a pass that removes files.
    begin_idle=$copy_folder/${4:-idle}-$1
    write_complete "$begin_idle" idle_wal "$copy_path" "$copy_data" "$2/$3" "H $begin_ahead"
    copy_left_out="$copy_left_out --filter=merge_$begin_idle"
  fi
  [ "$copy_target" = - ] || refuse_running_server "$copy_target"
  enter_folder "$2"
}

# run_tolerating TOLERATED COMMAND...   Run a part of a pass; end with the exit status of rsync if it fails, except with
# TOLERATED 24, a file vanished, is normal while the server is running; source: rsync(1), EXIT VALUES. So is a file that
# got shorter while it was read, for example because VACUUM truncated a table. rsync then ends with 23, although it has
# sent that file once more as it is now (match.c: after a read error the checksum is made wrong, and the receiver asks
# again).
run_tolerating() {
  passed_tolerated=$1
  shift
  if [ "$passed_tolerated" -eq 24 ]; then
    passed_said=$copy_folder/passed-$$
    ("$@") 2>"$passed_said"
    passed_status=$?
    cat -- "$passed_said" >&2 || fail "$passed_said cannot be read"
    [ "$passed_status" -ne 23 ] || ! only_shrunk_files "$passed_said" || passed_status=24
    rm -f -- "$passed_said" || fail "$passed_said cannot be removed"
  else
    "$@"
    passed_status=$?
  fi
  [ "$passed_status" -eq 0 ] || [ "$passed_status" -eq "$passed_tolerated" ] || {
    # if somebody has started the stopped cluster, what rsync says is only a consequence
    [ "$passed_tolerated" -ne 0 ] || [ "$copy_data" = - ] || refuse_running_server "$copy_data"
    refuse "$passed_status" "rsync ended with exit status $passed_status: the lines above say why"
  }
}

# only_shrunk_files FILE   Succeed if the messages of rsync in FILE say only that files got shorter while it read them,
# or vanished. A file that it sent twice without success is named with `failed verification`.
only_shrunk_files() {
  awk '
    /^rsync: (\[sender\] )?read errors mapping ".*": No data available \(61\)$/ { shorter = 1; next }
    /^$/ || /^(file|directory) has vanished: / || /^rsync error: some files\/attrs were not transferred / { next }
    { other = 1 }
    END { exit !shorter || other }' "$1"
}

# precopy_pass LABEL SOURCE TARGET WAL   While the old cluster is running: copy what is not synced yet, missing files,
# folders and links. Print how much the next pass would have to compare.
precopy_pass() {
  begin_pass "$1" "$2" "$4"
  detect_new_folder "$1" "$3"
  list_changed_files "$1"
  "$copy_warm" "$1" "$2" "$3"
  # shellcheck disable=SC2086 # as above
  run_tolerating 24 send_root "$1" "$2" "$3" $copy_limit_pass --ignore-existing --partial
  mark_synced "$1"
  print_changed "$1"
}

# precopy_listed LABEL SOURCE TARGET   The part for files that exist in the target, by one stream.
precopy_listed() {
  # shellcheck disable=SC2086 # as above
  target_root_is_empty "$1" "$3" ||
    run_tolerating 24 $copy_listed "$1" "$3" $copy_vanish $copy_left_out $copy_limit_stream --existing --ignore-times \
      --inplace
}

# precopy_streams LABEL SOURCE TARGET   The same by several streams, then the missing files; folders and links follow.
precopy_streams() {
  precopy_listed "$@"
  # shellcheck disable=SC2086 # as above
  run_tolerating 24 $copy_listed "$1" "$3" $copy_vanish $copy_left_out $copy_limit_stream --ignore-existing --partial
}

# precopy_everything LABEL SOURCE TARGET   The same for an rsync that fails if a listed file has vanished: compare all
# existing files.
precopy_everything() {
  # shellcheck disable=SC2086 # as above
  target_root_is_empty "$1" "$3" ||
    run_tolerating 24 send_root "$1" "$2" "$3" $copy_limit_pass --existing --ignore-times --inplace
}

# full_pass LABEL SOURCE TARGET WAL   Copy all of a stopped cluster; remove on the new server what the old cluster does
# not have.
full_pass() {
  pass_most=$(limit_deletions "$@") || exit
  begin_pass "$1" "$2" "$4"
  detect_new_folder "$1" "$3"
  "$copy_cold" "$1" "$2" "$3"
}

# full_single_stream LABEL SOURCE TARGET   The same by one stream.
full_single_stream() {
  target_root_is_empty "$1" "$3" || run_tolerating 0 send_root "$1" "$2" "$3" --existing --ignore-times --inplace
  run_tolerating 0 send_root "$1" "$2" "$3" --ignore-existing --partial --delete "$pass_most"
}

# full_streams LABEL SOURCE TARGET   The same by several streams, then everything that is not a regular file.
full_streams() {
  list_changed_files "$1"
  # shellcheck disable=SC2086 # as above
  target_root_is_empty "$1" "$3" ||
    run_tolerating 0 $copy_listed "$1" "$3" $copy_left_out --existing --ignore-times --inplace
  # shellcheck disable=SC2086 # as above
  run_tolerating 0 $copy_listed "$1" "$3" $copy_left_out --ignore-existing --partial
  run_tolerating 0 send_root "$1" "$2" "$3" --delete "$pass_most"
}

# changed_pass LABEL SOURCE TARGET WAL   Of a stopped cluster: copy what has changed since the last pre-copy pass began,
# byte by byte.
changed_pass() {
  begin_pass "$1" "$2" "$4"
  list_changed_files "$1"
  # shellcheck disable=SC2086 # as above
  run_tolerating 0 $copy_listed "$1" "$3" $copy_left_out --ignore-times --inplace
}

# rest_pass LABEL SOURCE TARGET WAL   Of a stopped cluster: copy folders, links and times; remove what the old cluster
# does not have.
rest_pass() {
  pass_most=$(limit_deletions "$@") || exit
  begin_pass "$1" "$2" "$4"
  run_tolerating 0 send_root "$1" "$2" "$3" --delete "$pass_most"
}

# list_deletions LABEL SOURCE TARGET WAL   Print the names that the last pass would remove on the new server, then their
# number; a dry run.
list_deletions() {
  copy_progress='' deletions_said='# 0 entries'
  begin_pass "$1" "$2" "$4" hidden # by a name of its own: it runs beside a pass
  target_root_is_empty "$1" "$3" || deletions_said=$(print_deletions "$@") ||
    refuse "$?" 'rsync could not list what would be removed: the lines above say why'
  printf '%s\n' "$deletions_said"
  deletions_said=${deletions_said##*'# '}
  echo "${deletions_said% entries}" >"$copy_folder/removed-$1" || fail "$copy_folder cannot be written"
}

# print_deletions LABEL SOURCE TARGET   Print the names that such a pass would remove there, then their number; end as
# rsync does.
print_deletions() {
  # rsync also names what it would send, which is dropped; its exit status is in the last line.
  {
    (send_root "$1" "$2" "$3" --dry-run --delete --itemize-changes)
    printf '\n%s\n' "$?"
  } | awk '
    { status = $0 }
    sub(/^[*]deleting */, "") { print; many++ }
    END {
      if (status != "0") exit status ~ /^[1-9][0-9]*$/ ? status : 1
      printf "# %d entries\n", many
    }'
}

# limit_deletions LABEL SOURCE TARGET WAL   Print the option that lets a pass remove no more names than were listed. If
# a disk of the old server had gone since, the pass would otherwise remove everything.
limit_deletions() {
  [ -e "$copy_folder/removed-$1" ] || list_deletions "$@" >/dev/null
  read -r most_removed <"$copy_folder/removed-$1" || fail "$copy_folder cannot be read"
  echo "--max-delete=$most_removed"
}

# flush_target LABEL TARGET   Wait until everything that was sent to the data root LABEL, TARGET of the new server, is
# on its disk.
flush_target() {
  ask_target flush_file_system "$@" || fail 'the new server does not confirm that the files are on its disk'
}

# target_root_is_empty LABEL TARGET   Succeed if that data root of the target contains no file yet. A first copy then
# need not compare files. If the new server cannot be asked, the pass that follows says why.
target_root_is_empty() {
  (ask_target target_is_empty "$@") 2>/dev/null
}

# ask_target ASKED LABEL TARGET   Run flush_file_system or target_is_empty on the target.
ask_target() {
  # shellcheck disable=SC2086 # as above
  case $copy_route in
    nfs) "$1" "/run/$copy_marker/$2" ;;
    local) "$1" "$3" ;;
    *) $copy_ssh new "pghaul-receive $2 $1" ;;
  esac
}
