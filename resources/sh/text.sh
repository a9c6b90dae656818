# Text that comes through whole: names as hexadecimal digits, files as they are.

# hex WORD   print its bytes in hexadecimal, on one line: whatever a name holds survives
hex() {
  hex_digits=$(printf '%s' "$1" | od -An -v -tx1) || fail 'od failed'
  printf '%s' "$hex_digits" | tr -d ' \n' || fail 'tr failed'
}

# hex_file FILE BYTES   print the first bytes of a file likewise; ends with 2 where it is not there or may not be read
hex_file() {
  hex_digits=$(od -An -v -tx1 -N "$2" -- "$1" 2>/dev/null) || {
    [ ! -r "$1" ] || fail "od cannot read $1"
    return 2
  }
  printf '%s' "$hex_digits" | tr -d ' \n' || fail 'tr failed'
}

# indent_lines TEXT   print its lines with `: ` ahead: none of them can pass for a line of ours
indent_lines() {
  printf '%s\n' "$1" | sed 's/^/: /' || fail 'sed failed'
}

# indent_first_lines NUMBER TEXT   print its first lines likewise, by the shell alone: for short texts, and many of them
indent_first_lines() {
  indented_left=$1 indented_rest=$2
  while [ "$indented_left" -gt 0 ]; do
    printf ': %s\n' "${indented_rest%%
*}"
    case $indented_rest in *"
"*) indented_rest=${indented_rest#*
} ;; *) return 0 ;; esac
    indented_left=$((indented_left - 1))
  done
}

# first_line TEXT   print its first line
first_line() {
  printf '%s\n' "${1%%
*}"
}

# last_line TEXT   print its last line
last_line() {
  printf '%s\n' "${1##*
}"
}

# print_first FILES...   print all of the first of these files that is there
print_first() {
  for print_file; do
    if [ -e "$print_file" ]; then
      cat -- "$print_file" || fail "$print_file cannot be read"
      return 0
    fi
  done
  fail "none of these files exists: $*"
}

# print_if_exists FILE   print all of it; nothing where there is none
print_if_exists() {
  [ ! -e "$1" ] || cat -- "$1" || fail "$1 cannot be read"
}

# path_exists PATH   whether something of that name is there; ends the step where that could not be determined
# `test -e` alone takes a folder that may not be entered for an empty one.
path_exists() {
  is_there_said=$(ls -d -- "$1" 2>&1 >/dev/null) && return 0
  case $is_there_said in
    *'No such file or directory'*) return 1 ;;
    *) fail "$1 cannot be examined: $is_there_said" ;;
  esac
}

# low_priority COMMAND...   run it at low priority, where the host has the programs for that
low_priority() {
  if command -v nice >/dev/null; then set -- nice -n 10 "$@"; fi
  if command -v ionice >/dev/null; then set -- ionice -c 2 -n 7 "$@"; fi
  "$@"
}

# escaped_name_sql NAME   print the SQL that makes one line of what NAME selects, for unescape_name: \n is a line break, \\ a backslash
# The letters of SQL need no standard_conforming_strings, which servers before 9.1 have off.
escaped_name_sql() {
  printf '%s' "replace(replace($1::text, chr(92), chr(92) || chr(92)), chr(10), chr(92) || 'n')"
}

# unescape_name LINE   set name_whole to the name of which `escaped` has made LINE
# Not printed: a substitution would take away the line breaks at its end.
unescape_name() {
  name_whole=$(printf '%bx' "$1") || fail 'printf failed'
  name_whole=${name_whole%x}
}

# escape_name NAME   print the line that `escaped` makes of it
escape_name() {
  name_said=$(printf '%s\n' "$1" | sed 's/\\/\\\\/g; $!s/$/\\n/') || fail 'sed failed'
  printf '%s\n' "$name_said" | tr -d '\n' || fail 'tr failed'
}
