# Idle WAL: segments with names after the last one in use, which the server keeps to be overwritten. After a clean
# shutdown these follow the segment in which the record of the shutdown checkpoint ends. While the server is running
# they follow the one that was written last, which matters for pre-copy passes only. In any other state, as on a
# standby, there are none. Source: PostgreSQL's xlog.c, RemoveOldXlogFiles and XLogFileInit. What slots, wal_keep_size
# or archiving hold is older, and is copied.

# idle_wal PATH DATA FOLDER AHEAD   Print patterns, each after AHEAD, that match the names of only those segments in
# FOLDER. At most one for each digit after the timeline; find's -path and rsync's filters read them alike.
idle_wal() {
  idle_control=$(print_control_data "$1" "$2") || exit
  idle_last=$(last_segment "$idle_control" "$3") || exit
  [ -n "$idle_last" ] || return 0
  # A name is greater if its digits begin alike and then one is greater.
  awk -v last="$idle_last" -v ahead="$4" 'BEGIN {
    digits = "0123456789ABCDEF"
    for (at = 9; at <= 24; at++) {
      above = substr(digits, index(digits, substr(last, at, 1)) + 1)
      if (above == "") continue
      pattern = substr(last, 1, at - 1) "[" above "]"
      for (rest = at; rest < 24; rest++) pattern = pattern "?"
      print ahead pattern
    }
  }' || fail 'the names of idle WAL segments could not be computed'
}

# last_segment CONTROL FOLDER   Print the last WAL segment in use, by the output of pg_controldata; nothing if that does
# not tell.
last_segment() {
  segment_state=$(control_field "$1" 'Database cluster state') || exit
  case $segment_state in
    'shut down') shutdown_segment "$1" ;;
    'in production')
      segment_found=$(allow_gone "$2" -- find "$2/" -maxdepth 1 -ignore_readdir_race -type f -printf '%T@ %f\n') ||
        fail "$2 cannot be read"
      segment_found=$(printf '%s\n' "$segment_found" | sort -rn) || fail 'sort failed'
      printf '%s\n' "$segment_found" | sed -n '/ [0-9A-F]\{24\}$/{s/.* //p;q;}' || fail 'sed failed'
      ;;
    *) ;;
  esac
}

# shutdown_segment CONTROL   Print the segment in which the record of the shutdown checkpoint ends.
shutdown_segment() {
  segment_at=$(control_field "$1" 'Latest checkpoint location') || exit
  segment_size=$(control_field "$1" 'Bytes per WAL segment') || exit
  case $segment_size in
    0 | *[!0-9]*) fail "the control file contains an invalid WAL segment size, $segment_size bytes" ;;
    *) ;;
  esac
  segment_line=$(control_field "$1" "Latest checkpoint's TimeLineID") || exit
  # The record is shorter than a block, and may begin in one segment and end in the next.
  segment_number=$((((0x${segment_at%/*} << 32) + 0x${segment_at#*/} + 8192) / segment_size))
  segment_many=$((0x100000000 / segment_size))
  printf '%08X%08X%08X\n' "$segment_line" $((segment_number / segment_many)) $((segment_number % segment_many)) ||
    fail 'the control file cannot be read'
}

# control_field CONTROL NAME   Print that field of the output of pg_controldata; fail if it is missing.
control_field() {
  field_said=$(printf '%s\n' "$1" | sed -n "s/^$2: *//p") || fail 'sed failed'
  [ -n "$field_said" ] || fail "the control file does not contain the field $2"
  printf '%s\n' "$field_said"
}
