PGH() { (cd ${PROJ:-/work/main}; PGHAUL_DATA=/tmp/aid/aid-facts/data PGHAUL_CONFIG=/tmp/aid/aid-facts/conf .venv/bin/python -m gui.entry "$@"); }
FP=$(old sh -c 'ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub' | awk '{print $2}')
