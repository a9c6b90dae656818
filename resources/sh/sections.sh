# Sections: many small queries in one round trip, each with its own output, errors and exit status. A mark is written
# before and after each, to standard output and standard error, so that nothing that a server prints can imitate it, and
# no file is needed. A section that fails, hangs or prints nonsense does not spoil the others. The mark is on no command
# line and in no environment, so that the programs of a section never learn it. The part of a cluster's owner has a mark
# of its own, which is valid for the answers about this cluster only.

# sections_begin MARK   Set up a plain environment, and let no section outlive this shell `$program`, set before, is the
# text of the functions for the shells that run them.
sections_begin() {
  section_mark=$1 section_running='' section_failed=' '
  PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  LC_ALL=C LANGUAGE='' HOME=/
  export PATH LC_ALL LANGUAGE HOME program section_failed
  unset PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGDATA PGOPTIONS ENV BASH_ENV
  enter_folder /
  lower_priority # a server may serve here
  trap '[ -z "$section_running" ] || kill "$!" 2>/dev/null; exit 143' HUP INT TERM
  if timeout -k 1 1 true >/dev/null 2>&1; then section_limits=yes; else section_limits=no; fi
}

# run_section NAME SECONDS FUNCTION WORDS...   Run FUNCTION between two marks, at most that long; set section_status
# `timeout` can only run a program and ends everything that it has started. So a new shell gets the functions as its
# program.
run_section() {
  section_name=$1 section_seconds=$2
  shift 2
  printf '\n%s begin %s\n' "$section_mark" "$section_name"
  printf '\n%s begin %s\n' "$section_mark" "$section_name" >&2
  section_running=yes
  if [ "$section_limits" = yes ]; then
    timeout -k 2 "$section_seconds" sh -c "$program" sh "$@" </dev/null &
  else
    sh -c "$program" sh "$@" </dev/null &
  fi
  wait "$!"
  section_status=$?
  section_running=''
  [ "$section_status" = 0 ] || section_failed="$section_failed${section_name##*/} "
  printf '\n%s end %s\n' "$section_mark" "$section_status"
  printf '\n%s end %s\n' "$section_mark" "$section_status" >&2
}

# run_isolated COMMAND...   Run COMMAND behind pipes that end with it, so that its background processes cannot write
# into later output.
run_isolated() {
  {
    {
      {
        ("$@" 2>&3 3>&- 4>&-)
        printf '\npghaul-apart-end\n'
        printf '\npghaul-apart-end\n' >&3
      } 4>&- | until_end 3>&- >&4
    } 3>&1 | until_end 4>&- >&2
  } 4>&1
}

# until_end   Print standard input up to the end mark of run_isolated, 8 MiB at most. An owner who prints that mark
# early only shortens the own answer. A line without an end must not fill the memory.
until_end() {
  # shellcheck disable=SC3045 # -v is not in POSIX, but in dash, bash and busybox alike
  (ulimit -v 500000 && sed '/^pghaul-apart-end$/q') | head -c 8388608
}
