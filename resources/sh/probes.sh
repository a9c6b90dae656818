# Probes of storage: short measurements, bounded in bytes and seconds. They print `bytes` and `nanoseconds`.
# Times are taken on the server that works. Between two looks at the clock stands what the work needs and no more: so
# the clock is read by `date` itself and never by a function, which would be one process more.

# read_probe FOLDER BYTES SECONDS   read the largest files below FOLDER from the disk; prints also `direct yes` or `no`
# O_DIRECT neither uses nor disturbs what a running server has cached. Where a file system has no such thing, the files
# are dropped from the page cache ahead. So they are where most are small: a process for each takes longer than to read
# it.
read_probe() {
  enter_folder "$1"
  probe_files=$(largest_files "$2") || exit
  probe_list=${probe_files#*'
'}
  case $probe_files in
    large*)
      printf '%s\n' "$probe_list" | read_large "$2" "$3" direct
      probe_status=$?
      [ "$probe_status" -eq 75 ] || return "$probe_status"
      printf '%s\n' "$probe_list" | uncache_all || exit
      printf '%s\n' "$probe_list" | read_large "$2" "$3" nocache
      ;;
    *)
      printf '%s\n' "$probe_list" | uncache_all || exit
      printf '%s\n' "$probe_list" | read_small "$3"
      ;;
  esac
}

# largest_files BYTES   print `large` or `small`, of which most are, then `SIZE NAME` of the largest, by size, until
# they hold BYTES Of a thousand, for so many small ones are told apart from the cost of a process. Large is from 8 MiB
# on.
largest_files() {
  {
    find . -ignore_readdir_race -name lost+found -prune -o -type f -size +0 ! -name 'pgsql_tmp*' ! -name '*
*' -printf '%s %P\n' && print_end_mark
  } | { sort -rn && print_end_mark; } | awk -v bytes="$1" '
    $0 == "# whole" { marks++; next }
    ++files > 1000 { next }
    $1 >= 8388608 { large += $1 }
    all < bytes { line[++lines] = $0 }
    { all += $1 }
    END {
      if (marks != 2 || !lines) exit 1
      print large < bytes / 2 && large < all / 2 ? "small" : "large"
      for (at = 1; at <= lines; at++) print line[at]
    }' || fail "the files below $PWD could not be listed, or there are none"
}

# uncache FILE [MEBIBYTES]   drop from the page cache what it holds of FILE, from there on; a file that vanished is none
uncache() {
  uncache_said=$(dd if="$1" bs=1048576 skip="${2:-0}" count=0 iflag=nocache status=none 2>&1) || [ ! -e "$1" ] ||
    fail "$1 cannot be dropped from the page cache: $uncache_said"
}

# uncache_all   the same for each `SIZE NAME` of standard input
uncache_all() {
  while IFS= read -r uncache_line; do
    uncache "${uncache_line#* }"
  done
}

# read_large BYTES SECONDS FLAG   time reading the large of the `SIZE NAME` on standard input, in pieces of 32 MiB, with
# dd's FLAG Ends with 75 where the flag `direct` does not work. What counts is what dd says that it read: a file may
# shrink meanwhile.
read_large() {
  large_moved=0 large_direct=no
  [ "$3" != direct ] || large_direct=yes
  large_start=$(date +%s%N) || fail 'date failed'
  while IFS= read -r large_line && [ "${large_line%% *}" -ge 8388608 ]; do
    large_at=0
    while [ "$large_at" -lt "${large_line%% *}" ]; do
      large_now=$(date +%s%N) || fail 'date failed'
      [ "$large_moved" -lt "$1" ] && [ "$large_now" -lt $((large_start + $2 * 1000000000)) ] || break 2
      large_said=$(dd if="${large_line#* }" of=/dev/null bs=1048576 skip=$((large_at / 1048576)) count=32 iflag="$3" 2>&1) || {
        [ -e "${large_line#* }" ] || break # a running server removes files
        [ "$3" != direct ] || refuse 75 "${large_line#* } cannot be read with O_DIRECT: $large_said"
        fail "${large_line#* } cannot be read: $large_said"
      }
      large_said=${large_said##*'
'}
      large_moved=$((large_moved + ${large_said%% *})) large_at=$((large_at + 33554432))
    done
  done
  large_now=$(date +%s%N) || fail 'date failed'
  [ "$large_moved" -gt 0 ] || fail "nothing below $PWD could be read"
  printf 'nanoseconds %s\nbytes %s\ndirect %s\n' $((large_now - large_start)) "$large_moved" "$large_direct"
}

# read_small SECONDS   time reading all of the `SIZE NAME` on standard input by one process, through the page cache
read_small() {
  small_seconds=$1
  set --
  while IFS= read -r small_line; do set -- "$@" "${small_line#* }"; done
  small_start=$(date +%s%N) || fail 'date failed'
  small_said=$({
    {
      timeout --foreground "$small_seconds" cat -- "$@" 2>&3
      echo "status $?" >&3
    } | wc -c
  } 3>&1) || fail 'wc failed, so the number of bytes read is not known'
  small_end=$(date +%s%N) || fail 'date failed'
  small_moved=${small_said##*'
'}
  small_said=${small_said%'
'*}
  small_status=${small_said##*status }
  small_said=${small_said%status *}
  case $small_status in
    0 | 124) ;;                       # 124: the time was up
    1) only_vanished "$small_said" ;; # cat's
    *) fail "cat failed with $small_status: $small_said" ;;
  esac
  printf 'nanoseconds %s\nbytes %s\ndirect no\n' $((small_end - small_start)) "$small_moved"
}

# only_vanished WORDS   fails where one line of these complaints is of anything but a file that a running server removed
only_vanished() {
  vanished_others=$(printf '%s' "$1" | grep -v ': No such file or directory$')
  vanished_status=$?
  [ -n "$1" ] && [ "$vanished_status" -eq 1 ] || fail "the files below $PWD cannot be read: $vanished_others"
}

# write_probe FOLDER BYTES SECONDS   time writing random bytes into one file and their flush, the faster of two tries
# Then it is read back. A first piece of 32 MiB tells how many fit half of SECONDS; BYTES is the most. The memory that
# the bytes pass through is used once before, for what a machine touches for the first time it has to find. Whatever
# else a server does slows a try down.
write_probe() {
  enter_folder "$1"
  trap 'rm -f -- block written || fail "the files of the probe cannot be removed from $PWD"' EXIT
  trap 'exit 143' HUP INT TERM
  write_said=$(dd if=/dev/urandom of=block bs=1048576 count=32 iflag=fullblock status=none 2>&1) ||
    fail "$1 cannot be written: $write_said"
  write_taken=$(timed_write 1) || exit
  write_number=$(($3 * 500000000 / (write_taken + 1) + 1))
  [ "$write_number" -le $(($2 / 33554432)) ] || write_number=$(($2 / 33554432))
  write_pieces "$write_number"
  write_taken=$(timed_write "$write_number") || exit
  write_again=$(timed_write "$write_number") || exit
  [ "$write_taken" -le "$write_again" ] || write_taken=$write_again
  write_read=$(timed_read_back) || exit
  printf 'nanoseconds %s\nbytes %s\nread back %s\n' "$write_taken" $((write_number * 33554432)) "$write_read"
}

# timed_read_back   here: read `written` from the disk, past the page cache where the file system can, and print the
# nanoseconds
timed_read_back() {
  back_start=$(date +%s%N) || fail 'date failed'
  dd if=written of=/dev/null bs=1048576 iflag=direct status=none 2>/dev/null || {
    uncache written
    back_start=$(date +%s%N) || fail 'date failed'
    back_said=$(dd if=written of=/dev/null bs=1048576 status=none 2>&1) ||
      fail "$PWD/written cannot be read: $back_said"
  }
  back_end=$(date +%s%N) || fail 'date failed'
  echo $((back_end - back_start))
}

# write_pieces NUMBER   the block so many times into the file
write_pieces() {
  write_piece=0
  while [ "$write_piece" -lt "$1" ]; do
    write_said=$(dd if=block of=written bs=1048576 seek=$((write_piece * 32)) conv=notrunc status=none 2>&1) ||
      fail "$PWD cannot be written: $write_said"
    write_piece=$((write_piece + 1))
  done
}

# timed_write NUMBER   the same into a new file, and print the nanoseconds until it is on the disk
# What others have left to be written goes to the disk before.
timed_write() {
  rm -f -- written || fail "$PWD/written cannot be removed"
  flush_file_system .
  write_start=$(date +%s%N) || fail 'date failed'
  write_pieces "$1"
  write_said=$(dd if=/dev/null of=written conv=notrunc,fsync status=none 2>&1) ||
    fail "$PWD cannot be written to disk: $write_said"
  write_end=$(date +%s%N) || fail 'date failed'
  echo $((write_end - write_start))
}

# checksum_probe PROGRAM PROCESSES BYTES SUM   time so many processes that each sum up BYTES zeros by PROGRAM, openssl
# or sha256sum Each has to come to SUM, or something of it failed.
checksum_probe() {
  # shellcheck disable=SC2016 # that shell's own words
  case $1 in
    openssl) sum_one='head -c "$1" /dev/zero | openssl dgst -sha256 -r' ;;
    *) sum_one='head -c "$1" /dev/zero | sha256sum' ;;
  esac
  sum_turns=$(seq "$2") || fail 'seq failed'
  sum_start=$(date +%s%N) || fail 'date failed'
  sum_said=$(printf '%s\n' "$sum_turns" | xargs -n 1 -P "$2" sh -c "$sum_one" sh "$3" 2>&1) ||
    fail "$1 cannot compute a checksum: ${sum_said##*'
'}"
  sum_end=$(date +%s%N) || fail 'date failed'
  printf '%s\n' "$sum_said" | awk -v sum="$4" -v many="$2" '$1 == sum { found++ } END { exit found != many }' ||
    fail "not every process computed the right checksum: ${sum_said##*'
'}"
  printf 'nanoseconds %s\nbytes %s\n' $((sum_end - sum_start)) $(($2 * $3))
}

# sustained_write FOLDER BYTES SECONDS   write random bytes into one file until BYTES or SECONDS are over; then the end
# mark Of each 64 MiB, when they are on the disk, `piece NANOSECONDS`. The file is removed.
sustained_write() {
  enter_folder "$1"
  trap 'rm -f -- block written || fail "the files of the probe cannot be removed from $PWD"' EXIT
  trap 'exit 143' HUP INT TERM
  sustained_said=$(dd if=/dev/urandom of=block bs=1048576 count=64 iflag=fullblock status=none 2>&1) ||
    fail "$1 cannot be written: $sustained_said"
  flush_file_system .
  sustained_piece=0 sustained_now=$(date +%s%N) || fail 'date failed'
  sustained_end=$((sustained_now + $3 * 1000000000))
  while [ $(((sustained_piece + 1) * 67108864)) -le "$2" ] && [ "$sustained_now" -lt "$sustained_end" ]; do
    sustained_before=$sustained_now
    sustained_said=$(dd if=block of=written bs=1048576 seek=$((sustained_piece * 64)) conv=notrunc,fsync status=none 2>&1) ||
      fail "$1 cannot be written: $sustained_said"
    sustained_piece=$((sustained_piece + 1))
    sustained_now=$(date +%s%N) || fail 'date failed'
    echo "piece $((sustained_now - sustained_before))"
  done
  print_end_mark
}
