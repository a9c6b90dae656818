# What every subject uses: how a step fails, and how a list, an input or a folder is known to be whole.
# POSIX sh with GNU coreutils and findutils; LC_ALL=C is set by who calls.

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

# whole FILE COMMAND...   the output of COMMAND in FILE, all of it or no FILE at all
# A list that broke off must never be taken for a short one: its failure fails the step.
whole() {
  whole_file=$1
  shift
  "$@" >"$whole_file.part" || {
    whole_status=$?
    rm -f -- "$whole_file.part"
    fail "$1 failed with exit status $whole_status: $whole_file was not written"
  }
  mv -- "$whole_file.part" "$whole_file" || fail "$whole_file cannot be written"
}

# try_again TIMES SENTENCE COMMAND...   print what COMMAND prints as soon as it ends well; fails with SENTENCE after so many TIMES
# What goes between find's reading a name and its looking at it is an error to find, and gone when it looks again.
try_again() {
  again_left=$1 again_sentence=$2
  shift 2
  until again_said=$("$@"); do
    again_left=$((again_left - 1))
    [ "$again_left" -gt 0 ] || fail "$again_sentence"
  done
  [ -z "$again_said" ] || printf '%s\n' "$again_said"
}

# records FILE   print how many NUL-ended records FILE holds
records() {
  grep -zc '' -- "$1" || [ $? -eq 1 ] || fail "$1 cannot be read" # 1: none
}

# lines FILE   print how many lines FILE holds
lines() {
  grep -c '' -- "$1" || [ $? -eq 1 ] || fail "$1 cannot be read" # 1: none
}

# enter FOLDER   go there
enter() {
  cd -- "$1" || fail "$1 cannot be entered"
}

# end_mark   the last line of what a later step reads: by it that step knows that it got all of it
end_mark() {
  echo '# whole' || fail 'the end of the output could not be written'
}

# take_whole   print standard input without its end mark; fails where it is cut off
# A connection that is lost looks like the end of the input: what came so far must not be taken for all.
take_whole() {
  taken=$(cat) || fail 'the input cannot be read'
  case $taken in
    *'# whole') printf '%s' "${taken%'# whole'}" ;;
    *) fail 'the input is cut off: nothing was changed' ;;
  esac
}

# own_folder FOLDER   make it for this user alone; what lies there already stays if it is a folder of this user's own
own_folder() {
  umask 077
  if [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ]; then
    chmod 700 -- "$1" || fail "$1 cannot be closed to others"
  else
    mkdir -m 700 -- "$1" || fail "$1 cannot be made: something else lies there, or its file system is full"
  fi
}

# flush FOLDER   all of its file system is on the disk; fails where a write failed meanwhile that nobody was told of
# sync without -f is told of none; since Linux 5.8 -f is told also of those that the kernel met by itself.
flush() {
  flush_knows=$(sync --help) || fail 'sync is not there'
  case $flush_knows in
    *--file-system*) sync -f -- "$1" ;;
    *) sync ;;
  esac || fail "what was written to $1 is not on its disk: is it full, or broken?"
}

# bare FOLDER   whether nothing lies in it yet, but what mkfs and the fence of a new copy put there
bare() {
  bare_names=$(ls -A -I lost+found -I pghaul-fence -- "$1") || fail "$1 cannot be read"
  [ -z "$bare_names" ] && [ ! -e "$1/pghaul-fence/global" ]
}

# flush_all FOLDER...   flush each
flush_all() {
  for flush_folder; do flush "$flush_folder"; done
}
