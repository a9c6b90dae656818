# The storage of a host: block devices, their queues and health, mounted file systems and how they were created.

# block_device_facts   Print the block devices as JSON of lsblk, as pairs of lsblk, or as the same pairs read from
# sysfs. An old lsblk fails if it does not know a column or an option. Then the next, simpler call is tried.
block_device_facts() {
  block_columns=KNAME,PKNAME,TYPE,SIZE,RO,ROTA,SCHED,RA,MODEL
  block_said=$(lsblk -J -b -o "$block_columns" 2>/dev/null) ||
    block_said=$(lsblk -P -b -o "$block_columns" 2>/dev/null) ||
    block_said=$(lsblk -P -b -o KNAME,TYPE,SIZE,RO,ROTA,SCHED,RA,MODEL 2>/dev/null) ||
    block_said=$(block_devices_of_sysfs) || exit
  printf '%s\n' "$block_said"
}

# block_devices_of_sysfs   Print the same pairs as `lsblk -P`, read from /sys/block.
block_devices_of_sysfs() {
  for sysfs_folder in /sys/block/*; do
    [ -r "$sysfs_folder/size" ] || continue
    sysfs_name=${sysfs_folder##*/} sysfs_ro='' sysfs_rota='' sysfs_ra='' sysfs_model='' sysfs_queue=''
    read -r sysfs_size <"$sysfs_folder/size" || fail "$sysfs_folder/size cannot be read"
    read -r sysfs_ro 2>/dev/null <"$sysfs_folder/ro"
    read -r sysfs_rota 2>/dev/null <"$sysfs_folder/queue/rotational"
    read -r sysfs_ra 2>/dev/null <"$sysfs_folder/queue/read_ahead_kb"
    read -r sysfs_model 2>/dev/null <"$sysfs_folder/device/model"
    read -r sysfs_queue 2>/dev/null <"$sysfs_folder/queue/scheduler"
    # The active scheduler is in brackets: `none [mq-deadline]`.
    case $sysfs_queue in *\[*) sysfs_queue=${sysfs_queue#*\[} sysfs_queue=${sysfs_queue%%\]*} ;; *) ;; esac
    case $sysfs_name in
      loop*) sysfs_type=loop ;;
      dm-*) sysfs_type=dm ;;
      md*) read -r sysfs_type 2>/dev/null <"$sysfs_folder/md/level" || sysfs_type=md ;;
      *) sysfs_type=disk ;;
    esac
    printf 'KNAME="%s" TYPE="%s" SIZE="%s" RO="%s" ROTA="%s" SCHED="%s" RA="%s" MODEL="%s"\n' "$sysfs_name" \
      "$sysfs_type" "$((sysfs_size * 512))" "$sysfs_ro" "$sysfs_rota" "$sysfs_queue" "$sysfs_ra" "$sysfs_model"
    for sysfs_part in "$sysfs_folder/$sysfs_name"*; do
      [ -r "$sysfs_part/partition" ] || continue
      read -r sysfs_size <"$sysfs_part/size" || fail "$sysfs_part/size cannot be read"
      printf 'KNAME="%s" PKNAME="%s" TYPE="part" SIZE="%s" RO="%s" ROTA="%s"\n' "${sysfs_part##*/}" "$sysfs_name" \
        "$((sysfs_size * 512))" "$sysfs_ro" "$sysfs_rota"
    done
  done
}

# block_queue_facts   Print `DEVICE FILE VALUE` for each of these files of the block layer that this kernel has.
block_queue_facts() {
  for queue_folder in /sys/block/*; do
    queue_device=${queue_folder##*/}
    for queue_file in queue/write_cache queue/physical_block_size queue/minimum_io_size queue/optimal_io_size \
      alignment_offset dm/name md/stripe_cache_size md/group_thread_cnt; do
      if read -r queue_value 2>/dev/null <"$queue_folder/$queue_file"; then
        echo "$queue_device $queue_file $queue_value"
      fi
    done
    for queue_part in "$queue_folder/$queue_device"*; do
      for queue_file in start alignment_offset; do
        if read -r queue_value 2>/dev/null <"$queue_part/$queue_file"; then
          echo "${queue_part##*/} $queue_file $queue_value"
        fi
      done
    done
  done
}

# disk_health_facts   Print `disk NAME` and the report of smartctl for each disk, or `without` if it is not installed.
# A disk in standby is not woken up. The exit status of smartctl is a bit mask of its findings, so only its text counts.
disk_health_facts() {
  command -v smartctl >/dev/null || {
    echo without
    return 0
  }
  for health_folder in /sys/block/*; do
    health_disk=${health_folder##*/}
    case $health_disk in loop* | ram* | zram* | md* | dm-* | sr* | fd* | nbd* | zd*) continue ;; *) ;; esac
    [ -e "$health_folder/device" ] || continue
    echo "disk $health_disk"
    health_said=$(smartctl -n standby -H "/dev/$health_disk" </dev/null 2>&1)
    indent_lines "$health_said"
  done
}

# zfs_facts MOUNTS   Print name, property and value for each ZFS file system.
# MOUNTS is the list of mounts. Prints nothing if it contains no ZFS file system.
zfs_facts() {
  grep -q ' zfs ' "$1" || {
    [ $? -eq 1 ] || fail "$1 cannot be read"
    return 0
  }
  zfs get -H -o name,property,value -t filesystem mountpoint,compression,recordsize,sync,primarycache ||
    fail 'zfs cannot tell the properties of its file systems'
}

# space_facts OPTION   Print the output of df with OPTION, which is -k or -i.
# If df does not answer within three seconds, as with a dead file server, only local file systems are listed. A mount
# point that this user cannot access makes df fail. The other file systems are printed nevertheless.
space_facts() {
  space_said=$(timeout -k 1 3 df -P "$1" 2>/dev/null) || {
    space_said=$(df -P "$1" -l)
    space_status=$?
    printf '%s\n' "$space_said"
    [ "$space_status" = 0 ] || fail 'df does not report the space of every file system'
    return 0
  }
  printf '%s\n' "$space_said"
}

# geometry_facts MOUNTS   Print `geometry of DEVICE` for each file system, and how it was created, as its own tool
# reports. A file system is left out if its tool is not installed, or fails because only root may use it (dumpe2fs). The
# mount options still contain part of this information.
geometry_facts() {
  geometry_seen=' '
  while read -r geometry_device geometry_point geometry_kind _; do
    case $geometry_seen in *" $geometry_device "*) continue ;; *) ;; esac
    case $geometry_kind in
      xfs)
        # /proc/mounts writes a space as \040. The format %b of printf needs \0040 for it.
        geometry_point=$(printf '%s' "$geometry_point" | sed 's/\\/\\0/g') || fail 'sed failed'
        geometry_point=$(printf '%b' "$geometry_point")
        geometry_said=$(xfs_info "$geometry_point" 2>/dev/null) || continue
        ;;
      ext[234])
        geometry_said=$(dumpe2fs -h "$geometry_device" 2>/dev/null) ||
          geometry_said=$(tune2fs -l "$geometry_device" 2>/dev/null) || continue
        ;;
      *) continue ;;
    esac
    geometry_seen="$geometry_seen$geometry_device "
    printf 'geometry of %s\n%s\n' "$geometry_device" "$geometry_said"
  done <"$1" || fail "$1 cannot be read"
}
