# Sections: many small looks in one round trip, each with its own output, complaint and exit status.
# Before and after each a mark is written to standard output and to standard error alike: nothing that a server prints
# can pass for it, and no file is needed. One section that fails, hangs or prints nonsense spoils no other.

# sections_begin MARK   what stands ahead of sections: a plain environment, and no section outlives this shell
# `$program`, set ahead, is the text of the functions for the shells that run them.
sections_begin() {
  section_mark=$1 section_running='' section_failed=' '
  PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  LC_ALL=C LANGUAGE='' HOME=/
  export PATH LC_ALL LANGUAGE HOME program section_mark section_failed
  unset PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGDATA PGOPTIONS ENV BASH_ENV
  enter /
  trap '[ -z "$section_running" ] || kill "$!" 2>/dev/null; exit 143' HUP INT TERM
  if timeout -k 1 1 true >/dev/null 2>&1; then section_limits=yes; else section_limits=no; fi
}

# section NAME SECONDS FUNCTION WORDS...   run it between two marks, at most that long; sets section_status
# `timeout` ends a program with all that it started, and a function is none: a shell of its own gets the functions as
# its program, and the words as they are.
section() {
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
