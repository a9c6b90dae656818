# The passes of rsync, on old, by whichever route: ssh, daemon (contents alone, the rest by ssh), nfs, local.
# Settings name the functions for the route and the number of streams, so that a plan takes along only what it uses: copy_send,
# copy_listed, copy_stream, copy_share, copy_warm, copy_cold. Others that are read: copy_folder, copy_marker, copy_streams,
# copy_options, copy_progress, copy_vanish, copy_ssh, copy_daemon; copy_path and copy_data for the control file; copy_target, where
# old itself sees new's data directory, or `-`: no pass goes where a server lives. A sample sets copy_limit, words ahead of rsync.
#   --inplace       what changed of a file of 1 GB is written into it; a broken pass goes on where it stopped
#   --ignore-times  what no pass has vouched for is compared byte for byte, whatever size and time say
#   --existing, then --ignore-existing   in place is written only what is there: rsync truncates a file in place at its end,
#                   and for a new one XFS then waits for its disk (xfs_setattr_size)
#   --rsync-path    new's folder is chosen by the key's own line there, so no path crosses a remote shell
# shellcheck disable=SC2154

# send_by_ssh LABEL SOURCE TARGET OPTION...   rsync SOURCE, as far as OPTIONs leave it, into the data root LABEL of new
# RSYNC_PROTECT_ARGS=0 keeps the server's options on its command line, where new's receiver checks them.
send_by_ssh() {
  send_label=$1 send_source=$2
  shift 3
  # shellcheck disable=SC2086 # options without blanks, several in a variable
  RSYNC_PROTECT_ARGS=0 ${copy_limit-} rsync $copy_options "$@" -e "$copy_ssh" --rsync-path="pghaul-receive $send_label" \
    "$send_source" new:.
}

# send_by_nfs LABEL SOURCE TARGET OPTION...   the same through the mount of LABEL
send_by_nfs() {
  send_label=$1 send_source=$2
  shift 3
  # shellcheck disable=SC2086 # as above
  ${copy_limit-} rsync $copy_options "$@" "$send_source" "/run/$copy_marker/$send_label/"
}

# send_here LABEL SOURCE TARGET OPTION...   the same where old and new are one server
send_here() {
  send_source=$2 send_target=$3
  shift 3
  # shellcheck disable=SC2086 # as above
  ${copy_limit-} rsync $copy_options "$@" "$send_source" "$send_target/"
}

# send_listed STREAM LABEL TARGET OPTION...   the files here whose names the list of that stream holds
send_listed() {
  listed_names=$copy_folder/files-$2-$1.names listed_label=$2 listed_target=$3
  shift 3
  "$copy_send" "$listed_label" ./ "$listed_target" --from0 --files-from="$listed_names" "$@"
}

# send_to_daemon STREAM LABEL TARGET OPTION...   the same to new's rsync daemon
send_to_daemon() {
  listed_names=$copy_folder/files-$2-$1.names listed_label=$2
  shift 3
  listed_port=$(daemon_port "$copy_folder") || exit
  # shellcheck disable=SC2086 # as above
  ${copy_limit-} rsync $copy_options "$@" --contimeout=10 --password-file="$copy_folder/password" \
    --port="$listed_port" --from0 --files-from="$listed_names" ./ "$copy_daemon::$listed_label/"
}

# send_streams LABEL TARGET OPTION...   the listed files by all streams at once; ends with the worst of their statuses
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

# run_streams LOG LABEL TARGET OPTION...   the same, each with what it says in LOG-NUMBER; LOG `-`, of a sample: with none
# There are nine at the most: so the logs of the root `pg_wal` are told from those of one that is called `pg_wal-old`.
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
# Where copy_parts lie beside what others have in that folder on new, these alone are named to rsync, so that the folder keeps its mode.
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

# see_folder LABEL TARGET   ahead of the first pass: sets copy_new_folder where the folder of copy_parts holds nothing on new yet, and gets
# the mode that it has on old
see_folder() {
  copy_new_folder=''
  [ -z "$copy_parts" ] || ! holds_nothing "$@" || copy_new_folder=yes
}

# begin_pass LABEL SOURCE WAL [NAME]   go to the data root; sets copy_left_out, options of all its passes
# WAL is its folder of WAL (`.` for itself), or `-`; what is idle there is kept by NAME, for steps that run side by side. Or it has
# the names in the folder of a tablespace that are the cluster's, as copy_parts: PG_15_202209061/wal, as patterns without blanks.
begin_pass() {
  copy_left_out="$copy_progress --exclude=lost+found/" copy_parts=''
  if [ "$1" = data ]; then
    # of old's fence the control file travels, into new's; until old is fenced new's is left as it is
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
      # what lies beside them is not sent, nor removed
      copy_left_out="$copy_left_out --exclude=/*"
      ;;
    *) ;;
  esac
  if [ "$3" != - ] && [ -z "$copy_parts" ] && [ "$copy_data" != - ]; then
    begin_ahead=/$3/
    [ "$3" != . ] || begin_ahead=/
    # hidden from the sender: not sent, and removed on new by a pass that removes
    begin_idle=$copy_folder/${4:-idle}-$1
    whole "$begin_idle" idle_wal "$copy_path" "$copy_data" "$2/$3" "H $begin_ahead"
    copy_left_out="$copy_left_out --filter=merge_$begin_idle"
  fi
  [ "$copy_target" = - ] || no_server "$copy_target"
  enter "$2"
}

# passed TOLERATED COMMAND...   run a part of a pass; ends with rsync's own status where it fails, but for TOLERATED
# 24, a file vanished, is what a running server does to a warm pass; source: rsync(1), EXIT VALUES. So is that one got shorter while
# it was read, as where VACUUM truncates a table: rsync ends with 23 then, although it has sent that file once more, as it is
# now (match.c: behind a read error the sum is made wrong, and the receiver asks again).
passed() {
  passed_tolerated=$1
  shift
  if [ "$passed_tolerated" -eq 24 ]; then
    passed_said=$copy_folder/passed-$$
    ("$@") 2>"$passed_said"
    passed_status=$?
    cat -- "$passed_said" >&2 || fail "$passed_said cannot be read"
    [ "$passed_status" -ne 23 ] || ! only_shorter "$passed_said" || passed_status=24
    rm -f -- "$passed_said" || fail "$passed_said cannot be removed"
  else
    "$@"
    passed_status=$?
  fi
  [ "$passed_status" -eq 0 ] || [ "$passed_status" -eq "$passed_tolerated" ] ||
    refuse "$passed_status" "rsync ended with exit status $passed_status: the lines above say why"
}

# only_shorter FILE   whether all that rsync says there is that files got shorter while it read them, or vanished
# What it has sent twice in vain it names with `failed verification`.
only_shorter() {
  awk '
    /^rsync: (\[sender\] )?read errors mapping ".*": No data available \(61\)$/ { shorter = 1; next }
    /^$/ || /^(file|directory) has vanished: / || /^rsync error: some files\/attrs were not transferred / { next }
    { other = 1 }
    END { exit !shorter || other }' "$1"
}

# warm_pass LABEL SOURCE TARGET WAL   while old runs: what no earlier pass brought, what is missing, folders and links
# Print how much another would have to look through.
warm_pass() {
  begin_pass "$1" "$2" "$4"
  see_folder "$1" "$3"
  changed_names "$1"
  "$copy_warm" "$1" "$2" "$3"
  passed 24 send_root "$1" "$2" "$3" --ignore-existing --partial
  vouch "$1"
  say_changed "$1"
}

# warm_listed LABEL SOURCE TARGET   its part ahead of what is missing, by one stream
warm_listed() {
  # shellcheck disable=SC2086 # as above
  holds_nothing "$1" "$3" || passed 24 $copy_listed "$1" "$3" $copy_vanish $copy_left_out --existing --ignore-times --inplace
}

# warm_streams LABEL SOURCE TARGET   the same by several, and the missing files; folders and links come behind
warm_streams() {
  warm_listed "$@"
  # shellcheck disable=SC2086 # as above
  passed 24 $copy_listed "$1" "$3" $copy_vanish $copy_left_out --ignore-existing --partial
}

# warm_whole LABEL SOURCE TARGET   the same by an rsync that takes a listed file that vanished for an error: all there is
warm_whole() {
  holds_nothing "$1" "$3" || passed 24 send_root "$1" "$2" "$3" --existing --ignore-times --inplace
}

# cold_pass LABEL SOURCE TARGET WAL   of a stopped cluster all; what old does not have is removed on new
cold_pass() {
  pass_most=$(at_most "$@") || exit
  begin_pass "$1" "$2" "$4"
  see_folder "$1" "$3"
  "$copy_cold" "$1" "$2" "$3"
}

# cold_whole LABEL SOURCE TARGET   the same by one stream
cold_whole() {
  holds_nothing "$1" "$3" || passed 0 send_root "$1" "$2" "$3" --existing --ignore-times --inplace
  passed 0 send_root "$1" "$2" "$3" --ignore-existing --partial --delete "$pass_most"
}

# cold_streams LABEL SOURCE TARGET   the same by several, and what is no file behind them
cold_streams() {
  changed_names "$1"
  # shellcheck disable=SC2086 # as above
  holds_nothing "$1" "$3" || passed 0 $copy_listed "$1" "$3" $copy_left_out --existing --ignore-times --inplace
  # shellcheck disable=SC2086 # as above
  passed 0 $copy_listed "$1" "$3" $copy_left_out --ignore-existing --partial
  passed 0 send_root "$1" "$2" "$3" --delete "$pass_most"
}

# changed_pass LABEL SOURCE TARGET WAL   of a stopped cluster: what changed since the last warm pass began, byte for byte
changed_pass() {
  begin_pass "$1" "$2" "$4"
  changed_names "$1"
  # shellcheck disable=SC2086 # as above
  passed 0 $copy_listed "$1" "$3" $copy_left_out --ignore-times --inplace
}

# rest_pass LABEL SOURCE TARGET WAL   of a stopped cluster: folders, links, times; what old does not have is removed on new
rest_pass() {
  pass_most=$(at_most "$@") || exit
  begin_pass "$1" "$2" "$4"
  passed 0 send_root "$1" "$2" "$3" --delete "$pass_most"
}

# deletions LABEL SOURCE TARGET WAL   print the names that the last pass would remove on new, then how many; a dry run
deletions() {
  copy_progress='' deletions_said='# 0 entries'
  begin_pass "$1" "$2" "$4" hidden # by a name of its own: it runs beside a pass
  holds_nothing "$1" "$3" || deletions_said=$(would_remove "$@") ||
    refuse "$?" 'rsync cannot tell what would be removed: the lines above say why'
  printf '%s\n' "$deletions_said"
  deletions_said=${deletions_said##*'# '}
  echo "${deletions_said% entries}" >"$copy_folder/removed-$1" || fail "$copy_folder cannot be written"
}

# would_remove LABEL SOURCE TARGET   print the names that such a pass would remove there, then how many; ends as rsync does
would_remove() {
  # rsync names what it would send too, which is not kept; how it ended is the last line
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

# at_most LABEL SOURCE TARGET WAL   print the option by which a pass removes no more than was listed: had a disk of old gone since,
# it would remove all
at_most() {
  [ -e "$copy_folder/removed-$1" ] || deletions "$@" >/dev/null
  read -r most_removed <"$copy_folder/removed-$1" || fail "$copy_folder cannot be read"
  echo "--max-delete=$most_removed"
}

# flush_new LABEL TARGET   when it ends, all that was sent to the data root LABEL, TARGET of new, is on new's disk
flush_new() {
  at_new flush "$@" || fail 'new does not say that what arrived is on its disk'
}

# holds_nothing LABEL TARGET   whether no file lies in that data root of new yet: a first copy need not look for what lies there
# Where new cannot be asked, the pass that follows says why.
holds_nothing() {
  (at_new bare "$@") 2>/dev/null
}

# at_new ASKED LABEL TARGET   `flush` or `bare`, there
at_new() {
  # shellcheck disable=SC2086 # as above
  case $copy_route in
    nfs) "$1" "/run/$copy_marker/$2" ;;
    local) "$1" "$3" ;;
    *) $copy_ssh new "pghaul-receive $2 $1" ;;
  esac
}
