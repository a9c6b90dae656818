# Sections: many small looks in one round trip, each with its own output, complaint and exit status.
# Before and after each a mark is written to standard output and to standard error alike: nothing that a server prints
# can pass for it, and no file is needed. One section that fails, hangs or prints nonsense spoils no other.
# The mark stands on no command line and in no environment: what a section runs never learns it. A cluster's owner has a
# mark of their own, which is good for their answers alone.

# sections_begin MARK   what stands ahead of sections: a plain environment, and no section outlives this shell
# `$program`, set ahead, is the text of the functions for the shells that run them.
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

# run_section NAME SECONDS FUNCTION WORDS...   run it between two marks, at most that long; sets section_status
# `timeout` ends a program with all that it started, and a function is none: a shell of its own gets the functions as
# its program, and the words as they are.
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

# run_isolated COMMAND...   run it behind pipes that end when it does: what it leaves behind writes nothing into what follows
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

# until_end   print standard input to the line that ends what runs apart, 8 MiB at most
# Whoever writes that line early says less, of itself alone. A line without an end must not fill the memory.
until_end() {
  # shellcheck disable=SC3045 # -v is not in POSIX, but in dash, bash and busybox alike
  (ulimit -v 500000 && sed '/^pghaul-apart-end$/q') | head -c 8388608
}
