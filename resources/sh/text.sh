# Text that must arrive unchanged: names as hexadecimal digits, files as they are.

# hex WORD   Print its bytes in hexadecimal on one line, so that any name survives.
# Short words of usual characters are written by the shell alone: facts contain many, and each program costs time.
hex() {
  case $1 in
    *[!A-Za-z0-9_/.,:=@%+' '-]*) ;;
    *)
      if [ "${#1}" -le 200 ]; then
        hex_usual "$1"
        return
      fi
      ;;
  esac
  hex_digits=$(printf '%s' "$1" | od -An -v -tx1) || fail 'od failed'
  # shellcheck disable=SC2086 # two digits each
  printf '%s' $hex_digits
}

# hex_usual WORD   Print the bytes of a word of usual characters in hexadecimal, by the shell alone.
hex_usual() {
  hex_rest=$1
  set --
  while [ -n "$hex_rest" ]; do
    hex_next=${hex_rest#?}
    set -- "$@" "'${hex_rest%"$hex_next"}" # a number to printf, that of the character
    hex_rest=$hex_next
  done
  [ $# -eq 0 ] || printf '%02x' "$@"
}

# hex_file FILE BYTES   Print the first bytes of a file in hexadecimal; return 2 if it does not exist or cannot be read.
hex_file() {
  hex_digits=$(od -An -v -tx1 -N "$2" -- "$1" 2>/dev/null) || {
    [ ! -r "$1" ] || fail "od cannot read $1"
    return 2
  }
  # shellcheck disable=SC2086 # two digits each
  printf '%s' $hex_digits
}

# indent_lines TEXT   Print its lines with `: ` before each, so that none can imitate a line of pghaul.
indent_lines() {
  printf '%s\n' "$1" | sed 's/^/: /' || fail 'sed failed'
}

# indent_first_lines NUMBER TEXT   Print its first lines in the same way, by the shell alone: for many short texts.
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

# first_line TEXT   Print its first line.
first_line() {
  printf '%s\n' "${1%%
*}"
}

# last_line TEXT   Print its last line.
last_line() {
  printf '%s\n' "${1##*
}"
}

# print_first FILES...   Print the contents of the first of these files that exists.
print_first() {
  for print_file; do
    if [ -e "$print_file" ]; then
      cat -- "$print_file" || fail "$print_file cannot be read"
      return 0
    fi
  done
  fail "none of these files exists: $*"
}

# print_if_exists FILE   Print its contents; nothing if it does not exist.
print_if_exists() {
  [ ! -e "$1" ] || cat -- "$1" || fail "$1 cannot be read"
}

# path_exists PATH   Succeed if it exists; fail if that cannot be determined `test -e` alone would take a folder that
# cannot be entered for an empty one.
path_exists() {
  is_there_said=$(ls -d -- "$1" 2>&1 >/dev/null) && return 0
  case $is_there_said in
    *'No such file or directory'*) return 1 ;;
    *) fail "$1 cannot be examined: $is_there_said" ;;
  esac
}

# low_priority COMMAND...   Run COMMAND at low priority, if the host has the programs for that.
low_priority() {
  if command -v nice >/dev/null; then set -- nice -n 10 "$@"; fi
  if command -v ionice >/dev/null; then set -- ionice -c 2 -n 7 "$@"; fi
  "$@"
}

# escaped_name_sql NAME   Print the SQL that makes one line of NAME, for unescape_name: \n is a line break, \\ a
# backslash. It does not depend on standard_conforming_strings, which is off in servers before 9.1.
escaped_name_sql() {
  printf '%s' "replace(replace($1::text, chr(92), chr(92) || chr(92)), chr(10), chr(92) || 'n')"
}

# unescape_name LINE   Set name_whole to the name of which escaped_name_sql has made LINE. It is not printed, because a
# command substitution would remove the line breaks at its end.
unescape_name() {
  name_whole=$(printf '%bx' "$1") || fail 'printf failed'
  name_whole=${name_whole%x}
}

# escape_name NAME   Print the line that escaped_name_sql makes of it.
escape_name() {
  name_said=$(printf '%s\n' "$1" | sed 's/\\/\\\\/g; $!s/$/\\n/') || fail 'sed failed'
  printf '%s\n' "$name_said" | tr -d '\n' || fail 'tr failed'
}
