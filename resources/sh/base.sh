# What all other files use: how a step fails, and how to prove that a list, an input or a folder is complete.
# POSIX sh with GNU coreutils and findutils. The caller sets LC_ALL=C.

# fail WORDS...   say why on standard error and end with 1
fail() {
  printf 'pghaul: %s\n' "$*" >&2
  exit 1
}

# refuse STATUS WORDS...   say why on standard error and end with that status
refuse() {
  refuse_status=$1
  shift
  printf 'pghaul: %s\n' "$*" >&2
  exit "$refuse_status"
}

# write_complete FILE COMMAND...   write the output of COMMAND to FILE: all of it, or no FILE at all
# An incomplete list must never be taken for a short one, so a failing COMMAND fails the step.
write_complete() {
  whole_file=$1
  shift
  "$@" >"$whole_file.part" || {
    whole_status=$?
    rm -f -- "$whole_file.part"
    fail "$1 failed with exit status $whole_status: $whole_file was not written"
  }
  mv -- "$whole_file.part" "$whole_file" || fail "$whole_file cannot be written"
}

# retry_command TIMES SENTENCE COMMAND...   print the output of COMMAND as soon as it succeeds; fail with SENTENCE after TIMES tries
# A file that vanishes between two looks of find is an error for find, and no longer there when it is run again.
retry_command() {
  again_left=$1 again_sentence=$2
  shift 2
  until again_said=$("$@"); do
    again_left=$((again_left - 1))
    [ "$again_left" -gt 0 ] || fail "$again_sentence"
  done
  [ -z "$again_said" ] || printf '%s\n' "$again_said"
}

# count_records FILE   print how many NUL-ended records FILE holds
count_records() {
  grep -zc '' -- "$1" || [ $? -eq 1 ] || fail "$1 cannot be read" # 1: none
}

# count_lines FILE   print how many lines FILE holds
count_lines() {
  grep -c '' -- "$1" || [ $? -eq 1 ] || fail "$1 cannot be read" # 1: none
}

# enter_folder FOLDER   change to FOLDER
enter_folder() {
  cd -- "$1" || fail "$1 cannot be entered"
}

# print_end_mark   print the last line of what a later step reads. It proves to that step that it got everything
print_end_mark() {
  echo '# whole' || fail 'the end mark of the output could not be written'
}

# read_complete   print standard input without its end mark; fail if it is incomplete
# A lost connection looks like the end of the input, so without the mark it cannot be known that everything came.
read_complete() {
  taken=$(cat) || fail 'the input cannot be read'
  case $taken in
    *'# whole') printf '%s' "${taken%'# whole'}" ;;
    *) fail 'the input is incomplete: nothing was changed' ;;
  esac
}

# make_private_folder FOLDER   create it for this user alone, or keep it if it is already a folder of this user
make_private_folder() {
  umask 077
  if [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; then
    chmod 700 -- "$1" || fail "$1 cannot be protected from other users"
  else
    mkdir -m 700 -- "$1" || fail "$1 cannot be created: something else exists at that path, or its file system is full"
  fi
}

# flush_file_system FOLDER   write the whole file system of FOLDER to disk; fail if an earlier write to it has failed
# sync without -f does not report such failures. Since Linux 5.8, -f also reports those that the kernel met on its own.
flush_file_system() {
  flush_knows=$(sync --help) || fail 'the program sync is missing'
  case $flush_knows in
    *--file-system*) sync -f -- "$1" ;;
    *) sync ;;
  esac || fail "what was written to $1 was not written to disk: is the disk full or broken?"
}

# target_is_empty FOLDER   whether it contains nothing yet but what mkfs and the fence of a new copy have put there
target_is_empty() {
  bare_names=$(ls -A -I lost+found -I pghaul-fence -- "$1") || fail "$1 cannot be read"
  [ -z "$bare_names" ] && [ ! -e "$1/pghaul-fence/global" ]
}

# flush_file_systems FOLDER...   write the file system of each to disk
flush_file_systems() {
  for flush_folder; do flush_file_system "$flush_folder"; done
}
