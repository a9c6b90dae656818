# What a data directory weighs and holds: bytes, links, and files that a copy may not bring over as they are.
# Only names and inodes are read, at low priority. Each walk ends with a mark: without it none of it is believed.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open

# folder_size FOLDER   print bytes and files of all below it; fails where not all may be read
# A file weighs what it takes up on the disk or what it holds, whichever is more: a file system that compresses gives the
# first too small for what a copy moves. One with several names counts once. Numbers beyond 2^31 need %.0f in older awks.
folder_size() {
  {
    gently find "$1" -ignore_readdir_race -name lost+found -prune -o -printf '%y %b %n %D:%i %s\n' && echo whole
  } | awk '
    $1 == "whole" { whole = 1; next }
    $1 == "f" && $3 > 1 && seen[$4]++ { next }
    { taken = $2 * 512; if ($1 == "f" && $5 > taken) taken = $5; bytes += taken; if ($1 != "d") files++ }
    END { if (!whole) exit 1; printf "%.0f %.0f\n", bytes, files }' || fail "not all of $1 may be read"
}

# cluster_size   print bytes and files of the data directory
cluster_size() {
  folder_size "$cluster_folder"
}

# cluster_written   print the bytes of its files, WAL aside, that were written to in the last hour; nothing of a stopped one
cluster_written() {
  [ -n "$cluster_pid" ] || return 0
  {
    gently find -L "$cluster_folder" -ignore_readdir_race \( -path '*/pg_wal/*' -o -name lost+found \) -prune \
      -o -type f -mmin -60 -printf '%s\n' && echo whole
  } | awk '
    $1 == "whole" { whole = 1; next }
    { bytes += $1 }
    END { if (!whole) exit 1; printf "%.0f\n", bytes }' || fail "not all of $cluster_folder may be read"
}

# cluster_links   print `link STATE BYTES FILES =PATH =TARGET =WRITTEN` of each link below it, and `leftover =PATH` of what a
# broken copy or query left. TARGET has no links any more, WRITTEN is what the link itself says; STATE: folder, file, dangling.
# A name may hold a line break: a NUL ends a name, a line break becomes byte 1.
cluster_links() {
  {
    gently find "$cluster_folder" -ignore_readdir_race -name lost+found -prune \
      -o \( -type l -o -name 'pgsql_tmp*' -type f -o -name '.~tmp~' -o -name .rsync-partial \) -print0 && printf 'whole\0'
  } | tr '\n\0' '\001\n' | link_lines || exit
}

# link_lines   print the line of each name on standard input; fails without the last, `whole`
link_lines() {
  while IFS= read -r link_path; do
    case $link_path in
      whole) return 0 ;;
      *"$(printf '\001')"*)
        link_path=$(printf '%s_' "$link_path" | tr '\001' '\n') || fail 'tr failed'
        link_path=${link_path%_}
        ;;
      *) ;;
    esac
    link_line "$link_path"
  done
  fail "not all of $cluster_folder may be read"
}

# link_line PATH   print the line of one
link_line() {
  link_digits=$(hex "${1#"$cluster_folder"/}") || exit
  if [ ! -L "$1" ]; then
    echo "leftover =$link_digits"
    return 0
  fi
  link_written=$(readlink -- "$1") || fail 'readlink failed'
  link_target=$(readlink -f -- "$1") || link_target=$link_written
  link_figures='- -' link_state=dangling
  if [ -f "$1" ]; then
    link_state='file'
  elif [ -e "$1" ]; then
    link_state=folder
    # where it leads to may be closed to the owner: its size is not known then
    link_figures=$(folder_size "$link_target" 2>/dev/null) || link_figures='- -'
  fi
  link_target=$(hex "$link_target") || exit
  link_written=$(hex "$link_written") || exit
  echo "link $link_state $link_figures =$link_digits =$link_target =$link_written"
}

# irregular_files   print `mode MODE`, five paths of each kind of file that a copy may not bring over as it is, how many of
# each and how many empty files there are, and last `holes BYTES`
# Kinds: hard-link, sparse (from 1 MiB of holes on: less is the end of a block, or a small file inside its inode),
# foreign, unreadable, partial, special (a FIFO or a device). A name may hold a line break: a NUL ends a record, a line break becomes byte 1.
irregular_files() {
  irregular_ids=$(stat -c '%u %a' -- "$cluster_folder") || fail 'stat failed'
  echo "mode ${irregular_ids#* }"
  {
    irregular_walk "${irregular_ids% *}" && printf 'whole\0'
  } | tr '\n\0' '\001\n' | awk -v owner="${irregular_ids% *}" -v shown=5 -v hole=1048576 '
    function note(kind) { count[kind]++; if (count[kind] <= shown) print kind, path }
    $0 == "whole" { whole = 1; next }
    { path = $0; for (i = 0; i < 6; i++) sub(/^[^ ]* /, "", path) }
    $1 ~ /^[pbc]$/ { note("special"); next }
    $1 == "f" && $3 > 1 && !seen[$2]++ { note("hard-link") }
    $1 == "f" && $5 == 0 { count["empty"]++ }
    $1 == "f" && $5 - $4 * 512 >= hole { note("sparse"); holes += $5 - $4 * 512 }
    $6 != owner { note("foreign") }
    $1 == "U" { note("unreadable") }
    $1 == "P" { note("partial") }
    END {
      if (!whole) exit 1
      for (kind in count) print "count", kind, count[kind]
      printf "holes %.0f\n", holes
    }' | irregular_lines || exit
}

# irregular_walk UID   a record of each file, folder, FIFO and device of cluster_folder, its tablespaces and its WAL, and one
# more for what is odd
# What may not be entered is such a record, and no error of the walk.
irregular_walk() {
  set -- "$1" "$cluster_folder"
  for walk_link in "$cluster_folder"/pg_tblspc/* "$cluster_folder/pg_wal" "$cluster_folder/pg_xlog"; do
    # what is no link is walked with the data directory
    if [ -L "$walk_link" ] && [ -e "$walk_link" ]; then set -- "$@" "$walk_link"; fi
  done
  walk_odd="- 0 0 0 $1 %p\\0"
  shift
  gently find -H "$@" -ignore_readdir_race -name lost+found -prune -o \( -type f -o -type d \) -printf '%y %D:%i %n %b %s %U %p\0' \
    \( \( ! -readable -o -type d ! -executable \) -printf "U $walk_odd" -o -true \) \
    \( \( -name '.~tmp~' -o -name .rsync-partial -o -type f \
    -name '.?*.[0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z]' \) -printf "P $walk_odd" -o -true \) \
    -type d \( ! -readable -o ! -executable \) -prune \
    -o \( -type p -o -type b -o -type c \) -printf '%y %D:%i %n %b %s %U %p\0'
}

# irregular_lines   print the lines on standard input with each path as hexadecimal digits; fails without the last
irregular_lines() {
  irregular_kind=''
  while read -r irregular_kind irregular_rest; do
    case $irregular_kind in
      count | holes) echo "$irregular_kind $irregular_rest" ;;
      *)
        irregular_rest=$(hex "$irregular_rest") || exit
        echo "$irregular_kind =$irregular_rest"
        ;;
    esac
    [ "$irregular_kind" != holes ] || return 0
  done
  fail "not all of $cluster_folder may be read"
}

# target_entries MOST FOLDERS...   print `folder =PATH` of each, and up to MOST `name =NAME` of what it holds
# One that is not there holds nothing.
target_entries() {
  entries_most=$1
  shift
  for entries_folder; do
    entries_digits=$(hex "$entries_folder") || exit
    echo "folder =$entries_digits"
    is_there "$entries_folder" || continue
    entries_names=$(ls -A -I lost+found -- "$entries_folder") || fail "$entries_folder cannot be read"
    [ -z "$entries_names" ] || printf '%s\n' "$entries_names" | entries_lines "$entries_most" || exit
  done
}

# entries_lines MOST   print `name =DIGITS` of the first lines on standard input
entries_lines() {
  entries_number=0
  while [ "$entries_number" -lt "$1" ] && IFS= read -r entries_name; do
    entries_number=$((entries_number + 1))
    entries_digits=$(hex "$entries_name") || exit
    echo "name =$entries_digits"
  done
}
