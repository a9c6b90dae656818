# What may be run as whom: a program counts where nobody else can change it, nor any folder on the way to it.

# trusted UID FILE   whether root and that user alone can change FILE, what it leads to, and the folders on the way to both
# In a folder of /tmp's kind (t) others make names of their own, and change none of those that are there.
trusted() {
  [ -e "$2" ] || return 1
  trusted_uid=$1 trusted_rest=$2 trusted_at='' trusted_links=0
  set -- /
  # link by link: each lies in a folder that counts too
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
  trusted_said=$(stat -c '%u %A' -- "$@") || fail 'stat failed'
  # split by the shell itself: a host is asked this of every program that it has
  # shellcheck disable=SC2086 # pairs of words
  set -- $trusted_said
  while [ $# -gt 0 ]; do
    case $1 in 0 | "$trusted_uid") ;; *) return 1 ;; esac
    case $2 in ?????-??-? | d????????[tT] | l?????????) ;; *) return 1 ;; esac
    shift 2
  done
}
