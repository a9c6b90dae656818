# A trial start on the new server, before the downtime: an empty cluster with the configuration of the old cluster is
# started as it would be after the move, and removed. Everything happens in separate namespaces (unshare). The files of
# the trial are in a file system in memory that only these processes see, also at the paths of the target and of the
# configuration files. Everything else is read-only there, whatever the configuration of the old server names. The
# kernel removes it all with the first process, however that ends.

# pack_for_trial DATA PATH...   On the old server, as the owner: print those of the PATHs that exist, and the options of
# the last start, in the format of pack_configuration.
pack_for_trial() {
  set -- "$@" "$1/postmaster.opts"
  shift
  for pack_one in "$@"; do
    shift
    [ ! -e "$pack_one" ] || set -- "$@" "${pack_one#/}"
  done
  [ $# -gt 0 ] || fail 'no configuration file was found. Check that every disk is mounted'
  pack_configuration / "$@"
}

# trial_start LOCKS TOKEN PATH WRITER DATA TARGET SEGMENT FILES OPTIONS [BROUGHT...]
# As root: start the trial server. Print `started` and where it listened, as list_listeners does, or `refused WORDS`.
# Ends with 75 if the trial was not possible. Standard input is the output of pack_for_trial. LOCKS: the beginning of
# the path of each lock of a move. TOKEN: the token of the move's own lock; `-`: it has none. PATH: where the programs
# are found. WRITER: the owner of the new cluster. DATA: the old data directory. TARGET: the new data directory.
# SEGMENT: the size of a WAL segment in MiB, or `-`. FILES: options, quoted for a shell, that say where the
# configuration is. OPTIONS: the isolation settings. BROUGHT: the paths, relative to /, to which the move copies
# something.
# shellcheck disable=SC2154 # program is set by who calls
trial_start() {
  trial_child='' trial_locks=$1 trial_token=$2
  trap trial_clean_up EXIT
  trap 'exit 143' HUP INT PIPE TERM
  shift 2
  # Two trials at the same time would use the same port. The processes in the namespaces keep this lock until they end.
  { exec 8<"${trial_locks%/*}/."; } 2>/dev/null || fail "${trial_locks%/*} cannot be read"
  flock -n 8 || fail 'another trial start is running on this server'
  trial_check_free "$trial_locks" "$trial_token" "$4"
  # The command in it is `true`, because otherwise a failure of unshare would look like a failure of the command.
  trial_can=$(unshare --mount --propagation private --pid --fork --kill-child --mount-proc --ipc true 2>&1) ||
    fail "no namespaces can be created. This needs root and unshare of util-linux 2.32 or later: ${trial_can%%
*}"
  trial_room=$(find_empty_folder "$@") || exit
  # A server decides by the process IDs whether the owner of a lock file is alive. In the namespaces it cannot see the
  # processes of the host.
  trial_alive=" $(cd /proc && echo [0-9]*) " || fail '/proc cannot be read'
  export program trial_alive
  exec 3<&0
  # KILL, because the first process of such a namespace ignores all other signals. All other processes end with it.
  timeout --foreground -k 1 -s KILL 150 \
    unshare --mount --propagation private --pid --fork --kill-child --mount-proc --ipc \
    sh -c "$program" sh trial_inside "$trial_room" "$@" <&3 &
  trial_child=$!
  wait "$trial_child"
  trial_status=$?
  trial_child=''
  case $trial_status in
    0) ;;
    124 | 137) fail 'the trial start took more than a minute and was ended' ;;
    *) fail "the trial start was not possible: unshare ended with exit status $trial_status" ;;
  esac
}

# trial_clean_up   In a trap: end the processes of the trial. With them everything else of the trial disappears. Status
# 1 becomes 75, because a failure of the trial itself says nothing about the configuration.
trial_clean_up() {
  trial_status=$?
  trap '' HUP INT PIPE TERM
  trap - EXIT
  if [ -n "$trial_child" ]; then
    kill -s TERM "$trial_child" 2>/dev/null # timeout kills it a second later
    wait "$trial_child"
  fi
  [ "$trial_status" -ne 1 ] || trial_status=75
  exit "$trial_status"
}

# trial_check_free LOCKS TOKEN TARGET   Fail if another execution moves a cluster on this server, or if a server is
# running in TARGET, because it would use the port of the trial.
trial_check_free() {
  trial_locked=$(list_locks "${1%/*}" "${1##*/}") || exit
  trial_locked=$(printf '%s\n' "$trial_locked" | sed -n "/^#/d; /^[^ ]* $2 /d; s/^[^ ]* [^ ]* //p") || fail 'sed failed'
  [ -z "$trial_locked" ] || fail "a cluster is being moved on this server by ${trial_locked%%
*}"
  trial_runs=$(list_servers_in "$3") || exit
  [ -z "$trial_runs" ] || fail "a PostgreSQL server is running in $3 (process ${trial_runs%%[!0-9]*})"
}

# find_empty_folder WORD...   Print an empty folder below / that belongs to root and to which none of the WORDs leads.
# When something is mounted on it in a namespace, that hides nothing that a server could need.
find_empty_folder() {
  for spare_one in /media /mnt /opt /srv; do
    [ -d "$spare_one" ] && [ ! -L "$spare_one" ] && [ -O "$spare_one" ] || continue
    for spare_word; do
      case /${spare_word#/}/ in "$spare_one"/*) continue 2 ;; *) ;; esac
    done
    spare_names=$(ls -A -- "$spare_one") || fail "$spare_one cannot be read"
    [ -n "$spare_names" ] || {
      echo "$spare_one"
      return 0
    }
  done
  fail 'none of /media, /mnt, /opt and /srv is an empty folder that the trial could use for its files'
}

# trial_inside ROOM PATH WRITER DATA TARGET SEGMENT FILES OPTIONS [BROUGHT...]
# Be the first process of the namespaces. Arguments and output are those of trial_start. ROOM is the folder for the
# files of the trial. As root it first arranges which files are visible at which path. At this time no other user has a
# process here. Everything else runs as WRITER.
trial_inside() {
  trial_room=$1 trial_path=$2 trial_writer=$3 trial_data=$4 trial_target=$5
  trial_segment=$6 trial_files=$7 trial_options=$8
  shift 8
  # No folder of the host stays open for the programs that run here.
  exec 3<&- 8<&-
  # A limit of 1 byte prevents core dumps, including those to a program (core(5)). If root cannot raise the limit, it is
  # 0.
  prlimit --core=1:1 --pid "$$" 2>/dev/null || prlimit --core=0:0 --pid "$$" || fail 'prlimit failed'
  umask 022
  trial_mount_memory
  trial_protect_host
  trial_unpack "$@"
  for trial_one; do
    shift
    [ ! -e "$trial_room/files/$trial_one" ] || set -- "$@" "/$trial_one"
  done
  trial_show_paths "$trial_target" "$@"
  enter_folder /
  trial_writes=$(run_as "$trial_writer" env PATH="$trial_path" timeout -k 1 70 sh -c "$program" sh trial_prepare \
    "$trial_room" "$trial_data" "$trial_target" "$trial_segment" "$trial_files" "$trial_options" </dev/null) || exit
  [ -z "$trial_writes" ] || printf '%s\n' "$trial_writes" | trial_isolate_folders || exit
  enter_folder /
  run_as "$trial_writer" env PATH="$trial_path" timeout -k 1 70 sh -c "$program" sh trial_run \
    "$trial_room" "$trial_target" "$trial_files" "$trial_options" </dev/null || exit
}

# trial_mount_memory   Mount a file system in memory, from which no program can be run, on trial_room. New files in
# /dev/shm are created there too.
trial_mount_memory() {
  trial_programs=$(list_program_folders) || exit
  # Each of these folders becomes a mount of its own, so that programs can be run from it although other mounts are set
  # to noexec.
  printf '%s\n' "$trial_programs" | while IFS= read -r opens_one; do
    mount -n -c --rbind "$opens_one" "$opens_one" || fail "$opens_one cannot be mounted on itself"
  done || exit
  mount -n -t tmpfs -o nosuid,nodev,noexec,mode=0711,size=512m pghaul-trial "$trial_room" ||
    fail "no file system in memory can be mounted on $trial_room"
  trial_device=$(stat -c %d -- "$trial_room") || fail "$trial_room cannot be examined"
  mkdir -- "$trial_room/farms" "$trial_room/real" || fail "$trial_room cannot be written to"
  # What is mounted in this folder must not be copied when / is bind-mounted.
  mount -n --bind "$trial_room/real" "$trial_room/real" || fail "$trial_room/real cannot be mounted on itself"
  mount -n --make-unbindable "$trial_room/real" || fail "$trial_room/real cannot be made unbindable"
  install -d -o "$trial_writer" -m 0700 -- "$trial_room/data" || fail "$trial_room cannot be given to $trial_writer"
  [ ! -d /dev/shm ] || trial_link_folder /dev/shm
}

# trial_protect_host   Make every mount read-only, except the trial's own file system. Programs and libraries can be
# loaded only from the system's folders for them. The configuration of the old server decides what a server loads and
# where it writes, and may name anything. The options of each mount are kept, so that nothing becomes possible here that
# is not possible on the host.
trial_protect_host() {
  closes_mounts=$(list_visible_mounts </proc/self/mountinfo) || exit
  printf '%s\n' "$closes_mounts" | while read -r closes_kind closes_options closes_name; do
    # In mountinfo, a space in a path is \040. printf needs \0040 for it.
    closes_point=$(printf '%b.' "$closes_name") || fail 'printf failed'
    closes_point=${closes_point%.}
    case $closes_kind:$closes_point in
      proc:/proc) ;;
      # It would lead to other namespaces, through the processes in it.
      proc:*)
        mount -n -c -t tmpfs -o ro,nosuid,nodev,noexec,size=4k pghaul-trial "$closes_point" ||
          mount_has_vanished "$closes_name" "$closes_point cannot be covered" || exit
        continue
        ;;
      *) ;;
    esac
    closes_runs=,noexec closes_seen=${closes_point#"$trial_room/real/"}
    [ "$closes_seen" = "$closes_point" ] || closes_seen=/${closes_seen#*/}
    while IFS= read -r closes_one; do
      case $closes_seen/ in "$closes_one"/*) closes_runs='' ;; *) ;; esac
    done <<EOF
$trial_programs
EOF
    mount -n -c -o "$closes_options$closes_runs" none "$closes_point" ||
      mount_has_vanished "$closes_name" "$closes_point cannot be made read-only" || exit
  done || exit
}

# mount_has_vanished NAME MESSAGE   Fail with MESSAGE if there still is a visible mount of this NAME, as
# list_visible_mounts prints it. Otherwise another program has removed its folder since the mounts were listed, and with
# it the mount in here, too.
mount_has_vanished() {
  vanished_mounts=$(list_visible_mounts </proc/self/mountinfo) || exit
  printf '%s\n' "$vanished_mounts" | while read -r _ _ vanished_name; do
    [ "$vanished_name" != "$1" ] || fail "$2"
  done || exit
}

# list_program_folders   Print the folders from which programs and libraries are loaded, one per line. These are the
# system's folders, and those in the PATH of the trial that only root can change.
list_program_folders() {
  programs_all='/usr
/bin
/sbin
/lib
/lib32
/lib64
/libx32'
  programs_rest=$trial_path:
  while [ -n "$programs_rest" ]; do
    programs_one=${programs_rest%%:*}
    programs_rest=${programs_rest#*:}
    programs_all="$programs_all
${programs_one%/*bin}"
  done
  programs_all=$(printf '%s\n' "$programs_all" | sort -u) || fail 'sort failed'
  printf '%s\n' "$programs_all" | while IFS= read -r programs_one; do
    if [ -d "$programs_one" ] && [ ! -L "$programs_one" ] &&
      (is_trusted 0 "$programs_one"); then printf '%s\n' "$programs_one"; fi
  done
}

# list_visible_mounts   Print the visible mounts, except the trial's own, from /proc/self/mountinfo on standard input. A
# line has the type of the mount, the options that make it read-only, and its path as mountinfo writes it. A mount on a
# folder hides earlier mounts below it. A file system that autofs mounts at its first use is not mounted in here.
list_visible_mounts() {
  awk -v room="$trial_room" '
    function under(path, folder) { return folder != path && index(path "/", folder == "/" ? "/" : folder "/") == 1 }
    function reached(id, other) {
      if (id in known) return known[id]
      known[id] = 1
      if (parent[id] in point) {
        if (!reached(parent[id]) || point[id] != point[parent[id]] && covered[parent[id]]) known[id] = 0
        else for (other in point)
          if (other != id && parent[other] == parent[id] && under(point[id], point[other])) known[id] = 0
      }
      return known[id]
    }
    {
      parent[$1] = $2
      device[$1] = $3
      point[$1] = $5
      kind[$1] = $0
      sub(/.* - /, "", kind[$1])
      sub(/ .*/, "", kind[$1])
      options[$1] = $6
      order[NR] = $1
      if ($5 == room) own = $3 # the last mount on it is the visible one
    }
    END {
      for (id in point) if (parent[id] in point && point[parent[id]] == point[id]) covered[parent[id]] = 1
      for (i = 1; i <= NR; i++) {
        id = order[i]
        if (device[id] == own || kind[id] == "autofs" || covered[id] || !reached(id)) continue
        kept = ""
        many = split(options[id], each, ",")
        for (j = 1; j <= many; j++)
          if (each[j] ~ /^(nosuid|nodev|noexec|noatime|nodiratime|relatime)$/) kept = kept "," each[j]
        gsub(/\\/, "\\0", point[id])
        print kind[id], "remount,bind,ro" kept, point[id]
      }
    }' || fail 'the list of mounts cannot be read'
}

# trial_unpack BROUGHT...   Unpack the files of the old server into trial_room/files, which belongs to WRITER. No other
# user can see that folder before it is complete. Links are not accepted, so none can be followed.
trial_unpack() {
  unpacks_archive=$(read_complete) || exit
  unpacks_types=$(printf '%s' "$unpacks_archive" | tar -I base64 -tvf -) ||
    fail 'the configuration did not arrive as an archive'
  case "
$unpacks_types" in
    *"
"[!d-]*) fail 'the configuration of the old server contains something that is neither a file nor a folder' ;;
    *) ;;
  esac
  mkdir -m 0700 -- "$trial_room/files" || fail "$trial_room cannot be written to"
  printf '%s' "$unpacks_archive" | tar -I base64 --no-same-owner --no-same-permissions -C "$trial_room/files" -xf - ||
    fail 'the configuration could not be unpacked'
  enter_folder "$trial_room/files"
  for unpacks_one; do
    shift
    [ ! -e "$unpacks_one" ] || set -- "$@" "$unpacks_one"
  done
  # This can run as root, because the folder belongs to root alone and no other user has had a process here yet.
  unpacks_self=$(id -un) || fail 'id does not print the name of this user'
  [ $# -eq 0 ] || restrict_keys "$unpacks_self" "$unpacks_types" "$@"
  chown -hR "$trial_writer:" -- . || fail "$trial_room/files cannot be given to $trial_writer"
}

# trial_show_paths PATH...   Let each PATH show the files that the trial has for it. If a folder exists, something is
# mounted on it. If it contains a file to be replaced, it is replaced by a folder of links (see trial_link_folder). The
# deepest paths come first, so that they are also visible through the folders of links above them.
trial_show_paths() {
  shows_paths="
$(printf '%s\n' "$@")
"
  shows_places=$(for shows_one; do
    shows_source=$(trial_source_of "$shows_one") || exit
    if [ -d "$shows_one" ] &&
      [ -d "$shows_source" ]; then printf '%s\n' "$shows_one"; else nearest_folder "${shows_one%/*}"; fi
  done) || exit
  shows_places=$(printf '%s\n' "$shows_places" | sort -ru) || fail 'sort failed'
  printf '%s\n' "$shows_places" | while IFS= read -r shows_one; do
    shows_source=$(trial_source_of "$shows_one") || exit
    case $shows_paths in
      *"
$shows_one
"*) if [ -d "$shows_source" ]; then trial_mount "$shows_one" "$shows_source" && continue; fi ;;
      *) ;;
    esac
    trial_link_folder "${shows_one:-/}"
  done || exit
  for shows_one; do
    shows_source=$(trial_source_of "$shows_one") || exit
    [ "$shows_one" -ef "$shows_source" ] || trial_add_path "$shows_one" "$shows_source"
  done
}

# trial_source_of PATH   Print where the trial keeps the file or folder that is to be shown at PATH.
trial_source_of() {
  if [ "$1" = "$trial_target" ]; then printf '%s\n' "$trial_room/data"; else printf '%s\n' "$trial_room/files$1"; fi
}

# trial_mount FOLDER SOURCE   Show the folder SOURCE at FOLDER. FOLDER is entered first and then mounted on from inside
# (-c: mount must not resolve a path again), because its path could lead elsewhere a moment later.
trial_mount() {
  cd -P -- "$1" || fail "$1 cannot be entered"
  trial_check_replaceable "$1"
  mount -n -c --bind -- "$2" . || fail "$2 cannot be mounted on $1"
}

# trial_link_folder FOLDER   Replace FOLDER by a folder of the trial that contains links to everything in it. More files
# can be added to that folder.
trial_link_folder() {
  [ "$1" != / ] || fail 'a trial start would have to create a folder in /. Create this folder or the target'
  cd -P -- "$1" || fail "$1 cannot be entered"
  farm_device=$(stat -c %d .) || fail "$1 cannot be examined"
  [ "$farm_device" != "$trial_device" ] || return 0
  trial_check_replaceable "$1"
  farm_own=$(mktemp -d -- "$trial_room/farms/XXXXXXXXXX") || fail "$trial_room cannot be written to"
  # The links lead through the mounted original, so that `..` in a folder leads to the same place as before.
  farm_here=$(pwd -P) || fail "$1 cannot be examined"
  farm_of=/ farm_all=$trial_room/real/${farm_own##*/}
  case $farm_here in "$trial_room/real"/*) farm_of=. farm_here='' ;; *) ;; esac
  mkdir -- "$farm_all" || fail "$trial_room cannot be written to"
  mount -n -c --rbind "$farm_of" "$farm_all" || fail "$1 cannot be mounted elsewhere"
  farm_real=$farm_all$farm_here
  allow_gone "$farm_real" -- find "$farm_real" -ignore_readdir_race -mindepth 1 -maxdepth 1 ! -type l \
    -exec ln -s -t "$farm_own" -- {} + || fail "$1 cannot be read"
  # A relative link is resolved from its own place.
  allow_gone "$farm_real" -- find "$farm_real" -ignore_readdir_race -mindepth 1 -maxdepth 1 -type l \
    -exec cp -PR -t "$farm_own" -- {} + || fail "$1 cannot be read"
  # In a folder like /tmp (mode t) only its owner can remove a file. A file may have been created since.
  write_complete "$trial_room/owned" allow_gone "$farm_real" -- \
    find "$farm_real" -ignore_readdir_race -mindepth 1 -maxdepth 1 -user "$trial_writer" -printf './%f\0'
  (cd -P -- "$farm_own" && allow_gone . -- xargs -0 -r chown -h -- "$trial_writer:" <"$trial_room/owned") ||
    fail "$farm_own cannot be given to its owner"
  chown --reference="$farm_real" -- "$farm_own" || fail "$farm_own cannot be given to its owner"
  chmod --reference="$farm_real" -- "$farm_own" || fail "$farm_own cannot be given its mode"
  farm_mode=$(ls -ld -- "$farm_real") || fail "$1 cannot be examined"
  case $farm_mode in
    ??????????+*) fail "the permissions of $1 are in an access control list (getfacl), which the folder of a trial" \
      'does not have' ;;
    *) ;;
  esac
  mount -n -c --bind -- "$farm_own" . || fail "$farm_own cannot be mounted on $1"
}

# trial_check_replaceable PATH   In the folder to which PATH leads: fail unless its path is PATH itself, or it belongs
# to WRITER, or a link of root leads to it. Root runs programs here. A link of another user must not put that user's
# files in the place of root's.
trial_check_replaceable() {
  replace_here=$(pwd -P) || fail "$1 cannot be examined"
  [ "$replace_here" != "$1" ] || return 0
  replace_owner=$(stat -c %U .) || fail "$1 cannot be examined"
  [ "$replace_owner" = "$trial_writer" ] || (is_trusted 0 "$1") ||
    fail "$1 leads to $replace_here, by a link that other users than root can change"
}

# trial_add_path PATH SOURCE   Show SOURCE at PATH, where no folder exists yet. A folder is mounted, a file is shown by
# a link. It is in a folder of the trial, and so are missing folders above it. `..` leads from a folder to the same
# place as on the host.
trial_add_path() {
  puts_near=$(nearest_folder "${1%/*}") || exit
  cd -P -- "$puts_near" || fail "$puts_near cannot be entered"
  puts_device=$(stat -c %d .) || fail "$puts_near cannot be examined"
  [ "$puts_device" = "$trial_device" ] || fail "$1 cannot be replaced, because $puts_near belongs to the host"
  puts_rest=./${1#"${puts_near%/}/"}
  if [ "${puts_rest%/*}" != . ]; then
    mkdir -p -- "${puts_rest%/*}" || fail "$1 cannot be created"
    puts_first=${puts_rest#./}
    chown -hR "$trial_writer:" -- "./${puts_first%%/*}" || fail "$1 cannot be given to $trial_writer"
  fi
  [ ! -L "$puts_rest" ] || rm -f -- "$puts_rest" || fail "$1 cannot be replaced"
  if [ -d "$2" ]; then
    mkdir -- "$puts_rest" || fail "$1 cannot be created"
    mount -n -c --bind -- "$2" "$puts_rest" || fail "$2 cannot be mounted on $1"
  else
    ln -sT -- "$2" "$puts_rest" || fail "$1 cannot be created"
  fi
}

# trial_isolate_folders   For each line `socket FOLDER` and `log FOLDER` on standard input: replace FOLDER by a folder
# of the trial, because the server writes there. Owner and mode are those of the host's folder, so that a server without
# permission to write there reports it.
trial_isolate_folders() {
  while IFS= read -r away_line; do
    away_folder=${away_line#* }
    # A server creates the folder of its log, but no folder above it.
    if [ "${away_line%% *}" = log ] && [ ! -d "$away_folder" ]; then away_folder=${away_folder%/*} &&
      away_folder=${away_folder:-/}; fi
    [ -d "$away_folder" ] || continue
    away_folder=$(cd -P -- "$away_folder" && pwd -P) || fail "$away_folder cannot be entered"
    [ "$away_folder" = / ] || trial_link_folder "$away_folder"
  done
}

# trial_prepare ROOM DATA TARGET SEGMENT FILES OPTIONS
# As the owner: create the cluster with its configuration. Print `socket FOLDER` and `log FOLDER` for each folder
# outside of its data directory in which its server will write.
trial_prepare() {
  trial_room=$1 trial_target=$3 trial_files=$5 trial_options=$6
  trial_make_cluster "$4"
  trial_copy_configuration "$2"
  prepares_said=$(trial_print_setting data_directory "$trial_options") || exit
  # If its files cannot be read, the start will report the reason.
  [ -n "$prepares_said" ] || return 0
  [ "$prepares_said" -ef "$trial_room/data" ] ||
    fail "the configuration leads to another data directory, $prepares_said"
  case $trial_options in
    *ssl_passphrase_command=*)
      prepares_said=$(trial_print_setting ssl_passphrase_command '') || exit
      [ -z "$prepares_said" ] ||
        fail 'a command of the old server prints the passphrase of its key, and a trial does not run this command'
      ;;
    *) ;;
  esac
  prepares_said=$(trial_socket_folders "$trial_options") || exit
  [ -z "$prepares_said" ] || printf '%s\n' "$prepares_said" | sed 's/^/socket /' || fail 'sed failed'
  prepares_said=$(trial_print_setting logging_collector "$trial_options") || exit
  [ "$prepares_said" = on ] || return 0
  prepares_said=$(trial_print_setting log_directory "$trial_options") || exit
  case $prepares_said in
    /*) printf 'log %s\n' "$prepares_said" ;;
    *) printf 'log %s\n' "$trial_target/$prepares_said" ;;
  esac
}

# trial_make_cluster SEGMENT   Create an empty cluster whose only role cannot log in, whatever its pg_hba.conf allows.
trial_make_cluster() {
  set -- "$1" -N -D "$trial_room/data" -U postgres --locale=C -E UTF8
  [ "$1" = - ] || set -- "$@" "--wal-segsize=$1"
  shift
  makes_said=$(initdb "$@" 2>&1 >/dev/null) || fail "initdb failed: ${makes_said##*'
'}"
  # Single-user mode ends with 0 even after an error.
  makes_said=$(printf '%s\n' 'alter role postgres nologin;' | postgres --single -D "$trial_room/data" postgres 2>&1) ||
    fail 'single-user mode failed'
  case $makes_said in *ERROR:* | *FATAL:*) fail "the login of its role could not be disabled: ${makes_said##*'
'}" ;; *) ;; esac
}

# trial_copy_configuration DATA   Copy the configuration that was in the old data directory DATA into the data directory
# of the trial. Fails if that would replace a file of the cluster itself, or start a recovery.
trial_copy_configuration() {
  [ -d "$trial_room/files$1" ] || return 0
  enter_folder "$trial_room/files$1"
  takes_names=$(find . -type f -print) || fail 'the configuration cannot be read'
  printf '%s\n' "$takes_names" | while IFS= read -r takes_one; do
    case ${takes_one#./} in
      postgresql.conf | postgresql.auto.conf | pg_hba.conf | pg_ident.conf) continue ;;
      *.signal | recovery.conf | backup_label | tablespace_map | postmaster.pid) ;;
      */*)
        takes_folder=${takes_one#./}
        [ -e "$trial_room/data/${takes_folder%%/*}" ] || continue
        ;;
      *) [ -e "$trial_room/data/$takes_one" ] || continue ;;
    esac
    fail "the configuration uses $takes_one as a file of settings, but this is a file of the cluster"
  done || exit
  cp -R --preserve=mode -- . "$trial_room/data/" || fail 'the configuration cannot be put in place'
  chmod 0700 -- "$trial_room/data" || fail "$trial_room/data cannot be protected from other users"
  enter_folder /
}

# trial_options OPTIONS   Print the command line of the server after -D, quoted for a shell: the options of the old
# server, and OPTIONS. Only the first option can turn the program into something other than a server (main.c), and the
# first option is -D.
trial_options() {
  options_before=$(print_start_options "$trial_room/data") || exit
  printf '%s\n' "$options_before $trial_files $1"
}

# trial_print_setting SETTING OPTIONS   Print the value that SETTING would have. Prints nothing if the files cannot be
# read. No server is started.
trial_print_setting() {
  asks_options=$(trial_options "$2") || exit
  asks_said=$(timeout 20 sh -c "exec postgres -D \"\$0\" $asks_options -C $1" "$trial_target" </dev/null 2>/dev/null) ||
    asks_said=''
  last_line "$asks_said"
}

# trial_socket_folders OPTIONS   Print the folders of the Unix sockets, one per line. Prints nothing if the server would
# reject the list. The list is split as in PostgreSQL's SplitDirectoriesString (varlena.c). A relative path is below the
# data directory. An abstract socket (@) has no folder.
trial_socket_folders() {
  folders_said=$(trial_print_setting unix_socket_directories "$1") || exit
  printf '%s\n' "$folders_said" | awk -v target="$trial_target" '
    function put(folder) {
      if (folder ~ /^@/) return
      found = found (folder ~ /^\// ? folder : target "/" folder) "\n"
    }
    {
      rest = $0
      while (1) {
        sub(/^[ \t]+/, "", rest)
        folder = ""
        if (rest ~ /^"/) {
          rest = substr(rest, 2)
          while ((at = index(rest, "\"")) && substr(rest, at + 1, 1) == "\"") {
            folder = folder substr(rest, 1, at)
            rest = substr(rest, at + 2)
          }
          if (!at) exit
          folder = folder substr(rest, 1, at - 1)
          rest = substr(rest, at + 1)
          sub(/^[ \t]+/, "", rest)
        } else {
          at = index(rest, ",")
          folder = at ? substr(rest, 1, at - 1) : rest
          rest = at ? substr(rest, at) : ""
          sub(/[ \t]+$/, "", folder)
        }
        if (folder == "") exit
        put(folder)
        if (rest == "") { printf "%s", found; exit }
        if (rest !~ /^,/) exit
        rest = substr(rest, 2)
      }
    }' || fail 'awk failed'
}

# trial_list_taken_sockets OPTIONS   Print the lock file of each Unix socket of the trial whose process is alive, as
# PostgreSQL's CreateLockFile does (miscinit.c).
trial_list_taken_sockets() {
  taken_port=$(trial_print_setting port "$1") || exit
  taken_folders=$(trial_socket_folders "$1") || exit
  [ -z "$taken_folders" ] || printf '%s\n' "$taken_folders" | while IFS= read -r taken_folder; do
    taken_lock=$taken_folder/.s.PGSQL.$taken_port.lock
    [ -f "$taken_lock" ] || continue
    { read -r taken_process <"$taken_lock"; } 2>/dev/null || continue # if it cannot be read, the server reports why
    case $trial_alive in *" ${taken_process#-} "*) printf '%s\n' "$taken_lock" ;; *) ;; esac
  done
}

# trial_run ROOM TARGET FILES OPTIONS   As the owner: start the server, and print the result as trial_start does. A
# server that has none of its addresses ends. It is started once more without them, because these addresses may move
# together with the cluster.
trial_run() {
  trial_room=$1 trial_target=$2 trial_files=$3
  runs_log=$trial_room/data/pghaul-start.log
  runs_said=$(trial_list_taken_sockets "$4") || exit
  if [ -n "$runs_said" ]; then
    runs_said=$(printf '%s\n' "$runs_said" | join_lines) || exit
    printf 'refused another server uses the Unix socket of the lock file %s\n' "$runs_said"
    return 0
  fi
  runs_since=$(date +%s) || fail 'date failed'
  runs_options=$(trial_options "$4") || exit
  trial_by_pg_ctl "$runs_options"
  runs_status=$?
  runs_lacking=$(trial_list_missing_addresses) || exit
  if [ "$runs_status" -ne 0 ] && [ -n "$runs_lacking" ]; then
    trial_by_pg_ctl "$runs_options -c listen_addresses=localhost"
    runs_status=$?
  fi
  runs_said=$(trial_print_log | sed -n '/Address already in use/p; /could not create Unix-domain socket in/p' |
    join_lines) || exit
  if [ "$runs_status" -eq 0 ] && [ -z "$runs_said" ]; then
    runs_said=$(list_listeners "$trial_target") || exit
    printf '%s\n' started "$runs_said"
    [ -z "$runs_lacking" ] || printf '%s\n' "$runs_lacking" | sed 's/^/lacks /' || fail 'sed failed'
    return 0
  fi
  # A server starts even if only one of its addresses is free.
  if [ "$runs_status" -ne 0 ]; then
    runs_left=$(list_servers_in "$trial_target") || exit
    [ -z "$runs_left" ] || fail 'the server neither started nor ended within 50 seconds'
    runs_said=$(explain_failed_start "$trial_target" "$runs_since" tail -c 20000 -- "$runs_log") || exit
  fi
  case $runs_said in
    *'No space left on device'* | *'failed to map segment'* | *'Read-only file system'*)
      fail "the file system in memory of the trial is not sufficient: $runs_said"
      ;;
    *'FATAL:  '* | *'PANIC:  '* | *'could not '*) printf 'refused %s\n' "$runs_said" ;;
    *) fail "pg_ctl failed, and the server gave no reason${runs_said:+: $runs_said}" ;;
  esac
}

# trial_by_pg_ctl OPTIONS   Start the server with pg_ctl.
trial_by_pg_ctl() {
  pg_ctl -D "$trial_target" -w -t 50 -l "$runs_log" -o "$1" start </dev/null >/dev/null 2>&1
}

# trial_print_log   Print the messages of the trial's server.
trial_print_log() {
  tail -c 20000 -- "$runs_log" || fail "$runs_log cannot be read"
  print_server_log "$trial_target" "$runs_since"
}

# trial_list_missing_addresses   Print the names in listen_addresses to which no address of this server belongs. Prints
# nothing if an address was in use: of a name with several addresses, one may be in use and another may be missing.
trial_list_missing_addresses() {
  lacks_said=$(trial_print_log) || exit
  case $lacks_said in *'Address already in use'*) return 0 ;; *) ;; esac
  printf '%s\n' "$lacks_said" | sed -n 's/.*could not create listen socket for "\(.*\)"$/\1/p' || fail 'sed failed'
}

# print_unit_obstacles UNIT WRITER TARGET   As root: print a line for each property of UNIT, as systemd has read it,
# that may prevent it from starting WRITER's cluster in TARGET. Nothing is changed. A unit that runs as root can start
# the server as another user.
print_unit_obstacles() {
  hinders_said=$(systemctl show -p LoadState -p NeedDaemonReload -p User -p ProtectHome -p EnvironmentFiles -- "$1") ||
    fail "systemd does not print the properties of $1"
  hinders_number=$(id -u -- "$2") || fail "there is no user $2"
  printf '%s\n' "$hinders_said" | while IFS= read -r hinders_one; do
    case $hinders_one in
      # The unit file was changed after systemd read it. These properties may no longer be valid at the start.
      NeedDaemonReload=yes) echo 'NeedDaemonReload=yes, which systemctl daemon-reload ends,' ;;
      LoadState=loaded | User= | User=root | User=0 | "User=$2" | "User=$hinders_number") ;;
      LoadState=* | User=*) printf '%s\n' "$hinders_one" ;;
      ProtectHome=yes | ProtectHome=read-only | ProtectHome=tmpfs)
        case $3/ in /home/* | /root/* | /run/user/*) printf '%s\n' "$hinders_one" ;; *) ;; esac
        ;;
      EnvironmentFiles=*'*'* | EnvironmentFiles=*'?'* | EnvironmentFiles=*'['*) ;; # matches any number of files
      EnvironmentFiles=*' (ignore_errors=no)')
        hinders_file=${hinders_one#EnvironmentFiles=}
        hinders_file=${hinders_file%' (ignore_errors=no)'}
        [ -e "$hinders_file" ] || printf 'EnvironmentFile=%s, which is missing\n' "$hinders_file"
        ;;
      *) ;;
    esac
  done
}

# print_unmet_conditions UNIT BROUGHT...   As root: print `unmet LINE` for each Condition…= and Assert…= that prevents
# UNIT from starting, as systemd judges it. Print `unjudged LINE` for each whose result is not known, because the move
# may change it. BROUGHT are the paths that the move copies. The old server may have any file below them.
print_unmet_conditions() {
  unmet_unit=$1 unmet_bus=org.freedesktop.systemd1
  shift
  unmet_object=$(busctl call "$unmet_bus" /org/freedesktop/systemd1 "$unmet_bus.Manager" LoadUnit s "$unmet_unit") ||
    fail "systemd does not load the unit $unmet_unit"
  unmet_object=${unmet_object#'o "'}
  # These are the conditions in force: the instance's name is filled in, and an empty line has removed earlier ones.
  unmet_said=$(busctl get-property "$unmet_bus" "${unmet_object%'"'}" "$unmet_bus.Unit" Conditions Asserts) ||
    fail "systemd does not print the conditions of $unmet_unit"
  # Each is "ConditionPathExists" true false "/none" 0: whether it begins with |, and whether with !, ahead of what it
  # asks for.
  unmet_lines=$(printf '%s\n' "$unmet_said" |
    sed -E 's/ "([A-Za-z]+)" (true|false) (true|false) "(([^"\\]|\\.)*)" -?[0-9]+/\n\1=\2 \3 \4/g' |
    sed -nE '
      s/^([A-Za-z]+=)true /\1|/; s/^([A-Za-z]+=)false /\1/
      s/^([A-Za-z]+=[|]?)true /\1!/; s/^([A-Za-z]+=[|]?)false /\1/
      /=/p') || fail 'sed failed'
  [ -n "$unmet_lines" ] || return 0
  unmet_said=$(printf '%s\n' "$unmet_lines" | while IFS= read -r unmet_line; do
    unmet_is=$(judge_condition "$unmet_line" "$@") || exit
    printf '%s %s\n' "$unmet_is" "$unmet_line"
  done) || exit
  printf '%s\n' "$unmet_said" | filter_unmet
}

# filter_unmet   Print the lines that may prevent a unit from starting, from the lines `met LINE`, `unmet LINE` and
# `unjudged LINE` on standard input. Of the conditions that begin with |, a single one that is met is sufficient.
filter_unmet() {
  awk '
    {
      kind = $2 ~ /^C/ ? "Condition" : "Assert"
      if ($2 !~ /^[A-Za-z]*=[|]/) { if ($1 != "met") print }
      else if ($1 == "met") any[kind] = 1
      else {
        line[++count] = substr($0, length($1) + 1)
        of[count] = kind
        if ($1 == "unjudged") unjudged[kind] = 1
      }
    }
    END { for (i = 1; i <= count; i++) if (!any[of[i]]) print (unjudged[of[i]] ? "unjudged" : "unmet") line[i] }' ||
    fail 'awk failed'
}

# judge_condition LINE BROUGHT...   Print met, unmet or unjudged. This is systemd's own result for LINE, unless the
# condition is about something that the move copies.
judge_condition() {
  condition_kind=${1%%=*} condition_asks=${1#*=}
  condition_alone=$(printf '%s\n' "$1" | sed 's/%/%%/g') || fail 'sed failed'
  # It ends with 1 if the condition is not met, and also if it does not know this kind of condition.
  if condition_said=$(SYSTEMD_LOG_LEVEL=info SYSTEMD_LOG_TARGET=console \
    systemd-analyze condition "$condition_alone" 2>&1); then
    condition_is=met
  else
    case $condition_said in *' failed.'*) condition_is=unmet ;; *) condition_is=unjudged ;; esac
  fi
  # busctl escapes some characters differently. For Environment=, the environment of systemd would count, not the one of
  # this shell.
  case $1 in *\\* | *Environment=*) condition_is=unjudged ;; *) ;; esac
  shift
  condition_asks=${condition_asks#|}
  case $condition_asks in
    !*) condition_asks=${condition_asks#!} condition_kind=not$condition_kind ;;
    *) [ "$condition_is" != met ] || condition_kind=met ;; # the move removes nothing
  esac
  case $condition_kind$condition_asks in
    met* | *PathIsMountPoint/*) condition_lies='' ;; # a move mounts nothing there
    *Glob/*)
      condition_asks=${condition_asks%%[*?[]*}
      condition_lies=$(compare_place "${condition_asks%/*}/" "$@") || exit
      ;;
    *[a-z]/*) condition_lies=$(compare_place "$condition_asks" "$@") || exit ;;
    *) condition_lies='' ;;
  esac
  case $condition_kind:$condition_lies in
    *: | *Exists:'above, there' | *Is*:'above, there') ;;
    not*) condition_is=unjudged ;;
    *PathExists:a* | *PathIsReadWrite:a* | *PathIsDirectory:above* | *DirectoryNotEmpty:above* | *FileNotEmpty:at)
      condition_is=met
      ;;
    *) condition_is=unjudged ;;
  esac
  printf '%s\n' "$condition_is"
}

# compare_place PATH BROUGHT...   Print the position of PATH in relation to the paths BROUGHT, with links resolved: `at`
# one of them, `above` one, `above, there` if PATH exists, or `below` one. Prints nothing if it is elsewhere.
compare_place() {
  place_path=$(readlink -m -- "$1") || fail 'readlink failed'
  place_path=${place_path%/} place_lies=''
  shift
  for place_one; do
    place_one=$(readlink -m -- "$place_one") || fail 'readlink failed'
    case $place_one in
      "$place_path") place_lies='at' && break ;;
      "$place_path"/*) place_lies=above && break ;;
      *) ;;
    esac
    case $place_path in "$place_one"/*) place_lies=below ;; *) ;; esac
  done
  [ "$place_lies" != above ] || [ ! -e "$place_path/" ] || place_lies='above, there'
  [ -z "$place_lies" ] || printf '%s\n' "$place_lies"
}
