# Preparing a volume for a cluster: empty devices, partitions, md arrays, a file system and fstab. pghaul itself runs
# none of these functions. They are part of a script that a person reads and runs. Nothing is changed before
# volume_confirm. The variable `etc`, which is set at the beginning of the script, is /etc.

# volume_needs PROGRAM...   Fail if one of the programs is missing, or if this user is not root.
volume_needs() {
  for needed in "$@"; do
    command -v "$needed" >/dev/null || fail "$needed is not installed"
  done
  needs_user=$(id -u) || fail 'id failed'
  [ "$needs_user" -eq 0 ] || fail 'this must run as root'
}

# volume_check DEVICE...   Fail if one of the devices is not empty, is in use, or is named twice.
volume_check() {
  check_seen=' '
  for check_device in "$@"; do
    volume_check_device "$check_device"
    case $check_seen in *" $check_real "*) fail "$check_device is named twice" ;; *) ;; esac
    check_seen="$check_seen$check_real "
  done
}

# volume_check_device DEVICE   Fail unless DEVICE is an empty and writable block device that is not used as swap,
# mounted, part of an array, or used by another device. Sets check_real, the device to which the name leads.
volume_check_device() {
  [ -b "$1" ] || fail "$1 is not a block device"
  check_real=$(readlink -f "$1") || fail "$1 is a dangling link"
  check_name=${check_real##*/}
  check_read_only=$(lsblk -dno RO "$check_real") || fail "lsblk does not know $1"
  case $check_read_only in *0*) ;; *) fail "$1 is read-only" ;; esac
  check_swaps=$(cat /proc/swaps) || fail '/proc/swaps cannot be read'
  case $check_swaps in *"
$check_real "*) fail "$1 is used as swap" ;; *) ;; esac
  check_mounts=$(lsblk -nro MOUNTPOINT "$check_real") || fail "lsblk does not know $1"
  [ -z "$check_mounts" ] || fail "$1 is mounted"
  if [ -e /proc/mdstat ]; then
    grep -qw -e "$check_name" /proc/mdstat && fail "$1 belongs to an md array"
    [ $? -eq 1 ] || fail '/proc/mdstat cannot be read'
  fi
  check_tree=$(lsblk -nro NAME "$check_real") || fail "lsblk does not know $1"
  case $check_tree in *"
"*) fail "$1 has partitions, or another device is built on it" ;; *) ;; esac
  check_holders=$(ls -A "/sys/class/block/$check_name/holders") || fail "the devices that use $1 cannot be read"
  [ -z "$check_holders" ] || fail "another device uses $1"
  check_signatures=$(wipefs -n "$check_real") || fail "$1 cannot be read"
  [ -z "$check_signatures" ] || fail "$1 is not empty: $check_signatures"
}

# volume_check_mount_point FOLDER   Fail if FOLDER exists and is not an empty folder, or if it is already in fstab.
volume_check_mount_point() {
  if [ -e "$1" ]; then
    [ -d "$1" ] || fail "$1 is not a folder"
    mount_point_holds=$(ls -A -- "$1") || fail "$1 cannot be read"
    [ -z "$mount_point_holds" ] || fail "$1 is not empty"
  fi
  awk -v place="$1" '$1 !~ /^#/ && $2 == place { found = 1 } END { exit found ? 10 : 0 }' "${etc:?}/fstab"
  case $? in
    0) ;;
    10) fail "$1 is already in $etc/fstab" ;;
    *) fail "$etc/fstab cannot be read" ;;
  esac
}

# volume_confirm FILE_SYSTEM FOLDER DEVICE...   Show the devices, and fail unless `erase` is typed.
volume_confirm() {
  confirm_what="$1 for $2"
  shift 2
  lsblk -do NAME,SIZE,MODEL,SERIAL "$@" || fail 'the devices cannot be shown'
  printf 'All of it becomes %s. Type erase to go on: ' "$confirm_what"
  read -r confirm_answer || confirm_answer=
  [ "$confirm_answer" = erase ] || fail 'nothing was changed'
}

# volume_partition DEVICE TYPE   Create one partition that begins at 1 MiB, and set `partition` to its device.
volume_partition() {
  printf 'label: gpt\nstart=1MiB, type=%s\n' "$2" | sfdisk -q "$1" >/dev/null || fail "$1 cannot be partitioned"
  volume_settle
  partition_found=$(lsblk -nrpo NAME,TYPE "$1") || fail "lsblk does not know $1"
  partition=$(printf '%s\n' "$partition_found" | awk '$2 == "part" { print $1; exit }') || fail 'awk failed'
  [ -b "$partition" ] || fail "the kernel shows no partition of $1"
}

# volume_keep_arrays ARRAY...   Record the arrays in mdadm.conf, so that they are found at each boot.
volume_keep_arrays() {
  volume_settle
  arrays_file=$etc/mdadm.conf
  [ ! -d "$etc/mdadm" ] || arrays_file=$etc/mdadm/mdadm.conf # Debian's
  for array in "$@"; do
    array_line=$(mdadm --detail --brief "$array") || fail "$array cannot be read"
    printf '%s\n' "$array_line" >>"$arrays_file" || fail "$arrays_file cannot be written"
  done
  if command -v update-initramfs >/dev/null; then update-initramfs -u || fail 'the initramfs cannot be rebuilt'; fi
}

# volume_settle   Wait until the names of the kernel's new devices exist.
volume_settle() {
  if command -v udevadm >/dev/null; then udevadm settle || fail 'udevadm settle failed'; fi
}

# volume_mount DEVICE FOLDER FILE_SYSTEM PASS   Mount DEVICE by its UUID, now and at each boot. PASS is the order in
# which fsck checks it.
volume_mount() {
  mount_uuid=$(blkid -s UUID -o value "$1") || fail "$1 has no UUID"
  [ -n "$mount_uuid" ] || fail "$1 has no UUID"
  mkdir -p -- "$2" || fail "$2 cannot be created"
  cp -p -- "$etc/fstab" "$etc/fstab.before-pghaul" || fail "$etc/fstab cannot be copied"
  # noatime avoids a write after the first read of a file.
  printf 'UUID=%s %s %s noatime 0 %s\n' "$mount_uuid" "$2" "$3" "$4" >>"$etc/fstab" ||
    fail "$etc/fstab cannot be written"
  mount "$2" || fail "$2 cannot be mounted"
  df -h "$2" || fail "$2 cannot be examined"
}
