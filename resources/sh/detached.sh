# Detached jobs: they survive the loss of the workstation, and can be found, followed and ended again. A job runs in a
# session of its own under a keeper, which records its process group and its exit status. Everything is in one folder of
# mode 0700 that belongs to the user who runs the job. /var/tmp survives a reboot and exists for users without a home.

# job_start BASE ABOUT BYTES SUM   Start the program on standard input detached, and print the folder of the job below
# BASE. The first BYTES are the program, with the sha256 SUM; the rest is its input. ABOUT is a line for people and
# programs.
job_start() {
  job_folder=$(mktemp -d "$1/pghaul-job.XXXXXXXX") || fail "no folder for the job can be created in $1"
  shift
  (job_store "$@") || {
    rm -rf -- "$job_folder"
    exit 1
  }
  pghaul_job=$job_folder setsid sh "$job_folder/program" "$job_folder" <"$job_folder/input" >"$job_folder/log" 2>&1 &
  job_tries=0
  until [ -s "$job_folder/group" ]; do
    job_tries=$((job_tries + 1))
    if [ "$job_tries" -ge 200 ] || ! kill -s 0 "$!" 2>/dev/null; then
      [ ! -s "$job_folder/group" ] || break # a short job may have ended meanwhile
      job_said=$(cat "$job_folder/log")
      rm -rf -- "$job_folder"
      fail "the job did not start: $job_said"
    fi
    sleep 0.05 || fail 'the program sleep is missing'
  done
  printf '%s\n' "$job_folder"
}

# job_store ABOUT BYTES SUM   Write the parts of standard input into the folder of the job, and check the checksum of
# the program.
job_store() {
  printf '%s\n' "$1" >"$job_folder/about" || fail "$job_folder cannot be written: is its disk full?"
  head -c "$2" >"$job_folder/program" || fail 'the program of the job cannot be stored'
  cat >"$job_folder/input" || fail 'the input of the job cannot be stored'
  job_sum=$(sha256sum <"$job_folder/program") || fail 'the checksum of the program of the job cannot be computed'
  [ "${job_sum%% *}" = "$3" ] || fail 'the program of the job is incomplete: nothing was started'
}

# job_keep FOLDER   The keeper: run job_command, and record its process group before it and its exit status after it
# `group` contains the process id, its start time and the boot id, so that neither a reused id nor a reboot is taken for
# the job.
job_keep() {
  trap '' HUP
  trap : TERM INT
  keep_since=$(process_start $$)
  keep_boot=$(cat /proc/sys/kernel/random/boot_id) || fail 'the boot ID of this host cannot be read'
  echo "$$ $keep_since $keep_boot" >"$1/group.new" || fail "$1 cannot be written"
  mv -- "$1/group.new" "$1/group" || fail "$1 cannot be written"
  (job_command)
  keep_status=$?
  echo "$keep_status" >"$1/exit.new" || fail "$1 cannot be written"
  mv -- "$1/exit.new" "$1/exit" || fail "$1 cannot be written"
}

# job_refresh FOLDER   Change to FOLDER; set job_running, whether its group still has processes, and job_leader.
job_refresh() {
  enter_folder "$1"
  job_running=0 job_leader=
  [ -s group ] || return 0
  look_now=$(cat /proc/sys/kernel/random/boot_id) || fail 'the boot ID of this host cannot be read'
  read -r job_leader look_since look_boot <group || fail "$1/group cannot be read"
  [ "$look_boot" = "$look_now" ] || return 0
  if is_own_process "$job_leader" "$look_since" || job_has_orphans "$1"; then job_running=1; fi
}

# job_has_orphans FOLDER   Succeed if processes of the job are running without their keeper: of its group and user, with
# FOLDER as their job.
job_has_orphans() {
  orphans_found=$(grep -lsaxzF "pghaul_job=$1" /proc/[0-9]*/environ)
  [ $? -le 2 ] || fail 'grep failed' # 1: none; 2: one ended meanwhile, or is not ours to look at
  for orphan in $orphans_found; do
    orphan=${orphan%/environ}
    read_process "${orphan#/proc/}" || continue
    # shellcheck disable=SC2086,SC2154 # they are words, which read_process has set
    set -- $process_fields
    [ "$1" = Z ] || [ "$3" != "$job_leader" ] || [ ! -O "$orphan" ] || return 0
  done
  return 1
}

# job_state FOLDER LOOKS WAIT FIRST LIMIT   Print `RUNNING STATUS BYTES`, then LIMIT bytes of its log from byte FIRST
# on. It waits until the job has ended, for at most LOOKS looks with WAIT seconds between them. STATUS is `-` while
# there is none. The time of its file `looked` is that of the latest look: a job may end itself if nobody has looked for
# long.
job_state() {
  enter_folder "$1"
  touch ./looked 2>/dev/null || : # a full disk must not prevent the look
  state_looks=0
  until [ -e exit ] || [ "$state_looks" -ge "$2" ]; do
    sleep "$3" || fail 'the program sleep is missing'
    state_looks=$((state_looks + 1))
  done
  job_refresh "$1"
  state_status=-
  if [ -e exit ]; then read -r state_status <./exit || fail "$1/exit cannot be read"; fi
  state_bytes=$(stat -c %s log) || fail "$1/log cannot be read"
  echo "$job_running $state_status $state_bytes"
  if [ "$5" != 0 ] && [ "$state_bytes" -ge "$4" ]; then
    # Up to the size that was printed; what was written since comes with the next look.
    dd if=log bs=65536 iflag=skip_bytes,count_bytes skip="$(($4 - 1))" count="$5" status=none ||
      fail "$1/log cannot be read"
  fi
}

# job_ended_ago FOLDER   Print the seconds since it ended, by the clock of this host; nothing before that.
job_ended_ago() {
  enter_folder "$1"
  [ -e exit ] || return 0
  ended_at=$(stat -c %Y exit) || fail "$1/exit cannot be read"
  ended_now=$(date +%s) || fail 'date failed'
  echo $((ended_now - ended_at))
}

# job_kill FOLDER TRIES   End all its processes: TERM, after TRIES tenths of a second KILL; fail if one is left.
job_kill() {
  job_refresh "$1"
  [ "$job_running" = 1 ] || return 0
  end_group "$job_leader" "$2"
  [ -e exit ] || echo 137 >./exit || fail "$1 cannot be written"
}

# job_remove FOLDER   Remove the folder of an ended job; exit with 75 if it is still running.
job_remove() {
  job_refresh "$1"
  [ "$job_running" = 0 ] || [ -e exit ] || refuse 75 'the job is still running'
  rm -rf -- "$1" || fail "$1 cannot be removed"
}

# job_list BASE   Print folder and ABOUT of each job of this user below BASE, one per line, then their number. Only
# folders that belong to this user count, because those of others could contain anything.
job_list() {
  list_number=0
  for list_folder in "$1"/pghaul-job.*; do
    if [ -d "$list_folder" ] && [ ! -L "$list_folder" ] && [ -O "$list_folder" ] && [ -s "$list_folder/about" ]; then
      read -r list_about <"$list_folder/about" || fail "$list_folder/about cannot be read"
      printf '%s %s\n' "$list_folder" "$list_about"
      list_number=$((list_number + 1))
    fi
  done
  echo "# $list_number jobs"
}
