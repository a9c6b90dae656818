# The proof that every folder of the cluster is known, is the one that it was, and holds what it held: a tablespace may have been
# made since the facts were read, a disk may not be mounted since a restart, or another one in its stead.

# data_roots DATA VERSION [LINK FOLDER]...   print what DATA and the folders of its links are, a line of each device, and the end mark
# Ends with 66 where a link leads to a folder, but as none of these does; fails where one of these holds nothing of a cluster.
# VERSION: the folder that every tablespace holds, PG_15_202209061, or a pattern of it.
data_roots() {
  enter "$1"
  roots_version=$2
  shift 2
  known_links "$@"
  roots_boot=$(cat /proc/sys/kernel/random/boot_id) || fail 'nobody can tell since when this host runs'
  echo "boot $roots_boot"
  data_root . "$PWD"
  while [ $# -gt 1 ]; do
    data_root "$1" "$2"
    shift 2
  done
  end_mark
}

# known_links [LINK FOLDER]...   here: ends with 66 where a link leads to a folder, but as none of these does
known_links() {
  roots_found=$(find . -ignore_readdir_race -type d -name lost+found -prune -o -type l -printf '%P\n') ||
    fail 'not all links of the data directory could be read'
  [ -n "$roots_found" ] || return 0
  roots_unknown=$(
    printf '%s\n' "$roots_found" | while IFS= read -r roots_link; do unknown_root "$roots_link" "$@"; done
  ) || exit
  [ -z "$roots_unknown" ] ||
    refuse 66 "${roots_unknown%; }: not in the plan, made since; begin with a new plan: --start-over," \
      'and --rollback before it where old is stopped'
}

# unknown_root LINK [KNOWN FOLDER]...   print to which folder LINK leads, but where it is KNOWN to
unknown_root() {
  root_link=$1
  [ -L "$1" ] || fail "the link $1 is gone, or its name holds a line break"
  [ -d "$1" ] || return 0
  root_folder=$(readlink -f -- "$1") || fail "nobody can tell where the link $1 leads"
  shift
  while [ $# -gt 0 ]; do
    [ "$1" != "$root_link" ] || [ "$2" != "$root_folder" ] || return 0
    shift 2
  done
  printf '%s leads to %s; ' "$root_link" "$root_folder"
}

# data_root LINK FOLDER   print a line of each device that something in FOLDER lies on: `DEVICE INODE FILES BYTES CHANGED LINK`
# INODE is that of the topmost folder on the device: FOLDER's own, and those of disks mounted below it. FILES and BYTES are
# those of relations, CHANGED is when last anything there was changed, but for logs and the fence.
data_root() {
  case $1 in
    .) root_holds=PG_VERSION ;;
    log | pg_log) return 0 ;; # others tidy there, and a cluster can do without it
    pg_tblspc/*) root_holds=$roots_version ;;
    pg_wal | pg_xlog) root_holds='[0-9A-F]???????????????????????' ;; # a segment
    *) root_holds=. ;;
  esac
  [ -d "$2" ] || fail "$2 is not there: is its disk mounted?"
  [ "$1/." -ef "$2" ] || fail "$1 does not lead to $2 any more: is its disk mounted?"
  for root_held in "$2"/$root_holds; do
    [ -e "$root_held" ] || fail "$2 holds no $root_holds: is its disk mounted?"
  done
  # beside a tablespace's own folder lie other clusters', which make and remove theirs, and what other links lead to
  case $1:$root_holds in pg_tblspc/*:PG_*) root_part=$root_holds root_first=0 ;; *) root_part='*' root_first='' ;; esac
  {
    root_entries "$2" "$root_part" \
      \( -type l -printf '%Y ' -o -type f -name '[0-9]*' ! -path '*/./pg_*' -printf 'relation ' -o -printf '- ' \) \
      -printf '%D %s %C@ %i\n' && echo whole
  } | awk -v link="$1" -v first="$root_first" '
    $1 == "whole" { whole = 1; next }
    NR == 1 && first != "" { $4 = first }
    $1 == "d" && link != "." { exit 1 } # a link to a folder
    $1 == "f" && link ~ /^(pg_tblspc|base)\// { exit 1 } # as somebody makes of a relation for which a disk is too small
    $1 == "relation" { bytes[$2] += $3 }
    !($2 in inode) { inode[$2] = $5 } # a folder comes ahead of what it holds
    { files[$2] += $1 == "relation"; if ($4 "" > changed[$2] "") changed[$2] = $4 }
    END {
      if (!whole) exit 1
      for (device in files) printf "%s %s %d %.0f %s %s\n", device, inode[device], files[device], bytes[device], changed[device], link
    }' || {
    (no_stray_link "$1" "$2" "$root_part") || exit
    fail "not all of $2 may be read"
  }
}

# root_entries FOLDER PART ACTION...   find's ACTIONs on all in FOLDER that is the cluster's: what a name matches PART, but for logs,
# lost+found and the fence
root_entries() {
  entries_folder=$1 entries_part=$2
  shift 2
  find "$entries_folder/." -ignore_readdir_race \
    \( -path '*/./*' ! -path "*/./$entries_part" ! -path "*/./$entries_part/*" -o -path '*/./log' -o -path '*/./pg_log' \
    -o -type d -name lost+found -o -path '*/./pghaul-fence' \) -prune -o "$@" ||
    fail "not all of $entries_folder may be read"
}

# no_stray_link LINK FOLDER PART   fails with the first link in what is PART of FOLDER that leads to a folder or, from a tablespace, to
# a file: a copy brings the link, and not what it leads to
no_stray_link() {
  case $1 in
    .) return 0 ;; # known_links has looked
    pg_tblspc/* | base/*) stray_file='-xtype f' ;;
    *) stray_file=-false ;;
  esac
  # shellcheck disable=SC2086 # words of find's
  stray_name=$(root_entries "$2" "$3" -type l \( -xtype d -o $stray_file \) -printf '%P\n' -quit) || exit
  [ -n "$stray_name" ] || return 0
  stray_leads=$(readlink -f -- "$2/$stray_name") || fail "nobody can tell where the link $2/$stray_name leads"
  fail "$2 holds a link, $stray_name, which leads to $stray_leads. The copy would bring the link and not what it leads to." \
    'Put that in the place of the link while the server is stopped, or have PostgreSQL move the table or index to another' \
    'tablespace (ALTER TABLE ... SET TABLESPACE); then try again.'
}

# same_data_roots LEAST DATA VERSION [LINK FOLDER]...   data_roots, held against an earlier one on standard input
# Fails where one is another folder now, where a disk is missing below it, or where the data directory holds no relation any
# more. That less than LEAST of the relations are there is a note: clients drop tables, and whether each relation has its file
# the catalogs tell (lost_relations). LEAST 1: fails where anything changed.
# Devices get other numbers by a restart of the host: then inodes must do, and how many devices there are.
same_data_roots() {
  same_least=$1 same_numbers=yes
  shift
  same_before=$(take_whole) || exit
  same_now=$(data_roots "$@") || exit
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
      if (total[0, "."] && !total[1, "."]) print "lost the data directory holds no relation any more"
      for (key in link) if ((0, key) in seen) {
        counts = sprintf("of %d files of relations in %s, %.0f bytes, %d are there, %.0f bytes",
          files[0, key], folder(key), bytes[0, key], files[1, key], bytes[1, key])
        if (seen[1, key] < seen[0, key])
          print "lost " folder(key) " is another folder, or on another disk: look whether every disk is mounted"
        else if (least == 1 && (files[0, key] > files[1, key] || bytes[0, key] > bytes[1, key])) print "lost " counts
        else if (least == 1 && changed[0, key] != changed[1, key]) print "lost " folder(key) " was changed since the stop"
        else if (less(files[0, key], files[1, key], 100) || less(bytes[0, key], bytes[1, key], 1e8))
          print "note: " counts ": clients dropped or emptied tables meanwhile"
      }
    }') || fail 'what the data roots were cannot be compared'
  same_lost=$(printf '%s\n' "$same_said" | awk '/^lost / { printf "%s%s", many++ ? "; " : "", substr($0, 6) }') ||
    fail 'awk failed'
  [ -z "$same_lost" ] || fail "old is not what it was: $same_lost"
  [ -z "$same_said" ] || printf '%s\n' "$same_said"
  printf '%s\n' "$same_now"
}

# still_stopped PATH DATA VERSION [LINK FOLDER]...   no server lives in DATA, and nothing in any root was changed since the stop
# The data_roots of the stop come on standard input.
still_stopped() {
  prove_stopped "$1" "$2"
  shift
  same_data_roots 1 "$@"
}
