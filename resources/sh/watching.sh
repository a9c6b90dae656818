# The watch on the old server: how much of a cluster changes, over minutes to days. It runs detached and writes only its
# log. One look costs one query and a walk over all names at low priority, and the pause after it is at least fifty
# times as long.

# watch_changes DATA SECONDS EVERY PATH SOCKET PORT SERIES   For SECONDS, print a look every EVERY seconds, then the end
# mark `begin TIME ZONE`, then for each look `look TIME WAL MILLISECONDS BYTES…`: see wal_position and touched_bytes;
# its duration.
watch_changes() {
  watch_data=$1 watch_every=$3
  watch_begun=$(date '+%s %z') || fail 'date failed'
  echo "begin $watch_begun"
  watch_end=$((${watch_begun% *} + 1 + $2)) # this second is not over yet, and no watch is shorter than was asked for
  shift 3
  while :; do
    watch_start=$(date +%s%N) || fail 'date failed'
    watch_wal=$(wal_position "$@") || watch_wal=-
    watch_bytes=$(touched_bytes "$watch_data") || exit
    watch_now=$(date +%s%N) || fail 'date failed'
    watch_taken=$(((watch_now - watch_start) / 1000000)) watch_now=$((watch_now / 1000000000))
    echo "look $watch_now $watch_wal $watch_taken $watch_bytes"
    [ "$watch_now" -lt "$watch_end" ] || break
    watch_pause=$((watch_taken / 20)) # in seconds
    [ "$watch_pause" -ge "$watch_every" ] || watch_pause=$watch_every
    [ $((watch_now + watch_pause)) -le "$watch_end" ] || watch_pause=$((watch_end - watch_now))
    sleep "$watch_pause" || fail 'the program sleep is missing'
  done
  print_end_mark
}

# wal_position PATH SOCKET PORT SERIES   Print the current WAL position of the server, such as 1/A0000028; fail if it
# does not print one.
wal_position() {
  wal_primary='pg_current_wal_lsn()' wal_standby='pg_last_wal_replay_lsn()'
  case $4 in
    8.* | 9.*) wal_primary='pg_current_xlog_location()' wal_standby='pg_last_xlog_replay_location()' ;;
    *) ;;
  esac
  case $4 in
    8.*) wal_asked=$wal_primary ;;
    *) wal_asked="case when pg_is_in_recovery() then $wal_standby else $wal_primary end" ;;
  esac
  connect_to "$@" 30
  watch_slots "$2" "$3"
  wal_said=$(query_cluster "select $wal_asked;") || exit
  case $wal_said in
    *[!0-9A-F/]* | '') fail "the server printed an invalid WAL position: $wal_said" ;;
    *) printf '%s\n' "$wal_said" ;;
  esac
}

# touched_bytes DATA   Print the size of its files, without WAL, that were modified in the last 60, 300, 900, 3600,
# 10800, 21600, 43200 and 86400 seconds; a file counts with its full size.
touched_bytes() {
  touched_now=$(date +%s) || fail 'date failed'
  {
    allow_gone "$1" -- low_priority find -L "$1" -ignore_readdir_race \
      \( -path '*/pg_wal/*' -o -path '*/pg_xlog/*' -o -name lost+found \) -prune \
      -o -type f -mmin -1441 -printf '%T@ %s\n' && echo whole
  } | awk -v now="$touched_now" '
    BEGIN { many = split("60 300 900 3600 10800 21600 43200 86400", age) }
    $1 == "whole" { whole = 1; next }
    { for (at = many; at && now - $1 <= age[at]; at--) bytes[at] += $2 }
    END {
      if (!whole) exit 1
      for (at = 1; at <= many; at++) printf "%.0f%s", bytes[at], at < many ? " " : "\n"
    }' || fail "not all files in $1 can be read"
}
