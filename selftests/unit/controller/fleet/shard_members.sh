#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Three controllers, of two I/O threads each, share forty hosts out, with members that another program
# lists: each host is scraped by one of them, before a controller is killed, after the others heard of
# it, and when it is back; one that was frozen passes nothing on when it wakes; one that is told to end
# hands its hosts over first.  The first one records everything that it scrapes.
# shellcheck disable=SC2016 # variables of jq
. "$(dirname "$0")/../../../lib.sh"
bin=$tests/../.output/bin
helpers=$tests/../.output/selftests/helpers
[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
[ -x "$helpers/fleet_hosts" ] || skip "make guest has not been run"
command -v openssl >/dev/null || skip "openssl is not installed"
hosts=40
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
pids=()

# list TEXT: another program writes the list of members
list() {
	echo "$1" >"$dir/new"
	mv "$dir/new" "$dir/members"
}

# lists SECONDS MEMBER...: writes a list of these members that is valid for SECONDS
lists() {
	local seconds=$1
	shift
	# shellcheck disable=SC2048,SC2086 # numbers
	printf '{"members": [%s], "valid_until": %s}\n' "$(echo $* | tr ' ' ,)" \
		"$(awk -v more="$seconds" '{ print $1 + more }' /proc/uptime)"
}

# start MEMBER [OPTION...]: its lines in lines-MEMBER, its messages in log-MEMBER
start() {
	"$bin/dart-controller" --json --config "$dir/config.yaml" --shard-member "$1" \
		--socket "$dir/socket-$1" "${@:2}" >"$dir/lines-$1" 2>"$dir/log-$1" &
	pids[$1]=$!
}

# roles MEMBER...: "SCRAPED STANDBY" of each, and of all
roles() {
	local member
	for member; do
		"$bin/dart-controller" status --json --socket "$dir/socket-$member" |
			gojq -r '.controller.targets | "\(.up) \(.standby)"' || return
	done | tee "$dir/roles" | awk '{ up += $1; standby += $2 } END { print up, standby }'
}

# shared MEMBER...: these scrape all hosts, and stand by for all
shared() {
	[ "$(roles "$@")" = "$hosts $hosts" ]
}

# has_all MEMBER...: lines of all hosts have come since $seen, three of each
has_all() {
	local member
	for member; do
		tail -n "+${seen[$member]}" "$dir/lines-$member" |
			grep -o '^{"agent":"[^"]*"' | sort | uniq -c | awk '$1 >= 3 { print $2 }'
	done >"$dir/scraped"
	[ "$(sort -u "$dir/scraped" | wc -l)" = "$hosts" ]
}

# once MEMBER...: from now on each host is scraped, by one of these members
once() {
	local member
	seen=()
	for member; do
		# One line may still be on its way to the file for each host.
		seen[member]=$(($(wc -l <"$dir/lines-$member") + hosts + 1))
	done
	soon has_all "$@" && [ -z "$(sort "$dir/scraped" | uniq -d)" ]
}

# said MEMBER TEXT
said() {
	grep -q -- "$2" "$dir/log-$1"
}

# How often all members began to scrape a host for which they stood by
takeovers() {
	cat "$dir"/log-[12] | grep -c ": not on standby any more"
}

"$helpers/tls_files" "$dir" 127.0.0.1 controller >/dev/null
first=$("$tests/free_ports" $hosts)
mkfifo "$dir/ready"
"$helpers/fleet_hosts" "$dir" "$first" $hosts 0 1 200 >"$dir/ready" &
check "$hosts hosts serve over TCP" read -r <"$dir/ready"
seq "$first" $((first + hosts - 1)) | gojq -cs '[{targets: map("127.0.0.1:\(.)")}]' >"$dir/hosts.json"
cat >"$dir/config.yaml" <<-END
	interval: 200ms
	transport: tcp
	io: {threads: 2}
	tls: {certificate: $dir/controller.pem, key: $dir/controller.key,
	  authorities: $dir/authority.pem}
	shard: {members_file: $dir/members, replication: 2, handover: 500ms}
	sources: [{file_sd: $dir/hosts.json}]
END

start 1 --record "$dir/recording"
check "without a list of members a controller says so" soon said 1 \
	"members: cannot be opened.*no agent is scraped before it lists members"
list '{"members": [1, 2, 3]}'
start 2
start 3
check "three members scrape all hosts, and stand by for all" soon shared 1 2 3
# The hosts of a controller that each of its threads calls
threads() {
	"$bin/dart-controller" status --json --socket "$dir/socket-$1" |
		gojq -e '[.threads[] | select(.thread | startswith("io call")).agents] |
			length == 2 and (.[0] - .[1] | fabs <= 1)' >/dev/null
}
check "two threads of a controller have as many of its hosts each" soon threads 2
check "each has a part" sh -c "! grep -q '^0 ' '$dir/roles'"
owned=$(sed -n '3s/ .*//p' "$dir/roles")
check "each host is scraped by one of them" once 1 2 3

before=$(takeovers)
kill -KILL "${pids[3]}"
wait "${pids[3]}" 2>/dev/null
list '{"members": [1, 2]}'
check "when one is killed and not listed any more, the others have all hosts" soon shared 1 2
check "they took its $owned hosts over from standby" [ $(($(takeovers) - before)) = "$owned" ]
check "each host is scraped by one of them again" once 1 2

start 3
list '{"members": [1, 2, 3]}'
check "when it is back, three members have all hosts" soon shared 1 2 3
check "it has its part again" [ "$(sed -n '3s/ .*//p' "$dir/roles")" = "$owned" ]
check "each host is scraped by one of three" once 1 2 3

list '{"members": [1, 2, 3'
check "half of a list is refused" soon said 1 "members: line [12]: .*; its 3 members stay"
check "each host is still scraped by one of three" once 1 2 3
list '{"members": [1, 2]}'
check "a controller that is not listed says so" soon said 3 "and not this one"
check "the others have all hosts" soon shared 1 2
check "each host is scraped by one of these two" once 1 2
before=$(wc -l <"$dir/lines-3")
check "and after three scrapes more" once 1 2
check "and meanwhile by nobody else" [ "$before" = "$(wc -l <"$dir/lines-3")" ]

check "no controller lost a host" sh -c "! grep -E ': (lost|cannot be scraped)' '$dir'/log-*"

# Frozen, member 3 keeps a list that names it, until the time of that list is over.
list "$(lists 3 1 2 3)"
until_ns=$(gojq '.valid_until * 1000000000 | floor' "$dir/members")
has_short_list() {
	"$bin/dart-controller" status --json --socket "$dir/socket-3" |
		gojq -e --argjson until "$until_ns" \
			'.controller.shard.valid_until_ns - $until | fabs < 1000' >/dev/null
}
check "member 3 has a list for three seconds" soon has_short_list
before=$(grep -c "and not this one" "$dir/log-3")
is_left_out() {
	[ "$(grep -c "and not this one" "$dir/log-3")" -gt "$before" ]
}
kill -STOP "${pids[3]}"
list "$(lists 600 1 2)"
frozen_ns=$(date +%s%N)
check "frozen, it is replaced by the others" soon shared 1 2
is_over() {
	awk -v until="$until_ns" '{ exit !($1 * 1000000000 > until) }' /proc/uptime
}
check "its list is over" soon is_over
kill -CONT "${pids[3]}"
check "when it wakes, it sees that it is not listed" soon is_left_out
check "it passed on nothing that is newer than the freeze" sh -c "! gojq -e --argjson frozen $frozen_ns \
	'select(.time_ns > \$frozen)' '$dir/lines-3'"
list "$(lists 600 1 2 3)"
check "named again, it has its hosts again" soon shared 1 2 3

# Member 2 ends when the others have its hosts, and waits for no other time.
sed -i 's/handover: 500ms/handover: 1h/' "$dir/config.yaml"
kill -HUP "${pids[2]}"
has_reloaded() {
	"$bin/dart-controller" status --json --socket "$dir/socket-2" |
		gojq -e '.controller.reloads == 1' >/dev/null
}
check "member 2 reads another hand-over time" soon has_reloaded
owned=$(sed -n '2s/ .*//p' "$dir/roles")
kill -TERM "${pids[2]}"
check "told to end, it says that it hands its hosts over" soon said 2 \
	"hands its $owned agents over"
agreed_ns=$(date +%s%N)
list "$(lists 600 1 3 | sed 's/}$/, "agreed": true}/')"
check "it ends when the others have them" wait "${pids[2]}"
# A loaded machine may miss a scrape.
scraped=$(gojq -r --argjson agreed "$agreed_ns" 'select(.time_ns > $agreed).agent' "$dir/lines-2" |
	sort -u | wc -l)
check "meanwhile it scraped its $owned hosts for an interval more ($scraped)" \
	[ $((2 * scraped)) -gt "$owned" ]
check "the others have all hosts" soon shared 1 3
check "each host is scraped by one of these two" once 1 3

# samples FILE: its lines with values, in any order. A replay estimates clocks by scrapes that were
# recorded, and a controller also by those for which it stood by.
samples() {
	grep '"entries":' "$1" | sed 's/"clock_offset_ns".*"start_ns"/"start_ns"/' | sort
}
is_replayed() {
	"$bin/dart-controller" replay --json --speed max "$dir/recording" >"$dir/replayed" &&
		[ -s "$dir/replayed" ] &&
		cmp <(samples "$dir/lines-1") <(samples "$dir/replayed")
}
kill -INT "${pids[1]}"
wait "${pids[1]}" 2>/dev/null
check "a replay shows everything that member 1 scraped, and nothing else" is_replayed
finish
