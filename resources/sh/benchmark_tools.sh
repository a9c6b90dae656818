# What the benchmark tools need beside their own commands. All of it runs in the benchmark's folder.

# bench_run_timed COMMAND...   run COMMAND, then print what `times` says
# Its second line is the processor time of COMMAND: what the kernel's own threads spend on writing back is not in it.
bench_run_timed() {
  "$@" || fail "$1 ended with $?"
  times
}

# bench_run_and_remove FILE COMMAND...   run COMMAND, and remove FILE behind it
bench_run_and_remove() {
  removed=$1
  shift
  "$@" || fail "$1 ended with $?"
  rm -f -- "$removed" || fail "$removed cannot be removed"
}

# run_bonnie_uncached WORDS...   bonnie++ with these words, and cold caches ahead of each of its tests; ends as it does
# With -y p it asks ahead of each test, `1:` to `5:`, and goes on at a line. Only root drops caches: of no effect for others.
run_bonnie_uncached() {
  rm -f -- answers status || fail 'the folder of the benchmark cannot be written'
  mkfifo answers || fail 'the folder of the benchmark cannot be written'
  # shellcheck disable=SC2094 # answers is a pipe with a name: read and written at one time
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

# bench_run_inside FOLDER COMMAND...   run COMMAND in that folder, which is made where it is not there
bench_run_inside() {
  mkdir -p -- "$1" || fail "$1 cannot be created"
  enter_folder "$1"
  shift
  "$@"
}

# bench_with_input COUNT LINE... COMMAND...   run COMMAND with so many lines on its standard input; ends as it does
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

# fio_job WORDS...   run fio with these words on the job file that stands on standard input
fio_job() {
  cat >job.fio || fail 'the job file could not be written: is the disk full?'
  fio job.fio "$@" || fail "fio ended with $?"
}

# missing_programs PROGRAM...   print the ID and ID_LIKE of the distribution on one line, then each PROGRAM that is not there,
# then `# whole`
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
