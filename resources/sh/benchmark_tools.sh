# What the benchmark tools need in addition to their own commands. All functions are called in the benchmark's folder.

# bench_run_timed COMMAND...   Run COMMAND, then print the output of `times`. Fails if COMMAND fails.
# The second line of `times` is the processor time of COMMAND. The time of the kernel's own threads, which write data
# back to disk, is not included.
bench_run_timed() {
  "$@" || fail "$1 ended with $?"
  times
}

# bench_run_and_remove FILE COMMAND...   Run COMMAND, then remove FILE. Fails if COMMAND fails.
bench_run_and_remove() {
  removed=$1
  shift
  "$@" || fail "$1 ended with $?"
  rm -f -- "$removed" || fail "$removed cannot be removed"
}

# run_bonnie_uncached WORDS...   Run bonnie++ with WORDS, and drop the page cache before each of its tests.
# Ends with the exit status of bonnie++. With `-y p`, bonnie++ prints a prompt before each test, `1:` to `5:`, and waits
# for a line. Only root can drop the page cache. For other users this has no effect.
run_bonnie_uncached() {
  rm -f -- answers status || fail 'the folder of the benchmark cannot be written'
  mkfifo answers || fail 'the folder of the benchmark cannot be written'
  # shellcheck disable=SC2094 # answers is a named pipe, which is read and written at the same time
  {
    bonnie++ "$@" -y p <answers 2>&1
    echo $? >status
  } | while IFS= read -r bonnie_line; do
    case $bonnie_line in
      [0-9]:)
        { echo 1 >/proc/sys/vm/drop_caches; } 2>/dev/null
        echo
        ;;
      *) printf '%s\n' "$bonnie_line" >&2 ;;
    esac
  done >answers
  read -r bonnie_status <status || fail 'the exit status of bonnie++ could not be read: is the disk full?'
  rm -f -- answers status || fail 'the folder of the benchmark cannot be written'
  [ "$bonnie_status" -eq 0 ] || refuse "$bonnie_status" "bonnie++ ended with $bonnie_status"
}

# bench_run_inside FOLDER COMMAND...   Run COMMAND in FOLDER, which is created if it does not exist.
bench_run_inside() {
  mkdir -p -- "$1" || fail "$1 cannot be created"
  enter_folder "$1"
  shift
  "$@"
}

# bench_with_input COUNT LINE... COMMAND...   Run COMMAND with COUNT lines on standard input. Ends with its exit status.
bench_with_input() {
  input_left=$1 input=
  shift
  while [ "$input_left" -gt 0 ]; do
    input="$input$1
"
    shift
    input_left=$((input_left - 1))
  done
  printf '%s' "$input" | "$@"
}

# fio_job WORDS...   Run fio with WORDS on the job file that is read from standard input. Fails if fio fails.
fio_job() {
  cat >job.fio || fail 'the job file could not be written: is the disk full?'
  fio job.fio "$@" || fail "fio ended with $?"
}

# missing_programs PROGRAM...   Print ID and ID_LIKE of the distribution on one line, then each PROGRAM that is missing.
# The last line is `# whole`.
missing_programs() {
  missing_ids=$(
    ID='' ID_LIKE=''
    # shellcheck source=/dev/null
    if [ -r /etc/os-release ]; then . /etc/os-release || fail '/etc/os-release cannot be read'; fi
    echo "$ID $ID_LIKE"
  ) || exit
  printf '%s\n' "$missing_ids"
  for missing in "$@"; do
    command -v "$missing" >/dev/null 2>&1 || echo "$missing"
  done
  print_end_mark
}
