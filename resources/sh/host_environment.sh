# What affects the clusters of a host from outside: high-availability tools, poolers, services that start at boot,
# security policies, firewalls and scheduled jobs.

# ha_and_pooler_facts PATTERN FILES   Print signs of high-availability tools and connection poolers.
# Prints `process =COMMAND-LINE` for each process whose command line matches PATTERN, in hexadecimal digits, `file PATH`
# for each existing file of FILES, and `unit NAME` for each enabled service. FILES are patterns, separated by spaces.
# Fails if this user cannot see the processes of other users.
ha_and_pooler_facts() {
  ha_first=$(tr -d '\0' 2>/dev/null </proc/1/cmdline) && [ -n "$ha_first" ] ||
    fail "$(id -un) cannot see the processes of other users"
  # 2: a process has ended meanwhile, or its file cannot be read
  ha_found=$(grep -lasE "$1" /proc/[0-9]*/cmdline) || [ $? -le 2 ] || fail 'grep failed'
  for ha_file in $ha_found; do
    ha_line=$(hex_file "$ha_file" 2000) || {
      [ $? -eq 2 ] || exit 1
      continue # it has ended meanwhile
    }
    echo "process =$ha_line"
  done
  for ha_file in $2; do
    [ ! -e "$ha_file" ] || echo "file $ha_file"
  done
  for ha_link in /etc/systemd/system/*.wants/*.service /etc/systemd/system/*.requires/*.service; do
    [ ! -L "$ha_link" ] || echo "unit ${ha_link##*/}"
  done
}

# virtual_address_facts KEEPALIVED   Print the addresses that `ip` lists, and the virtual addresses of keepalived.
# KEEPALIVED is its configuration file. For each virtual address in it, `virtual ADDRESS` is printed.
virtual_address_facts() {
  ip -o addr show || fail 'ip cannot list the addresses'
  [ -e "$1" ] || return 0
  sed -n '/virtual_ipaddress/,/}/s/^[[:space:]]*\([0-9a-fA-F.:]*[.:][0-9a-fA-F.:]*\).*/virtual \1/p' "$1" ||
    fail "$1 cannot be read"
}

# autostart_facts   Print what starts PostgreSQL at boot: `enabled`, `masked`, `restart`, `start` and `script` lines.
# The unit files are read, because systemctl does not answer on a host without systemd or in a container.
autostart_facts() {
  for start_link in /etc/systemd/system/*.wants/*.service /etc/systemd/system/*.requires/*.service; do
    [ ! -L "$start_link" ] || echo "enabled ${start_link##*/}"
  done
  for start_file in /etc/systemd/system/*.service /run/systemd/system/*.service; do
    if [ "$start_file" -ef /dev/null ]; then echo "masked ${start_file##*/}"; fi
  done
  for start_folder in /lib/systemd/system /usr/lib/systemd/system /run/systemd/system /etc/systemd/system; do
    for start_file in "$start_folder"/*postgres*.service "$start_folder"/*postgres*.service.d/*.conf; do
      [ ! -f "$start_file" ] || restart_of_unit "$start_file"
    done
  done
  for start_file in /etc/postgresql/*/*/start.conf; do
    [ ! -f "$start_file" ] || start_of_cluster "$start_file"
  done
  for start_link in /etc/rc[2345].d/S*postgres*; do
    [ ! -e "$start_link" ] || echo "script $start_link"
  done
}

# restart_of_unit FILE   Print `restart FILE VALUE` for the last line with Restart= in FILE, which is the one in force.
restart_of_unit() {
  restart_values=$(sed -n 's/^[[:space:]]*Restart=//p' "$1") || fail "$1 cannot be read"
  [ -n "$restart_values" ] || return 0
  restart_values=$(last_line "$restart_values")
  echo "restart $1 $restart_values"
}

# start_of_cluster FILE   Print `start SERIES/NAME WORD` for Debian's start.conf. WORD is its first line that is no
# comment.
start_of_cluster() {
  start_word=$(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' -e q "$1") || fail "$1 cannot be read"
  start_cluster=${1%/start.conf}
  echo "start ${start_cluster#/etc/postgresql/} $start_word"
}

# security_policy_facts SELINUX APPARMOR PROFILES   Print the state of SELinux and AppArmor.
# SELINUX, APPARMOR and PROFILES are files of the kernel, so that no tool needs to be installed. Prints `selinux=STATE`,
# `apparmor=STATE`, and `profile NAME` for each AppArmor profile about PostgreSQL. Prints `profiles unread` if this user
# cannot read the profiles.
security_policy_facts() {
  if read -r policy_word 2>/dev/null <"$1"; then
    echo "selinux=$policy_word"
  elif command -v getenforce >/dev/null; then
    policy_word=$(getenforce) || fail 'getenforce failed'
    echo "selinux=$policy_word"
  elif [ -d /sys/fs ]; then
    echo 'selinux=disabled'
  fi
  if read -r policy_word 2>/dev/null <"$2"; then
    echo "apparmor=$policy_word"
    if [ -r "$3" ]; then
      sed -n '/postgres\|pgsql/Is/^/profile /p' "$3" || fail "$3 cannot be read"
    elif [ "$policy_word" = Y ]; then
      echo 'profiles unread'
    fi
  elif [ -d /sys/module ]; then
    echo 'apparmor=N'
  fi
}

# firewall_facts TABLES   Print `listed`, then the rules of iptables and nft, each after `: `.
# TABLES is the file with the tables that iptables has loaded in the kernel. Without tables, iptables is not called,
# because it would load kernel modules. Fails if the rules cannot be listed.
firewall_facts() {
  firewall_rules=''
  if [ -e "$1" ]; then
    firewall_tables=$(cat -- "$1") || fail "$1 cannot be read: the rules of iptables are not known"
    if [ -n "$firewall_tables" ]; then
      firewall_rules=$(iptables-legacy-save 2>/dev/null) || firewall_rules=$(iptables-save) ||
        fail 'iptables cannot list its rules'
    fi
  fi
  if command -v nft >/dev/null; then
    firewall_said=$(nft list ruleset) || fail 'nft cannot list its rules'
    firewall_rules="$firewall_rules
$firewall_said"
  elif [ -z "$firewall_rules" ] && [ -d /proc/net/netfilter ]; then
    fail 'the kernel has a firewall, but nft, which lists its rules, is not installed'
  fi
  echo listed
  indent_lines "$firewall_rules"
}

# schedule_facts   Print `place FILE USER` for each crontab and timer, followed by its lines.
# Fails at the end, after the output, if some of them cannot be read.
schedule_facts() {
  schedule_unread=''
  for schedule_file in /etc/crontab /etc/cron.d/* /etc/anacrontab; do
    [ ! -f "$schedule_file" ] || crontab_lines "$schedule_file" -
  done
  for schedule_folder in /etc/cron.hourly /etc/cron.daily /etc/cron.weekly /etc/cron.monthly; do
    for schedule_file in "$schedule_folder"/*; do
      [ ! -f "$schedule_file" ] || periodic_script "$schedule_file"
    done
  done
  for schedule_folder in /var/spool/cron/crontabs /var/spool/cron /var/spool/cron/tabs; do
    [ -d "$schedule_folder" ] || continue
    if [ -r "$schedule_folder" ] && [ -x "$schedule_folder" ]; then
      for schedule_file in "$schedule_folder"/*; do
        [ ! -f "$schedule_file" ] || crontab_lines "$schedule_file" "${schedule_file##*/}"
      done
    else
      schedule_unread=$schedule_folder
    fi
  done
  for schedule_file in /etc/systemd/system/*.wants/*.timer; do
    [ ! -e "$schedule_file" ] || timer_command "$schedule_file"
  done
  [ -z "$schedule_unread" ] || fail "$(id -un) cannot read $schedule_unread"
}

# crontab_lines FILE USER   Print `place FILE USER`, and the lines of FILE that are no comments, each after `: `.
crontab_lines() {
  if [ -r "$1" ]; then
    printf 'place %s %s\n' "$1" "$2"
    sed -e '/^[[:space:]]*#/d' -e '/^[[:space:]]*$/d' -e 's/^/: /' "$1" || fail "$1 cannot be read"
  else
    schedule_unread=$1
  fi
}

# periodic_script FILE   Print that root runs FILE, if FILE contains the name of a PostgreSQL program.
periodic_script() {
  if [ ! -r "$1" ]; then
    schedule_unread=$1
  elif grep -qE 'postgres|psql|pg_|pgbackrest|barman|wal-g' "$1"; then
    printf 'place %s -\n: root runs %s\n' "$1" "$1"
  else
    [ $? -eq 1 ] || fail "$1 cannot be read"
  fi
}

# timer_command LINK   Print the first command of the service that the enabled timer LINK starts.
timer_command() {
  timer_name=${1##*/}
  for timer_folder in /etc/systemd/system /usr/lib/systemd/system /lib/systemd/system; do
    timer_unit="$timer_folder/${timer_name%.timer}.service"
    [ -r "$timer_unit" ] || continue
    timer_line=$(sed -n '/^ExecStart=/{p;q}' "$timer_unit") || fail "$timer_unit cannot be read"
    [ -n "$timer_line" ] || continue
    printf 'place %s -\n: root %s\n' "$timer_name" "$timer_line"
    return 0
  done
}
