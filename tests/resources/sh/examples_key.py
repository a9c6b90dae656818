"""Examples of the key of a copy, and of what it may do on new."""

from core.migration.model.plan import functions_file
from core.servers.functions import library
from tests.resources.sh.examples import Example

_HOME = {"getent": 'echo "me:x:0:0::$PWD:/bin/sh"'}
_THEIRS = "mkdir .ssh && printf 'ssh-rsa AAAA me\\n' >.ssh/authorized_keys"
_KEY = "ssh-ed25519 BBBB pghaul-copy-1\n"
_LINE = "restrict ssh-ed25519 BBBB pghaul-copy-1"
_TARGET = "mkdir target"
_REFUSED = "this key is for one copy alone"
_FILE = functions_file(library(["receive"]))
_SENDER = {
    "rsync": "the sender on old says so by its own status",
    "sleep": "it only flushes less often",
    "sync": "it only flushes",
}
_SAID = (
    "-lHtprIRe.iLsfxCIvu --timeout=600 --stats -@-1 --inplace",
    "-lHtpre.iLsfxCIvu --compress-level=1 --timeout=600 --delete --compress-choice=zstd --partial --ignore-existing",
    "-nlHtprze.iLsfxCIvu --log-format=%i --timeout=600 --delete-before --stats",
    "-vlHtpr --timeout=600 --modify-window=-1 --existing --append",
)
"""What rsync 3.5.0 and older ones ask new's rsync for in passes."""


def _refused(words: str, name: str) -> Example:
    return Example(
        "receive", (words, "data", "@folder@/target"), arrange=_TARGET, status=126, complains=_REFUSED, name=name
    )


EXAMPLES = [
    Example("make_key", ("@folder@/key", "m"), matches=r"ssh-ed25519 \S+ m\n", after='[ "$(stat -c %a key)" = 700 ]'),
    Example(
        "make_key",
        ("@folder@/key", "m"),
        arrange="mkdir key && echo kept >key/seen-data && echo old >key/key",
        matches=r"ssh-ed25519 \S+ m\n",
        after="[ -e key/seen-data ]",
        name="the lists of a copy that goes on stay",
    ),
    Example(
        "make_key",
        ("@folder@/key", "m"),
        arrange="echo >key",
        status=1,
        complains="something else lies there",
        name="no folder",
    ),
    Example("remove_folder", ("@folder@/key",), arrange="mkdir key && echo >key/key", after="[ ! -e key ]"),
    Example("remove_folder", ("@folder@/key",), name="gone already"),
    Example(
        "host_keys",
        arrange="true",
        programs={"cat": "echo ssh-ed25519 AAAA host"},
        prints="ssh-ed25519 AAAA host\n# whole\n",
    ),
    Example(
        "pin_host_keys",
        ("@folder@", "192.0.2.12", "22", "dba"),
        stdin="ssh-ed25519 AAAA host\nssh-rsa BBBB\n# whole\n",
        after="""[ "$(cat known_hosts)" = '192.0.2.12 ssh-ed25519 AAAA
192.0.2.12 ssh-rsa BBBB' ] && ssh -F ssh_config -G new | grep -qx 'hostname 192.0.2.12'""",
    ),
    Example(
        "pin_host_keys",
        ("@folder@", "fd00::12", "2222", "dba"),
        stdin="ssh-ed25519 AAAA host\n# whole\n",
        after="[ \"$(cat known_hosts)\" = '[fd00::12]:2222 ssh-ed25519 AAAA' ]",
        name="another port",
    ),
    Example("pin_host_keys", ("@folder@", "h", "22", "u"), stdin="a b\n", status=1, complains="cut off", name="cut"),
    Example(
        "pin_host_keys",
        ("@folder@", "h", "22", "u"),
        stdin="# whole\n",
        status=1,
        complains="no host keys",
        name="none",
    ),
    Example("ssh_config", ("/tmp/f", "192.0.2.12", "22", "dba"), matches=r"Host new\n(.*\n)+"),
    Example(
        "keep_functions",
        ("@folder@/kept",),
        stdin=_FILE,
        after="[ \"$(sh kept/functions receive 'pghaul-receive discard' </dev/null; echo $?)\" = 0 ]",
    ),
    Example("keep_functions", ("@folder@/kept",), stdin="f() {\n", status=1, complains="cut off", name="cut"),
    Example(
        "allow_key",
        ("pghaul-copy-1", "restrict"),
        arrange=_THEIRS,
        stdin=_KEY,
        programs=_HOME,
        after=f"[ \"$(cat .ssh/authorized_keys)\" = 'ssh-rsa AAAA me\n{_LINE}' ]",
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "restrict"),
        arrange="mkdir .ssh && printf 'a b pghaul-copy-1\\n\\nssh-rsa AAAA me\\n' >.ssh/authorized_keys",
        stdin=_KEY,
        programs=_HOME,
        after=f"[ \"$(cat .ssh/authorized_keys)\" = '\nssh-rsa AAAA me\n{_LINE}' ]",
        name="again",
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "restrict"),
        arrange="mkdir .ssh && printf 'ssh-rsa AAAA m\\374\\0\\nssh-rsa BBBB me\\n' >.ssh/authorized_keys",
        stdin=_KEY,
        programs=_HOME,
        after=f"[ \"$(tail -n 2 .ssh/authorized_keys)\" = 'ssh-rsa BBBB me\n{_LINE}' ] && grep -aq AA .ssh/auth*",
        name="among bytes that are no text",
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "restrict"),
        stdin=_KEY,
        programs=_HOME,
        after=f"[ \"$(cat .ssh/authorized_keys)\" = '# made by pghaul-copy-1\n{_LINE}' ]",
        name="no file",
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "restrict"),
        arrange=_THEIRS,
        stdin="ssh-ed25519 BB",
        programs=_HOME,
        status=1,
        complains="cut off: nothing was changed",
        after="[ \"$(cat .ssh/authorized_keys)\" = 'ssh-rsa AAAA me' ]",
        name="cut off",
    ),
    Example(
        "forbid_key",
        ("pghaul-copy-1", "@folder@/kept"),
        arrange=f"{_THEIRS} && printf '{_LINE}\\n' >>.ssh/authorized_keys && mkdir kept",
        programs=_HOME,
        after="[ \"$(cat .ssh/authorized_keys)\" = 'ssh-rsa AAAA me' ] && [ ! -e kept ]",
    ),
    Example(
        "forbid_key",
        ("pghaul-copy-1", "@folder@/kept"),
        arrange=f"mkdir .ssh && printf '# made by pghaul-copy-1\\n{_LINE}\\n' >.ssh/authorized_keys",
        programs=_HOME,
        after="[ ! -e .ssh ]",
        tolerates={"rmdir": "the folder may hold more", "rmdir behind": "the folder may hold more"},
        name="the file was made for it",
    ),
    Example("forbid_key", ("pghaul-copy-1", "@folder@/kept"), programs=_HOME, name="no file"),
    Example("other_keys", ("m", "f"), arrange="printf 'a m\\nb\\n' >f", prints="b\nx\n"),
    Example(
        "made_for", ("m", "f"), arrange="echo '# made by m' >f", tolerates={"grep": "a file that cannot be read stays"}
    ),
    Example("authorized_keys", programs=_HOME, prints="@folder@/.ssh/authorized_keys"),
    Example(
        "rewrite", ("f", "new"), arrange="echo old >f && chmod 640 f", after='[ "$(cat f)$(stat -c %a f)" = new640 ]'
    ),
    Example("receive", ("pghaul-receive discard",), stdin="bytes", prints="", tolerates={"cat": "the sender sees it"}),
    Example(
        "receive",
        ("pghaul-receive data flush", "data", "@folder@/target"),
        arrange=_TARGET,
        prints="",
    ),
    Example(
        "receive",
        ("pghaul-receive data --server -logDtpre.iLsfxCIvu . .", "data", "@folder@/target"),
        arrange=_TARGET,
        programs={"rsync": 'echo "$PWD $*"'},
        prints="@folder@/target --server -logDtpre.iLsfxCIvu . .\n",
        tolerates=_SENDER,
        name="rsync's server",
    ),
    Example(
        "receive",
        ("pghaul-receive space flush", "data", "@folder@/target", "space", "@folder@/target"),
        arrange=f"{_TARGET} && touch target/postmaster.pid",
        status=1,
        complains="a server runs in ",
        name="a server lives in the target",
    ),
    _refused("rm -rf /", "no receiver"),
    _refused("pghaul-receive other --server . .", "another label"),
    _refused("pghaul-receive data --server --sender . .", "a sender"),
    _refused("pghaul-receive data --server . /etc", "a path"),
    _refused("pghaul-receive data sh", "another program"),
    _refused("pghaul-receive data --server -e.LsfxCIvu . ..", "the folder above"),
    _refused("pghaul-receive data --server -e.LsfxCIvu . link", "a name, which may be a link"),
    _refused("pghaul-receive data --server --daemon --config=sent.conf .", "a daemon, which runs what a file says"),
    _refused("pghaul-receive data --server -se.LsfxCIvu", "words that come behind"),
    _refused("pghaul-receive data --server -lKe.LsfxCIvu . .", "links followed"),
    _refused("pghaul-receive data --server -lRe.LsfxCIvu --no-implied-dirs . .", "links followed on the way"),
    _refused("pghaul-receive data --server -e.LsfxCIvu --write-devices . .", "what no copy needs"),
    *(
        Example(
            "receive",
            (f"pghaul-receive data --server {words} . .", "data", "@folder@/target"),
            arrange=_TARGET,
            programs={"rsync": 'echo "$*"'},
            prints=f"--server {words} . .\n",
            tolerates=_SENDER,
            name=f"what copies say {number}",
        )
        for number, words in enumerate(_SAID)
    ),
    Example("copy_needs", ("--inplace",)),
]
