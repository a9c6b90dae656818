# The size and the contents of a data directory: bytes, links, and files that a copy may not transfer as they are.
# Only names and inodes are read, at low priority. Each list ends with a mark. Without the mark it counts as incomplete,
# and the function fails.
# shellcheck disable=SC2154 # cluster_… are set by cluster_open

# folder_size FOLDER...   Print the number of bytes and of files below all FOLDERs. Fails if not all of them can be
# read. The size of a file is its length or the space that it occupies on disk, whichever is more. On a file system that
# compresses, the space on disk is less than what a copy transfers. A file with several names counts once. Older
# versions of awk need %.0f for numbers above 2^31.
folder_size() {
  {
    allow_gone "$@" -- low_priority find "$@" -ignore_readdir_race -name lost+found -prune -o -printf '%y %b %n %D:%i %s\n' && echo whole
  } | awk '
    $1 == "whole" { whole = 1; next }
    $1 == "f" && $3 > 1 && seen[$4]++ { next }
    { taken = $2 * 512; if ($1 == "f" && $5 > taken) taken = $5; bytes += taken; if ($1 != "d") files++ }
    END { if (!whole) exit 1; printf "%.0f %.0f\n", bytes, files }' || fail "not all files in $1 can be read"
}

# cluster_size   Print the number of bytes and of files in the data directory.
cluster_size() {
  folder_size "$cluster_folder"
}

# cluster_written   Print the size in bytes of all files, except WAL, that were modified within the last hour.
# Prints nothing if the cluster is stopped.
cluster_written() {
  [ -n "$cluster_pid" ] || return 0
  {
    allow_gone "$cluster_folder" -- low_priority find -L "$cluster_folder" -ignore_readdir_race \
      \( -path '*/pg_wal/*' -o -name lost+found \) -prune -o -type f -mmin -60 -printf '%s\n' && echo whole
  } | awk '
    $1 == "whole" { whole = 1; next }
    { bytes += $1 }
    END { if (!whole) exit 1; printf "%.0f\n", bytes }' || fail "not all files in $cluster_folder can be read"
}

# cluster_links   Print the links below the data directory and the files that an interrupted copy or query has left.
# Prints `link STATE BYTES FILES =PATH =TARGET =WRITTEN` for each link. STATE is folder, file or dangling. TARGET is the
# path with all links resolved. WRITTEN is the text of the link itself. Prints `leftover =PATH` for each remaining file.
# A name may contain a line break. Therefore names are separated by NUL, and a line break in a name becomes byte 1.
cluster_links() {
  {
    allow_gone "$cluster_folder" -- low_priority find "$cluster_folder" -ignore_readdir_race -name lost+found -prune \
      -o \( -type l -o -name 'pgsql_tmp*' -type f -o -name '.~tmp~' -o -name .rsync-partial \) -print0 &&
      printf 'whole\0'
  } | tr '\n\0' '\001\n' | print_links || exit
}

# print_links   Print the line of each name on standard input. Fails if the last name, `whole`, is missing.
print_links() {
  link_names=$(cat) || fail 'cat failed'
  case $link_names in whole | *"
whole") ;; *) fail "not all files in $cluster_folder can be read" ;; esac
  link_names=${link_names%whole}
  # The targets of all links show what else in a tablespace's folder belongs to the cluster: see run_on_parts.
  link_leads=$(for_each_name resolve_link) || exit
  for_each_name print_link
}

# for_each_name FUNCTION   Call FUNCTION with each name in link_names.
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

# resolve_link PATH   Print the target of a link. Prints nothing if PATH is not a link or its target does not exist.
resolve_link() {
  if [ -L "$1" ] && [ -e "$1" ]; then readlink -f -- "$1" || fail 'readlink failed'; fi
}

# print_link PATH   Print the line of PATH for cluster_links.
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
    # The owner may not be able to read the target. In this case its size remains unknown.
    link_figures=$($link_size "$link_target" 2>/dev/null) || link_figures='- -'
  fi
  link_target=$(hex "$link_target") || exit
  link_written=$(hex "$link_written") || exit
  echo "link $link_state $link_figures =$link_digits =$link_target =$link_written"
}

# run_on_parts FUNCTION FOLDER   Call FUNCTION with all that belongs to the cluster in FOLDER, a tablespace's folder.
# This is the result of find_version_folder. In addition, it is each entry of FOLDER that contains the target of another
# link of the cluster. These targets are in link_leads.
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

# find_version_folder FOLDER   Print the cluster's own folder in FOLDER, the folder of a tablespace.
# It is named after the major version and the catalog version. Folders of other versions and of other clusters may be
# beside it. Prints FOLDER itself if the own folder does not exist or the catalog version is not known.
# Source: pg_control.h, ControlFileData.
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

# irregular_files   Print the files of the cluster that a copy may not transfer as they are.
# Prints `mode MODE` of the data directory, up to five paths of each kind of file, the number of files of each kind and
# of empty files, and last `holes BYTES`. The kinds are: hard-link, sparse (at least 1 MiB of holes; less is only the
# end of a block, or a small file inside its inode), foreign, unreadable, partial, special (a FIFO or a device).
# A name may contain a line break. Therefore records are separated by NUL, and a line break in a name becomes byte 1.
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

# irregular_walk UID   Print a record for each file, folder, FIFO and device of the cluster.
# This includes its tablespaces and its WAL. A second record follows if the file cannot be read (U) or is part of an
# interrupted copy (P). A folder that cannot be entered has such a record. It is not an error.
irregular_walk() {
  set -- "$1" "$cluster_folder"
  for walk_link in "$cluster_folder"/pg_tblspc/* "$cluster_folder/pg_wal" "$cluster_folder/pg_xlog"; do
    # If it is not a link, find examines it together with the data directory.
    [ -L "$walk_link" ] && [ -e "$walk_link" ] || continue
    case $walk_link in */pg_tblspc/*) walk_link=$(find_version_folder "$walk_link") || exit ;; *) ;; esac
    set -- "$@" "$walk_link"
  done
  walk_odd="- 0 0 0 $1 %p\\0"
  shift
  allow_gone "$@" -- low_priority find -H "$@" -ignore_readdir_race -name lost+found -prune \
    -o \( -type f -o -type d \) -printf '%y %D:%i %n %b %s %U %p\0' \
    \( \( ! -readable -o -type d ! -executable \) -printf "U $walk_odd" -o -true \) \
    \( \( -name '.~tmp~' -o -name .rsync-partial -o -type f \
    -name '.?*.[0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z]' \) \
    -printf "P $walk_odd" -o -true \) \
    -type d \( ! -readable -o ! -executable \) -prune \
    -o \( -type p -o -type b -o -type c \) -printf '%y %D:%i %n %b %s %U %p\0'
}

# irregular_lines   Print the lines on standard input, with each path as hexadecimal digits. Fails without the last
# line.
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

# target_entries MOST FOLDERS...   Print `folder =PATH` for each of FOLDERS, and up to MOST lines `name =NAME` of its
# entries. A folder that does not exist has no entries.
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

# entries_lines MOST   Print `name =DIGITS` for the first MOST lines on standard input.
entries_lines() {
  entries_number=0
  while [ "$entries_number" -lt "$1" ] && IFS= read -r entries_name; do
    entries_number=$((entries_number + 1))
    entries_digits=$(hex "$entries_name") || exit
    echo "name =$entries_digits"
  done
}
