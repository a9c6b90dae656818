# The proof ahead of a copy: what its last pass removes from new's folders is nobody else's.
# The data directory is known by its system identifier. A tablespace's folder bears none, nor does one of WAL: such a folder is
# taken for a copy's where the copy in the data directory has the link for it, no other cluster leads to it, and it holds no
# other names than such a folder has.

# empty_or_ours PATH IDENTIFIER DATA NUMBER [FOLDER LINK NAMES]... [OTHER]...   each folder is empty, absent, or an earlier copy
# NUMBER of folders outside of DATA: the link in DATA that leads there, and an extended regular expression for all names in a
# copy of it. OTHER are the data directories of this host's other clusters.
empty_or_ours() {
  data_ours "$1" "$2" "$3"
  ours_data=$3 ours_left=$4
  shift 4
  while [ "$ours_left" -gt 0 ]; do
    folder_ours "$ours_data" "$1" "$2" "$3"
    (nobody_elses "$ours_left" "$ours_data" "$@") || exit
    shift 3
    ours_left=$((ours_left - 1))
  done
}

# names_in FOLDER   print the names in it, a line each, but for an ext4's own folder; nothing where it is not there
names_in() {
  [ -e "$1" ] || return 0
  ls -Aq -I lost+found -- "$1" || fail "$1 cannot be read"
}

# data_ours PATH IDENTIFIER DATA   it is empty, or a copy of the cluster of that system identifier in which no server runs
data_ours() {
  ours_names=$(names_in "$3") || exit
  [ -n "$ours_names" ] || return 0
  [ ! -e "$3/postmaster.pid" ] || fail "a server runs in $3: stop it, or name another target"
  [ -e "$3/global/pg_control" ] || not_ours "$3 is neither empty nor a copy of this cluster"
  ours_control=$(control_data "$1" "$3") || exit
  printf '%s\n' "$ours_control" | grep -qx "Database system identifier: *$2" ||
    not_ours "$3 is neither empty nor a copy of this cluster"
}

# folder_ours DATA FOLDER LINK NAMES   it is empty, or the copy in DATA has the link for it and it holds such names alone
folder_ours() {
  ours_names=$(names_in "$2") || exit
  [ -n "$ours_names" ] || return 0
  [ -L "$1/$3" ] || not_ours "$2 holds files, and no copy in $1 leads there"
  ours_strange=$(printf '%s\n' "$ours_names" | grep -vxE -m 1 -e "$4") || [ $? -eq 1 ] || fail 'grep failed'
  [ -z "$ours_strange" ] || not_ours "$2 holds $ours_strange, which no copy of this cluster brings"
}

# not_ours WORDS...   fail, and say what can be done
not_ours() {
  fail "$*: empty it if nobody needs what it holds, or name another target"
}

# nobody_elses NUMBER DATA FOLDER LINK NAMES [FOLDER LINK NAMES]... [OTHER]...   no cluster but that in DATA leads to FOLDER
# Those that run are found by themselves.
nobody_elses() {
  else_data=$2 else_folder=$3
  shift $((2 + 3 * $1))
  for else_process in $(server_processes); do set -- "$@" "/proc/$else_process/cwd"; done
  for else_other; do
    [ ! "$else_other" -ef "$else_data" ] || continue
    for else_leads in "$else_other" "$else_other/pg_wal" "$else_other/pg_xlog" "$else_other"/pg_tblspc/*; do
      [ ! "$else_leads" -ef "$else_folder" ] ||
        not_ours "$else_folder belongs to the cluster in $(readlink -f -- "$else_other")"
    done
  done
}
