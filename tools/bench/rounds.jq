# SPDX-License-Identifier: GPL-2.0-only
# Functions for arrays of rounds, each as per_sample of lib.sh prints it.

def median: sort | .[length / 2 | floor];

# The median of each member separately; null if there are no members.
def medians(f): map(f) as $rounds | $rounds[0] | if . then
	with_entries(.key as $key | .value = ($rounds | map(.[$key]) | median))
else null end;

# Joins all rounds of a method.
def as_one: .[0] + {
	latency_ns: medians(.latency_ns),
	cost: medians(.cost),
	samples: (map(.samples) | add),
	agent_cpu_ns: (map(.agent_cpu_ns) | add),
	agent_context_switches: (map(.agent_context_switches) | add)
};

# Round by round, without rounds that counted nothing.
def ratio($name; $of; $to; f): [$of, $to[:($of | length)]] | transpose |
	map(select((.[1] | f) > 0) | (.[0] | f) / (.[1] | f)) | sort |
	{name: $name, median: median, min: .[0], max: .[-1]};

# Of the part that was measured.
def ratios($name; $of; $to):
	if $of[0].latency_ns then ratio($name; $of; $to; .latency_ns.p50)
	else ratio($name; $of; $to; .cost.host) end;

# One array of rounds for each name, in the order of their first.
def by_name: . as $all | (map(.name) | reduce .[] as $name ([];
	if index([$name]) then . else . + [$name] end)) |
	map(. as $name | $all | map(select(.name == $name)));
