# What a host is: its system, processors, network and tools. Each function prints what one parser of core/facts reads.

# system_facts   print the release file, then names, versions and ids of the system as `facts_NAME=VALUE`
# What is empty there is not known: a container hides process 1, an old system has no machine id.
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
  # musl has no such name for getconf, and its ldd says what it is and fails
  system_libc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || system_libc=$(ldd --version 2>&1)
  system_line=$(first_line "$system_libc")
  echo "facts_libc=$system_line"
  system_ids
}

# system_ids   print process 1, time zone, machine id and boot id
system_ids() {
  ids_init='' ids_zone='' ids_machine='' ids_boot=''
  read -r ids_init 2>/dev/null </proc/1/comm
  # readlink's 1: it is no link, and the zone has no name
  read -r ids_zone 2>/dev/null </etc/timezone || ids_zone=$(readlink /etc/localtime) || [ $? -eq 1 ] ||
    fail 'readlink failed'
  read -r ids_machine 2>/dev/null </etc/machine-id || read -r ids_machine 2>/dev/null </var/lib/dbus/machine-id
  read -r ids_boot 2>/dev/null </proc/sys/kernel/random/boot_id
  echo "facts_init=$ids_init"
  echo "facts_time_zone=$ids_zone"
  echo "facts_machine_id=$ids_machine"
  echo "facts_boot_id=$ids_boot"
}

# processor_facts   print what lscpu says, or /proc/cpuinfo where there is none
processor_facts() {
  processor_said=$(lscpu 2>/dev/null) || processor_said=$(cat /proc/cpuinfo) || fail '/proc/cpuinfo cannot be read'
  printf '%s\n' "$processor_said"
}

# network_facts   print ip's links and addresses, then `sysfs NAME STATE MTU HARDWARE SPEED` of each interface
# sysfs alone knows the speed, but in a container it may show another network's interfaces: the hardware address decides.
# The speed of a veth is invented: only devices, and what is built upon them (bond, bridge, vlan), are asked.
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
    # an error of a link that is down
    read -r network_speed 2>/dev/null <"$network_folder/speed"
    if [ -e "$network_folder/device" ]; then network_real=yes; fi
    while read -r network_line; do
      case $network_line in DEVTYPE=*) network_real=yes ;; *) ;; esac
    done 2>/dev/null <"$network_folder/uevent"
    [ "$network_real" = yes ] || network_speed=''
    echo "sysfs ${network_folder##*/} ${network_state:--} ${network_mtu:--} ${network_address:--} ${network_speed:--}"
  done
}

# tool_facts NAME=OPTION...   print `tool NAME PATH` of each program, and below it what it says to that option
# One that others can change is not run: a version is not worth that. Its exit status says nothing: some print their version
# as a complaint.
tool_facts() {
  tool_user=$(id -u) || fail 'id failed'
  for tool_wanted; do
    tool_name=${tool_wanted%%=*} tool_option=${tool_wanted#*=}
    tool_path=$(command -v "$tool_name") || tool_path=$(tool_of_postgresql "$tool_name") || exit
    echo "tool $tool_name $tool_path"
    [ -n "$tool_path" ] && [ -n "$tool_option" ] || continue
    is_trusted "$tool_user" "$tool_path" || continue
    tool_said=$("$tool_path" "$tool_option" </dev/null 2>&1)
    indent_first_lines 40 "$tool_said"
  done
}

# tool_of_postgresql NAME   print the path of a program of PostgreSQL outside of PATH, the latest series'; nothing: none
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

# clock_sync_facts SYSTEMD   print what keeps the clock: timedatectl where the folder SYSTEMD is, chronyc or ntpstat
clock_sync_facts() {
  if [ -d "$1" ]; then
    # that of systemd before 239 (RHEL 7) knows no `show`
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

# account_facts NAMES...   print NAME:UID:GID of the local users, and of these names from whatever directory knows them
# A whole directory of a company is never listed.
account_facts() {
  cut -d: -f1,3,4 /etc/passwd || fail '/etc/passwd cannot be read'
  for account_name; do
    # 2: there is none of that name
    account_line=$(getent passwd "$account_name") || [ $? -eq 2 ] || fail "getent cannot look for $account_name"
    [ -z "$account_line" ] || printf '%s\n' "$account_line" | cut -d: -f1,3,4 || fail 'cut failed'
  done
}

# session_limits   print the limits of a session: a server that is started from it inherits them
session_limits() {
  # shellcheck disable=SC3045 # -n and -l are not in POSIX, but in dash, bash and busybox alike
  session_files=$(ulimit -n) || fail 'ulimit failed'
  # shellcheck disable=SC3045
  session_locked=$(ulimit -l) || fail 'ulimit failed'
  echo "open_files=$session_files"
  echo "locked_kilobytes=$session_locked"
}

# kernel_facts   print the file systems that the kernel knows, the NFS modules that it could load, and its settings of NFS
kernel_facts() {
  sed 's/^/: /' /proc/filesystems || fail '/proc/filesystems cannot be read'
  if command -v modprobe >/dev/null; then
    echo modprobe
    for kernel_module in nfs nfsd; do
      modprobe -n "$kernel_module" 2>/dev/null
      case $? in
        0) echo "module $kernel_module" ;;
        1) ;; # there is none
        *) fail 'modprobe failed' ;;
      esac
    done
  fi
  kernel_release=$(uname -r) || fail 'uname failed'
  echo "release $kernel_release"
  kernel_config "/boot/config-$kernel_release" /proc/config.gz
}

# kernel_config FILE COMPRESSED   print what one of the two files says of NFS over UDP; nothing where neither is there
kernel_config() {
  if [ -r "$1" ]; then
    sed -n '/NFS_DISABLE_UDP_SUPPORT/s/^/config /p' "$1" || fail "$1 cannot be read"
  elif [ -r "$2" ]; then
    config_lines=$(zcat "$2") || fail "$2 cannot be read"
    printf '%s\n' "$config_lines" | sed -n '/NFS_DISABLE_UDP_SUPPORT/s/^/config /p' || fail 'sed failed'
  fi
}

# kernel_settings FILES...   print `FILE:VALUE` of each that this kernel has
# dash reads a byte at a time, and of a number below /proc/sys the kernel gives no second one: grep reads it whole.
kernel_settings() {
  settings_number=$#
  for setting_file; do
    [ ! -e "$setting_file" ] || set -- "$@" "$setting_file"
  done
  shift "$settings_number"
  [ $# -eq 0 ] || grep -H '' "$@" || fail 'the settings of the kernel cannot be read'
}
