# What may be run by whom: a program or library is trusted if no other user can change it or any folder in its path.

# is_trusted UID FILE...   Succeed if only root and that user can change each FILE, the target of its links, and all
# folders in both paths. In a folder like /tmp (mode t) other users can add names, but change none of the existing ones.
is_trusted() {
  trusted_uid=$1
  shift
  trusted_files=$#
  # What is to be examined is appended behind the files that remain.
  while [ "$trusted_files" -gt 0 ]; do
    [ -e "$1" ] || return 1
    trusted_rest=$1 trusted_at='' trusted_links=0
    shift
    trusted_files=$((trusted_files - 1))
    set -- "$@" /
    # Link by link, because the folder of each link counts too.
    while [ -n "$trusted_rest" ]; do
      trusted_part=${trusted_rest%%/*}
      trusted_rest=${trusted_rest#"$trusted_part"}
      trusted_rest=${trusted_rest#/}
      case $trusted_part in
        '' | .) continue ;;
        ..) trusted_at=${trusted_at%/*} && continue ;;
        *) ;;
      esac
      set -- "$@" "$trusted_at/$trusted_part"
      if [ -L "$trusted_at/$trusted_part" ]; then
        trusted_links=$((trusted_links + 1))
        [ "$trusted_links" -le 40 ] || return 1 # as the kernel: path_resolution(7)
        trusted_link=$(readlink -- "$trusted_at/$trusted_part") || return 1
        case $trusted_link in /*) trusted_at='' ;; *) ;; esac
        trusted_rest=$trusted_link/$trusted_rest
      else
        trusted_at=$trusted_at/$trusted_part
      fi
    done
  done
  trusted_said=$(stat -c '%u %A' -- "$@") || fail 'stat failed'
  # Split by the shell itself, because this is asked about every program of a host.
  # shellcheck disable=SC2086 # pairs of words
  set -- $trusted_said
  while [ $# -gt 0 ]; do
    case $1 in 0 | "$trusted_uid") ;; *) return 1 ;; esac
    case $2 in ?????-??-? | d????????[tT] | l?????????) ;; *) return 1 ;; esac
    shift 2
  done
}

# check_library UID NAME   Succeed if a server of that user may load the library NAME: it is in the library folder of
# the server, or only root and that user can change it. Set loadable_file, the name to load it by, or loadable_why;
# return 2 if it does not exist. The author of a library has its constructor run as that user. NAME is looked up as the
# server does (dfmgr.c, expand_dynamic_library_name).
# shellcheck disable=SC2034 # read by callers
check_library() {
  loadable_file=$2 loadable_why=''
  case /$2/ in
    //*) [ -e "$2" ] && [ ! -d "$2" ] || loadable_file=$2.so ;;
    */../*)
      loadable_why='its name leads out of the library folder'
      return 1
      ;;
    /\$libdir/*) return 0 ;;
    /*/?*/)
      loadable_why='its name is a relative path'
      return 1
      ;;
    *) return 0 ;;
  esac
  if [ ! -e "$loadable_file" ]; then
    loadable_why="could not access file \"$2\": there is none"
    return 2
  fi
  # Without links, by the very file that was checked.
  if is_trusted "$1" "$loadable_file" && loadable_file=$(readlink -f -- "$loadable_file"); then
    case $loadable_file in
      *[\\\'\",]* | *"
"*) loadable_why='its path contains characters that a setting cannot contain' ;;
      *) return 0 ;;
    esac
  else
    loadable_why="other users than root and the owner of the cluster can change it or a folder in its path"
  fi
  return 1
}
