# What a data directory weighs and holds: bytes, links, and files that a copy may not bring over as they are.
# Only names and inodes are read, at low priority. Each walk ends with a mark: without it none of it is believed.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open

# folder_size FOLDER...   print bytes and files of all below them; fails where not all may be read
# A file weighs what it takes up on the disk or what it holds, whichever is more: a file system that compresses gives the
# first too small for what a copy moves. One with several names counts once. Numbers beyond 2^31 need %.0f in older awks.
folder_size() {
  {
    low_priority find "$@" -ignore_readdir_race -name lost+found -prune -o -printf '%y %b %n %D:%i %s\n' && echo whole
  } | awk '
    $1 == "whole" { whole = 1; next }
    $1 == "f" && $3 > 1 && seen[$4]++ { next }
    { taken = $2 * 512; if ($1 == "f" && $5 > taken) taken = $5; bytes += taken; if ($1 != "d") files++ }
    END { if (!whole) exit 1; printf "%.0f %.0f\n", bytes, files }' || fail "not all files in $1 can be read"
}

# cluster_size   print bytes and files of the data directory
cluster_size() {
  folder_size "$cluster_folder"
}

# cluster_written   print the bytes of its files, WAL aside, that were written to in the last hour; nothing of a stopped one
cluster_written() {
  [ -n "$cluster_pid" ] || return 0
  {
    low_priority find -L "$cluster_folder" -ignore_readdir_race \( -path '*/pg_wal/*' -o -name lost+found \) -prune \
      -o -type f -mmin -60 -printf '%s\n' && echo whole
  } | awk '
    $1 == "whole" { whole = 1; next }
    { bytes += $1 }
    END { if (!whole) exit 1; printf "%.0f\n", bytes }' || fail "not all files in $cluster_folder can be read"
}

# cluster_links   print `link STATE BYTES FILES =PATH =TARGET =WRITTEN` of each link below it, and `leftover =PATH` of what a
# broken copy or query left. TARGET has no links any more, WRITTEN is what the link itself says; STATE: folder, file, dangling.
# A name may hold a line break: a NUL ends a name, a line break becomes byte 1.
cluster_links() {
  {
    low_priority find "$cluster_folder" -ignore_readdir_race -name lost+found -prune \
      -o \( -type l -o -name 'pgsql_tmp*' -type f -o -name '.~tmp~' -o -name .rsync-partial \) -print0 && printf 'whole\0'
  } | tr '\n\0' '\001\n' | print_links || exit
}

# print_links   print the line of each name on standard input; fails without the last, `whole`
print_links() {
  link_names=$(cat) || fail 'cat failed'
  case $link_names in whole | *"
whole") ;; *) fail "not all files in $cluster_folder can be read" ;; esac
  link_names=${link_names%whole}
  # what else a tablespace's folder holds of the cluster's is seen by where all links lead
  link_leads=$(for_each_name resolve_link) || exit
  for_each_name print_link
}

# for_each_name FUNCTION   run it with each of link_names
for_each_name() {
  printf '%s' "$link_names" | while IFS= read -r link_path; do
    case $link_path in
      *"$(printf '\001')"*)
        link_path=$(printf '%s_' "$link_path" | tr '\001' '\n') || fail 'tr failed'
        link_path=${link_path%_}
        ;;
      *) ;;
    esac
    "$1" "$link_path"
  done
}

# resolve_link PATH   print where a link leads; nothing of what is none, or leads nowhere
resolve_link() {
  if [ -L "$1" ] && [ -e "$1" ]; then readlink -f -- "$1" || fail 'readlink failed'; fi
}

# print_link PATH   print the line of one
print_link() {
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
    link_size=folder_size
    case ${1#"$cluster_folder"/} in pg_tblspc/*) link_size='run_on_parts folder_size' ;; *) ;; esac
    # where it leads to may be closed to the owner: its size is not known then
    link_figures=$($link_size "$link_target" 2>/dev/null) || link_figures='- -'
  fi
  link_target=$(hex "$link_target") || exit
  link_written=$(hex "$link_written") || exit
  echo "link $link_state $link_figures =$link_digits =$link_target =$link_written"
}

# run_on_parts FUNCTION FOLDER   run FUNCTION with all that is the cluster's in FOLDER, that of a tablespace: find_version_folder, and the first
# names there on the way to where link_leads, the links of the cluster, lead
run_on_parts() {
  parts_function=$1 parts_folder=$2
  parts_own=$(find_version_folder "$2") || exit
  set -- "$parts_own"
  while IFS= read -r parts_lead; do
    [ "$parts_own" != "$parts_folder" ] || break
    case $parts_lead in "$parts_folder"/?*) ;; *) continue ;; esac
    parts_lead=${parts_lead#"$parts_folder"/}
    parts_lead=$parts_folder/${parts_lead%%/*}
    for parts_known; do
      [ "$parts_known" != "$parts_lead" ] || continue 2
    done
    set -- "$@" "$parts_lead"
  done <<EOF
${link_leads:-}
EOF
  "$parts_function" "$@"
}

# find_version_folder FOLDER   print the one folder in that of a tablespace that is of the cluster's major version and catalog; FOLDER where
# that is not there, or its catalog is not known
# Those of other versions, and of other clusters, may lie beside it, too. Source: pg_control.h, ControlFileData.
find_version_folder() {
  part_own=$1
  find_control "$cluster_folder"
  if [ -e "$control_in/global/pg_control" ]; then
    part_catalog=$(od -An -t u4 -j 12 -N 4 -- "$control_in/global/pg_control") || fail 'the control file cannot be read'
    part_own=$1/PG_${cluster_series}_${part_catalog##* }
    [ -d "$part_own" ] || part_own=$1
  fi
  printf '%s\n' "$part_own"
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
    [ -L "$walk_link" ] && [ -e "$walk_link" ] || continue
    case $walk_link in */pg_tblspc/*) walk_link=$(find_version_folder "$walk_link") || exit ;; *) ;; esac
    set -- "$@" "$walk_link"
  done
  walk_odd="- 0 0 0 $1 %p\\0"
  shift
  low_priority find -H "$@" -ignore_readdir_race -name lost+found -prune -o \( -type f -o -type d \) -printf '%y %D:%i %n %b %s %U %p\0' \
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
  fail "not all files in $cluster_folder can be read"
}

# target_entries MOST FOLDERS...   print `folder =PATH` of each, and up to MOST `name =NAME` of what it holds
# One that is not there holds nothing.
target_entries() {
  entries_most=$1
  shift
  for entries_folder; do
    entries_digits=$(hex "$entries_folder") || exit
    echo "folder =$entries_digits"
    path_exists "$entries_folder" || continue
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
