#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Agents that files, name servers, URLs and the configuration name come and go while a controller
# runs, without effect on other agents; dart-controller status agrees with its lines.
# shellcheck disable=SC2016 # variables of jq
. "$(dirname "$0")/../lib.sh"

ports="4801 4802 4803 4804"
work=/run/targets
log=$work/log
socket=$work/control.sock
mkdir -p $work/www
on host mkdir -p $work # "on host" runs commands in the directory of its caller
cd $work || exit

# agent PORT: an agent on the host that listens there
agent() {
	on host until_ready "/run/dartd-$1.log" dartd --port="$1" \
		--socket="/run/dartd-$1.sock" --state="/var/lib/dart-$1" &&
		on host dartctl --socket="/run/dartd-$1.sock" register source cpustat
}

# names FILE PORT...: replaces the file by a file that names these agents
names() {
	names_file=$1
	shift
	printf '"host:%s" ' "$@" | jq -s -c '[{targets: ., labels: {rack: "a7"}}]' \
		>"$names_file.new" && mv "$names_file.new" "$names_file"
}

# begin OPTION...: starts a controller whose output goes to lines, samples without their values
begin() {
	: >lines
	jq -c --unbuffered 'if has("entries") then {agent, sequence, reads, bytes, start_ns,
		landed_ns, labels, entries: true} else . end' pipe >lines &
	reader=$!
	dart-controller --json --socket $socket "$@" >pipe 2>$log &
	controller=$!
}

# end [SIGNAL]: ends it; its lines are complete then
end() {
	kill "${1--TERM}" $controller
	wait $controller 2>/dev/null
	end_status=$?
	wait $reader
	return $end_status
}

status() {
	dart-controller status --json --socket $socket
}

# up PORT...: are exactly these agents listed, and up?
up() {
	up_answer=$(status) || return
	jq -c '.targets[] | {agent, state, source, error}' <<<"$up_answer"
	is_true '(.targets | map([.agent, .state]) | sort) ==
		($ARGS.positional | map(["host:" + ., "up"]) | sort)' --args "$@" \
		<<<"$up_answer"
}

# scraped PORT...: were these agents scraped three more times?
scraped() {
	for port; do
		scraped_last=$(sequence "$port")
		soon later "$port" $((scraped_last + 3)) || return
	done
}

sequence() {
	jq -s --arg agent "host:$1" 'map(select(.agent == $agent and .entries).sequence) |
		last // 0' <(grep '}$' lines)
}

later() {
	[ "$(sequence "$1")" -ge "$2" ]
}

# The summaries of an agent so far
summaries() {
	jq -c --arg agent "host:$1" 'select(.agent == $agent and .summary)' lines
}

# summarized PORT COUNT
summarized() {
	[ "$(summaries "$1" | wc -l)" = "$2" ]
}

# resumed PORT: was this agent scraped after a summary?
resumed() {
	is_true -s --arg agent "host:$1" 'map(select(.agent == $agent)) |
		any(has("summary")) and (last | has("entries"))' <(grep '}$' lines)
}

# interval PORT NANOSECONDS
interval() {
	status | is_true --arg agent "host:$1" --argjson interval_ns "$2" \
		'.targets[] | select(.agent == $agent) | .interval_ns == $interval_ns'
}

# agrees PORT: the status of an agent agrees with its lines; the controller reads its
# counts one after the other during scrapes, so once they may differ
agrees() {
	agrees_now "$1" || agrees_now "$1"
}

agrees_now() {
	agrees_status=$(status | jq -c --arg agent "host:$1" \
		'.targets[] | select(.agent == $agent)') || return
	soon later "$1" "$(jq .scrapes <<<"$agrees_status")" || return
	echo "$agrees_status"
	jq -s --argjson status "$agrees_status" '
		map(select(.agent == $status.agent and .entries)) | map(
			select(.sequence <= $status.scrapes)) |
		{scrapes: length, reads: map(.reads) | add, bytes: map(.bytes) | add,
		 max: map(.landed_ns - .start_ns) | max,
		 min: map(.landed_ns - .start_ns) | min, labels: .[-1].labels}' \
		<(grep '}$' lines) >sums
	cat sums
	is_true --argjson status "$agrees_status" '
		.scrapes == $status.scrapes and .reads == $status.reads and
		.bytes == $status.bytes and .max == $status.landed_ns.max and
		.min == $status.landed_ns.min and .labels == $status.labels and
		$status.landed_ns.p50 >= .min and $status.landed_ns.p99 <= .max' sums
}

# configure SOURCE...: writes the configuration with these items of sources
configure() {
	{
		printf 'interval: 200ms\nentries: [cpustat]\nsources:\n'
		printf '  - %s\n' "$@"
	} >configuration.new
	mv configuration.new configuration
}

# listens tcp|udp PORT [ADDRESS]
listens() {
	ss --no-header --listening --numeric "--$1" src "${3-}:$2" | grep .
}

source_error() {
	status | is_true --arg source "$1" '.sources[] | select(.source == $source).error'
}

# loop_ticks: CPU time of the control loop so far, in 10 ms
loop_ticks() {
	awk '{ print $14 + $15 }' /proc/$controller/task/$controller/stat
}

# exhaust: the controller gets no descriptor more
exhaust() {
	exhaust_limit=0
	while [ -e "/proc/$controller/fd/$exhaust_limit" ]; do
		exhaust_limit=$((exhaust_limit + 1))
	done
	prlimit --pid "$controller" --nofile="$exhaust_limit:"
}

queues() {
	rdma resource show cq | grep -c " pid $controller "
}

rdma_up
ip link set lo up
mkfifo pipe
on host sh -ec 'modprobe dart_zero; rdma_up'
for port in $ports; do
	check "an agent starts at port $port" agent "$port"
done

names agents 4801
configure '{file_sd: agents, labels: {site: north}}'
begin --config configuration
check "an agent that a file names has a table" soon up 4801
check "its control socket is for the user and the group" [ "$(stat -c %a $socket)" = 660 ]
check "it is scraped" scraped 4801
check "its lines have the labels of the file and of the configuration" is_true -s \
	'map(select(.entries)) | length > 0 and
		all(.labels == {rack: "a7", site: "north"})' <(grep '}$' lines)
names agents 4801 4802
check "an agent that a file names from now on is scraped" soon up 4801 4802
names agents 4802
check "an agent that the file does not name any more goes" soon up 4802
check "its summary comes, and once" soon summarized 4801 1
check "the other agent is scraped on" scraped 4802
check "there is still one summary" summarized 4801 1
check "the other agent goes on: its scrapes have no gap and no summary" is_true -s \
	'map(select(.agent == "host:4802")) | all(has("entries")) and
		(map(.sequence) | . == [range(1; length + 1)])' <(grep '}$' lines)

printf '[{"targets": ["host:48' >agents
check "a file that is not whole is refused" soon logged 1 "agents: not JSON"
check "the targets that it named before stay" up 4802
check "the status has the reason" source_error agents

cp configuration good
echo 'interval: fast' >configuration
kill -HUP $controller
check "a refused configuration is logged in one sentence" soon logged 1 \
	"configuration:1: 'fast' is not an interval .*; nothing has changed"
check "all stays as it was" up 4802
check "the agent is scraped on" scraped 4802
mv good configuration
names agents 4801 4802
check "a file that is whole again is taken" soon up 4801 4802

names www/agents.json 4803
python3 -m http.server --directory www 8000 >http.log 2>&1 &
server=$!
check "a web server starts" soon listens tcp 8000
configure '{file_sd: agents, labels: {site: north}}' \
	'{http_sd: "http://user:secret@127.0.0.1:8000/agents.json", refresh: 1s}'
kill -HUP $controller
check "an agent that a URL names is scraped" soon up 4801 4802 4803
names www/agents.json 4803 4804
check "the URL is asked again" soon up 4801 4802 4803 4804
check "the agents of the file are not disturbed by another source" \
	summarized 4802 0
check "neither messages nor the status show a password" \
	sh -c "status=\$(dart-controller status --json --socket $socket) &&
		! { cat $log && echo \"\$status\"; } | grep secret"
kill $server
wait $server 2>/dev/null
check "a server that has gone is said once" \
	soon logged 1 "127.0.0.1:8000/agents.json: does not answer"
check "the agents that it named stay" up 4801 4802 4803 4804
check "they are scraped on" scraped 4803 4804
check "that is not said again" logged 1 "127.0.0.1:8000/agents.json: does not answer"
for port in 4802 4803; do
	check "the status of host:$port agrees with its lines" agrees "$port"
done
check "the status for people has a line for each agent and each source" sh -c \
	"dart-controller status --socket $socket >table && cat table &&
	 [ \$(grep -c '^host:480[1-4]  *read  *up ' table) = 4 ] &&
	 grep -q '^agents  *file_sd  *2 ' table && grep -q '^up 4 of 4 agents; ' table"
check "the numbers of the controller are the sums of its agents" is_true \
	'.controller.scrapes == (.targets | map(.scrapes) | add) and
		.controller.targets.up == 4 and .controller.reloads == 2 and
		.controller.reloads_refused == 1 and .controller.resident_bytes > 1e6' \
	<(status)
refuse "a second controller cannot listen at the same socket" \
	"cannot listen at '$socket' (see --socket): Address already in use" \
	dart-controller --socket $socket --once host:4801
check "next to a service whose directory is in the environment an agent is scraped once" \
	sh -c "RUNTIME_DIRECTORY=$work dart-controller --once -e cpustat host:4801 >once 2>&1"
check "and scraped on, without a socket of its own" \
	sh -c "RUNTIME_DIRECTORY=$work dart-controller --json -n 2 -i 200ms -e cpustat \
		host:4801 >once 2>said; cat said;
	 grep -q 'cannot listen at .*Address already in use' said && grep -q scrapes once"
python3 -c 'import socket, time
clients = [socket.socket(socket.AF_UNIX) for i in range(7)]
for client in clients: client.connect("'$socket'")
clients[0].send(b"x" * 1000)
open("connected", "w").close()
time.sleep(60)' &
silent=$!
check "seven clients connect to the control socket" soon [ -e connected ]
check "clients that say nothing, or nonsense, delay no other client" up \
	4801 4802 4803 4804
kill $silent

# serve ADDRESS PORT...: makes the controller ask a name server whose SRV records name these agents
serve() {
	serve_address=$1
	shift
	serve_records=$(printf -- '--srv-host=_dartd._tcp.test,host,%s ' "$@")
	# shellcheck disable=SC2086 # several words
	dnsmasq --keep-in-foreground --no-resolv --no-hosts --port=53 --user=root \
		--listen-address="$serve_address" --bind-interfaces --local=/test/ \
		--pid-file= --local-ttl=5 $serve_records >dns.log 2>&1 &
	dns+=($!)
	soon listens udp 53 "$serve_address" &&
		echo "nameserver $serve_address" >resolv.conf.new &&
		mv resolv.conf.new resolv.conf
}

dns=()
touch resolv.conf
rm -f /etc/resolv.conf
ln -s /run/targets/resolv.conf /etc/resolv.conf
check "a name server starts" serve 127.0.0.1 4801 4802
configure '{dns_srv: _dartd._tcp.test}'
kill -HUP $controller
check "agents that SRV records name are scraped, others go" soon up 4801 4802
check "another name server starts, and is to be asked" serve 127.0.0.2 4802 4804
check "when the records are too old, others are scraped" soon up 4802 4804
kill "${dns[@]}"
wait "${dns[@]}" 2>/dev/null
check "name servers that have gone are said once" soon logged 1 \
	"_dartd._tcp.test: has no SRV records"
check "the agents that they named stay" up 4802 4804
check "and are scraped on while no server answers" scraped 4802 4804

check "the controller has no descriptor left" exhaust
ticks=$(loop_ticks)
check "then no client gets an answer" sh -c "! timeout 3 dart-controller status --socket $socket"
ticks=$(($(loop_ticks) - ticks))
check "its loop does not spin meanwhile: $ticks ticks in 3 s" [ $ticks -lt 100 ]
prlimit --pid $controller --nofile=1024:
check "with descriptors it answers again" soon up 4802 4804
check "a controller that SIGTERM ends exits with 0" end
check "its control socket goes with it" [ ! -e $socket ]
refuse "without a controller, status says so" "no controller answers at '$socket'" \
	dart-controller status --socket $socket

python3 -c 'import socket, time
listener = socket.socket()
listener.bind(("127.0.0.1", 8001))
listener.listen()
time.sleep(600)' &
mute=$!
check "a mute server starts" soon listens tcp 8001
names agents 4801
check "a file with --once: its agents are scraped once" sh -c \
	"dart-controller --once --json --file-sd agents -e cpustat >once &&
		[ \$(grep -c '\"agent\":\"host:4801\"' once) -ge 1 ]"
begin --http-sd http://127.0.0.1:8001/ --file-sd agents -i 200ms
check "a server that never answers delays no agent of another source" soon up 4801
start=$(date +%s%N)
end
took=$((($(date +%s%N) - start) / 1000000))
check "nor the end of the controller, which takes $took ms" [ $took -lt 3000 ]
begin --file-sd agents
check "a controller has a control socket" soon up 4801
end -KILL
check "a killed controller leaves the socket" [ -S $socket ]
begin --file-sd agents
check "the next controller takes it over" soon up 4801
end

# The layout for one agent must suffice for agents that a reload adds.
printf 'interval: 200ms\nentries: [cpustat]\nagents:\n  - {host: host, port: 4801}\n' \
	>configuration
begin --config configuration
check "the only agent of a configuration is scraped" soon up 4801
queues=$(queues)
printf '  - {host: host, port: %s}\n' 4802 4803 4804 >>configuration
kill -HUP $controller
# shellcheck disable=SC2086 # several ports
check "agents that a reload adds are scraped" soon up $ports
check "they have no completion queues of their own: $queues as before" \
	[ "$(queues)" = "$queues" ]
end

# Agents go amid scrapes, in the hands of each kind of I/O thread.
for io in event poll hybrid; do
	# shellcheck disable=SC2086 # several ports
	names agents $ports
	printf 'io: {kind: %s}\ninterval: 50ms\nentries: [cpustat]\nsources:\n  - %s\n' \
		$io 'file_sd: agents' >configuration
	begin --config configuration
	# shellcheck disable=SC2086
	check "$io: four agents of a file are scraped" soon up $ports
	names agents 4804
	check "$io: three of them go amid scrapes" soon up 4804
	for port in 4801 4802 4803; do
		check "$io: host:$port has a summary" soon summarized $port 1
	done
	check "$io: the agent that stays is scraped on" scraped 4804
	sed -i s/50ms/100ms/ configuration
	kill -HUP $controller
	check "$io: it gets another interval by a reload" soon interval 4804 100000000
	check "$io: it is scraped with that" soon resumed 4804
	check "$io: the controller ends" end
done

refuse "a file without names leaves nothing to scrape once" \
	"no source names an agent" sh -c \
	"echo '[]' >empty && dart-controller --once --file-sd empty"
kill $mute
check "the agents stop" on host host_down
finish
