# One phase of a benchmark. Its command runs in the benchmark's folder, with a tick every quarter of a second. The
# traffic of all processes is recorded before and after it.

# bench_run_in FOLDER COMMAND...   Run COMMAND in the benchmark's folder. Touching the marker shows that it is in use.
bench_run_in() {
  enter_folder "$1"
  touch .pghaul-bench || fail "$1 cannot be written"
  shift
  "$@"
}

# bench_drop_caches   Write cached data to disk, and drop the page cache of the whole server.
# Ends with 77 if this user is not allowed to do that.
bench_drop_caches() {
  sync || fail 'the cached data could not be written to disk'
  [ -w /proc/sys/vm/drop_caches ] ||
    refuse 77 'only root can write to /proc/sys/vm/drop_caches, and nobody can where it is read-only'
  echo 3 >/proc/sys/vm/drop_caches || refuse 77 'the kernel does not allow dropping its caches here'
}

# bench_run_with_ticks COUNTERS COMMAND...   Run COMMAND, and print ticks while it runs and its output afterwards.
# Ends with the exit status of COMMAND. There is a tick every quarter of a second. It is a line with a dot, followed by
# the values of COUNTERS, the statistics file of a device in /sys, if that can be read: reads, sectors read, writes,
# sectors written (Documentation/block/stat.rst of the kernel). What COMMAND writes to descriptor 4 is printed at once.
bench_run_with_ticks() {
  ticking_counters=$1
  shift
  # Standard output is redirected, because a sleep outlives this loop by up to a quarter of a second and would keep the
  # output open until then.
  while sleep 0.25 >/dev/null 2>&1; do
    tick_reads='' tick_read='' tick_writes='' tick_written=''
    { read -r tick_reads _ tick_read _ tick_writes _ tick_written _ <"$ticking_counters"; } 2>/dev/null
    echo ".${tick_written:+ $tick_reads $tick_read $tick_writes $tick_written}"
  done &
  ticking_clock=$!
  {
    ticking_said=$("$@" 2>&1)
    ticking_status=$?
  } 4>&1
  kill "$ticking_clock" 2>/dev/null # it fails if sleep is missing, because the loop has ended then
  wait "$ticking_clock" 2>/dev/null
  printf '%s\n' "$ticking_said" || fail 'the output of the command could not be passed on'
  return "$ticking_status"
}

# bench_run_live COMMAND...   Run COMMAND, which says on standard output how far it is, and writes its results to
# descriptor 5. Within bench_run_with_ticks, the first is printed at once and the second afterwards. Ends with the exit
# status of COMMAND. COMMAND goes on when nobody reads any more what it says, until it is told to end: fio has processes
# in groups of their own, and only fio itself can end them.
bench_run_live() {
  if { true >&4; } 2>/dev/null; then
    (trap '' PIPE && "$@" 5>&1 >&4)
  else
    "$@" 5>&1
  fi
}

# bench_run_telling BEGINNING COMMAND...   Run COMMAND, which says how far it is in lines that begin with BEGINNING, on
# standard output or standard error. Within bench_run_with_ticks, these lines are printed at once and its other output
# afterwards. Ends with the exit status of COMMAND. COMMAND goes on when nobody reads any more what it says.
bench_run_telling() {
  telling_beginning=$1
  shift
  {
    telling_status=$(
      {
        {
          ("$@" 2>&1 3>&- 4>&- 5>&-) # a subshell, because COMMAND may end it
          echo "$?" >&3
        } | bench_tell "$telling_beginning" >&5 3>&-
      } 3>&1
    ) || fail 'the output of the command could not be passed on'
  } 5>&1
  return "$telling_status"
}

# bench_tell BEGINNING   Print the lines of standard input. Those that begin with BEGINNING go to descriptor 4, if it is
# open, and nobody has to read them. After 16384 characters of other lines, all that follows is printed as it is: a shell
# reads single bytes, and a tool that writes much, such as a notice for each transaction, would wait for it.
bench_tell() {
  { true >&4; } 2>/dev/null || exec 4>&1
  trap '' PIPE
  told_left=16384
  while [ "$told_left" -gt 0 ] && { IFS= read -r told_line || [ -n "$told_line" ]; }; do
    case $told_line in
      "$1"*) printf '%s\n' "$told_line" >&4 2>/dev/null || : ;;
      *)
        printf '%s\n' "$told_line" || fail 'the output of the command could not be passed on'
        told_left=$((told_left - ${#told_line} - 1))
        ;;
    esac
  done
  [ "$told_left" -gt 0 ] || cat || fail 'the output of the command could not be passed on'
}

# bench_run_watched MARK PROGRAM COUNTERS INSIDE SERVED COMMAND...
# Run COMMAND between two records of the server's activity, and print them after its output. First comes the record
# after COMMAND, then the record before it, then the process group of COMMAND. Ends with the exit status of COMMAND.
# MARK, COUNTERS, INSIDE and SERVED are those of bench_print_activity. PROGRAM is run once before the first record, so
# that reading its file, which is mostly on another disk, is not counted as traffic of others. It does not matter
# whether PROGRAM knows the option --version.
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

# bench_print_activity MARK COUNTERS INSIDE SERVED   Print the traffic of the device and of each process, between two
# MARKs. COUNTERS is the statistics file of the device. INSIDE and SERVED are patterns of find for folders. The
# processes whose working directory matches one of them are printed as well. The accepted exit statuses above 0 mean
# that a process has ended meanwhile, or that only root may read its files.
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

# bench_sessions BELOW OWN   Print the session of each process that has a file open on a volume, then their number.
# BELOW is a pattern of find for the files on the volume. Files that match OWN are the benchmark's and do not count.
bench_sessions() {
  sessions_links=$(find /proc/[0-9]*/fd /proc/[0-9]*/cwd -lname "$1" ! -lname "$2" 2>/dev/null)
  [ $? -le 1 ] || fail 'find failed' # 1: a process has ended meanwhile
  sessions=0 sessions_last=
  for sessions_link in $sessions_links; do
    sessions_process=${sessions_link#/proc/}
    sessions_process=${sessions_process%%/*}
    if [ "$sessions_process" != "$sessions_last" ] &&
      read -r sessions_stat 2>/dev/null <"/proc/$sessions_process/stat"; then
      sessions_last=$sessions_process
      # After the name, which may contain spaces, the fields are: state, parent, group, session.
      read -r _ _ _ session _ <<STAT || fail "process $sessions_process cannot be read"
${sessions_stat##*) }
STAT
      echo "$session"
      sessions=$((sessions + 1))
    fi
  done
  echo "# $sessions sessions"
}

# bench_device FOLDER SECONDS   Print the block device under FOLDER and its traffic within SECONDS.
# Prints `below NAME` for each device that FOLDER is on, `device PATH`, and the device's counters as `before …` and,
# SECONDS later, as `after …`. If the kernel has md, `mdstat` and the contents of /proc/mdstat follow.
# A file system without a block device of its own (overlay, nfs, btrfs, zfs) has only the part with mdstat.
bench_device() {
  device_number=$(stat -c %d -- "$1") || fail "$1 cannot be read"
  # The bits of the device number that hold the major and the minor number: gnu_dev_major and gnu_dev_minor of glibc.
  device_major=$(((device_number >> 8) & 0xfff))
  device_minor=$(((device_number & 0xff) | ((device_number >> 12) & 0xfff00)))
  device=$(readlink -f "/sys/dev/block/$device_major:$device_minor") || fail "the device of $1 cannot be read in /sys"
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

# bench_print_devices_below PATH   Print `below NAME` for a device in /sys and for all devices that it is on.
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

# bench_whole_device   Change `device` to the device below it, as long as there is exactly one that takes all its
# traffic. The result is the disk, or the array of several disks. With it, traffic of others on the same disk is counted
# too.
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
