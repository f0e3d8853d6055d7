#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The command line of dartctl: OBJECT COMMAND, abbreviations, help, JSON, filters.
. "$(dirname "$0")/../lib.sh"

# says JQ COMMAND...: the JSON that dartctl -j prints
says() {
	filter=$1
	shift
	dartctl -j "$@" | tee /dev/stderr | is_true "$filter"
}

# fails_with STATUS JQ COMMAND...: with an error as JSON, and a silent stderr
fails_with() {
	expected=$1 filter=$2
	shift 2
	dartctl -j "$@" >/run/answer 2>/run/errors
	[ $? -eq "$expected" ] && [ ! -s /run/errors ] &&
		is_true "$filter" </run/answer
}

# prints TEXT COMMAND...: the command prints a line that begins with TEXT
prints() {
	text=$1
	shift
	dartctl "$@" | tee /dev/stderr | grep -q "^ *$text"
}

# ---- without an agent

check "dartctl help lists a command of an object" \
	prints "store create NAME --slots" help
check "help after an object lists the commands of this object" \
	prints "probe load PROBE" probe help
check "help after an object lists no command of another object" \
	sh -c '! dartctl probe help | grep "store "'
check "help can be given the object and the command" \
	prints "xdp detach INTERFACE" help xdp detach
check "-h after a command prints its operands and options" \
	prints "entry show ENTRY" entry show -h
check "-V prints the version" prints "dartctl [0-9]" -V
check "help as JSON has operands and a summary for each command" says \
	'length > 30 and all(.summary | length > 5) and
	any(.command == "store show" and .operands == "STORE")' help
while IFS='|' read -r arguments message; do
	# shellcheck disable=SC2086 # words
	refuse "dartctl $arguments is refused with a sentence that helps" \
		"$message" dartctl $arguments
done <<'LINES'
|'dartctl' needs a command
st|'st' is ambiguous: store, status
register s x y|'register source' takes one SOURCE
co list|'co' is ambiguous: counters, controller
absent|'dartctl' has no command 'absent'
store absent|'store' has no command 'absent'
store|'store' needs a command
entry show|'entry show' takes ENTRY
monitor x|'monitor' takes no operands
list a b|'list' takes one PATTERN
apply|'apply' takes FILE
apply /run/absent.yaml|/run/absent.yaml: cannot read it
save x|'save' takes no operands
store list --absent|'store list' has no option '--absent'
reporter attach eth0|'reporter attach' is now 'xdp attach'
reporter detach eth0|'reporter detach' is now 'xdp detach'
reporter status|'reporter status' is now 'xdp status'
LINES
check "a mistake in the command line is an error in JSON with status 2" \
	fails_with 2 '.error == "EINVAL" and (.message | length > 5)' store absent
check "a missing agent is an error in JSON with status 1" \
	fails_with 1 '.error == "ENOENT" or .error == "ECONNREFUSED"' list

# ---- with an agent

check "the agent starts" host_up
check "an object and a command can be shortened to unique prefixes" \
	dartctl so a cpustat
check "register is a short form of source add" dartctl register source vmstat
check "source follow follows all network namespaces" \
	dartctl source follow snmp:tcp
check "source follow --cgroup follows the cgroups below a cgroup" sh -c \
	'mkdir /sys/fs/cgroup/pods && dartctl source follow cgroup:cpu --cgroup pods'
check "entry list as JSON is an array of entries" \
	says 'map(.name) | index("cpustat") and index("vmstat")' entry list
check "entry list filters by kind" \
	says 'map(.name) | sort == ["cgroup:cpu@/pods/**", "snmp:tcp@*"]' \
	entry list --kind follow
check "entry list filters by pattern" \
	says 'map(.name) == ["vmstat"]' list 'vm*'
check "entry list filters by both" \
	says '. == []' list 'vm*' --kind follow
check "entry list tells the owner and the age" \
	prints "cpustat *source *root *[0-9]*[smh] " entry list
check "source list tells each source, its selector and its meaning" \
	prints "snmp:tcp *netns *yes *[A-Z]" source list
check "entry show as JSON is the entry itself" \
	says '.name == "vmstat" and .values' entry show vmstat
check "status as JSON is the status itself" says '.generation > 0' status
check "adding an entry prints it as JSON" \
	says '.name == "softnet"' source add softnet
check "an error of the agent keeps its name in JSON" \
	fails_with 1 '.error == "EEXIST" and (.message | test("already"))' \
	source add softnet
refuse "an error of the agent is a sentence without -j" \
	"^dartctl: .*already" dartctl source add softnet
check "entry remove removes an entry" dartctl entry remove softnet
refuse "an entry that was removed cannot be shown" "no entry 'softnet'" \
	dartctl show softnet
check "status names the versions of dartd and dartctl" says \
	'.version == .dartctl_version and (.version | test("^[0-9]"))' status
check "a refusal by a dartd of the same release says nothing about versions" sh -c \
	'dartctl source add vmstat 2>&1 | is_true -Rs "test(\"already\") and
	(test(\"older|newer\") | not)"'
check "a refusal of a request has the version of dartd, for dartctl of other releases" \
	sh -c "request '{\"request\": \"absent\"}' | is_true '(.ok | not) and .version'"
check "the agent stops" host_down

# ---- an agent of another release

# another REPLY: a dartd of another release gives it to each request
another() {
	host_down TERM another_dartd
	until_ready /run/another.log another_dartd /run/another "$1"
}

refusal='"ok": false, "error": "EINVAL", "message": "no such request"'
another '{"ok": true, "version": "0.0", "entries": []}'
check "a dartd of another release is asked as usual" \
	says '. == []' --socket=/run/another list
check "while nothing fails, dartctl does not warn of another release" sh -c \
	'dartctl --socket=/run/another list 2>&1 >/dev/null | is_true -Rs ". == \"\""'
refuse "a reply of an older dartd that lacks a member says which to upgrade" \
	"has no 'stores' (dartd is version 0.0, older than dartctl [0-9.]*: upgrade dartd" \
	dartctl --socket=/run/another store list
another "{$refusal, \"version\": \"0.0\"}"
refuse "a request that an older dartd does not know says to upgrade dartd" \
	"no such request (dartd is version 0.0, older than dartctl [0-9.]*: upgrade dartd, then systemctl restart dartd)" \
	dartctl --socket=/run/another list
check "an error in JSON says so, too" fails_with 1 \
	'.error == "EINVAL" and (.message | test("upgrade dartd"))' \
	--socket=/run/another list
refuse "monitor says so, too" "older than dartctl" \
	dartctl --socket=/run/another monitor
another "{$refusal, \"version\": \"99.0\"}"
refuse "a request that a newer dartd no longer knows says to upgrade dartctl" \
	"no such request (dartd is version 99.0, newer than dartctl [0-9.]*: upgrade dartctl)" \
	dartctl --socket=/run/another list
another '{"ok": false, "error": "EINVAL", "message": "invalid request: 1 object item(s) left unpacked: future", "version": "0.0"}'
refuse "a member that an older dartd does not know says to upgrade dartd" \
	"future (dartd is version 0.0, older" dartctl --socket=/run/another list
another "{$refusal}"
refuse "a dartd that tells no version is older" \
	"dartd is of an early version, older than dartctl" \
	dartctl --socket=/run/another list
host_down TERM another_dartd
check "a reply that is not JSON is refused" sh -c \
	'until_ready /run/another.log another_dartd /run/another nonsense &&
	! dartctl --socket=/run/another list'
host_down TERM another_dartd
refuse "source add does not take the options of followers" \
	"has no option '--all-netns'" dartctl source add snmp:tcp --all-netns
dartctl -j "$(printf '\377')" >/run/refused
check "an error as JSON has escapes for bytes that are not UTF-8" is_true \
	'.error == "EINVAL" and (.message | contains("\\xff"))' /run/refused
check "an error as JSON is one line" [ "$(wc -l </run/refused)" -eq 1 ]
finish
