# What a host is: its operating system, processors, network and tools. Each function prints the input of one parser in
# core/facts.

# system_facts   Print the release file, then names, versions and IDs of the system as `facts_NAME=VALUE`.
# An empty value is not known: a container hides process 1, for example, and an old system has no machine ID.
system_facts() {
  if [ -r /etc/os-release ] || [ -r /usr/lib/os-release ]; then
    print_first /etc/os-release /usr/lib/os-release
  elif read -r system_line 2>/dev/null </etc/redhat-release; then
    printf 'PRETTY_NAME=%s\n' "$system_line"
  fi
  echo
  system_names=$(uname -n && uname -r && uname -m) || fail 'uname failed'
  printf '%s\n' "$system_names" | {
    read -r system_line && echo "facts_hostname=$system_line"
    read -r system_line && echo "facts_kernel=$system_line"
    read -r system_line && echo "facts_architecture=$system_line"
  }
  system_clock=$(date -u +%Y-%m-%dT%H:%M:%S) || fail 'date failed'
  echo "facts_clock=$system_clock"
  # musl does not have this name for getconf. Its ldd prints the version and fails.
  system_libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || system_libc=$(ldd --version 2>&1)
  system_line=$(first_line "$system_libc")
  echo "facts_libc=$system_line"
  system_ids
}

# system_ids   Print the name of process 1, the time zone, the machine ID and the boot ID.
system_ids() {
  ids_init='' ids_zone='' ids_machine='' ids_boot=''
  read -r ids_init 2>/dev/null </proc/1/comm
  # Status 1 of readlink: /etc/localtime is not a link, so the time zone has no name.
  read -r ids_zone 2>/dev/null </etc/timezone || ids_zone=$(readlink /etc/localtime) || [ $? -eq 1 ] ||
    fail 'readlink failed'
  read -r ids_machine 2>/dev/null </etc/machine-id || read -r ids_machine 2>/dev/null </var/lib/dbus/machine-id
  read -r ids_boot 2>/dev/null </proc/sys/kernel/random/boot_id
  echo "facts_init=$ids_init"
  echo "facts_time_zone=$ids_zone"
  echo "facts_machine_id=$ids_machine"
  echo "facts_boot_id=$ids_boot"
}

# processor_facts   Print the output of lscpu, or the contents of /proc/cpuinfo if lscpu is not installed. The last line
# lists the processors that this session may use: in a container, these may be fewer.
processor_facts() {
  processor_said=$(lscpu 2>/dev/null) || processor_said=$(cat /proc/cpuinfo) || fail '/proc/cpuinfo cannot be read'
  printf '%s\n' "$processor_said"
  while read -r processor_label processor_list; do
    [ "$processor_label" != Cpus_allowed_list: ] || echo "$processor_label $processor_list"
  done 2>/dev/null </proc/self/status
  return 0
}

# memory_facts   Print /proc/meminfo, then `FILE:VALUE` for the numbers of huge pages of each size: all on the host, free,
# promised to a process that has not used them yet, surplus pages that the kernel may make on demand, and those that it
# has made. /proc/meminfo has only those of the default size. Last, `control_group_limit=BYTES`, if control groups limit
# the memory of this session.
memory_facts() {
  print_first /proc/meminfo
  memory_huge=/sys/kernel/mm/hugepages/hugepages-
  kernel_settings "$memory_huge"*/nr_hugepages "$memory_huge"*/free_hugepages "$memory_huge"*/resv_hugepages \
    "$memory_huge"*/nr_overcommit_hugepages "$memory_huge"*/surplus_hugepages
  memory_lowest=$(memory_limit /sys/fs/cgroup /proc/self) || exit
  [ -z "$memory_lowest" ] || echo "control_group_limit=$memory_lowest"
}

# memory_limit TREE PROCESS   Print the lowest memory limit, in bytes, of the control groups that a process is in and of
# all groups above them. TREE is where control groups are mounted, PROCESS the folder of the process in /proc. Prints
# nothing if there is no limit, or none that can be read. In a container, the top of the tree is often the container's
# own group, while PROCESS names its path on the host. So folders that do not exist are passed over on the way up.
memory_limit() {
  limit_lowest=''
  while IFS=: read -r _ limit_controllers limit_group; do
    case $limit_controllers in
      '') # version 2, which has a folder of its own beside version 1
        limit_tree=$1 limit_name=memory.max
        [ -e "$1/cgroup.controllers" ] || limit_tree=$1/unified
        ;;
      memory | memory,* | *,memory | *,memory,*) limit_tree=$1/memory limit_name=memory.limit_in_bytes ;;
      *) continue ;;
    esac
    # A group above the top of the tree belongs to another container.
    case $limit_group in */.. | */../* | [!/]* | '') continue ;; *) ;; esac
    limit_group=${limit_group%/}
    while :; do
      limit_bytes=''
      read -r limit_bytes 2>/dev/null <"$limit_tree$limit_group/$limit_name"
      case $limit_bytes in
        # Not there, `max`, or 19 digits: this is how version 1 says that there is no limit.
        '' | *[!0-9]* | 0* | ???????????????????*) ;;
        *) [ "${limit_lowest:-$limit_bytes}" -lt "$limit_bytes" ] || limit_lowest=$limit_bytes ;;
      esac
      [ -n "$limit_group" ] || break
      limit_group=${limit_group%/*}
    done
  done 2>/dev/null <"$2/cgroup" # it may have ended meanwhile
  [ -z "$limit_lowest" ] || echo "$limit_lowest"
}

# network_facts   Print the interfaces and addresses that `ip` lists, then one line from sysfs for each interface.
# The line is `sysfs NAME STATE MTU HARDWARE SPEED`. Only sysfs knows the speed. In a container, it may show the
# interfaces of another network. The reader recognises those by the hardware address. The speed of a veth is not real.
# Therefore the speed is printed only for devices and for what is built upon them (bond, bridge, vlan).
network_facts() {
  if command -v ip >/dev/null; then
    ip -o link show || fail 'ip cannot list the interfaces'
    ip -o addr show || fail 'ip cannot list the addresses'
  fi
  for network_folder in /sys/class/net/*; do
    network_state='' network_mtu='' network_address='' network_speed='' network_real=no
    read -r network_state 2>/dev/null <"$network_folder/operstate"
    read -r network_mtu 2>/dev/null <"$network_folder/mtu"
    read -r network_address 2>/dev/null <"$network_folder/address"
    # Reading the speed fails if the link is down.
    read -r network_speed 2>/dev/null <"$network_folder/speed"
    if [ -e "$network_folder/device" ]; then network_real=yes; fi
    while read -r network_line; do
      case $network_line in DEVTYPE=*) network_real=yes ;; *) ;; esac
    done 2>/dev/null <"$network_folder/uevent"
    [ "$network_real" = yes ] || network_speed=''
    echo "sysfs ${network_folder##*/} ${network_state:--} ${network_mtu:--} ${network_address:--} ${network_speed:--}"
  done
}

# tool_facts NAME=OPTION...   Print `tool NAME PATH` for each program, followed by its output when run with OPTION.
# A program that other users can change is not run. Its version is not worth that risk. The exit status does not count,
# because some programs print their version together with an error.
tool_facts() {
  tool_user=$(id -u) || fail 'id failed'
  tool_left=$#
  while [ "$tool_left" -gt 0 ]; do # each becomes three words behind those that remain
    tool_name=${1%%=*} tool_option=${1#*=}
    shift
    tool_left=$((tool_left - 1))
    tool_path=$(command -v "$tool_name") || tool_path=$(tool_of_postgresql "$tool_name") || exit
    set -- "$@" "$tool_name" "$tool_option" "$tool_path"
  done
  tool_safe=no
  if all_tools_are_trusted "$@"; then tool_safe=yes; fi
  while [ $# -gt 0 ]; do
    tool_name=$1 tool_option=$2 tool_path=$3
    shift 3
    echo "tool $tool_name $tool_path"
    [ -n "$tool_path" ] && [ -n "$tool_option" ] || continue
    [ "$tool_safe" = yes ] || is_trusted "$tool_user" "$tool_path" || continue
    tool_said=$("$tool_path" "$tool_option" </dev/null 2>&1)
    indent_first_lines 40 "$tool_said"
  done
}

# all_tools_are_trusted [NAME OPTION PATH]...   Succeed if no other user can change any of these programs: as a rule, so
# that one look at all of them is enough.
all_tools_are_trusted() {
  safe_left=$(($# / 3))
  while [ "$safe_left" -gt 0 ]; do
    if [ -n "$2" ] && [ -n "$3" ]; then set -- "$@" "$3"; fi
    shift 3
    safe_left=$((safe_left - 1))
  done
  [ $# -eq 0 ] || is_trusted "$tool_user" "$@"
}

# tool_of_postgresql NAME   Print the path of a PostgreSQL program that is not in PATH, from the latest major version.
# Prints nothing if there is none.
tool_of_postgresql() {
  case $1 in postgres | pg*) ;; *) return 0 ;; esac
  found_paths=''
  for found_path in /usr/lib/postgresql/*/bin/"$1" /usr/pgsql-*/bin/"$1" /usr/local/pgsql*/bin/"$1" /opt/*/bin/"$1"; do
    [ ! -x "$found_path" ] || found_paths="$found_paths
$found_path"
  done
  [ -n "$found_paths" ] || return 0
  found_paths=$(printf '%s\n' "$found_paths" | sort -V) || fail 'sort failed'
  last_line "$found_paths"
}

# server_programs   Print `server PATH` for each server program of PostgreSQL, in PATH and where packages and builds put
# them, followed by what it says of its version. A program that other users can change is not run.
server_programs() {
  server_user=$(id -u) || fail 'id failed'
  server_first=$(command -v postgres) || server_first=''
  for server_path in "$server_first" /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres \
    /usr/local/pgsql*/bin/postgres /opt/*/bin/postgres; do
    [ -x "$server_path" ] || continue
    echo "server $server_path"
    is_trusted "$server_user" "$server_path" || continue
    server_said=$("$server_path" --version </dev/null 2>&1)
    indent_first_lines 1 "$server_said"
  done
}

# clock_sync_facts SYSTEMD   Print what timedatectl, chronyc or ntpstat reports about the synchronisation of the clock.
# timedatectl is used if the folder SYSTEMD exists.
clock_sync_facts() {
  if [ -d "$1" ]; then
    # timedatectl of systemd before 239 (RHEL 7) does not have the command `show`.
    clock_said=$(timedatectl show -p NTPSynchronized 2>/dev/null) || clock_said=$(timedatectl) ||
      fail 'timedatectl failed'
    printf '%s\n' "$clock_said"
  elif command -v chronyc >/dev/null; then
    chronyc -n tracking || fail 'chronyc failed'
  elif command -v ntpstat >/dev/null; then
    ntpstat >/dev/null
    case $? in
      0) echo 'synchronised=yes' ;;
      1) echo 'synchronised=no' ;;
      *) fail 'ntpstat cannot ask the time server' ;;
    esac
  fi
}

# account_facts NAMES...   Print NAME:UID:GID for all local users, and for NAMES from any directory service.
# A directory service is never listed as a whole, because that of a company may be very large.
account_facts() {
  cut -d: -f1,3,4 /etc/passwd || fail '/etc/passwd cannot be read'
  for account_name; do
    # 2: there is no such user
    account_line=$(getent passwd "$account_name") || [ $? -eq 2 ] || fail "getent cannot look for $account_name"
    [ -z "$account_line" ] || printf '%s\n' "$account_line" | cut -d: -f1,3,4 || fail 'cut failed'
  done
}

# session_limits   Print the resource limits of this session. A server that is started from it inherits them.
session_limits() {
  # shellcheck disable=SC3045 # -n and -l are not in POSIX, but dash, bash and busybox all have them
  session_files=$(ulimit -n) || fail 'ulimit failed'
  # shellcheck disable=SC3045
  session_locked=$(ulimit -l) || fail 'ulimit failed'
  echo "open_files=$session_files"
  echo "locked_kilobytes=$session_locked"
}

# kernel_facts   Print the file systems that the kernel knows, the NFS modules that it can load, and its NFS settings.
kernel_facts() {
  sed 's/^/: /' /proc/filesystems || fail '/proc/filesystems cannot be read'
  if command -v modprobe >/dev/null; then
    echo modprobe
    for kernel_module in nfs nfsd; do
      modprobe -n "$kernel_module" 2>/dev/null
      case $? in
        0) echo "module $kernel_module" ;;
        1) ;; # there is no such module
        *) fail 'modprobe failed' ;;
      esac
    done
  fi
  kernel_release=$(uname -r) || fail 'uname failed'
  echo "release $kernel_release"
  kernel_config "/boot/config-$kernel_release" /proc/config.gz
}

# kernel_config FILE COMPRESSED   Print the line about NFS over UDP in the first of the two files that can be read.
# They contain the configuration with which the kernel was built. Prints nothing if neither can be read.
kernel_config() {
  if [ -r "$1" ]; then
    sed -n '/NFS_DISABLE_UDP_SUPPORT/s/^/config /p' "$1" || fail "$1 cannot be read"
  elif [ -r "$2" ]; then
    config_lines=$(zcat "$2") || fail "$2 cannot be read"
    printf '%s\n' "$config_lines" | sed -n '/NFS_DISABLE_UDP_SUPPORT/s/^/config /p' || fail 'sed failed'
  fi
}

# kernel_settings FILES...   Print `FILE:VALUE` for each of FILES that exists on this kernel.
# grep reads each file at once. `read` of dash reads single bytes, and after the first byte the kernel returns nothing
# more from a number below /proc/sys.
kernel_settings() {
  settings_number=$#
  for setting_file; do
    [ ! -e "$setting_file" ] || set -- "$@" "$setting_file"
  done
  shift "$settings_number"
  [ $# -eq 0 ] || grep -H '' "$@" || fail 'the settings of the kernel cannot be read'
}
