# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Servers of ZooKeeper, and controllers with dart-members-zookeeper that share hosts out, natively.
# Sourced after lib.sh. $dir is the directory of all files; the caller removes it and kills jobs.
bin=$tests/../.output/bin
helpers=$tests/../.output/selftests/helpers
jar=/usr/share/java/zookeeper.jar
declare -A servers=() pids=() writers=()

# need_zookeeper: skips the test if anything is missing
need_zookeeper() {
	[ -x "$bin/dart-controller" ] || skip "make programs has not been run"
	[ -x "$bin/dart-members-zookeeper" ] || skip "dart-members-zookeeper is not built"
	[ -x "$helpers/fleet_hosts" ] || skip "make guest has not been run"
	command -v openssl >/dev/null || skip "openssl is not installed"
	{ command -v java && [ -e $jar ]; } >/dev/null || skip "zookeeper is not installed"
}

# prepare_servers COUNT [LINE]: their files; server I listens at zookeeper_port + I
prepare_servers() {
	local i j
	# A port for clients, servers and elections each.
	zookeeper_port=$(($("$tests/free_ports" $((3 * $1))) - 1))
	server_list=
	for ((i = 1; i <= $1; i++)); do
		server_list+="${server_list:+,}127.0.0.1:$((zookeeper_port + i))"
		mkdir -p "$dir/server-$i"
		echo "$i" >"$dir/server-$i/myid"
		{
			cat <<-END
				tickTime=200
				initLimit=50
				syncLimit=10
				dataDir=$dir/server-$i
				clientPort=$((zookeeper_port + i))
				clientPortAddress=127.0.0.1
				minSessionTimeout=400
				maxSessionTimeout=600000
				maxClientCnxns=0
				admin.enableServer=false
				4lw.commands.whitelist=ruok,srvr
				${2-}
			END
			for ((j = 1; $1 > 1 && j <= $1; j++)); do
				echo "server.$j=127.0.0.1:$((zookeeper_port + $1 + j)):$((zookeeper_port + 2 * $1 + j))"
			done
		} >"$dir/server-$i/zoo.cfg"
	done
}

# start_server I
start_server() {
	java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp $jar \
		org.apache.zookeeper.server.quorum.QuorumPeerMain "$dir/server-$1/zoo.cfg" \
		>>"$dir/server-$1/log" 2>&1 &
	servers[$1]=$!
}

# serves I: it takes requests
serves() {
	exec 7<>"/dev/tcp/127.0.0.1/$((zookeeper_port + $1))" && echo srvr >&7 &&
		timeout 5 cat <&7 | grep -q '^Mode:'
}

# start_hosts COUNT INTERVAL_MS: hosts over TCP, in hosts.json
start_hosts() {
	hosts=$1
	"$helpers/tls_files" "$dir" 127.0.0.1 controller >/dev/null
	first=$("$tests/free_ports" "$hosts")
	mkfifo "$dir/ready"
	"$helpers/fleet_hosts" "$dir" "$first" "$hosts" 0 1 "$2" >"$dir/ready" &
	check "$hosts hosts serve over TCP" read -r <"$dir/ready"
	seq "$first" $((first + hosts - 1)) |
		gojq -cs '[{targets: map("127.0.0.1:\(.)")}]' >"$dir/hosts.json"
}

# prepare_member I SESSION HANDOVER INTERVAL [LINE]: the configurations of one host
prepare_member() {
	cat >"$dir/writer-$1.yaml" <<-END
		servers: $server_list
		member: $1
		session: $2
		file: $dir/members-$1.json
		controller: $dir/socket-$1
		${5-}
	END
	cat >"$dir/controller-$1.yaml" <<-END
		interval: $4
		transport: tcp
		tls: {certificate: $dir/controller.pem, key: $dir/controller.key,
		  authorities: $dir/authority.pem}
		shard: {member: $1, members_file: $dir/members-$1.json, replication: 2,
		  handover: $3}
		sources: [{file_sd: $dir/hosts.json}]
	END
}

# start_controller I: its lines are appended to lines-I, its messages to log-I
start_controller() {
	"$bin/dart-controller" --json --config "$dir/controller-$1.yaml" --socket "$dir/socket-$1" \
		>>"$dir/lines-$1" 2>>"$dir/log-$1" &
	pids[$1]=$!
}

# start_writer I
start_writer() {
	"$bin/dart-members-zookeeper" --config "$dir/writer-$1.yaml" 2>>"$dir/writer-log-$1" &
	writers[$1]=$!
}

# roles I...: "SCRAPED STANDBY" of all these
roles() {
	local member
	for member; do
		timeout 5 "$bin/dart-controller" status --json --socket "$dir/socket-$member" |
			gojq -r '.controller.targets | "\(.up) \(.standby)"' || return
	done | awk '{ up += $1; standby += $2 } END { print up, standby }'
}

# shared I...: these members, listed by each of them, scrape all hosts, and stand by for all;
# otherwise it prints their lists, numbers and last messages
shared() {
	local member list=$* numbers is_shared=yes
	for member; do
		grep -qF "\"members\": [${list// /, }]" "$dir/members-$member.json" || is_shared=
	done
	numbers=$(roles "$@")
	[ "$is_shared" ] && [ "$numbers" = "$hosts $hosts" ] && return
	echo "scraped and standing by: $numbers"
	for member; do
		roles "$member"
		cat "$dir/members-$member.json"
		tail -n 5 "$dir/log-$member" "$dir/writer-log-$member"
	done
	return 1
}

# all_have I...: these members scrape all hosts
all_have() {
	[[ "$(roles "$@")" == "$hosts "* ]]
}

# now_ns
now_ns() {
	date +%s%N
}

# largest_gap FROM_NS TO_NS: the longest time in ms in which no controller scraped some host
largest_gap() {
	cat "$dir"/lines-* | python3 -c '
import collections, re, sys
begin, end = int(sys.argv[1]), int(sys.argv[2])
times = collections.defaultdict(list)
for line in sys.stdin:
    # Lines of controllers that were killed may be cut off.
    match = re.match(r"\{\"agent\":\"([^\"]+)\",\"up\":1,.*?\"time_ns\":(\d+)", line)
    if match and begin <= int(match[2]) <= end:
        times[match[1]].append(int(match[2]))
worst = 0 if len(times) == int(sys.argv[3]) else end - begin
for host in times.values():
    host = sorted([begin, end] + host)
    worst = max(worst, max(b - a for a, b in zip(host, host[1:])))
print(worst // 1000000)
' "$1" "$2" "$hosts"
}

# newest I: the time of the newest sample that this controller passed on
newest() {
	grep -o '"time_ns":[0-9]*' "$dir/lines-$1" | cut -d: -f2 | sort -n | tail -1
}
