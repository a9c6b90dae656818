# The passes of rsync, on old, by whichever route: ssh, daemon (contents alone, the rest by ssh), nfs, local. They read
# copy_route, copy_folder, copy_marker, copy_streams, copy_lists (whether rsync knows vanished names), copy_options,
# copy_progress, copy_vanish, copy_packing, copy_limit (ahead of rsync), copy_ssh, copy_daemon, and copy_path and copy_data for the control file.
#   --inplace       what changed of a file of 1 GB is written into it; a broken pass goes on where it stopped
#   --ignore-times  what no pass has vouched for is compared byte for byte, whatever size and time say
#   --existing, then --ignore-existing   in place is written only what is there: rsync truncates a file in place at its end,
#                   and for a new one XFS then waits for its disk (xfs_setattr_size)
#   --rsync-path    new's folder is chosen by the key's own line there, so no path crosses a remote shell
# shellcheck disable=SC2154

# send LABEL SOURCE TARGET OPTION...   rsync SOURCE, as far as OPTIONs leave it, into the data root LABEL, TARGET of new
# RSYNC_PROTECT_ARGS=0 keeps the server's options on its command line, where new's receiver checks them.
send() {
  send_label=$1 send_source=$2 send_target=$3
  shift 3
  # shellcheck disable=SC2086 # options without blanks, several in a variable
  case $copy_route in
    nfs) set -- "$@" "$send_source" "/run/$copy_marker/$send_label/" ;;
    local) set -- "$@" "$send_source" "$send_target/" ;;
    *) set -- "$@" $copy_packing -e "$copy_ssh" --rsync-path="pghaul-receive $send_label" "$send_source" new:. ;;
  esac
  # shellcheck disable=SC2086 # as above
  RSYNC_PROTECT_ARGS=0 $copy_limit rsync $copy_options "$@"
}

# send_listed LABEL TARGET STREAM OPTION...   the files here whose names the list of that stream holds
send_listed() {
  listed_label=$1 listed_target=$2 listed_names=$copy_folder/files-$1-$3.names
  shift 3
  # shellcheck disable=SC2086 # as above
  if [ "$copy_route" = daemon ]; then
    listed_port=$(daemon_port "$copy_folder") || exit
    $copy_limit rsync $copy_options "$@" $copy_packing --contimeout=10 --password-file="$copy_folder/password" \
      --port="$listed_port" --from0 --files-from="$listed_names" ./ "$copy_daemon::$listed_label/"
  else
    send "$listed_label" ./ "$listed_target" --from0 --files-from="$listed_names" "$@"
  fi
}

# send_streams LABEL TARGET OPTION...   the listed files by all streams at once; ends with the worst of their statuses
# A sample, which copy_limit ends, is followed by nobody: logs would take time from it.
send_streams() {
  if [ "$copy_streams" -eq 1 ]; then
    streams_label=$1 streams_target=$2
    shift 2
    send_listed "$streams_label" "$streams_target" 1 "$@"
    return
  elif [ -n "$copy_limit" ]; then
    run_streams - "$@"
    return
  fi
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

# run_streams LOG LABEL TARGET OPTION...   the same, each with what it says in LOG-NUMBER; LOG `-`: with none
# There are nine at the most: so the logs of the root `pg_wal` are told from those of one that is called `pg_wal-old`.
run_streams() {
  run_log=$1 run_label=$2 run_target=$3 run_ids='' run_number=1
  shift 3
  while [ "$run_number" -le "$copy_streams" ]; do
    if [ "$run_log" = - ]; then
      send_listed "$run_label" "$run_target" "$run_number" "$@" &
    else
      send_listed "$run_label" "$run_target" "$run_number" "$@" >"$run_log-$run_number" &
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

# show_streams LOG   every second the end of each stream's log under its name, `==> LOG-1 <==`; till it is ended
show_streams() {
  # the pause goes along; one that was only just begun must not hold the log open
  trap 'kill "$!"; exit' TERM
  while :; do
    sleep 1 >/dev/null &
    wait "$!"
    tail -v -c 99 -- "$1"-[0-9]
    printf '\n==> <==\n'
  done
}

# send_root LABEL SOURCE TARGET OPTION...   all of the data root that OPTIONs leave, folders and links too
send_root() {
  root_label=$1 root_source=$2 root_target=$3
  shift 3
  # shellcheck disable=SC2086 # as above
  send "$root_label" "$root_source/" "$root_target" $copy_left_out "$@"
}

# begin_pass LABEL SOURCE WAL [NAME]   go to the data root; sets copy_left_out, options of all its passes
# WAL is its folder of WAL (`.` for itself), or `-`; what is idle there is kept by NAME, for steps that run side by side.
begin_pass() {
  copy_left_out=$copy_progress
  if [ "$1" = data ]; then copy_left_out="$copy_left_out --exclude=/postmaster.pid --exclude=/pghaul-start.log"; fi
  if [ "$3" != - ] && [ "$copy_data" != - ]; then
    begin_ahead=/$3/
    [ "$3" != . ] || begin_ahead=/
    # hidden from the sender: not sent, and removed on new by a pass that removes
    begin_idle=$copy_folder/${4:-idle}-$1
    whole "$begin_idle" idle_wal "$copy_path" "$copy_data" "$2/$3" "H $begin_ahead"
    copy_left_out="$copy_left_out --filter=merge_$begin_idle"
  fi
  enter "$2"
}

# passed TOLERATED COMMAND...   run a part of a pass; ends with rsync's own status where it fails, but for TOLERATED
# 24, a file vanished, is what a running server does to a warm pass; source: rsync(1), EXIT VALUES.
passed() {
  passed_tolerated=$1
  shift
  "$@"
  passed_status=$?
  [ "$passed_status" -eq 0 ] || [ "$passed_status" -eq "$passed_tolerated" ] ||
    refuse "$passed_status" "rsync ended with exit status $passed_status: the lines above say why"
}

# in_streams   whether listed files go ahead, and a last pass over all brings folders and links
in_streams() {
  [ "$copy_streams" -gt 1 ] || [ "$copy_route" = daemon ]
}

# warm_pass LABEL SOURCE TARGET WAL   while old runs: what no earlier pass brought, what is missing, folders and links
warm_pass() {
  begin_pass "$1" "$2" "$4"
  changed_names "$1"
  # shellcheck disable=SC2086 # as above
  if [ "$copy_lists" = yes ]; then
    passed 24 send_streams "$1" "$3" $copy_vanish $copy_left_out --existing --ignore-times --inplace
  else
    passed 24 send_root "$1" "$2" "$3" --existing --ignore-times --inplace
  fi
  # shellcheck disable=SC2086 # as above
  if in_streams; then
    passed 24 send_streams "$1" "$3" $copy_vanish $copy_left_out --ignore-existing --partial
  fi
  passed 24 send_root "$1" "$2" "$3" --ignore-existing --partial
  vouch "$1"
}

# cold_pass LABEL SOURCE TARGET WAL   of a stopped cluster all; what old does not have is removed on new
cold_pass() {
  begin_pass "$1" "$2" "$4"
  if in_streams; then
    changed_names "$1"
    # shellcheck disable=SC2086 # as above
    passed 0 send_streams "$1" "$3" $copy_left_out --existing --ignore-times --inplace
    # shellcheck disable=SC2086 # as above
    passed 0 send_streams "$1" "$3" $copy_left_out --ignore-existing --partial
    passed 0 send_root "$1" "$2" "$3" --delete
  else
    passed 0 send_root "$1" "$2" "$3" --existing --ignore-times --inplace
    passed 0 send_root "$1" "$2" "$3" --ignore-existing --partial --delete
  fi
}

# changed_pass LABEL SOURCE TARGET WAL   of a stopped cluster: what changed since the last warm pass began, byte for byte
changed_pass() {
  begin_pass "$1" "$2" "$4"
  changed_names "$1"
  # shellcheck disable=SC2086 # as above
  passed 0 send_streams "$1" "$3" $copy_left_out --ignore-times --inplace
}

# rest_pass LABEL SOURCE TARGET WAL   of a stopped cluster: folders, links, times; what old does not have is removed on new
rest_pass() {
  begin_pass "$1" "$2" "$4"
  passed 0 send_root "$1" "$2" "$3" --delete
}

# identity_pass SOURCE TARGET [LINK]...   the control file, and those links of the data directory
identity_pass() {
  identity_source=$1 identity_target=$2
  shift 2
  printf './%s\0' global/pg_control "$@" |
    passed 0 send data "$identity_source/" "$identity_target" --ignore-times --from0 --files-from=-
}

# deletions LABEL SOURCE TARGET WAL   print the names that the last pass would remove on new, then how many; a dry run
deletions() {
  begin_pass "$1" "$2" "$4" hidden # by a name of its own: it runs beside a pass
  deletions_said=$(send_root "$1" "$2" "$3" --dry-run --delete --itemize-changes ${copy_progress:+--info=progress0}) ||
    refuse "$?" 'rsync cannot tell what would be removed: the lines above say why'
  printf '%s\n' "$deletions_said" | awk '
    sub(/^[*]deleting */, "") { print; many++ }
    END { printf "# %d entries\n", many }' || fail 'what would be removed cannot be told'
}

# flush_new LABEL TARGET   when it ends, all that was sent to the data root LABEL, TARGET of new, is on new's disk
flush_new() {
  case $copy_route in
    nfs) flush "/run/$copy_marker/$1" ;;
    local) flush "$2" ;;
    *)
      # shellcheck disable=SC2086 # as above
      $copy_ssh new "pghaul-receive $1 flush" || fail 'new does not say that what arrived is on its disk'
      ;;
  esac
}
