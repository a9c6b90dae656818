# Probes of storage: short measurements with limits in bytes and seconds. They print `bytes` and `nanoseconds`. The
# times are taken on the server that does the work. Between two readings of the clock, only the measured work runs.
# Therefore `date` itself reads the clock, because a function in a command substitution would start one more process.

# read_probe FOLDER BYTES SECONDS   Time reading the largest files below FOLDER from the disk. Also prints `direct yes`
# or `direct no`. O_DIRECT neither uses nor changes what a running server has cached. If the file system does not
# support it, the files are dropped from the page cache first. The same is done if most files are small, because
# starting a process for each of them would take longer than reading them.
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

# largest_files BYTES   Print the kind of most files, `large` or `small`, then `SIZE NAME` for the largest files, by
# size, until their sum is BYTES. At most a thousand files are printed. With so many small files, the time of starting
# processes can be told apart. A file is large from 8 MiB on.
largest_files() {
  {
    allow_gone . -- find . -ignore_readdir_race -name lost+found -prune -o -type f -size +0 ! -name 'pgsql_tmp*' ! -name '*
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

# uncache FILE [MEBIBYTES]   Drop FILE from the page cache, from the position MEBIBYTES on. A file that has vanished is
# no error.
uncache() {
  uncache_said=$(dd if="$1" bs=1048576 skip="${2:-0}" count=0 iflag=nocache status=none 2>&1) || [ ! -e "$1" ] ||
    fail "$1 cannot be dropped from the page cache: $uncache_said"
}

# uncache_all   Drop each file from the page cache that is listed as `SIZE NAME` on standard input.
uncache_all() {
  while IFS= read -r uncache_line; do
    uncache "${uncache_line#* }"
  done
}

# read_large BYTES SECONDS FLAG   Time reading the large files among the lines `SIZE NAME` on standard input. They are
# read in pieces of 32 MiB, with FLAG for dd. Ends with 75 if the flag `direct` does not work. The number of bytes is
# the one that dd reports, because a file may shrink meanwhile.
read_large() {
  large_moved=0 large_direct=no
  [ "$3" != direct ] || large_direct=yes
  large_start=$(date +%s%N) || fail 'date failed'
  while IFS= read -r large_line && [ "${large_line%% *}" -ge 8388608 ]; do
    large_at=0
    while [ "$large_at" -lt "${large_line%% *}" ]; do
      large_now=$(date +%s%N) || fail 'date failed'
      [ "$large_moved" -lt "$1" ] && [ "$large_now" -lt $((large_start + $2 * 1000000000)) ] || break 2
      large_skip=$((large_at / 1048576))
      large_said=$(dd if="${large_line#* }" of=/dev/null bs=1048576 skip="$large_skip" count=32 iflag="$3" 2>&1) || {
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

# read_small SECONDS   Time reading all files among the lines `SIZE NAME` on standard input, with a single process and
# through the page cache.
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

# only_vanished WORDS   Fail if one line of these error messages is about anything other than a file that a running
# server has removed.
only_vanished() {
  vanished_others=$(printf '%s' "$1" | grep -v ': No such file or directory$')
  vanished_status=$?
  [ -n "$1" ] && [ "$vanished_status" -eq 1 ] || fail "the files below $PWD cannot be read: $vanished_others"
}

# write_probe FOLDER BYTES SECONDS   Time writing random bytes into one file and flushing it, and print the faster of
# two tries. Then read the file back. A first piece of 32 MiB shows how many bytes can be written in half of SECONDS. At
# most BYTES are written. The memory for the bytes is used once before, because a machine needs time for memory that it
# touches for the first time. The faster try counts, because other work on the server can only slow a try down.
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

# timed_read_back   Read `written` in the current folder from the disk, and print the nanoseconds. Uses O_DIRECT if the
# file system supports it.
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

# write_pieces NUMBER   Write the block NUMBER times into the file.
write_pieces() {
  write_piece=0
  while [ "$write_piece" -lt "$1" ]; do
    write_said=$(dd if=block of=written bs=1048576 seek=$((write_piece * 32)) conv=notrunc status=none 2>&1) ||
      fail "$PWD cannot be written: $write_said"
    write_piece=$((write_piece + 1))
  done
}

# timed_write NUMBER   Write NUMBER blocks into a new file, and print the nanoseconds until they are on the disk. The
# data that other programs have not flushed yet are written to the disk before the time begins.
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

# checksum_probe PROGRAM PROCESSES BYTES SUM SECONDS   Time PROCESSES processes that each compute a checksum of zeros with
# PROGRAM, which is openssl or sha256sum. A first piece of BYTES, whose checksum must be SUM, does not count, because the
# program may have to be loaded from the disk. A second one shows of how many pieces they can compute it in SECONDS, but
# of 256 at most. They do so again if that took less than half of the time, because starting the programs is most of a
# short time.
checksum_probe() {
  sum_pieces=1
  sum_taken=$(timed_checksums "$1" "$2" "$3" "$4") || exit
  sum_taken=$(timed_checksums "$1" "$2" "$3" "$4") || exit
  while [ "$sum_pieces" -lt 256 ] && [ "$sum_taken" -lt $(($5 * 500000000)) ]; do
    sum_pieces=$((sum_pieces * $5 * 1000000000 / (sum_taken + 1)))
    [ "$sum_pieces" -le 256 ] || sum_pieces=256
    sum_taken=$(timed_checksums "$1" "$2" $((sum_pieces * $3)) '') || exit
  done
  printf 'nanoseconds %s\nbytes %s\n' "$sum_taken" $(($2 * sum_pieces * $3))
}

# timed_checksums PROGRAM PROCESSES BYTES SUM   Compute the checksum of BYTES zeros in each of PROCESSES processes, and
# print the nanoseconds. Fails if not every result is SUM, or if SUM is empty, if they are not all the same. The zeros are
# a file without blocks in /dev/shm, which takes no memory and has lost its name before it is read: to pass them through
# a pipe takes as long as to compute the checksum where the processor has instructions for it.
timed_checksums() {
  case $1 in
    openssl) sum_one='openssl dgst -sha256 -r' ;;
    *) sum_one='sha256sum' ;;
  esac
  # shellcheck disable=SC2016 # that shell's own words
  if [ -w /dev/shm ]; then
    sum_file=''
    trap 'rm -f -- "$sum_file" || fail "$sum_file cannot be removed"' EXIT
    sum_file=$(mktemp /dev/shm/pghaul-sums.XXXXXX) || fail 'no file can be made in /dev/shm'
    truncate -s "$3" "$sum_file" || fail "$sum_file cannot be made $3 bytes large"
    exec 9<"$sum_file"
    rm -f -- "$sum_file" || fail "$sum_file cannot be removed"
    sum_one="$sum_one </dev/fd/9"
  else
    sum_one='{ head -c "$1" /dev/zero || echo "head failed" >&2; } | '$sum_one
  fi
  sum_turns=$(seq "$2") || fail 'seq failed'
  sum_start=$(date +%s%N) || fail 'date failed'
  sum_said=$(printf '%s\n' "$sum_turns" | xargs -n 1 -P "$2" sh -c "$sum_one" sh "$3" 2>&1) ||
    fail "$1 cannot compute a checksum: ${sum_said##*'
'}"
  sum_end=$(date +%s%N) || fail 'date failed'
  printf '%s\n' "$sum_said" | awk -v sum="$4" -v many="$2" '
    /^head failed$/ { short++ }
    length($1) != 64 || $1 ~ /[^0-9a-f]/ { next }
    sum == "" { sum = $1 }
    $1 == sum { found++ }
    END { exit short || found != many }' ||
    fail "not every process computed the right checksum: ${sum_said##*'
'}"
  echo $((sum_end - sum_start))
}

# sustained_write FOLDER BYTES SECONDS   Write random bytes into one file for SECONDS, at most BYTES. The last line is
# the end mark. Prints `piece NANOSECONDS` for each 64 MiB as soon as they are on the disk. The file is removed.
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
    sustained_seek=$((sustained_piece * 64))
    sustained_said=$(dd if=block of=written bs=1048576 seek="$sustained_seek" conv=notrunc,fsync status=none 2>&1) ||
      fail "$1 cannot be written: $sustained_said"
    sustained_piece=$((sustained_piece + 1))
    sustained_now=$(date +%s%N) || fail 'date failed'
    echo "piece $((sustained_now - sustained_before))"
  done
  print_end_mark
}
