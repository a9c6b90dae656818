# A phase of a benchmark: its command in the folder, with a tick each second, between two looks at everybody's traffic.

# bench_run_in FOLDER COMMAND...   run COMMAND in the benchmark's folder; its marker is touched, which says that it is in use
bench_run_in() {
  enter_folder "$1"
  touch .pghaul-bench || fail "$1 cannot be written"
  shift
  "$@"
}

# bench_drop_caches   write back and drop the page cache of the whole server; ends with 77 where this user may not
bench_drop_caches() {
  sync || fail 'the cached data could not be written to disk'
  [ -w /proc/sys/vm/drop_caches ] || refuse 77 'only root can write to /proc/sys/vm/drop_caches, and nobody can where it is read-only'
  echo 3 >/proc/sys/vm/drop_caches || refuse 77 'the kernel does not allow dropping its caches here'
}

# bench_run_with_ticks COUNTERS COMMAND...   print a tick each quarter of a second while COMMAND runs, then all that it said; ends as it did
# A tick is a line: a dot, and what COUNTERS, a device's file in /sys, has counted by then, where it can be read: reads, sectors
# that were read, writes, sectors that were written (Documentation/block/stat.rst).
bench_run_with_ticks() {
  ticking_counters=$1
  shift
  # sleep must not keep the output open: it outlives its loop by up to a quarter of a second
  while sleep 0.25 >/dev/null 2>&1; do
    tick_reads='' tick_read='' tick_writes='' tick_written=''
    { read -r tick_reads _ tick_read _ tick_writes _ tick_written _ <"$ticking_counters"; } 2>/dev/null
    echo ".${tick_written:+ $tick_reads $tick_read $tick_writes $tick_written}"
  done &
  ticking_clock=$!
  ticking_said=$("$@" 2>&1)
  ticking_status=$?
  kill "$ticking_clock" 2>/dev/null # it may have ended: then there were no ticks
  wait "$ticking_clock" 2>/dev/null
  printf '%s\n' "$ticking_said" || fail 'the output of the command could not be passed on'
  return "$ticking_status"
}

# bench_run_watched MARK PROGRAM COUNTERS INSIDE SERVED COMMAND...   run COMMAND between two looks, and print behind it what was seen
# That is the look behind, the look before, and the process group of COMMAND; ends as COMMAND did. What lives in folders
# INSIDE and SERVED, patterns of find, is looked for. PROGRAM is called once before: its own file, mostly on another disk, must
# not be read while others' traffic is counted; whether it knows --version does not matter.
bench_run_watched() {
  read -r _ _ _ _ watched_group _ <"/proc/$$/stat" || fail 'this process cannot be read in /proc'
  "$2" --version >/dev/null 2>&1 </dev/null
  watched_before=$(bench_print_activity "$1" "$3" "$4" "$5") || exit
  watched_mark=$1 watched_counters=$3 watched_inside=$4 watched_served=$5
  shift 5
  "$@"
  watched_status=$?
  echo
  bench_print_activity "$watched_mark" "$watched_counters" "$watched_inside" "$watched_served"
  printf '%s\n%s\n' "$watched_before" "$watched_group" || fail 'the observed activity could not be passed on'
  return "$watched_status"
}

# bench_print_activity MARK COUNTERS INSIDE SERVED   print between two MARKs what the device has moved, and what each process has
# 1 and 2 of what reads all processes: one ended meanwhile, or only root may read of it.
bench_print_activity() {
  echo "$1"
  cat -- "$2" || fail "the counters of the device cannot be read"
  cat /proc/uptime || fail 'the uptime of this host cannot be read'
  cat /proc/[0-9]*/stat 2>/dev/null
  [ $? -le 1 ] || fail 'cat failed'
  grep -E -H '^(rchar|wchar|read_bytes|write_bytes): [1-9]' /proc/[0-9]*/io 2>/dev/null
  [ $? -le 2 ] || fail 'grep failed'
  find /proc/[0-9]*/cwd -maxdepth 0 '(' -lname "$3" -o -lname "$4" ')' 2>/dev/null
  [ $? -le 1 ] || fail 'find failed'
  echo "$1"
}

# bench_sessions BELOW OWN   print the session of each process that has a file open below a volume, then how many there are
# BELOW and OWN are patterns of find: what matches OWN is the benchmark's.
bench_sessions() {
  sessions_links=$(find /proc/[0-9]*/fd /proc/[0-9]*/cwd -lname "$1" ! -lname "$2" 2>/dev/null)
  [ $? -le 1 ] || fail 'find failed' # 1: a process ended meanwhile
  sessions=0 sessions_last=
  for sessions_link in $sessions_links; do
    sessions_process=${sessions_link#/proc/}
    sessions_process=${sessions_process%%/*}
    if [ "$sessions_process" != "$sessions_last" ] && read -r sessions_stat 2>/dev/null <"/proc/$sessions_process/stat"; then
      sessions_last=$sessions_process
      # behind the name, which may hold blanks: state, parent, group, session
      read -r _ _ _ session _ <<STAT || fail "process $sessions_process cannot be read"
${sessions_stat##*) }
STAT
      echo "$session"
      sessions=$((sessions + 1))
    fi
  done
  echo "# $sessions sessions"
}

# bench_device FOLDER SECONDS   print the device under FOLDER: `below NAME` of all that it lies on, `device PATH`, and its
# counters `before …` and `after …` so many seconds; then, where there is md, `mdstat` and all that it says.
# Of a file system without a device of its own (overlay, nfs, btrfs, zfs) there is mdstat alone.
bench_device() {
  device_number=$(stat -c %d -- "$1") || fail "$1 cannot be read"
  device=$(readlink -f "/sys/dev/block/$(((device_number >> 8) & 0xfff)):$(((device_number & 0xff) | ((device_number >> 12) & 0xfff00)))") ||
    fail "the device of $1 cannot be read in /sys"
  if [ -r "$device/stat" ]; then
    bench_print_devices_below "$device"
    bench_whole_device
    echo "device $device"
    device_counters=$(cat "$device/stat") || fail "$device cannot be read"
    echo "before $device_counters"
    sleep "$2" || fail 'the program sleep is missing'
    device_counters=$(cat "$device/stat") || fail "$device cannot be read"
    echo "after $device_counters"
  fi
  if [ -e /proc/mdstat ]; then
    echo mdstat
    cat /proc/mdstat || fail '/proc/mdstat cannot be read'
  fi
}

# bench_print_devices_below PATH   print `below NAME` of a device in /sys, and of all that it lies on
bench_print_devices_below() {
  echo "below ${1##*/}"
  if [ -e "$1/partition" ]; then bench_print_devices_below "${1%/*}"; fi
  for below_link in "$1"/slaves/*; do
    if [ -e "$below_link" ]; then
      below_path=$(readlink -f "$below_link") || fail "$below_link cannot be read"
      bench_print_devices_below "$below_path"
    fi
  done
}

# bench_whole_device   go down from `device` as long as bytes go through one to one: to its disk, or the one that it lies on
# Whoever writes beside the volume on the same disk is seen too by that.
bench_whole_device() {
  while :; do
    set -- "$device"/slaves/*
    if [ -e "$device/partition" ]; then
      device=${device%/*}
    elif [ $# -eq 1 ] && [ -e "$1" ]; then
      device=$(readlink -f "$1") || fail "$1 cannot be read"
    else
      return 0
    fi
  done
}
