"""Examples of the key of a copy, and of its line on new."""

from core.migration.model.plan import functions_file
from core.servers.functions import library
from tests.resources.sh.examples import Example

_HOME = {"getent": 'echo "me:x:0:0::$PWD:/bin/sh"'}
_LEFT = "authorized_keys.pghaul"
_THEIRS = "mkdir .ssh && printf 'ssh-rsa AAAA me\\n' >.ssh/authorized_keys"
_KEY = "ssh-ed25519 BBBB pghaul-copy-1\n"
_OLD_SSHD = "echo 'OpenSSH_7.6p1, OpenSSL 1.0.2k'"
_SSHD = {**_HOME, "sshd": _OLD_SSHD}
"""It knows no expiry, so that the line is the same every time."""
_UNTOLD = {"sshd": "one that does not say how old it is knows what expires", "sshd behind": "it has said it"}
_LINE = "restrict ssh-ed25519 BBBB pghaul-copy-1"
_FILE = functions_file(library(["receive_copy"]))
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
        complains="something else exists at that path",
        name="no folder",
    ),
    Example("remove_folder", ("@folder@/key",), arrange="mkdir key && echo >key/key", after="[ ! -e key ]"),
    Example("remove_folder", ("@folder@/key",), name="gone already"),
    Example(
        "print_host_keys",
        arrange="true",
        programs={"cat": "echo ssh-ed25519 AAAA host"},
        prints="ssh-ed25519 AAAA host\n# whole\n",
    ),
    Example(
        "pin_host_keys",
        ("@folder@", "192.0.2.12", "22", "dba"),
        stdin="ssh-ed25519 AAAA host\nssh-rsa BBBB\n# whole\n",
        after="""[ "$(cat known_hosts)" = '192.0.2.12 ssh-ed25519 AAAA
192.0.2.12 ssh-rsa BBBB' ] && ssh -F ssh_config -G new >said && grep -qx 'hostname 192.0.2.12' said &&
grep -qx 'loglevel ERROR' said""",
    ),
    Example(
        "pin_host_keys",
        ("@folder@", "fd00::12", "2222", "dba"),
        stdin="ssh-ed25519 AAAA host\n# whole\n",
        after="[ \"$(cat known_hosts)\" = '[fd00::12]:2222 ssh-ed25519 AAAA' ]",
        name="another port",
    ),
    Example(
        "pin_host_keys",
        ("@folder@", "h", "22", "u"),
        stdin="a b\n",
        status=1,
        complains="incomplete: nothing was changed",
        name="cut",
    ),
    Example(
        "pin_host_keys",
        ("@folder@", "h", "22", "u"),
        stdin="# whole\n",
        status=1,
        complains="has not sent its host keys",
        name="none",
    ),
    Example("print_ssh_config", ("/tmp/f", "192.0.2.12", "22", "dba"), matches=r"Host new\n(.*\n)+"),
    Example(
        "keep_functions",
        ("@folder@/kept",),
        stdin=_FILE,
        after="[ \"$(sh kept/functions receive_copy 'pghaul-receive discard' </dev/null; echo $?)\" = 0 ]",
    ),
    Example(
        "keep_functions",
        ("@folder@/kept",),
        stdin="f() {\n",
        status=1,
        complains="incomplete: nothing was changed",
        name="cut",
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "30", "restrict"),
        arrange=_THEIRS,
        stdin=_KEY,
        programs=_SSHD,
        after=f"[ \"$(cat .ssh/authorized_keys)\" = 'ssh-rsa AAAA me\n{_LINE}' ]",
        tolerates=_UNTOLD,
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "30", "restrict"),
        arrange="mkdir .ssh && printf 'a b pghaul-copy-1\\n\\nssh-rsa AAAA me\\n' >.ssh/authorized_keys",
        stdin=_KEY,
        programs=_SSHD,
        after=f"[ \"$(cat .ssh/authorized_keys)\" = '\nssh-rsa AAAA me\n{_LINE}' ]",
        name="again",
        tolerates=_UNTOLD,
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "30", "restrict"),
        arrange="mkdir .ssh && printf 'ssh-rsa AAAA m\\374\\0\\nssh-rsa BBBB me\\n' >.ssh/authorized_keys",
        stdin=_KEY,
        programs=_SSHD,
        after=f"[ \"$(tail -n 2 .ssh/authorized_keys)\" = 'ssh-rsa BBBB me\n{_LINE}' ] && grep -aq AA .ssh/auth*",
        name="among bytes that are no text",
        tolerates=_UNTOLD,
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "30", "restrict"),
        stdin=_KEY,
        programs=_SSHD,
        after=f"[ \"$(cat .ssh/authorized_keys)\" = '# made by pghaul\n{_LINE}' ]",
        name="no file",
        tolerates=_UNTOLD,
    ),
    Example(
        "allow_key",
        ("pghaul-copy-1", "30", "restrict"),
        arrange=_THEIRS,
        stdin="ssh-ed25519 BB",
        programs=_SSHD,
        status=1,
        complains="incomplete: nothing was changed",
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
        arrange=f"{_THEIRS} && cp .ssh/authorized_keys .ssh/{_LEFT}",
        programs=_HOME,
        after='[ "$(cat .ssh/authorized_keys)" = \'ssh-rsa AAAA me\' ] && [ "$(ls .ssh)" = authorized_keys ]',
        name="behind a change that was killed",
    ),
    Example(
        "forbid_key",
        ("pghaul-copy-1", "@folder@/kept"),
        arrange=f"mkdir .ssh && cd .ssh && printf '# made by pghaul\\n{_LINE}\\n' >authorized_keys && : >{_LEFT}",
        programs=_HOME,
        after="[ ! -e .ssh ]",
        tolerates={"rmdir": "the folder may hold more", "rmdir behind": "the folder may hold more"},
        name="the file was made for it",
    ),
    Example("forbid_key", ("pghaul-copy-1", "@folder@/kept"), programs=_HOME, name="no file"),
    Example(
        "change_authorized_keys",
        ("pghaul-copy-1", _LINE),
        arrange="mkdir .ssh && echo b >keys && ln -s ../keys .ssh/authorized_keys",
        programs=_HOME,
        after=f"[ -L .ssh/authorized_keys ] && [ \"$(cat keys)\" = 'b\n{_LINE}' ]",
        name="it lies elsewhere",
    ),
    Example(
        "change_authorized_keys",
        ("m",),
        arrange="mkdir .ssh && : >.ssh/authorized_keys",
        programs=_HOME,
        after="cat .ssh/*",
    ),
    Example("print_other_keys", ("m", "f"), arrange="printf 'a m\\nb\\n' >f", prints="b\nx\n"),
    Example("print_keys_path", programs=_HOME, prints="@folder@/.ssh/authorized_keys"),
    Example(
        "print_key_expiry",
        ("30",),
        programs={"sshd": "echo 'OpenSSH_7.7p1'", "date": '[ "$1 $2" = "-d 30 minutes" ] && echo 202611221530'},
        prints=',expiry-time="202611221530"',
        tolerates=_UNTOLD,
    ),
    Example(
        "print_key_expiry",
        ("30",),
        programs={"sshd": "echo 'unknown option -- V\nOpenSSH_7.4p1, OpenSSL 1.0.2k-fips' >&2; exit 1"},
        prints="",
        tolerates=_UNTOLD,
        name="an sshd that knows no such option",
    ),
    Example(
        "lock_keys",
        ("@folder@/new/keys",),
        after="[ \"$(cat new/keys)\" = '# made by pghaul' ]",
        tolerates={"full disk": "an empty file does as well"},
    ),
    Example(
        "lock_keys", ("@folder@/keys",), arrange="echo a >keys", after='[ "$(cat keys)" = a ]', name="there is one"
    ),
    Example(
        "lock_keys",
        ("@folder@/keys",),
        programs={"flock": "exit 1"},
        status=1,
        complains="keys cannot be locked: another program has locked it for a minute and a half: nothing was changed",
        name="another has it and does not let go",
    ),
    Example(
        "lock_keys",
        ("@folder@/keys",),
        programs={"flock": "echo x >>tries; echo 'flock: 9: No locks available' >&2; exit 71"},
        status=1,
        complains="keys cannot be locked: flock: 9: No locks available: nothing was changed. Is this home",
        after='[ "$(cat tries)" = x ]',
        name="a home on NFS without locks",
    ),
    Example(
        "replace_file",
        ("f", "new"),
        arrange="echo old >f && chmod 640 f",
        after='[ "$(cat f)$(stat -c %a f)$(ls | wc -l)" = new6401 ]',
    ),
]
