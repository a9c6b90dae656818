# The check, before the stop, that a copy can contain everything in the data roots. Only names and inodes are read.

# check_copyable KEY FOLDER...   As the owner of the FOLDERs: fail if a file cannot be read, or if KEY, the private key
# in them or `-`, belongs to another user; print a `note: ` for files that are copied differently or not at all.
# FOLDER/./PART: only PART of that folder belongs to the cluster.
check_copyable() {
  copyable_key=$1
  shift
  [ "$copyable_key" = - ] || copyable_key=$(find_key_below "$copyable_key" "$@") || exit
  copyable_user=$(id -u) || fail 'id failed'
  for copyable_one; do
    case $copyable_one in
      */./*) [ -e "$copyable_one" ] ||
        fail "${copyable_one%/./*} does not contain ${copyable_one##*/./}: is its disk mounted?" ;;
      *) ;;
    esac
  done
  { list_uncopyable "$copyable_user" "$@" && printf 'whole\0'; } | tr '\n\0' '\001\n' |
    report_uncopyable "$copyable_key" || exit
  note_entries_beside "$@"
}

# note_entries_beside FOLDER...   Print a `note: ` with the entries of each folder in FOLDER/./PART that are not one of
# these PARTs.
note_entries_beside() {
  beside_said='' beside_last=''
  for beside_folder; do
    # The parts of one folder follow each other.
    case $beside_folder in
      "$beside_last"/./*) continue ;;
      */./*) beside_last=${beside_folder%/./*} ;;
      *) continue ;;
    esac
    beside_names=$(ls -A -I lost+found -- "$beside_last") || fail "$beside_last cannot be read"
    beside_names=$(printf '%s\n' "$beside_names" | exclude_named "$beside_last" "$@" |
      awk 'NR <= 5 { gsub(/[[:cntrl:]]/, "?"); printf " %s", $0 }') ||
      fail 'awk failed'
    [ -z "$beside_names" ] || beside_said="$beside_said, $beside_last:$beside_names"
  done
  [ -z "$beside_said" ] ||
    echo 'note: Folders of tablespaces contain files that are not known to belong to this cluster' \
      "(${beside_said#, }). These are not copied."
}

# exclude_named FOLDER NAMED...   Print the names on standard input, except those of which FOLDER/./NAME is among NAMED.
exclude_named() {
  others_folder=$1
  shift
  while IFS= read -r others_name; do
    [ -n "$others_name" ] || continue
    for others_known; do
      [ "$others_known" != "$others_folder/./$others_name" ] || continue 2
    done
    printf '%s\n' "$others_name"
  done
}

# find_key_below KEY FOLDER...   Print the real path of the private key; `-` if it is in none of the FOLDERs.
find_key_below() {
  key_file=$(readlink -f -- "$1") || key_file=-
  shift
  for key_folder; do
    key_folder=$(readlink -f -- "$key_folder") || fail "the path $key_folder cannot be resolved"
    case $key_file in
      "$key_folder"/*)
        printf '%s\n' "$key_file"
        return 0
        ;;
      *) ;;
    esac
  done
  echo -
}

# list_uncopyable UID FOLDER...   Print a record of everything below that cannot be read, does not belong to UID, or is
# special lost+found belongs to the file system and is not copied. The owner of a link does not matter, and a socket is
# created by its listener.
list_uncopyable() {
  copyable_owner=$1
  shift
  allow_gone "$@" -- low_priority find -H "$@" -ignore_readdir_race -name lost+found -type d -printf 'lost %p\0' -prune \
    -o \( -type f ! -readable -o -type d \( ! -readable -o ! -executable \) \) -printf 'closed %p\0' -prune \
    -o \( -type f -o -type d \) ! -uid "$copyable_owner" -printf 'foreign %p\0' \
    -o \( -type p -o -type b -o -type c \) -printf 'special %p\0'
}

# report_uncopyable KEY   Report the records on standard input, with five names of each kind; fail without the last
# record, `whole`.
report_uncopyable() {
  names_kind='' closed_names='' closed_many=0 foreign_names='' foreign_many=0
  special_names='' special_many=0 lost_names='' lost_many=0
  while IFS= read -r names_path; do
    names_kind=${names_path%% *} names_path=${names_path#* } # a name may end in a blank
    case $names_kind in
      closed)
        # While a server is running, a file that has vanished cannot be read either; byte 1 is a line break in a name.
        case $names_path in *"$(printf '\001')"*) ;; *) [ -e "$names_path" ] || continue ;; esac
        closed_many=$((closed_many + 1))
        [ "$closed_many" -gt 5 ] || closed_names="$closed_names, $names_path"
        ;;
      foreign)
        foreign_many=$((foreign_many + 1))
        [ "$foreign_many" -gt 5 ] || foreign_names="$foreign_names, $names_path"
        ;;
      special)
        special_many=$((special_many + 1))
        [ "$special_many" -gt 5 ] || special_names="$special_names, $names_path"
        ;;
      lost)
        lost_many=$((lost_many + 1))
        [ "$lost_many" -gt 5 ] || lost_names="$lost_names, $names_path"
        ;;
      *) break ;;
    esac
  done
  [ "$names_kind" = whole ] || fail 'not all files of the data roots could be examined'
  [ "$closed_many" = 0 ] ||
    fail "$closed_many files or folders cannot be read by the owner of the cluster, so they cannot be copied:" \
      "${closed_names#, }. Correct their owner and modes (chown, chmod u+rwX), and go on with --resume."
  if [ "$1" != - ] && [ -f "$1" ] && [ ! -O "$1" ]; then
    fail "the private key $1 belongs to another user. Its copy will belong to the owner of the new cluster, and" \
      'PostgreSQL refuses a key that its group may read. Make the owner of the cluster its owner (chown), set its' \
      'mode to 600 (chmod), and go on with --resume.'
  fi
  [ "$foreign_many" = 0 ] ||
    echo "note: Files or folders that belong to another user: $foreign_many (${foreign_names#, })." \
      'On the new server they belong to the owner of the cluster.' || fail 'the notes cannot be written'
  [ "$lost_many" = 0 ] || echo "note: Folders lost+found of the file systems: $lost_many (${lost_names#, })." \
    'They are neither copied nor compared.' || fail 'the notes cannot be written'
  [ "$special_many" = 0 ] || echo "note: FIFOs or devices, which are not copied: $special_many (${special_names#, })." \
    'PostgreSQL uses none. Create them again on the new server if another program needs them.' ||
    fail 'the notes cannot be written'
}
