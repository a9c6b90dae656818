# Where PostgreSQL data directories may be: Debian's list, systemd units, running servers and common folders.

# debian_clusters   Print the JSON output of pg_lsclusters, or its table if this version has no JSON.
# Prints nothing if pg_lsclusters is not installed.
debian_clusters() {
  command -v pg_lsclusters >/dev/null || return 0
  debian_said=$(pg_lsclusters -j 2>/dev/null) || debian_said=$(pg_lsclusters -h) || fail 'pg_lsclusters failed'
  printf '%s\n' "$debian_said"
}

# postmasters   Print `postmaster PID SEEN =FOLDER =ARGUMENTS` for each running server.
# SEEN is seen, unseen (its working directory cannot be read) or foreign (the server has another file system, as in a
# container). Backends have the same name as their postmaster, but are its children. In a container, a folder can have
# the name of a different folder on the host. Therefore the folders themselves are compared, not their names.
# The shell itself reads /proc/PID/stat, which saves one process for each.
postmasters() {
  server_all=' ' server_pairs=''
  for server_stat in /proc/[0-9]*/stat; do
    read -r server_pid server_name _ server_parent _ 2>/dev/null <"$server_stat" || continue # it has ended meanwhile
    case $server_name in
      '(postgres)' | '(postmaster)' | '(edb-postgres)')
        server_all="$server_all$server_pid "
        server_pairs="$server_pairs $server_pid:$server_parent"
        ;;
      *) ;;
    esac
  done
  for server_pair in $server_pairs; do
    case $server_all in *" ${server_pair#*:} "*) ;; *) postmaster_line "${server_pair%:*}" ;; esac
  done
}

# postmaster_line PID   Print the line of one server for postmasters. Prints nothing if it has ended meanwhile.
# If its working directory cannot be read, its arguments may contain the data directory.
postmaster_line() {
  if ! postmaster_folder=$(readlink "/proc/$1/cwd"); then
    [ ! -r "/proc/$1/cwd" ] || fail 'readlink failed'
    postmaster_seen=unseen
  elif [ "$postmaster_folder" -ef "/proc/$1/cwd" ]; then
    postmaster_seen=seen
  else
    postmaster_seen=foreign
  fi
  postmaster_folder=$(hex "$postmaster_folder") || exit
  postmaster_arguments=$(hex_file "/proc/$1/cmdline" 100000) || {
    [ $? -eq 2 ] || exit 1
    return 0
  }
  echo "postmaster $1 $postmaster_seen =$postmaster_folder =$postmaster_arguments"
}

# common_folders PATTERNS   Print `folder =PATH` for each folder that looks like a data directory.
# A folder that cannot be entered is printed too, if it is below one of the usual folders of PostgreSQL's packages.
common_folders() {
  for common_folder in $1; do
    [ -d "$common_folder" ] || continue
    common_version=$common_folder/PG_VERSION
    [ -e "$common_version" ] || common_version=$common_folder/pghaul-fence/PG_VERSION
    if [ ! -e "$common_version" ] || [ ! -d "$common_folder/global" ]; then
      [ ! -x "$common_folder" ] || continue
      case $common_folder in
        /var/lib/pgsql/* | /var/lib/postgresql/* | /var/lib/postgres/* | /usr/local/pgsql*) ;;
        *) continue ;;
      esac
    fi
    common_digits=$(hex "$common_folder") || exit
    echo "folder =$common_digits"
  done
}

# unit_facts FOLDERS...   Print `unit FILE` and the relevant lines for each systemd unit that concerns PostgreSQL.
# The lines are those of unit_lines. Fails at the end, after the output, if some files cannot be read.
unit_facts() {
  unit_unread=''
  for unit_folder; do
    [ -d "$unit_folder" ] || continue
    # If /lib is a link to /usr/lib, every unit would be printed twice.
    if [ "$unit_folder" = /lib/systemd/system ] && [ "$unit_folder" -ef /usr/lib/systemd/system ]; then continue; fi
    set --
    for unit_file in "$unit_folder"/*.service "$unit_folder"/*.service.d/*.conf; do
      # No unit has such a name (systemd.unit). A line break in a name would also break this output.
      case ${unit_file#"$unit_folder"/} in *[!A-Za-z0-9:_.@\\/-]*) continue ;; *) ;; esac
      if [ -r "$unit_file" ] && [ -f "$unit_file" ]; then
        set -- "$@" "$unit_file"
      elif [ -f "$unit_file" ]; then
        unit_unread=$unit_file
      fi
    done
    [ $# -eq 0 ] || units_about_postgresql "$@"
  done
  [ -z "$unit_unread" ] || fail "$unit_unread cannot be read"
}

# instance_facts   Print `instance UNIT` for each instance of a template unit that is enabled or has a process now.
instance_facts() {
  for instance_link in /etc/systemd/system/*.wants/*@?*.service /etc/systemd/system/*.requires/*@?*.service; do
    case ${instance_link##*/} in *[!A-Za-z0-9:_.@\\-]*) continue ;; *) ;; esac
    [ ! -L "$instance_link" ] || printf 'instance %s\n' "${instance_link##*/}"
  done
  # 2: a process has ended meanwhile
  instance_groups=$(grep -hosE '/system\.slice/[A-Za-z0-9:_.@\/-]*@[A-Za-z0-9:_.\-]+\.service' /proc/[0-9]*/cgroup) ||
    [ $? -le 2 ] || fail 'grep failed'
  instance_groups=$(printf '%s\n' "$instance_groups" | sort -u) || fail 'sort failed'
  printf '%s\n' "$instance_groups" | while IFS= read -r instance_group; do
    [ -z "$instance_group" ] || printf 'instance %s\n' "${instance_group##*/}"
  done
}

# host_unit_facts FOLDERS...   Print what instance_facts and unit_facts print for the whole host.
host_unit_facts() {
  instance_facts
  unit_facts "$@"
}

# units_about_postgresql FILES...   Print `unit FILE` and the lines of unit_lines for those FILES that concern
# PostgreSQL. A command line can use variables that a drop-in in a later folder sets. Therefore unit_names keeps the
# names of these variables from one folder to the next.
units_about_postgresql() {
  : "${unit_names:=PGDATA}"
  units_found=$(grep -lE "postgres|postmaster|pg_ctl|PGDATA|(^|[^A-Za-z0-9_])($unit_names)=" "$@") || [ $? -eq 1 ] ||
    fail 'grep cannot read the units'
  [ -n "$units_found" ] || return 0
  unit_starts=$(printf '%s\n' "$units_found" |
    while IFS= read -r units_file; do unit_start_lines "$units_file"; done) || exit
  unit_more=$(printf '%s\n' "$unit_starts" | awk '{
    gsub(/\$\$/, "")
    while (match($0, /\$[{]?[A-Za-z_][A-Za-z0-9_]*/)) {
      name = substr($0, RSTART, RLENGTH)
      $0 = substr($0, RSTART + RLENGTH)
      sub(/^\$[{]?/, "", name)
      if (!seen[name]++) printf "|%s", name
    }
  }') || fail 'awk failed'
  unit_names=$unit_names$unit_more
  printf '%s\n' "$units_found" | while IFS= read -r units_file; do
    echo "unit $units_file"
    unit_lines "$units_file"
  done || exit
}

# unit_start_lines FILE   Print each ExecStart= line of FILE after `: `. Continued lines are joined.
unit_start_lines() {
  sed -nE -e ':a' -e '/\\$/{N;s/\\\n/ /;ba' -e '}' -e '/^[[:space:]]*ExecStart=/s/^[[:space:]]*/: /p' "$1" ||
    fail "$1 cannot be read"
}

# user_unit_facts   Print `user NAME HOME` for each account that has systemd units of its own.
# After it comes `linger` if they start when the host boots, `enabled UNIT` for each enabled unit, and the output of
# unit_facts for them.
user_unit_facts() {
  user_accounts=$(getent passwd) || fail 'the list of accounts cannot be read'
  printf '%s\n' "$user_accounts" | while IFS=: read -r user_name _ _ _ _ user_home _; do
    user_units=$user_home/.config/systemd/user
    [ -d "$user_units" ] || continue
    echo "user $user_name $user_home"
    [ ! -e "/var/lib/systemd/linger/$user_name" ] || echo linger
    for user_link in "$user_units"/*.wants/*.service; do
      case ${user_link##*/} in *[!A-Za-z0-9:_.@\\-]*) continue ;; *) ;; esac
      [ ! -L "$user_link" ] || echo "enabled ${user_link##*/}"
    done
    (unit_facts "$user_units") || exit
  done || exit
}

# unit_lines FILE   Print the lines of FILE that concern the data directory, each after `: `. Continued lines are
# joined. Other lines, and other variables in environment files, may contain secrets. A command line is no secret,
# because every user can see it while the command runs.
unit_lines() {
  unit_named=${unit_names:-PGDATA}
  sed -nE -e ':a' -e '/\\$/{N;s/\\\n/ /;ba' -e '}' \
    -e "/^[[:space:]]*Environment=(.*[^A-Za-z0-9_])?($unit_named)=|^[[:space:]]*ExecStart=/s/^[[:space:]]*/: /p" "$1" ||
    fail "$1 cannot be read"
  unit_files=$(sed -n 's/^[[:space:]]*EnvironmentFile=-\{0,1\}//p' "$1") || fail "$1 cannot be read"
  printf '%s\n' "$unit_files" | while IFS= read -r unit_environment; do
    [ -f "$unit_environment" ] && [ -r "$unit_environment" ] || continue
    sed -nE "s/^[[:space:]]*($unit_named)=/: EnvironmentFile=\\1=/p" "$unit_environment" ||
      fail "$unit_environment cannot be read"
  done || exit
}
