# The proof that the plan knows every folder of the cluster: a tablespace may have been made since its facts were read.

# prove_data_roots DATA [LINK FOLDER]...   fails where a link below DATA leads to a folder, but as none of these does
prove_data_roots() {
  enter "$1"
  shift
  roots_found=$(find . -ignore_readdir_race -type l -printf '%P\n') ||
    fail 'not all links of the data directory could be read'
  [ -n "$roots_found" ] || return 0
  roots_unknown=$(
    printf '%s\n' "$roots_found" | while IFS= read -r roots_link; do unknown_root "$roots_link" "$@"; done
  ) || exit
  [ -z "$roots_unknown" ] ||
    fail "${roots_unknown%; }: not in the plan, made since; begin with a new plan: --anew," \
      'and --rollback before it where old is stopped'
}

# unknown_root LINK [KNOWN FOLDER]...   print to which folder LINK leads, but where it is KNOWN to
unknown_root() {
  root_link=$1
  [ -L "$1" ] || fail "the link $1 is gone, or its name holds a line break"
  [ -d "$1" ] || return 0
  root_folder=$(readlink -f -- "$1") || fail "nobody can tell where the link $1 leads"
  shift
  while [ $# -gt 0 ]; do
    [ "$1" != "$root_link" ] || [ "$2" != "$root_folder" ] || return 0
    shift 2
  done
  printf '%s leads to %s; ' "$root_link" "$root_folder"
}
