# Where PostgreSQL data directories may lie: Debian's list, systemd units, running servers, common folders.

# debian_clusters   print pg_lsclusters' JSON, or its table where it is too old for that; nothing where there is none
debian_clusters() {
  command -v pg_lsclusters >/dev/null || return 0
  debian_said=$(pg_lsclusters -j 2>/dev/null) || debian_said=$(pg_lsclusters -h) || fail 'pg_lsclusters failed'
  printf '%s\n' "$debian_said"
}

# postmasters   print `postmaster PID SEEN =FOLDER =ARGUMENTS` of each running server; SEEN: seen, unseen or foreign
# Backends are children of their postmaster and bear its name. A postmaster in a container may have a folder of a name
# that is another one outside: the folders themselves are compared. /proc/PID/stat is read without a process of its own.
postmasters() {
  server_all=' ' server_pairs=''
  for server_stat in /proc/[0-9]*/stat; do
    read -r server_pid server_name _ server_parent _ 2>/dev/null <"$server_stat" || continue # it ended meanwhile
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

# postmaster_line PID   print the line of one; nothing where it ended meanwhile
# Where its folder may not be read, its arguments name it.
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

# common_folders PATTERNS   print `folder =PATH` of those that look like a data directory
# One of a package's own places that may not be looked into may be one too.
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

# unit_facts FOLDERS...   print `unit FILE` of each unit that names a server of PostgreSQL, and the lines that tell its folder
# Fails behind them all where some may not be read.
unit_facts() {
  unit_unread=''
  for unit_folder; do
    [ -d "$unit_folder" ] || continue
    # where /lib is a link to /usr/lib its units would come twice
    if [ "$unit_folder" = /lib/systemd/system ] && [ "$unit_folder" -ef /usr/lib/systemd/system ]; then continue; fi
    set --
    for unit_file in "$unit_folder"/*.service "$unit_folder"/*.service.d/*.conf; do
      # no unit has such a name (systemd.unit), and a line break in one would make a line of its own
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

# instance_facts   print `instance UNIT` of each instance of a template that comes up with the host or has a process now
instance_facts() {
  for instance_link in /etc/systemd/system/*.wants/*@?*.service /etc/systemd/system/*.requires/*@?*.service; do
    case ${instance_link##*/} in *[!A-Za-z0-9:_.@\\-]*) continue ;; *) ;; esac
    [ ! -L "$instance_link" ] || printf 'instance %s\n' "${instance_link##*/}"
  done
  # 2: one ended meanwhile
  instance_groups=$(grep -hosE '/system\.slice/[A-Za-z0-9:_.@\/-]*@[A-Za-z0-9:_.\-]+\.service' /proc/[0-9]*/cgroup) ||
    [ $? -le 2 ] || fail 'grep failed'
  instance_groups=$(printf '%s\n' "$instance_groups" | sort -u) || fail 'sort failed'
  printf '%s\n' "$instance_groups" | while IFS= read -r instance_group; do
    [ -z "$instance_group" ] || printf 'instance %s\n' "${instance_group##*/}"
  done
}

# host_unit_facts FOLDERS...   what instance_facts and unit_facts print of the host
host_unit_facts() {
  instance_facts
  unit_facts "$@"
}

# units_about_postgresql FILES...   print those of them with their lines
# What variables their command lines name, drop-ins of a later folder may set: unit_names goes on from one folder to the next.
units_about_postgresql() {
  : "${unit_names:=PGDATA}"
  units_found=$(grep -lE "postgres|postmaster|pg_ctl|PGDATA|(^|[^A-Za-z0-9_])($unit_names)=" "$@") || [ $? -eq 1 ] ||
    fail 'grep cannot read the units'
  [ -n "$units_found" ] || return 0
  unit_starts=$(printf '%s\n' "$units_found" | while IFS= read -r units_file; do unit_start_lines "$units_file"; done) || exit
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

# unit_start_lines FILE   print its ExecStart= with `: ` ahead, continued ones joined
unit_start_lines() {
  sed -nE -e ':a' -e '/\\$/{N;s/\\\n/ /;ba' -e '}' -e '/^[[:space:]]*ExecStart=/s/^[[:space:]]*/: /p' "$1" || fail "$1 cannot be read"
}

# user_unit_facts   print `user NAME HOME` of each account with units of its own, `linger` where they come up with the host,
# `enabled UNIT` of those that its systemd starts, and what unit_facts prints of them
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

# unit_lines FILE   print its lines that bear on the data directory with `: ` ahead, continued ones joined
# Others may hold secrets, as may the files of its environment. What a command line names everybody sees while it runs.
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
