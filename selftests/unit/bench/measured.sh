#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Results of a bench have the machine and the programs that disturbed it, and are refused if rounds
# differ too much.
. "$(dirname "$0")/../../lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/tools/bench" "$scratch/.output/qemu"
cp "$tests/../tools/bench/measured" "$scratch/tools/bench"
echo "id 6.12 tcg,thread=single" >"$scratch/.output/qemu/accelerator"
cd "$scratch/.output" || exit 1

# measured NAME COMMAND...
measured() {
	"$scratch/tools/bench/measured" "$@"
}

check "results are written" measured laps echo '{"laps": [{"median": 2, "min": 2, "max": 3}]}'
check "with the machine, its accelerator and the work of others" is_true \
	'.laps[0].max == 3 and (.machine | test(" CPUs$")) and .accelerator == "tcg,thread=single" and
	.others.cpus >= 0 and .others.hypervisor_cpus >= 0' bench/laps.json
check "several objects become one" measured both printf '{"lap": 1}\n\n{"lap": 2}\n'
check "both are results" is_true '[.results[].lap] == [1, 2]' bench/both.json
check "a result with a distribution in one round is not refused" \
	measured latency echo '{"ns": {"min": 1, "p50": 4, "max": 9}, "median": 3}'

cp "$(command -v yes)" disturber
./disturber >/dev/null &
disturber=$!
refuse "rounds that differ are refused, and the sentence has the busy program" \
	"laps: refused, .* differ by 1.6 times .'lap two, ns'.: .*disturber" \
	measured laps sh -c 'sleep 1
		echo "{\"laps\": [{\"what\": \"lap two\", \"ns\": {\"median\": 2, \"min\": 2, \"max\": 3.2}}]}"'
kill $disturber
check "they are not in the file of results" sh -c '[ ! -e bench/laps.json ] &&
	grep -q disturber bench/laps.refused.json'
measured laps echo '{"laps": {"median": 2, "min": 2, "max": 3.2}}' 2>/dev/null
check "the exit status says that another run may be good" [ $? = 75 ]
check "a good run replaces them" sh -c '"$1" laps echo "{}" && [ ! -e bench/laps.refused.json ]' \
	sh "$scratch/tools/bench/measured"
measured laps sh -c 'exit 7'
check "a command that fails ends the bench with its status" [ $? = 7 ]
check "and leaves no results" [ ! -e bench/laps.json ]
refuse "a call without a command says how it is used" "^measured NAME COMMAND" measured laps
finish
