#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Controllers, of two I/O threads each, that share three agents out: each agent is scraped by its
# owner alone, another controller stands by, and when a member comes or goes only the right agents
# move, without a lost connection.
# shellcheck disable=SC2016 # variables of jq, or of the shell on the host
. "$(dirname "$0")/../lib.sh"

# With two members, member 1 scrapes 4803 and member 2 the others; a third one takes 4802.
ports="4801 4802 4803"
work=$(mktemp -d)
members=()	# process of each

# agent PORT: an agent on the host that listens there
agent() {
	on host until_ready "/run/dartd-$1.log" dartd --port="$1" \
		--socket="/run/dartd-$1.sock" --state="/var/lib/dart-$1"
}

# configure MEMBERS: "members: 2", or a file that lists them
configure() {
	cat >"$work/configuration" <<-end
		interval: 100ms
		io: {threads: 2}
		entries: [dartd]
		shard: {$1, replication: 2}
		agents: [{host: host, port: 4801}, {host: host, port: 4802},
		  {host: host, port: 4803}]
	end
}

# start MEMBER: its lines in lines-MEMBER, its messages in log-MEMBER
start() {
	dart-controller --json --config "$work/configuration" --shard-member "$1" \
		--socket "$work/control-$1" >"$work/lines-$1" 2>"$work/log-$1" &
	members[$1]=$!
}

reload() {
	local member
	for member; do
		kill -HUP "${members[$member]}"
	done
}

# roles MEMBER SCRAPED STANDBY: the ports that this controller scrapes, and for which it stands by
roles() {
	dart-controller status --json --socket "$work/control-$1" >"$work/status" || return
	is_true --arg up "$2" --arg standby "$3" '
		def ports(state; interval): [.targets[] | select(.state == state and
			.interval_ns == interval) | .agent[5:]] | sort | join(" ");
		ports("up"; 100000000) == $up and ports("standby"; 60000000000) == $standby and
		.controller.shard.own + .controller.shard.standby == (.targets | length)' \
		"$work/status" || { cat "$work/status"; return 1; }
}

# lines MEMBER PORT COUNT: have so many lines of this agent come since $seen?
lines() {
	[ "$(tail -n "+$((seen + 1))" "$work/lines-$1" | grep -c "\"host:$2\"")" -ge "$3" ]
}

# scraped MEMBER PORT...: in five more scrapes of the first port, lines of these alone come
scraped() {
	local member=$1
	shift
	seen=$(wc -l <"$work/lines-$member")
	# Lines of before may still be on their way to the file.
	soon lines "$member" "$1" 2 || return
	seen=$(wc -l <"$work/lines-$member")
	soon lines "$member" "$1" 5 || return
	tail -n "+$((seen + 1))" "$work/lines-$member" | grep '}$' |
		gojq -r 'select(.entries).agent[5:]' | sort -u >"$work/scraped"
	cat "$work/scraped"
	[ "$(cat "$work/scraped")" = "$(printf '%s\n' "$@")" ]
}

# said MEMBER COUNT TEXT
said() {
	log=$work/log-$1
	logged "$2" "$3" || { cat "$log"; return 1; }
}

rdma_up
on host sh -ec 'modprobe dart_zero; rdma_up'
for port in $ports; do
	check "an agent starts at port $port" agent "$port"
done

configure "members: 2"
start 1
start 2
check "member 1 scrapes one agent, and stands by for the others" \
	soon roles 1 "4803" "4801 4802"
check "member 2 scrapes these, and stands by for that one" soon roles 2 "4801 4802" "4803"
check "one of its I/O threads has two of the three agents, the other one the third" is_true \
	'[.threads[] | select(.agents != null).agents] | sort == [1, 2]' "$work/status"
check "outputs of member 1 have its own agent alone" scraped 1 4803
check "outputs of member 2 have its own agents alone" scraped 2 4801 4802

configure "members: 3"
reload 1 2
start 3
check "a third member takes one agent, and stands by for one" soon roles 3 "4802" "4801"
check "member 2 stands by for the agent that moved" soon roles 2 "4801" "4802 4803"
check "outputs of member 2 have one agent less" scraped 2 4801
check "outputs of member 3 have the agent that moved" scraped 3 4802

# list TEXT: another program writes the list of members
list() {
	echo "$1" >"$work/new"
	mv "$work/new" "$work/members"
}

list '{"members": [1, 2, 3]}'
configure "members_file: $work/members"
reload 1 2
check "member 1 has the members of a file from now on" soon said 1 1 "lists 3 members"
check "member 2 likewise" soon said 2 1 "lists 3 members"
list '{"members": [1, '
check "half of a file is refused, and the members stay" soon said 2 1 "its 3 members stay"
kill -KILL "${members[3]}"
wait "${members[3]}" 2>/dev/null
list '{"members": [1, 2]}'
check "without the third member, member 2 takes over the agent for which it stood by" \
	soon roles 2 "4801 4802" "4803"
check "outputs of member 2 have both again" scraped 2 4801 4802
check "member 2 connected once to each agent, whoever scraped it" \
	said 2 3 ": connected, generation"
check "no member lost an agent" sh -c "! grep -E 'lost|cannot' '$work'/log-*"

end_processes "${members[1]}" "${members[2]}"
check "the agents stop" on host host_down
rm -r "$work"
finish
