# The sample of files that represents a cluster. Its list has one line per file: bytes to send, bytes to skip, 0, 0,
# name.

# choose_sample FOLDER LIST BYTES FILES   Write a list of about BYTES that represent FOLDER; print `SKIP NAME` of each
# large file. Small files (under 16 MiB) and large files have the same share of bytes as in the cluster: of the small
# ones every k-th by size, at most FILES, of the large ones pieces from their ends. A piece has 8 MiB; in a small sample
# it has less, at least 1 MiB, so that there are sixteen: large files do not all compress alike. The number of small
# files does not reduce the large ones, because a sample of a hundred pages tells no rate.
choose_sample() {
  umask 077
  enter_folder "$1"
  {
    allow_gone . -- find . -ignore_readdir_race -name lost+found -prune -o -type f ! -name 'pgsql_tmp*' ! -name '*
*' ! -path ./postmaster.pid -printf '%s ./%P\n' && print_end_mark
  } | { sort -n && print_end_mark; } | awk -v bytes="$3" -v files="$4" '
    $0 == "# whole" { marks++; next }
    { size[++known] = $1; name[known] = substr($0, index($0, " ") + 1); all += $1; if ($1 < 16777216) small = known }
    END {
      if (marks != 2) exit 1
      every = all / bytes; if (every < 1) every = 1
      sparse = small / files; if (sparse < every) sparse = every
      for (at = (1 + sparse) / 2; at <= small; at += sparse) { i = int(at); print size[i], 0, 0, 0, name[i] }
      piece = int(bytes / 16 / 1048576) * 1048576
      if (piece > 8388608) piece = 8388608
      if (piece < 1048576) piece = 1048576
      next_one = every * piece / 2
      for (i = small + 1; i <= known; i++) {
        pieces = 0
        for (passed += size[i]; next_one < passed; next_one += every * piece) pieces++
        if (!pieces) continue
        skip = int((size[i] - pieces * piece) / 1048576) * 1048576
        if (skip < 0) skip = 0
        print size[i] - skip, skip, 0, 0, name[i]
      }
    }' >"$2" || fail "the files below $1 could not be listed: is the disk of $2 full?"
  awk '$2 > 0 { skip = $2; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, ""); print skip, $0 }' <"$2" || fail "$2 cannot be read"
  print_end_mark
}

# make_sample_holes FOLDER   Empty it, and create a sparse file for each `SKIP NAME` of standard input, after which
# rsync continues.
make_sample_holes() {
  room_holes=$(read_complete) || exit
  enter_folder "$1"
  find . -mindepth 1 -delete || fail "$1 cannot be emptied"
  printf '%s' "$room_holes" | while IFS= read -r room_hole || [ -n "$room_hole" ]; do
    room_name=${room_hole#* }
    case $room_name in
      */../* | */..) fail "$room_name is outside of the folder" ;;
      ./*) ;;
      *) fail "$room_name is outside of the folder" ;;
    esac
    room_folder=$(dirname -- "$room_name") || fail 'dirname failed'
    mkdir -p -- "$room_folder" || fail "$1/$room_folder cannot be created"
    truncate -s "${room_hole%% *}" -- "$room_name" || fail "$1/$room_name cannot be created"
  done || exit
}

# print_sample_size FOLDER SKIPPED   Print `bytes` of the files there, without the holes of SKIPPED bytes.
print_sample_size() {
  { find "$1" -type f -printf '%s\n' && print_end_mark; } | awk -v skipped="$2" '
    $0 == "# whole" { whole = 1; next }
    { sum += $1 }
    END { if (!whole) exit 1; printf "bytes %.0f\n", sum - skipped }' ||
    fail "the files that arrived in $1 cannot be read"
}
