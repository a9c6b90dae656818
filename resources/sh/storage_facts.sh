# Storage as a host shows it: devices, their queues and health, mounted file systems and how they were made.

# block_device_facts   print lsblk's JSON or, where it is too old for that, its pairs; of sysfs where there is none
# Columns that an lsblk does not know make it fail as a whole, so the next, poorer question is asked.
block_device_facts() {
  block_columns=KNAME,PKNAME,TYPE,SIZE,RO,ROTA,SCHED,RA,MODEL
  block_said=$(lsblk -J -b -o "$block_columns" 2>/dev/null) ||
    block_said=$(lsblk -P -b -o "$block_columns" 2>/dev/null) ||
    block_said=$(lsblk -P -b -o KNAME,TYPE,SIZE,RO,ROTA,SCHED,RA,MODEL 2>/dev/null) ||
    block_said=$(block_devices_of_sysfs) || exit
  printf '%s\n' "$block_said"
}

# block_devices_of_sysfs   print the same pairs as `lsblk -P`, of /sys/block
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
    # the active one stands in brackets: `none [mq-deadline]`
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

# block_queue_facts   print `DEVICE FILE VALUE` of the block layer's files, as far as this kernel has them
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

# disk_health_facts   print `disk NAME` and what smartctl says of it, or `without` where it is not installed
# No disk is woken for it. smartctl's exit status is a mask of what it found: what it says decides.
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

# zfs_facts MOUNTS   print name, property and value of each ZFS file system; nothing where MOUNTS names none
zfs_facts() {
  grep -q ' zfs ' "$1" || {
    [ $? -eq 1 ] || fail "$1 cannot be read"
    return 0
  }
  zfs get -H -o name,property,value -t filesystem mountpoint,compression,recordsize,sync,primarycache ||
    fail 'zfs cannot tell the properties of its file systems'
}

# space_facts OPTION   print what df says with -k or -i, of local file systems alone where a file server does not answer
# One mount point that may not be looked at makes df fail: the others are printed all the same.
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

# geometry_facts MOUNTS   print `geometry of DEVICE` and what its file system's own tool says of how it was made
# dumpe2fs may be used by root alone, and a host may lack the tools: the mount's options still tell some of it.
geometry_facts() {
  geometry_seen=' '
  while read -r geometry_device geometry_point geometry_kind _; do
    case $geometry_seen in *" $geometry_device "*) continue ;; *) ;; esac
    case $geometry_kind in
      xfs)
        # a blank in a mount point stands there as \040, which printf takes as \0040
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
