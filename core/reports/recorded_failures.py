"""Why a server could not be read and a move not checked, as the history has it: templates, see `recorded.py`."""

from core.language import marked
from core.migration.execution.status import SENTENCES

FAILURES = (
    marked("it was not checked yet"),
    marked("Under way: execution {id} is {state}. {stands}"),
    marked("the move {name} has the same target"),
    marked("the move {name} has the same target, and was carried out"),
    marked("the move {name} has a target around this one"),
    marked("the move {name} has a target around this one, and was carried out"),
    marked("the move {name} has a target inside this one"),
    marked("the move {name} has a target inside this one, and was carried out"),
    marked("the size of the cluster in {folder} on {server} is not known"),
    marked("{server}: {host} port {port} refuses the connection"),
    marked("{server}: {host} port {port} did not answer within {time}"),
    marked("{server}: {host} port {port} cannot be reached: {reason}"),
    marked("{server}: the host name {host} cannot be resolved"),
    marked("{server}: the jump host {jump} cannot reach {host} port {port}: {reason}"),
    marked("{server}: the jump host {jump} did not answer in time"),
    marked("{server}: {host} answers, but no SSH session was established within {time}"),
    marked("{server}: {host} port {port} is not an SSH server, or it closed the connection"),
    marked("{server}: no SSH session with {host}: {reason}"),
    marked("{server}: {host} supports only outdated SSH algorithms: {reason}"),
    marked("{server}: {host} refused the login of {user}"),
    marked("{server}: {host} refused the login of {user} (tried: {tried})"),
    marked("{server}: {host} ended the session while {user} logged in: {reason}"),
    marked("{server}: the host key of {host} is not known ({key})"),
    marked("{server}: the host key of {host} is not known, and it does not match any --host-key ({key})"),
    marked("{server}: the host key of {host} is not known ({key}), and StrictHostKeyChecking is yes"),
    marked("{server}: the host key of {host} has changed: known is {known}, the server shows {shown}"),
    marked("{server}: the host key {key} is revoked ({place})"),
    marked("{server} stopped answering while {doing}"),
    marked("the connection to {server} was lost while {doing}"),
    marked("the connection to {server} was lost while {doing}: {reason}"),
    marked("{server}: sshd did not start a command, although the connection is up: {reason}"),
    marked("{server}: `{command}` failed with exit status {status}: {reason}"),
    marked("{server}: `{command}` failed with exit status {status}"),
    marked(
        "{server}: a command must run as {user}, but the profile does not allow {login} to run commands as other users"
    ),
    marked("{server}: sudo is not installed, so {login} cannot run commands as {user}"),
    marked("{server}: sudo asks {login} for a password to become {user}"),
    marked("{server}: sudo does not allow {login} to run commands as {user}: {reason}"),
    marked("{server}: becoming {user} needs the sudo password of {login}, but none was given"),
    marked("`ssh -G {host}` failed: {reason}"),
    *SENTENCES.values(),
)
