"""One test for each kind of secret; and what is none stays as it is."""

import time

import pytest

from core.redaction import CUT, MASK, end_without_secrets, know, secret_words, without_secrets

SECRET = "geh3im-Wort"

KINDS = {
    "connection string": f"host=db1 user=rep password={SECRET} sslmode=require",
    "connection string, quoted": f"password='it\\'s {SECRET}' host=db1",
    "connection string, key": f"sslkey=/k sslpassword={SECRET}",
    "setting": f"primary_conninfo = 'host=a password={SECRET}'",
    "setting that quotes": f"primary_conninfo = 'host=a password=''it is {SECRET}'' user=b'",
    "setting by SQL": f"ALTER SYSTEM SET archive_command TO 'curl -H x:{SECRET} %p'",
    "passphrase command": f"ssl_passphrase_command = 'echo {SECRET}'",
    "restore command": f"restore_command='wal-g --key {SECRET} %f'",
    "recovery end": f"recovery_end_command = 'notify {SECRET}'",
    "setting of an extension": f"shop.api_key = '{SECRET}'",
    "address": f"postgresql://rep:{SECRET}@db1:5432/shop",
    "address of another kind": f"https://user:{SECRET}@backup.example/x",
    "parameter of an address": f"https://backup.example/x?token={SECRET}&y=1",
    "environment": f"PGPASSWORD={SECRET} psql -h db1",
    "environment, quoted": f"PGPASSWORD='it is {SECRET}' psql",
    "environment, half quoted": f"PGPASSWORD=it' is '{SECRET} psql",
    "environment, not ended": f"PGPASSWORD='it is {SECRET}",
    "environment of a cloud": f"AWS_SECRET_ACCESS_KEY={SECRET}",
    "option with =": f"restic --password={SECRET} backup",
    "option": f"restic --repo-password {SECRET} backup",
    "sshpass": f"sshpass -p {SECRET} ssh db1",
    "sshpass at once": f"sshpass -p{SECRET} ssh db1",
    "curl": f"curl -s -u me:{SECRET} https://x",
    "curl, by another option": f"curl -sS --proxy-user=me:{SECRET} https://x",
    "curl, at once": f"curl -sume:{SECRET} https://x",
    "curl, quoted": f'curl -H "Accept: a; b" -u "me:it is {SECRET}" https://x',
    "curl, goes on in the next line": f"curl -s \\\n  -u me:{SECRET} https://x",
    "curl, a key's": f"curl --cert a.pem --pass {SECRET} https://x",
    "mysql": f"mysql -u root -p{SECRET} -P 3306 shop",
    "mysql, behind others": f"ssh -p 22 db1 'mysqldump -p{SECRET} shop' | mysql -p{SECRET}",
    "environment of mysql": f"MYSQL_PWD={SECRET} mysql shop",
    "redis": f"redis-cli -a {SECRET} save",
    "mongo": f"mongosh -u me -p {SECRET} shop",
    "LDAP": f"ldapsearch -x -D cn=me -w {SECRET}",
    "registry": f"docker login -u me -p {SECRET} registry.example",
    "openssl": f"openssl rsa -in key -passin pass:{SECRET}",
    "archive": f"7z a -p{SECRET} copy.7z /srv",
    "share": f"smbclient //nas/copy -U me%{SECRET}",
    "lftp": f"lftp -u me,{SECRET} nas",
    "ODBC": f"DSN=shop;UID=me;PWD={SECRET}",
    "pgbackrest": f"pgbackrest --repo1-cipher-pass={SECRET} check",
    "private key's end": f"{'QUJD' * 16}\n{SECRET.replace('-', '+')}==\n-----END PRIVATE KEY-----",
    "SQL": f"ALTER ROLE rep PASSWORD '{SECRET}' LOGIN",
    "SQL with escapes": f"CREATE ROLE rep ENCRYPTED PASSWORD E'it''s {SECRET}'",
    "JSON": f'{{"user": "rep", "password": "{SECRET}"}}',
    "YAML": f"  password: {SECRET}\n  user: rep",
    "TOML": f'secret = "{SECRET}"',
    "access rule": f'host all all 0.0.0.0/0 ldap ldapbindpasswd="{SECRET}"',
    "header": f"Authorization: Bearer {SECRET}",
    "basic header": "Authorization: Basic cmVwOmdlaDNpbS1Xb3J0",
    "AppRole": f"consul login --secret-id {SECRET}",
    "environment, said by a command": f'PGPASSWORD="$(echo {SECRET})" psql; PGPASSWORD=$(printf {SECRET}) psql',
    "what looks like a variable, between single quotes": "psql 'host=db1 password=$GEH3IM_WORT'",
    "behind a plus": f"k=v+password={SECRET}",
    "curl, whose option's value is in the next line": f"curl -u \\\n            me:{SECRET} https://x",
    "sshpass, whose option's value is in the next line": f"sshpass -p \\\n  {SECRET} ssh db1",
    "SQL in dollars": f"ALTER ROLE rep PASSWORD $${SECRET}$$ LOGIN",
    "SQL in dollars with a tag": f'psql -c "ALTER ROLE rep PASSWORD \\$a\\$it is {SECRET}\\$a\\$"',
    "SQL in the shell's quotes": f"psql -c 'ALTER ROLE rep PASSWORD '\\''{SECRET}'\\'''",
    "header of a token": f"curl -H 'Authorization: Token {SECRET}' https://x",
    "header of its own": f"curl -H 'X-Auth-Token: {SECRET}' -H X-Api-Key:{SECRET} https://x",
    "chpasswd": f"echo rep:{SECRET} | chpasswd",
    "passwd": f"echo '{SECRET}' | sudo passwd --stdin rep",
    "address with an at sign": f"postgresql://rep:it@{SECRET}@db1/shop",
    "Azure's account": f"BlobEndpoint=x;AccountKey={SECRET};",
    "Azure's signature": f"https://x.blob.core.windows.net/c?sv=1&sig={SECRET}",
    "environments of WAL-G": f"WALG_LIBSODIUM_KEY={SECRET} AZURE_STORAGE_KEY={SECRET} DBPASS={SECRET} wal-g",
    "private key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----",
    "private key cut off": f"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n{SECRET}",
    "password file": f"db1:5432:*:rep:{SECRET}",
    "password file, any port": f"*:*:*:postgres:{SECRET}",
    "verifier": "SCRAM-SHA-256$4096:c2FsdHNhbHQ=$c3RvcmVk:Z2VoM2ltLVdvcnQ=",
    "old verifier": "md5a1b2c3d4e5f60718293a4b5c6d7e8f90",
}
HIDDEN = (
    SECRET,
    "cmVwOmdlaDNpbS1Xb3J0",
    "c3RvcmVk",
    "Z2VoM2ltLVdvcnQ=",
    "a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "it is",
    "QUJD",
    "geh3im",
    "GEH3IM",
)

PLAIN = (
    'FATAL:  password authentication failed for user "dba"',
    "no password given",
    "dba ALL=(ALL) NOPASSWD: ALL",
    "hba_file = '/etc/postgresql/15/main/pg_hba.conf'",
    "ssl_key_file = '/etc/ssl/private/snake.key'",
    "2001:db8::1",
    "52:54:00:12:34:56",
    "12:30:45 sda:1:2:3:4",
    "file:///srv/pg/data",
    "/srv/secret: permission denied",
    "/srv/password=abc/data",
    "setting primary_conninfo # -1892348",
    "rsync://[2001:db8::1]:8730/data",
    "sha256sum d2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ",
    "the key file /home/dba/.ssh/id_ed25519 cannot be read",
    "vm.swappiness = 1\nkernel.keys.maxkeys = 200",
    "setting work_mem = 4096",
    "postgres --single -D /srv/pg/data",
    # secrets that lie elsewhere
    "restic --password-file /root/restic.pw --password-command 'pass show x' backup",
    "ansible-playbook --vault-password-file=~/.vault stop.yml",
    "PGPASSFILE=/root/.pgpass psql 'host=db1 passfile=/root/.pgpass'",
    'curl -fsS -H "Authorization: Bearer $(cat /root/token)" https://x/pause',
    "kubectl --token=$(cat /root/token) scale deploy/web --replicas=0",
    'PGPASSWORD=`cat f` psql; PGPASSWORD=${PW} psql; PGPASSWORD="$PW" psql',
    'curl -u "me:$(cat f)" https://x; curl --netrc https://x',
    "psql postgresql://me:$PGPASSWORD@db1/shop",
    "aws secretsmanager get-secret-value --secret-id=db",
    "sshpass -f /root/f ssh -p 5432 db1; sshpass -e ssh -p5432 db1",
    # nothing in their place
    "alter system set archive_command to ''",
    "psql -c \"alter system set restore_command = ''\"",
    "psql -c 'alter role app password null'; PGPASSWORD='' psql",
    "echo token: none",
    # what has another meaning
    "psql -p 5432 -h db1; pg_dump --no-password -p 5433 shop",
    "ssh -p 2222 db1; docker run -p 5432:5432 postgres; mkdir -p /srv/a",
    "mysql -h db1 -u root -p shop",
    "PWD=/srv/pg make",
    "password_encryption = scram-sha-256",
    "sqlplus -s / as sysdba @/srv/a/b.sql",
    "curl -X PUT https://h:8080/x -o out:put",
    "curl -fsS -XDELETE http://h:8080/pool/old",
    "curl --user-agent=pghaul:1 http://h/",
    "a basic understanding of the bearer",
    "/srv/pg/token: a/data",
)


@pytest.mark.parametrize("text", KINDS.values(), ids=KINDS)
def test_a_secret_is_masked(text: str) -> None:
    found = without_secrets(text)
    assert not any(hidden in found for hidden in HIDDEN)
    assert MASK in found
    if text.startswith("-----BEGIN RSA"):  # a key without its end is masked to the end
        return
    found = without_secrets(f"LOG:  it began\n{text}\nLOG:  it ended")
    assert not any(hidden in found for hidden in HIDDEN)
    assert found.startswith("LOG:  it began\n")
    assert found.endswith("\nLOG:  it ended")
    assert without_secrets(found) == found


def test_what_is_no_secret_stays_as_it_is() -> None:
    changed = {text: found for text in PLAIN if (found := without_secrets(text)) != text}
    assert changed == {}


def test_what_names_the_secret_stays() -> None:
    assert without_secrets(f"host=db1 password={SECRET} user=rep") == f"host=db1 password={MASK} user=rep"
    assert without_secrets(f"postgresql://rep:{SECRET}@db1/shop") == f"postgresql://rep:{MASK}@db1/shop"


def test_a_value_that_was_made_known_is_masked_wherever_it_stands() -> None:
    know("Winter!2026")
    assert without_secrets("sudo: Winter!2026: command not found") == f"sudo: {MASK}: command not found"


def test_a_value_that_may_be_any_word_is_not(subtests: pytest.Subtests) -> None:
    for word in ("postgres", "20261122", "dba", "Ab1!"):
        with subtests.test(word):
            know(word)
            assert without_secrets(f"/srv/{word}/data") == f"/srv/{word}/data"


def test_what_names_a_secret_is_told_and_never_the_secret() -> None:
    command = (
        f"PGPASSWORD={SECRET} psql; curl -su me:{SECRET} https://x && mysql -p{SECRET} && restic --password {SECRET}"
    )
    assert secret_words(command) == ("PGPASSWORD=", "curl -su me:", "mysql -p", "--password")
    know("Winter!2026")
    assert secret_words("notify Winter!2026") == ("a password that you have typed",)
    assert secret_words("systemctl stop app") == ()


@pytest.mark.slow
def test_a_secret_on_the_cut_is_masked(subtests: pytest.Subtests) -> None:
    end = "a line\n" * 20_000
    for secret in (
        f"PGPASSWORD='{SECRET}' psql\n",
        f"-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----\n",
    ):
        text = "a line\n" * 30_000 + secret + end
        for cut in range(0, 40, 3):
            with subtests.test(secret, cut=cut):
                found = end_without_secrets(text, len(end) + cut)
                assert found.startswith(CUT)
                assert found.endswith(end)
                assert "geh3im" not in found
                assert "im-Wort" not in found


@pytest.mark.slow
def test_what_precedes_a_cut_that_many_secrets_shortened_stays_out() -> None:
    text = f"password={SECRET}" + "x" * 300 + f" password={SECRET * 20}\n" * 300
    for length in range(40_000, 40_300, 7):
        assert SECRET[-4:] not in end_without_secrets(text, length)
    assert end_without_secrets("short", 5) == "short"


MIB = 1 << 20
LINES = (
    "curl ", "curl -u ", "mysql -u ", "a_conninfo        x", "conninfo to ", "token=$(", "password=''", "x_command=$(",
    "password ' ", "://", "://a:", "secret-", "pgpass:5432:a:b:", "-----BEGIN A A A ", "a.password", "'", "\" '",
    "password to ", "\\\n", "x-a-token:", "?sig=", "echo a", "password $$a", "password=$(echo ", "password=$A'", "://a:b@",
    "sqlplus a/", "bearer ", "basic aaaa", "SCRAM-SHA-256$1:", "QUJD\n",
    "-----END PRIVATE KEY-----",
)  # fmt: skip


@pytest.mark.slow
def test_time_grows_with_the_text_alone(subtests: pytest.Subtests) -> None:
    """Four times the text takes about four times as long, however busy the machine is; squared it would be sixteen."""

    def seconds(piece: str, length: int) -> float:
        text = "password=x " + piece * (length // len(piece))
        took = []
        for _ in range(2):
            began = time.process_time()
            without_secrets(text)
            took.append(time.process_time() - began)
        return min(took)

    for piece in LINES:
        with subtests.test(piece):
            assert seconds(piece, MIB // 16) < 9 * max(seconds(piece, MIB // 64), 0.004)


@pytest.mark.slow
def test_no_text_takes_long(subtests: pytest.Subtests) -> None:
    for text in (
        "password" * 20_000,
        "password=" * 20_000,
        "password " * 20_000,
        "password='" * 20_000,
        "password=\\" * 20_000,
        "://a:" * 40_000,
        "curl -u " * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 8_000,
        "conninfo= " * 20_000,
        " " * 200_000 + "token",
        "a" * 200_000 + "=token",
        "token" + "-" * 200_000,
        "SCRAM-SHA-256$4096:" * 10_000,
        "h:5432:d:u:" * 20_000,
    ):
        with subtests.test(text[:12]):
            began = time.process_time()
            without_secrets(text)
            assert time.process_time() - began < 2
