# SPDX-License-Identifier: GPL-2.0-only
# Functions for arrays of rounds, each as per_sample of lib.sh prints it.

def median: sort | .[length / 2 | floor];

def ticks: .user + .system + .softirq;

# The median of each member separately; null if there are no members.
def medians(f): map(f) as $rounds | $rounds[0] | if . then
	with_entries(.key as $key | .value = ($rounds | map(.[$key]) | median))
else null end;

# Joins all rounds of a method.
def as_one: .[0] + {
	latency_ns: medians(.latency_ns),
	cpu_ns: (medians(.cpu_ns) + {all: (map(.cpu_ns | ticks) | median)}),
	controller_cpu_ns: (medians(.controller_cpu_ns) +
		{all: (map(.controller_cpu_ns | ticks) | median)}),
	samples: (map(.samples) | add),
	agent_cpu_ns: (map(.agent_cpu_ns) | add),
	agent_context_switches: (map(.agent_context_switches) | add)
};

# Round by round, without rounds that counted nothing.
def ratio($name; $of; $to; f): [$of, $to[:($of | length)]] | transpose |
	map(select((.[1] | f) > 0) | (.[0] | f) / (.[1] | f)) | sort |
	{name: $name, median: median, min: .[0], max: .[-1]};

def ratios($name; $of; $to):
	ratio("latency, " + $name; $of; $to; .latency_ns.p50),
	ratio("CPU time, " + $name; $of; $to; .cpu_ns | ticks),
	ratio("not idle, " + $name; $of; $to; .cpu_ns.busy);

# One array of rounds for each name, in the order of their first.
def by_name: . as $all | (map(.name) | reduce .[] as $name ([];
	if index([$name]) then . else . + [$name] end)) |
	map(. as $name | $all | map(select(.name == $name)));
