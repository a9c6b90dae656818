# The functions that all other files use: how a step fails, and how a step proves that a list, an input or a folder is
# complete. POSIX sh with GNU coreutils and findutils. The caller sets LC_ALL=C.

# fail WORDS...   Print WORDS as an error message on standard error, and exit with status 1.
fail() {
  printf 'pghaul: %s\n' "$*" >&2
  exit 1
}

# refuse STATUS WORDS...   Print WORDS as an error message on standard error, and exit with STATUS.
refuse() {
  refuse_status=$1
  shift
  printf 'pghaul: %s\n' "$*" >&2
  exit "$refuse_status"
}

# write_complete FILE COMMAND...   Write the output of COMMAND to FILE, completely or not at all.
# A later step must never take an incomplete list for a short one. Therefore the step fails if COMMAND fails.
write_complete() {
  whole_file=$1
  shift
  "$@" >"$whole_file.part" || {
    whole_status=$?
    rm -f -- "$whole_file.part"
    fail "$whole_file could not be written completely (exit status $whole_status)"
  }
  mv -- "$whole_file.part" "$whole_file" || fail "$whole_file cannot be written"
}

# allow_gone FOLDER... -- COMMAND...   Run COMMAND, which examines everything below each FOLDER. Its failure is ignored
# if all its messages say that something below a FOLDER no longer exists: other programs remove files and folders there
# at any time. With -ignore_readdir_race, find ignores only a file that disappears, not a folder.
allow_gone() {
  {
    gone_said=$(
      until [ "$1" = -- ]; do shift; done
      shift
      "$@" 2>&1 >&7 7>&-
    )
    gone_status=$?
  } 7>&1
  [ -n "$gone_said" ] || return "$gone_status"
  printf '%s\n' "$gone_said" | while IFS= read -r gone_line; do is_gone "$gone_line" "$@" || exit; done && return
  printf '%s\n' "$gone_said" >&2
  return "$gone_status"
}

# is_gone MESSAGE FOLDER... --   Succeed if MESSAGE says that something below a FOLDER no longer exists.
is_gone() {
  case $1 in *': No such file or directory') ;; *) return 1 ;; esac
  gone_message=$1
  shift
  until [ "$1" = -- ]; do
    case $gone_message in *" "?"${1%/}/"?*) return 0 ;; *) ;; esac # the path is in quotes
    shift
  done
  return 1
}

# count_records FILE   Print the number of NUL-terminated records in FILE.
count_records() {
  grep -zc '' -- "$1" || [ $? -eq 1 ] || fail "$1 cannot be read" # status 1: there is no record
}

# count_lines FILE   Print the number of lines in FILE.
count_lines() {
  grep -c '' -- "$1" || [ $? -eq 1 ] || fail "$1 cannot be read" # status 1: there is no line
}

# enter_folder FOLDER   Change to FOLDER. Fails if that is not possible.
enter_folder() {
  cd -- "$1" || fail "$1 cannot be entered"
}

# print_end_mark   Print the end mark as the last line of an output. It proves to the reader that nothing is missing.
print_end_mark() {
  echo '# whole' || fail 'the end mark of the output could not be written'
}

# read_complete   Print standard input without its end mark. Fails if the end mark is missing.
# A lost connection looks like the end of the input. Only the mark tells the two apart.
read_complete() {
  taken=$(cat) || fail 'the input cannot be read'
  case $taken in
    *'# whole') printf '%s' "${taken%'# whole'}" ;;
    *) fail 'the input is incomplete: nothing was changed' ;;
  esac
}

# make_private_folder FOLDER   Create FOLDER with access for this user alone. A folder that this user owns is kept.
# Fails if anything else exists at that path.
make_private_folder() {
  umask 077
  if [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; then
    chmod 700 -- "$1" || fail "$1 cannot be protected from other users"
  else
    mkdir -m 700 -- "$1" || fail "$1 cannot be created: something else exists at that path, or its file system is full"
  fi
}

# flush_file_system FOLDER   Write the whole file system of FOLDER to disk. Fails if an earlier write to it has failed.
# `sync` without -f does not report failed writes. Since Linux 5.8, `sync -f` also reports failures that the kernel met
# when it wrote data back on its own.
flush_file_system() {
  flush_knows=$(sync --help) || fail 'the program sync is missing'
  case $flush_knows in
    *--file-system*) sync -f -- "$1" ;;
    *) sync ;;
  esac || fail "what was written to $1 was not written to disk: is the disk full or broken?"
}

# target_is_empty FOLDER   Succeed if FOLDER contains only what mkfs and the fence of a new copy have created there.
target_is_empty() {
  bare_names=$(ls -A -I lost+found -I pghaul-fence -- "$1") || fail "$1 cannot be read"
  [ -z "$bare_names" ] && [ ! -e "$1/pghaul-fence/global" ]
}

# flush_file_systems FOLDER...   Write the file system of each FOLDER to disk.
flush_file_systems() {
  for flush_folder; do flush_file_system "$flush_folder"; done
}
