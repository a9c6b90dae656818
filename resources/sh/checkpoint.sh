# A checkpoint of the running cluster. It writes changed pages to the files, so that the next pass copies them and the
# final sync has less to do.

# write_checkpoint DATA PATH SOCKET PORT SERIES SECONDS   Let the server in DATA write a checkpoint. Does nothing if no
# server is running, because a stopped one has written its own.
write_checkpoint() {
  [ -e "$1/postmaster.pid" ] || return 0
  shift
  connect_to "$@"
  query_cluster 'checkpoint;'
}
