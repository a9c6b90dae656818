# The proof ahead of a copy: what its last pass removes from new's folders is nobody else's.
# The data directory of a copy that is not opened bears its mark, in the fence, with the cluster's system identifier and the
# folders outside of it. A standby, a restored backup, a clone and a copy that was opened have the same identifier and no mark.
# A folder outside is taken for a copy's where the mark names it, no other cluster leads to it, and it holds no other names
# than such a folder has.

# empty_or_ours OWNER PATH IDENTIFIER GIVEN DATA NUMBER [FOLDER LINK NAMES]... [OTHER]...   each folder is empty, absent, or a copy's
# By root, who runs no program of PATH: OWNER does. GIVEN: `-`, or the checkpoint at which the same cluster without a mark was
# given up. NUMBER of folders outside of DATA: the link in DATA that leads there, and an extended regular expression for all
# names in a copy of it; or, behind a slash each, the names in it that are the copy's, whatever lies beside them. OTHER are the data
# directories of this host's other clusters.
empty_or_ours() {
  data_ours "$1" "$2" "$3" "$4" "$5"
  ours_data=$5 ours_left=$6
  shift 6
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

# data_ours OWNER PATH IDENTIFIER GIVEN DATA   no server runs there; it is empty, marked as a copy of that cluster, or was given up
data_ours() {
  ours_names=$(names_in "$5") || exit
  [ -n "$ours_names" ] || return 0
  [ "$ours_names" != pghaul-fence ] || ! fence_of_none "$5/pghaul-fence" || return 0
  # the fence, which comes behind this, stops what a dress rehearsal has left
  { [ -e "$5/pghaul-fence/mark" ] && [ -e "$5/pghaul-fence/dressed" ]; } || no_server "$5"
  if [ -e "$5/pghaul-fence/mark" ]; then
    in_mark "$5" "identifier $3" || not_ours "$5 holds a copy of another cluster, which $5/pghaul-fence/mark names"
    return 0
  fi
  [ -e "$5/global/pg_control" ] || [ -e "$5/pghaul-fence/global/pg_control" ] ||
    not_ours "$5 is neither empty nor a copy of this cluster"
  ours_control=$(control_data "$2" "$5" "runuser -u $1 --") || exit
  printf '%s\n' "$ours_control" | grep -qx "Database system identifier: *$3" || not_ours "$5 holds another cluster"
  printf '%s\n' "$ours_control" | grep -qx "Latest checkpoint location: *$4" || {
    ours_is=$(known_as "$5" "$ours_control") || exit
    fail "$5 holds $ours_is, and no mark of a copy that was never opened: name another target; or, if nobody needs it," \
      'waive the check target-identity, and make a new plan'
  }
}

# fence_of_none FENCE   whether it is one that was broken off before it had its mark: no cluster's file lies in it
fence_of_none() {
  none_found=$(find "$1" ! -type d ! -path "$1/mark.part" -print -quit) || fail "$1 cannot be read"
  [ -z "$none_found" ]
}

# known_as DATA CONTROL   print what a cluster of old's identifier may be, by the files in it and what pg_controldata says
known_as() {
  if [ ! -e "$1/global/pg_control" ]; then
    echo 'this cluster as an earlier move left it, fenced'
    return
  fi
  for known_file in standby.signal recovery.signal recovery.conf backup_label; do
    if [ -e "$1/$known_file" ]; then
      echo "a standby or a restored backup of this cluster ($known_file)"
      return
    fi
  done
  case $2 in
    *'in archive recovery'* | *'shut down in recovery'*) echo 'a standby of this cluster' ;;
    *) echo 'a clone of this cluster, or a copy of it that was opened' ;;
  esac
}

# in_mark DATA LINE   whether the mark of the copy in DATA has that line
in_mark() {
  while IFS= read -r mark_line; do
    [ "$mark_line" != "$2" ] || return 0
  done <"$1/pghaul-fence/mark"
  return 1
}

# folder_ours DATA FOLDER LINK NAMES   it is empty; or the mark in DATA names it, or what is given up there leads to it, and it
# holds such names alone. Where NAMES are the copy's alone: none of them is there, or the mark or what was given up names it.
folder_ours() {
  case $4 in
    /*) ours_names=$(parts_in "$2" "$4") || exit ;;
    *) ours_names=$(names_in "$2") || exit ;;
  esac
  [ -n "$ours_names" ] || return 0
  if [ -e "$1/pghaul-fence/mark" ]; then in_mark "$1" "folder $2"; else [ "$1/$3" -ef "$2" ]; fi ||
    not_ours "$2 holds files, and no copy in $1 leads there"
  case $4 in /*) return 0 ;; *) ;; esac
  ours_strange=$(printf '%s\n' "$ours_names" | grep -vxE -m 1 -e "$4") || [ $? -eq 1 ] || fail 'grep failed'
  [ -z "$ours_strange" ] || not_ours "$2 holds $ours_strange, which no copy of this cluster brings"
}

# parts_in FOLDER NAMES   print those of NAMES, a slash ahead of each, that are in FOLDER
parts_in() {
  parts_rest=${2#/}/
  while [ -n "$parts_rest" ]; do
    parts_name=${parts_rest%%/*} parts_rest=${parts_rest#*/}
    if [ -e "$1/$parts_name" ] || [ -L "$1/$parts_name" ]; then printf '%s\n' "$parts_name"; fi
  done
}

# not_ours WORDS...   fail, and say what can be done
not_ours() {
  fail "$*: empty it if nobody needs what it holds, or name another target"
}

# nobody_elses NUMBER DATA FOLDER LINK NAMES [FOLDER LINK NAMES]... [OTHER]...   no cluster but that in DATA leads to FOLDER
# Those that run are found by themselves. Anybody can lead a link there: an ordinary user's counts where they can write into FOLDER.
# A tablespace of another major version may lie beside the NAMES that are the copy's alone.
nobody_elses() {
  else_data=$2 else_folder=$3 else_names=$5
  shift $((2 + 3 * $1))
  for else_process in $(server_processes); do set -- "$@" "/proc/$else_process/cwd"; done
  for else_other; do
    [ ! "$else_other" -ef "$else_data" ] || continue
    for else_leads in "$else_other" "$else_other/pg_wal" "$else_other/pg_xlog" "$else_other"/pg_tblspc/*; do
      [ "$else_leads" -ef "$else_folder" ] || continue
      ! may_not_write "$else_other" "$else_folder" || continue
      ! lies_beside "$else_other" "$else_leads" "$else_names" || continue
      not_ours "$else_folder belongs to the cluster in $(readlink -f -- "$else_other")"
    done
  done
}

# lies_beside OTHER LINK NAMES   whether LINK is to a tablespace of OTHER, whose major version has another folder there than NAMES
lies_beside() {
  case $2:$3 in */pg_tblspc/*:/PG_*) ;; *) return 1 ;; esac
  beside_series=''
  [ ! -e "$1/PG_VERSION" ] || read -r beside_series <"$1/PG_VERSION" || fail "$1/PG_VERSION cannot be read"
  case $3 in "/PG_${beside_series}_"*) return 1 ;; *) [ -n "$beside_series" ] ;; esac
}

# may_not_write OTHER FOLDER   whether OTHER, a data directory, is an ordinary user's who can write nothing into FOLDER
may_not_write() {
  may_owner=$(stat -L -c '%u %U' -- "$1") || fail "$1 cannot be read"
  [ "${may_owner%% *}" -ge 1000 ] && run_as "${may_owner#* }" test ! -w "$2" # UID_MIN of login.defs
}
