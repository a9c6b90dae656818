# The proof that every data root is known, is still the same folder, and still has its contents. A tablespace may have
# been created since the facts were read. A disk may not be mounted after a reboot, or another one may be mounted in its
# place.

# list_data_roots DATA VERSION [LINK FOLDER]...   Print what DATA and the folders of its links are, one line per device,
# and the end mark. Exit with 66 if a link leads to a folder that is not among these; fail if one of these contains
# nothing of a cluster. VERSION: the folder that every tablespace contains, PG_15_202209061, or a pattern of it.
list_data_roots() {
  enter_folder "$1"
  roots_version=$2
  shift 2
  check_known_links "$@"
  roots_boot=$(cat /proc/sys/kernel/random/boot_id) || fail 'the boot ID of this host cannot be read'
  echo "boot $roots_boot"
  print_data_root . "$PWD"
  while [ $# -gt 1 ]; do
    print_data_root "$1" "$2"
    shift 2
  done
  print_end_mark
}

# check_known_links [LINK FOLDER]...   In the data directory: exit with 66 if a link leads to a folder that is not among
# these.
check_known_links() {
  roots_found=$(allow_gone . -- find . -ignore_readdir_race -type d -name lost+found -prune -o -type l -printf '%P\n') ||
    fail 'not all links of the data directory could be read'
  [ -n "$roots_found" ] || return 0
  roots_unknown=$(
    printf '%s\n' "$roots_found" | while IFS= read -r roots_link; do print_unknown_root "$roots_link" "$@"; done
  ) || exit
  [ -z "$roots_unknown" ] ||
    refuse 66 "${roots_unknown%; }. The plan does not contain this, because it was created later." \
      'Begin with a new plan (--start-over), after --rollback if the old cluster is stopped'
}

# print_unknown_root LINK [KNOWN FOLDER]...   Print the folder to which LINK leads, unless it is KNOWN.
print_unknown_root() {
  root_link=$1
  [ -L "$1" ] || fail "the link $1 is gone, or its name contains a line break"
  [ -d "$1" ] || return 0
  root_folder=$(readlink -f -- "$1") || fail "the link $1 cannot be resolved"
  shift
  while [ $# -gt 0 ]; do
    [ "$1" != "$root_link" ] || [ "$2" != "$root_folder" ] || return 0
    shift 2
  done
  printf '%s leads to %s; ' "$root_link" "$root_folder"
}

# print_data_root LINK FOLDER   Print a line for each device with files of FOLDER: `DEVICE INODE FILES BYTES CHANGED
# LINK`. INODE is that of the topmost folder on the device: FOLDER itself, or a disk mounted below it. FILES and BYTES
# count relations. CHANGED is the time of the last change in it, except for logs and the fence.
print_data_root() {
  case $1 in
    .) root_holds=PG_VERSION ;;
    log | pg_log) return 0 ;; # other programs remove files there, and the cluster does not need them
    pg_tblspc/*) root_holds=$roots_version ;;
    pg_wal | pg_xlog) root_holds='[0-9A-F]???????????????????????' ;; # a segment
    *) root_holds=. ;;
  esac
  [ -d "$2" ] || fail "$2 does not exist: is its disk mounted?"
  [ "$1/." -ef "$2" ] || fail "$1 does not lead to $2 any more: is its disk mounted?"
  for root_held in "$2"/$root_holds; do
    [ -e "$root_held" ] || fail "$2 does not contain $root_holds: is its disk mounted?"
  done
  # Next to the folder of a tablespace are those of other clusters, which change, and targets of other links.
  case $1:$root_holds in pg_tblspc/*:PG_*) root_part=$root_holds root_first=0 ;; *) root_part='*' root_first='' ;; esac
  {
    find_root_entries "$2" "$root_part" \
      \( -type l -printf '%Y ' -o -type f -name '[0-9]*' ! -path '*/./pg_*' -printf 'relation ' -o -printf '- ' \) \
      -printf '%D %s %C@ %i\n' && echo whole
  } | awk -v link="$1" -v first="$root_first" '
    $1 == "whole" { whole = 1; next }
    NR == 1 && first != "" { $4 = first }
    $1 == "d" && link != "." { exit 1 } # a link to a folder
    $1 == "f" && link ~ /^(pg_tblspc|base)\// { exit 1 } # some users move a single relation to another disk in this way
    $1 == "relation" { bytes[$2] += $3 }
    !($2 in inode) { inode[$2] = $5 } # a folder comes before its contents
    { files[$2] += $1 == "relation"; if ($4 "" > changed[$2] "") changed[$2] = $4 }
    END {
      if (!whole) exit 1
      for (device in files)
        printf "%s %s %d %.0f %s %s\n", device, inode[device], files[device], bytes[device], changed[device], link
    }' || {
    (refuse_stray_link "$1" "$2" "$root_part") || exit
    fail "not all files in $2 can be read"
  }
}

# find_root_entries FOLDER PART ACTION...   Run find's ACTIONs on everything in FOLDER that belongs to the cluster:
# names that match PART, without logs, lost+found and the fence.
find_root_entries() {
  entries_folder=$1 entries_part=$2
  shift 2
  allow_gone "$entries_folder/." -- find "$entries_folder/." -ignore_readdir_race \
    \( -path '*/./*' ! -path "*/./$entries_part" ! -path "*/./$entries_part/*" \
    -o -path '*/./log' -o -path '*/./pg_log' -o -type d -name lost+found \
    -o -path '*/./pghaul-fence' \) -prune -o "$@" ||
    fail "not all files in $entries_folder can be read"
}

# refuse_stray_link LINK FOLDER PART   Fail if PART of FOLDER contains a link to a folder or, in a tablespace, to a
# file: the copy would contain the link but not its target.
refuse_stray_link() {
  case $1 in
    .) return 0 ;; # check_known_links has looked
    pg_tblspc/* | base/*) stray_file='-xtype f' ;;
    *) stray_file=-false ;;
  esac
  # shellcheck disable=SC2086 # words of find's
  stray_name=$(find_root_entries "$2" "$3" -type l \( -xtype d -o $stray_file \) -printf '%P\n' -quit) || exit
  [ -n "$stray_name" ] || return 0
  stray_leads=$(readlink -f -- "$2/$stray_name") || fail "the link $2/$stray_name cannot be resolved"
  fail "$2 contains the link $stray_name, which leads to $stray_leads. The copy would contain the link but not its" \
    'target. Replace the link by its target while the server is stopped, or have PostgreSQL move the table or index' \
    'to another tablespace (ALTER TABLE ... SET TABLESPACE). Then try again.'
}

# compare_data_roots LEAST DATA VERSION [LINK FOLDER]...   Compare list_data_roots with its earlier output on standard
# input. Fail if a root is another folder now, if a disk below it is missing, or if the data directory contains no
# relation any more. A note is printed if less than LEAST of the relations are left: clients drop tables, and
# report_lost_relations checks by the catalogs whether each relation has its file. LEAST 1: fail if anything has
# changed. After a reboot devices have other numbers. Then inodes and the number of devices are compared.
compare_data_roots() {
  same_least=$1 same_numbers=yes
  shift
  same_before=$(read_complete) || exit
  same_now=$(list_data_roots "$@") || exit
  same_boot=$(printf '%s\n' "$same_before" | sed -n 's/^boot //p') || fail 'sed failed'
  case $same_now in "boot $same_boot"*) ;; *) same_numbers=no ;; esac
  same_said=$(printf '%s\n' "$same_before" "$same_now" | awk -v least="$same_least" -v numbers="$same_numbers" '
    $1 == "boot" { now = looks++ }
    NF > 5 && $1 ~ /^[0-9]+$/ {
      key = (numbers == "yes" ? $1 : "-") " " $2
      file = $3; byte = $4; change = $5
      $1 = $2 = $3 = $4 = $5 = ""
      key = key $0
      link[key] = substr($0, 6)
      seen[now, key]++
      files[now, key] += file
      bytes[now, key] += byte
      total[now, link[key]] += file
      if (change "" > changed[now, key] "") changed[now, key] = change
    }
    function folder(key) { return link[key] == "." ? "the data directory" : link[key] }
    function less(had, has, few) { return had - has > few && has < least * had }
    END {
      if (looks != 2) exit 1
      if (total[0, "."] && !total[1, "."]) print "lost the data directory no longer contains any relation"
      for (key in link) if ((0, key) in seen) {
        counts = sprintf("of %d files of relations in %s, %.0f bytes, %d are there, %.0f bytes",
          files[0, key], folder(key), bytes[0, key], files[1, key], bytes[1, key])
        if (seen[1, key] < seen[0, key])
          print "lost " folder(key) " is another folder, or on another disk. Check that every disk is mounted"
        else if (least == 1 && (files[0, key] > files[1, key] || bytes[0, key] > bytes[1, key])) print "lost " counts
        else if (least == 1 && changed[0, key] != changed[1, key])
          print "lost " folder(key) " was changed since the stop"
        else if (less(files[0, key], files[1, key], 100) || less(bytes[0, key], bytes[1, key], 1e8))
          print "note: " counts ": clients dropped or emptied tables meanwhile"
      }
    }') || fail 'the data roots cannot be compared with those before'
  same_lost=$(printf '%s\n' "$same_said" | awk '/^lost / { printf "%s%s", many++ ? "; " : "", substr($0, 6) }') ||
    fail 'awk failed'
  [ -z "$same_lost" ] || fail "the old cluster has changed: $same_lost"
  [ -z "$same_said" ] || printf '%s\n' "$same_said"
  printf '%s\n' "$same_now"
}

# check_roots_unchanged PATH DATA VERSION [LINK FOLDER]...   Fail unless no server is running in DATA and no root has
# changed since the stop. The output of list_data_roots at the stop comes on standard input.
check_roots_unchanged() {
  prove_stopped "$1" "$2"
  shift
  compare_data_roots 1 "$@"
}
