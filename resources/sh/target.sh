# The proof before a copy: what its last pass will remove from the folders of the new server belongs to nobody else. The
# data directory of a copy that was not opened contains a mark, in its fence, with the system identifier of the cluster
# and the folders outside of it. A standby, a restored backup, a clone and an opened copy have the same identifier and
# no mark. A folder outside belongs to the copy if the mark names it, no other cluster has a link to it, and it contains
# only the names that such a folder has.

# check_targets OWNER PATH IDENTIFIER GIVEN DATA NUMBER [FOLDER LINK NAMES]... [OTHER]...   Fail unless each folder is
# empty, missing or belongs to a copy of the cluster. Run by root, who runs no program of PATH: OWNER does. GIVEN: `-`,
# or the checkpoint of the unmarked cluster that the operator has given up. NUMBER of folders outside of DATA: the link
# in DATA that leads there, and an extended regular expression that matches all names of a copy in it; or the names in
# it that belong to the copy, each after a slash, whatever else it contains. OTHER are the data directories of the other
# clusters on this host.
check_targets() {
  check_target_data "$1" "$2" "$3" "$4" "$5"
  ours_data=$5 ours_left=$6
  shift 6
  while [ "$ours_left" -gt 0 ]; do
    check_target_folder "$ours_data" "$1" "$2" "$3"
    (refuse_others_folder "$ours_left" "$ours_data" "$@") || exit
    shift 3
    ours_left=$((ours_left - 1))
  done
}

# list_folder_names FOLDER   Print the names in FOLDER, one per line, without lost+found; nothing if it does not exist.
list_folder_names() {
  [ -e "$1" ] || return 0
  ls -Aq -I lost+found -- "$1" || fail "$1 cannot be read"
}

# check_target_data OWNER PATH IDENTIFIER GIVEN DATA   Fail unless no server is running there and it is empty, marked as
# a copy of that cluster, or given up.
check_target_data() {
  ours_names=$(list_folder_names "$5") || exit
  [ -n "$ours_names" ] || return 0
  [ "$ours_names" != pghaul-fence ] || ! is_unfinished_fence "$5/pghaul-fence" || return 0
  # The step that puts the fence up comes later; it stops what a dress rehearsal has left.
  { [ -e "$5/pghaul-fence/mark" ] && [ -e "$5/pghaul-fence/dressed" ]; } || refuse_running_server "$5"
  if [ -e "$5/pghaul-fence/mark" ]; then
    mark_has_line "$5" "identifier $3" ||
      refuse_target "$5 contains a copy of another cluster, which is named in $5/pghaul-fence/mark"
    return 0
  fi
  [ -e "$5/global/pg_control" ] || [ -e "$5/pghaul-fence/global/pg_control" ] ||
    refuse_target "$5 is neither empty nor a copy of this cluster"
  ours_control=$(print_control_data "$2" "$5" "runuser -u $1 --") || exit
  printf '%s\n' "$ours_control" | grep -qx "Database system identifier: *$3" ||
    refuse_target "$5 contains another cluster"
  printf '%s\n' "$ours_control" | grep -qx "Latest checkpoint location: *$4" || {
    ours_is=$(describe_cluster "$5" "$ours_control") || exit
    fail "$5 contains $ours_is, and has no mark of a copy that was never opened. Name another target. If nobody needs" \
      'it, you can also waive the check target-identity and make a new plan'
  }
}

# is_unfinished_fence FENCE   Succeed if it was interrupted before it got its mark: it contains no file of a cluster.
is_unfinished_fence() {
  none_found=$(find "$1" ! -type d ! -path "$1/mark.part" -print -quit) || fail "$1 cannot be read"
  [ -z "$none_found" ]
}

# describe_cluster DATA CONTROL   Print what kind of cluster this may be, by its files and by the output of
# pg_controldata. It has the same system identifier as the old cluster.
describe_cluster() {
  if [ ! -e "$1/global/pg_control" ]; then
    echo 'this cluster, fenced by an earlier move'
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

# mark_has_line DATA LINE   Succeed if the mark of the copy in DATA has that line.
mark_has_line() {
  while IFS= read -r mark_line; do
    [ "$mark_line" != "$2" ] || return 0
  done <"$1/pghaul-fence/mark"
  return 1
}

# check_target_folder DATA FOLDER LINK NAMES   Fail unless it is empty, or it contains only such names and the mark in
# DATA names it or the cluster that was given up has a link to it. If NAMES are those of the copy itself, only these are
# looked at.
check_target_folder() {
  case $4 in
    /*) ours_names=$(list_parts "$2" "$4") || exit ;;
    *) ours_names=$(list_folder_names "$2") || exit ;;
  esac
  [ -n "$ours_names" ] || return 0
  if [ -e "$1/pghaul-fence/mark" ]; then mark_has_line "$1" "folder $2"; else [ "$1/$3" -ef "$2" ]; fi ||
    refuse_target "$2 contains files, but no copy in $1 has a link to it"
  case $4 in /*) return 0 ;; *) ;; esac
  ours_strange=$(printf '%s\n' "$ours_names" | grep -vxE -m 1 -e "$4") || [ $? -eq 1 ] || fail 'grep failed'
  [ -z "$ours_strange" ] || refuse_target "$2 contains $ours_strange, which does not belong to a copy of this cluster"
}

# list_parts FOLDER NAMES   Print those of NAMES, each after a slash, that exist in FOLDER.
list_parts() {
  parts_rest=${2#/}/
  while [ -n "$parts_rest" ]; do
    parts_name=${parts_rest%%/*} parts_rest=${parts_rest#*/}
    if [ -e "$1/$parts_name" ] || [ -L "$1/$parts_name" ]; then printf '%s\n' "$parts_name"; fi
  done
}

# refuse_target WORDS...   Fail with WORDS, and say what the operator can do.
refuse_target() {
  fail "$*. Empty it if nobody needs its contents, or name another target"
}

# refuse_others_folder NUMBER DATA FOLDER LINK NAMES [FOLDER LINK NAMES]... [OTHER]...   Fail if a cluster other than
# that in DATA has a link to FOLDER. Running clusters are found by their processes. Anybody can create a link to FOLDER,
# so a link of an ordinary user counts only if this user can write to FOLDER. A tablespace of another major version may
# be next to the NAMES of the copy.
refuse_others_folder() {
  else_data=$2 else_folder=$3 else_names=$5
  shift $((2 + 3 * $1))
  for else_process in $(list_server_processes); do set -- "$@" "/proc/$else_process/cwd"; done
  for else_other; do
    [ ! "$else_other" -ef "$else_data" ] || continue
    for else_leads in "$else_other" "$else_other/pg_wal" "$else_other/pg_xlog" "$else_other"/pg_tblspc/*; do
      [ "$else_leads" -ef "$else_folder" ] || continue
      ! owner_cannot_write "$else_other" "$else_folder" || continue
      ! is_other_version "$else_other" "$else_leads" "$else_names" || continue
      refuse_target "$else_folder belongs to the cluster in $(readlink -f -- "$else_other")"
    done
  done
}

# is_other_version OTHER LINK NAMES   Succeed if LINK leads to a tablespace of OTHER whose major version uses another
# folder than NAMES.
is_other_version() {
  case $2:$3 in */pg_tblspc/*:/PG_*) ;; *) return 1 ;; esac
  beside_series=''
  [ ! -e "$1/PG_VERSION" ] || read -r beside_series <"$1/PG_VERSION" || fail "$1/PG_VERSION cannot be read"
  case $3 in "/PG_${beside_series}_"*) return 1 ;; *) [ -n "$beside_series" ] ;; esac
}

# owner_cannot_write OTHER FOLDER   Succeed if OTHER, a data directory, belongs to an ordinary user who cannot write to
# FOLDER.
owner_cannot_write() {
  may_owner=$(stat -L -c '%u %U' -- "$1") || fail "$1 cannot be read"
  [ "${may_owner%% *}" -ge 1000 ] && run_as "${may_owner#* }" test ! -w "$2" # UID_MIN of login.defs
}
