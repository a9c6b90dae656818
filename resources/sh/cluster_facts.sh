# Examining a folder that may be a data directory. An outer part, with the rights of the round trip, finds out which
# folder it really is. The inner part runs as the owner of the folder, because PostgreSQL's programs refuse root, and
# because no program that a data directory leads to should run with more rights than its owner has. Everything only
# reads. The inner part has its own mark and pipes: an owner who lies can lie about this cluster only.
#
# Its sections read what cluster_open found: cluster_folder, cluster_series, cluster_pid, cluster_port, cluster_socket,
# cluster_programs (the folder of its programs), cluster_version, cluster_tried, cluster_config, cluster_hba and
# cluster_ident (its files, if a start must name them), cluster_named and cluster_lost (see cluster_read_start). Set
# ahead for all:
# cluster_sections (NAME SECONDS FUNCTION of each), cluster_seconds (what these take at most), cluster_postmasters
# (process ids), cluster_settings (names) and cluster_user (who owns clusters on this host, as its profile says).
# shellcheck disable=SC2154 # section_… are set by sections.sh, program stands ahead of all

# clusters_begin MARK   Prepare the examination of all clusters.
clusters_begin() {
  sections_begin "$1"
  look_seen=' ' cluster_queries=''
  export cluster_sections cluster_postmasters cluster_settings cluster_queries cluster_user
}

# examine_cluster NUMBER MARK FOLDER CONFIG PROGRAMS   Examine one folder: print its place and, between MARKs, its
# sections. Each folder is examined only once. FOLDER is written for printf's %b. CONFIG, its configuration file, and
# PROGRAMS, the folder of its programs, may be empty. The path is resolved only once, because another user could replace
# the folder later.
examine_cluster() {
  look_folder=$(printf '%b_' "$3")
  look_folder=${look_folder%_} look_ids=''
  if cd -P -- "$look_folder" 2>/dev/null; then
    look_folder=$PWD
    look_ids=$(stat -c '%d:%i %u %g %U' .) || look_ids=''
    enter_folder /
  fi
  run_section "$1/place" 5 cluster_place "$look_folder" "$look_ids"
  [ "$section_status" = 0 ] || return 0
  case $look_seen in *" ${look_ids%% *} "*) return 0 ;; *) ;; esac
  look_seen="$look_seen${look_ids%% *} "
  cluster_mark=$2
  export cluster_mark
  # shellcheck disable=SC2086 # four words
  run_section "$1/inside" "$cluster_seconds" \
    run_isolated run_as_owner ${look_ids#* } cluster_inside "$look_folder" "$4" "$5"
}

# run_as_owner UID GID NAME FUNCTION WORDS...   Run a function as the owner of a folder, or as the current user, if that
# is not root.
run_as_owner() {
  owner_uid=$1 owner_gid=$2 owner_name=$3 owner_groups=--init-groups
  shift 3
  owner_self=$(id -u) || fail 'id failed'
  if [ "$owner_self" -ne 0 ]; then
    sh -c "$program" sh "$@"
  elif [ "$owner_uid" -eq 0 ]; then
    fail 'pghaul does not examine a data directory as root'
  elif command -v setpriv >/dev/null; then
    if [ "$owner_name" = UNKNOWN ]; then
      owner_groups=--clear-groups
    else
      # The folder may have another group: the kernel would then show nothing of the owner's processes.
      owner_gid=$(id -g -- "$owner_name") || fail 'id failed'
    fi
    setpriv --reuid="$owner_uid" --regid="$owner_gid" "$owner_groups" sh -c "$program" sh "$@"
  elif command -v runuser >/dev/null; then
    runuser -u "$owner_name" -- sh -c "$program" sh "$@"
  else
    su -s /bin/sh -c "$program" "$owner_name" sh "$@"
  fi
}

# cluster_place FOLDER IDS   Print ID, owner and real path of a folder. Exits with 4 if it does not exist. IDS are its
# properties when it was found: device and inode, owner, group and the name of the owner.
cluster_place() {
  path_exists "$1" || refuse 4 'there is no such folder'
  [ -d "$1" ] || fail 'it is not a folder'
  [ -x "$1" ] || fail "$(id -un) may not enter it. That needs root or its owner"
  cd -P -- "$1" || fail 'it cannot be entered'
  place_ids=$(stat -c '%d:%i %u %g %U' .) || fail 'stat failed'
  [ "$place_ids" = "$2" ] || fail 'it was replaced by another folder in the meantime'
  # shellcheck disable=SC2086 # four words
  set -- $place_ids
  [ "$2" -ne 0 ] || fail 'its owner is root, and PostgreSQL does not run as root'
  # Below 100 distributions number their own accounts: one of them is postgres (26 on Red Hat), the others own no
  # cluster.
  [ "$2" -ge 100 ] || [ "$4" = postgres ] || [ "$4" = "$cluster_user" ] ||
    fail "its owner is $4, which is a system account"
  place_path=$(hex "$PWD") || exit
  printf '%s\n' "id=$1" "uid=$2" "owner=$4" "folder=$place_path"
}

# cluster_inside FOLDER CONFIG PROGRAMS   Run all sections of a cluster.
cluster_inside() {
  sections_begin "$cluster_mark"
  cluster_open "$1" "$2" "$3"
  # shellcheck disable=SC2086 # they are words
  set -- $cluster_sections
  while [ $# -ge 3 ]; do
    run_section "$1" "$2" "$3"
    shift 3
  done
}

# cluster_open FOLDER CONFIG PROGRAMS   Find what its sections read; a variable that is empty afterwards was not found.
cluster_open() {
  cluster_folder=$1 cluster_config=$2
  cluster_series='' cluster_pid='' cluster_port='' cluster_socket=''
  cluster_programs='' cluster_version='' cluster_tried=''
  cluster_hba='' cluster_ident='' cluster_named='' cluster_lost=''
  cluster_version_file=$1/PG_VERSION
  [ -e "$cluster_version_file" ] || cluster_version_file=$1/pghaul-fence/PG_VERSION
  read -r cluster_series 2>/dev/null <"$cluster_version_file"
  case $cluster_series in *[!0-9.]*) cluster_series='' ;; *) ;; esac
  cluster_lock
  open_running=''
  if [ -n "$cluster_pid" ]; then open_running=$(readlink "/proc/$cluster_pid/exe") || open_running=''; fi
  [ -z "$cluster_series" ] || cluster_find_programs "${open_running%/*}" "$3"
  # A unit, or the tools of Debian, start the cluster with the file that they name.
  [ -n "$cluster_pid$cluster_config" ] || cluster_read_start
  export cluster_folder cluster_series cluster_pid cluster_port cluster_socket cluster_programs cluster_version
  export cluster_tried cluster_config cluster_version_file cluster_hba cluster_ident cluster_named cluster_lost
}

# cluster_read_start   For a stopped cluster: set cluster_config, cluster_hba and cluster_ident to the files that the
# command line of its last start named, as postmaster.opts has it. With -D of a folder without data, it is the
# postgresql.conf there. Set cluster_named to lines NAME=PATH of these files, and cluster_lost to those of files that
# are not there any more, or cannot be read: postmaster.opts itself, if it is garbled. A copy of another cluster has its
# postmaster.opts, which is ignored.
cluster_read_start() {
  start_said=$(print_start_files "$cluster_folder" 2>/dev/null) || {
    cluster_lost="postmaster.opts=$cluster_folder/postmaster.opts
"
    return 0
  }
  [ -n "$start_said" ] || return 0
  start_folder=$(start_path -D) || exit
  start_data=$(start_path data_directory) || exit
  start_data=${start_data:-$start_folder}
  # a folder that does not exist here: the cluster was copied from elsewhere, and so was the file
  [ -z "$start_data" ] || [ -d "$start_data" ] || return 0
  start_other=$start_data/PG_VERSION
  [ -e "$start_other" ] || start_other=$start_data/pghaul-fence/PG_VERSION
  if [ -e "$start_other" ] && ! [ "$start_data" -ef "$cluster_folder" ]; then return 0; fi
  start_config=$(start_path config_file) || exit
  start_beside=''
  if [ -z "$start_config" ] && [ -e "$start_folder/postgresql.conf" ] &&
    ! [ "$start_folder" -ef "$cluster_folder" ]; then
    start_beside=$start_folder
    start_config=$start_folder/postgresql.conf
  fi
  if start_file config_file "$start_config"; then cluster_config=$start_config; fi
  start_one=$(start_access hba_file) || exit
  if start_file hba_file "$start_one"; then cluster_hba=$start_one; fi
  start_one=$(start_access ident_file) || exit
  if start_file ident_file "$start_one"; then cluster_ident=$start_one; fi
}

# start_path NAME   Print the path of this option in start_said; nothing if it is missing.
start_path() {
  printf '%s\n' "$start_said" | sed -n "s/^$1=//p" || fail 'sed failed'
}

# start_access NAME   Print the path of the access file that was named, or the one that a start with the folder
# start_beside reads: without data in that folder, a start looks there for access files, too.
start_access() {
  access_path=$(start_path "$1") || exit
  if [ -z "$access_path" ] && [ -n "$start_beside" ]; then
    access_path=$(LC_ALL=C "$cluster_programs/postgres" -C "$1" -D "$start_beside" \
      -c "data_directory=$cluster_folder" 2>/dev/null) && [ -f "$access_path" ] || return 0
  fi
  printf '%s\n' "$access_path"
}

# start_file NAME PATH   Succeed if the file is there, and add it to cluster_named, otherwise to cluster_lost. A relative
# path is lost, because nobody knows to which folder it was relative.
start_file() {
  [ -n "$2" ] || return 1
  case $2 in
    /*)
      if [ -f "$2" ] && [ -r "$2" ]; then
        cluster_named="$cluster_named$1=$2
"
        return 0
      fi
      ;;
    *) ;;
  esac
  cluster_lost="$cluster_lost$1=$2
"
  return 1
}

# cluster_lock   Set process id, port and socket folder of the running server, from its lock file. The process id in the
# lock file of a container means nothing outside. So the process must work in this folder, and every other running
# server is compared too.
cluster_lock() {
  lock_pid=''
  if [ -r "$cluster_folder/postmaster.pid" ]; then
    {
      read -r lock_pid && read -r _ && read -r _ && read -r cluster_port && read -r cluster_socket
    } <"$cluster_folder/postmaster.pid"
  fi
  case $lock_pid in *[!0-9]*) lock_pid='' ;; *) ;; esac
  case $cluster_port in *[!0-9]*) cluster_port='' ;; *) ;; esac
  for lock_pid in $lock_pid $cluster_postmasters; do
    if process_lives_in "$lock_pid" "$cluster_folder"; then
      cluster_pid=$lock_pid
      return 0
    fi
  done
}

# cluster_find_programs RUNNING PLACES...   Set the folder of programs of the cluster's major version. RUNNING is that
# of the running server, which only its own user can see, and which may be run again. Folders named by a unit and the
# usual folders count only if no other user can change them.
cluster_find_programs() {
  programs_running=$1
  programs_uid=$(id -u) || fail 'id failed'
  for programs_place in "$@" "/usr/lib/postgresql/$cluster_series/bin" "/usr/pgsql-$cluster_series/bin" \
    "/usr/lib/postgresql$cluster_series/bin" "/usr/libexec/postgresql$cluster_series" /usr/local/pgsql*/bin \
    /usr/local/*/bin /opt/*/bin /opt/*/*/bin /usr/local/bin /usr/bin; do
    [ -n "$programs_place" ] || continue
    programs_one=$programs_place/postgres
    [ -x "$programs_one" ] || programs_one=$programs_place/pg_controldata
    [ -x "$programs_one" ] || continue
    [ "$programs_place" = "$programs_running" ] || is_trusted "$programs_uid" "$programs_one" || {
      cluster_tried="$cluster_tried $programs_place (others write there)"
      continue
    }
    programs_said=$(run_limited 5 "$programs_one" --version </dev/null 2>/dev/null)
    cluster_tried="$cluster_tried $programs_place"
    case $programs_said in
      *") $cluster_series" | *") $cluster_series"[!0-9]*)
        cluster_programs=$programs_place cluster_version=$programs_said
        return 0
        ;;
      *) ;;
    esac
  done
}

# run_limited SECONDS COMMAND...   Run COMMAND at most that long, if the host has `timeout`.
run_limited() {
  if [ "$section_limits" = yes ]; then
    timeout -k 1 "$@"
  else
    shift
    "$@"
  fi
}

# cluster_identity   Print what PG_VERSION, the lock file and the programs say, and the files that should not be there.
# Exits with 4 if the folder is empty, and with 5 if pghaul has only begun a copy there.
cluster_identity() {
  [ -r "$cluster_folder" ] || fail "$(id -un) may not read it. That needs root or its owner"
  identity_held=$(ls -A -- "$cluster_folder") || fail 'it cannot be read'
  [ -n "$identity_held" ] || refuse 4 'it is empty'
  if [ ! -e "$cluster_version_file" ]; then
    [ ! -e "$cluster_folder/pghaul-fence/mark" ] || refuse 5 'pghaul has only begun a copy there'
    fail 'it is not a data directory, because it contains no PG_VERSION'
  fi
  [ -r "$cluster_version_file" ] || fail "$(id -un) may not read its PG_VERSION. That needs root or its owner"
  [ -n "$cluster_series" ] || head -c 200 "$cluster_version_file" || fail 'its PG_VERSION cannot be read'
  identity_programs=$(hex "$cluster_programs") || exit
  identity_socket=$(hex "$cluster_socket") || exit
  echo "series=$cluster_series"
  echo "pid=$cluster_pid"
  echo "port=$cluster_port"
  echo "version=$cluster_version"
  echo "bin=$identity_programs"
  echo "socket=$identity_socket"
  identity_named=$(hex "$cluster_named") || exit
  identity_lost=$(hex "$cluster_lost") || exit
  echo "named=$identity_named"
  echo "lost=$identity_lost"
  cluster_leftovers
  cluster_fence
}

# cluster_fence   Print `fenced=yes` if pghaul keeps it from starting, and `copy=IDENTIFIER` by the mark of a copy.
cluster_fence() {
  for fence_holds in global/pg_control PG_VERSION mark; do
    [ -e "$cluster_folder/pghaul-fence/$fence_holds" ] || continue
    echo 'fenced=yes'
    break
  done
  [ -f "$cluster_folder/pghaul-fence/mark" ] || return 0
  sed -n 's/^identifier /copy=/p;5q' "$cluster_folder/pghaul-fence/mark" ||
    fail 'the mark of the copy in it cannot be read'
}

# cluster_leftovers   Print `leftover NAME` of files of a start or a backup, and `fork=NAME` by files that only a fork
# has.
cluster_leftovers() {
  for leftover_name in postmaster.pid backup_label backup_label.old tablespace_map standby.signal recovery.signal \
    recovery.conf recovery.done promote; do
    [ ! -e "$cluster_folder/$leftover_name" ] || echo "leftover $leftover_name"
  done
  if [ -e "$cluster_folder/gp_dbid" ] || [ -e "$cluster_folder/internal.auto.conf" ]; then echo 'fork=Greenplum'; fi
  if [ -e "$cluster_folder/gaussdb.state" ] || [ -e "$cluster_folder/mot.conf" ]; then echo 'fork=openGauss'; fi
  if [ -d "$cluster_folder/dbms_pipe" ]; then echo 'fork=EDB Postgres Advanced Server'; fi
}

# cluster_control   Print the version of pg_controldata as `tool=`, then its output. Exits with 4 if the folder is a
# copy that has no control file yet.
cluster_control() {
  [ -n "$cluster_programs" ] ||
    fail "no programs of PostgreSQL ${cluster_series:-of an unknown version} were" \
      "found${cluster_tried:+, only other ones in$cluster_tried}"
  [ -x "$cluster_programs/pg_controldata" ] || fail "$cluster_programs does not contain pg_controldata"
  control_version=$("$cluster_programs/pg_controldata" --version) || fail 'pg_controldata does not print its version'
  echo "tool=$control_version"
  find_control "$cluster_folder"
  [ -e "$control_in/global/pg_control" ] || [ ! -e "$cluster_folder/pghaul-fence/mark" ] ||
    refuse 4 'it is an unfinished copy: pghaul copies the control file last'
  "$cluster_programs/pg_controldata" "$control_in" || fail 'pg_controldata failed'
}

# cluster_file_settings   Print `NAME=DIGITS` for each setting, according to the files. Prints nothing if SQL has
# already printed the settings. A setting that this version does not have is not an error. Each setting needs a start of
# the server program, so four of them run at a time.
cluster_file_settings() {
  case $cluster_pid$section_failed in [0-9]*' sql '* | ' '*) ;; *) return 0 ;; esac
  [ -x "$cluster_programs/postgres" ] ||
    fail "no server program of PostgreSQL ${cluster_series:-of an unknown version} was found"
  cluster_setting data_directory ||
    fail "the server program cannot read its configuration${cluster_config:+, $cluster_config}"
  settings_several=0
  for settings_name in $cluster_settings; do
    cluster_setting "$settings_name" 2>/dev/null &
    settings_several=$((settings_several + 1))
    [ $((settings_several % 4)) -ne 0 ] || wait
  done
  wait
}

# cluster_setting NAME   Print one; fail if the program does not know it.
cluster_setting() {
  set -- "$1" -C "$1" -D "$cluster_folder" ${cluster_config:+-c "config_file=$cluster_config"} \
    ${cluster_hba:+-c "hba_file=$cluster_hba"} ${cluster_ident:+-c "ident_file=$cluster_ident"}
  setting_name=$1
  shift
  setting_value=$("$cluster_programs/postgres" "$@") || return
  setting_value=$(hex "$setting_value") || exit
  printf '%s=%s\n' "$setting_name" "$setting_value"
}

# cluster_process   Print limits and control group of the running server, `memory_limit=BYTES` of its control groups,
# `parent=NAME` of its parent process, and `restart=WORD` of what systemd does when it has ended.
cluster_process() {
  [ -n "$cluster_pid" ] || return 0
  cat "/proc/$cluster_pid/limits" || fail "the limits of process $cluster_pid cannot be read"
  cat "/proc/$cluster_pid/cgroup" 2>/dev/null # a kernel without control groups has none
  process_limit=$(memory_limit /sys/fs/cgroup "/proc/$cluster_pid") || exit
  [ -z "$process_limit" ] || echo "memory_limit=$process_limit"
  read -r process_line <"/proc/$cluster_pid/stat" || fail "process $cluster_pid has ended"
  # Its name is in parentheses and may contain blanks; state and parent follow it.
  process_line=${process_line##*) }
  process_line=${process_line#* }
  process_name=init
  process_parent=${process_line%% *}
  [ "$process_parent" -eq 1 ] || read -r process_name 2>/dev/null <"/proc/$process_parent/comm" || process_name=''
  echo "parent=$process_name"
  print_unit_restart "$cluster_pid"
}

# print_unit_restart PROCESS   Print `restart=WORD`, Restart= of the host's unit that has it as its main process, or has
# no other. Other processes in a unit, for example one started in a session, are not started again.
print_unit_restart() {
  watched_unit=$(awk '{
    sub(/^[0-9]+:[^:]*:/, "")
    if ($0 !~ /^\/user\.slice\// && $0 ~ /\/[A-Za-z0-9:_.@\\-]+\.service$/) { sub(/.*\//, ""); print; exit }
  }' "/proc/$1/cgroup" 2>/dev/null) || return 0
  [ -n "$watched_unit" ] || return 0
  watched_said=$(systemctl show -p MainPID -p Restart -- "$watched_unit" 2>/dev/null) || return 0
  printf '%s\n' "$watched_said" | awk -F= -v process="$1" '
    $1 == "MainPID" && ($2 == 0 || $2 == process) { watched = 1 }
    $1 == "Restart" { restart = $2 }
    END { if (watched && restart) print "restart=" restart }' || fail 'awk failed'
}
