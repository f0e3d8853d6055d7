// SPDX-License-Identifier: GPL-2.0-only
/*
 * dart-scale [--output=DIR] [--schedules=N] clusters|thresholds|classes|io|fleet|faults: the controller's
 * flow control with up to 10,000 hosts, in virtual time, as CSV.  See fabric.h for the model.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric.h"

#define KB 1000ULL
#define MB 1000000ULL
#define MS 1000000ULL
#define GBIT_S 0.125 /* bytes per ns */

/* From a completion until a thread that blocks in epoll runs, and its CPU time: assumed. */
#define WAKE_NS 5000
#define WAKE_CPU_NS 2000

/*
 * An adapter that lacks the state of a queue pair loses no time, or it fetches the state from memory
 * over PCIe and does nothing else meanwhile, and has room for twice as many pairs as a group of the
 * paper has.  Neither the paper nor data sheets say more: results lie between the two.
 */
#define GROUP_PAIRS 64
#define CACHED_PAIRS (2 * GROUP_PAIRS)
#define FETCH_NS 500

/*
 * The paper's testbeds (ZERO, section 6.3): 1,024 virtual machines on 64 machines, and 1,024
 * containers on 8.  The length of the queue at which PFC begins lies between the data of 128 hosts
 * in flight, which did not trigger it, and of 256, which did.  Assumed are: 100 ns of the
 * controller for a READ, because the paper says that its CPU is not the limit; ECN that marks all
 * packets above four times its threshold; services with 1,000 bytes every 20 us on each machine.
 * All other constants are as printed there.
 */
static const struct fabric_settings cluster1 = {
	.machines = 64,
	.bytes = 128 * 1024,
	.interval_ns = 1000 * MS,
	.scrapes = 1,
	.link_bytes_ns = 25 * GBIT_S,
	.host_bytes_ns = 25 * GBIT_S,
	.round_trip_ns = 6000,
	.post_ns = 50,
	.poll_ns = 50,
	.pause_above = 12 * MB,
	.pause_until = 12 * MB - 100 * KB,
	.service_ns = 20000,
	.credit = 128 * 64 * 1024,
	.flow_credit = UINT64_MAX,
	.retry_ns = 4 * MS,
	.seed = 1,
}, cluster2 = {
	.machines = 8,
	.bytes = 128 * 1024,
	.interval_ns = 1000 * MS,
	.scrapes = 1,
	.link_bytes_ns = 200 * GBIT_S,
	.host_bytes_ns = 200 * GBIT_S,
	.round_trip_ns = 4000,
	.post_ns = 50,
	.poll_ns = 50,
	.buffer = UINT64_MAX,
	.mark_above = 1000 * KB,
	.mark_all = 4000 * KB,
	.service_ns = 20000,
	.credit = 64 * 16 * 1024,
	.flow_credit = UINT64_MAX,
	.retry_ns = 4 * MS,
	.seed = 1,
};

/* Kinds of flow control, and of adapters. */
enum flow_kind {
	FLOW_CREDIT,
	FLOW_PRODUCT, /* the product of bandwidth and delay for each host */
	FLOW_NONE,
};

static const struct line {
	const char *name;
	enum flow_kind kind;
	bool fetches;
	uint32_t group;
} lines[] = {
	{ "credit", FLOW_CREDIT, false, 0 },
	{ "credit-fetching", FLOW_CREDIT, true, 0 },
	{ "groups-fetching", FLOW_CREDIT, true, GROUP_PAIRS },
	{ "bdp", FLOW_PRODUCT, false, 0 },
	{ "none", FLOW_NONE, false, 0 },
};

#define LINES (sizeof(lines) / sizeof(*lines))

static FILE *open_csv(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.csv", directory, name);
	file = fopen(path, "w");
	if (!file)
		err(1, "%s", path);
	return file;
}

static void close_csv(FILE *file)
{
	if (fflush(file) || ferror(file) || fclose(file))
		err(1, "cannot write the results");
}

/* The time that @result would take if the link were never idle. */
static double ideal_ns(const struct fabric_settings *settings, const struct fabric_result *result)
{
	return result->bytes / settings->link_bytes_ns;
}

static void follow_line(struct fabric_settings *settings, const struct line *line, uint64_t product)
{
	if (line->kind != FLOW_CREDIT)
		settings->credit = UINT64_MAX;
	if (line->kind == FLOW_PRODUCT)
		settings->flow_credit = product;
	settings->group = line->group;
	settings->cached_pairs = line->fetches ? CACHED_PAIRS : 0;
	settings->fetch_ns = FETCH_NS;
}

/* Figures 10 and 11: all hosts at once, with each kind of flow control. */
static void run_clusters(const char *directory, uint32_t schedules)
{
	static const struct {
		const char *name;
		const struct fabric_settings *settings;
		uint64_t product; /* of bandwidth and delay */
	} clusters[] = { { "25GbE", &cluster1, 16 * 1024 }, { "200GbE", &cluster2, 96 * 1024 } };
	FILE *file = open_csv(directory, "clusters");
	struct fabric_settings settings;
	struct fabric_result result;

	fputs("network,flow,hosts,mean_us,p99_us,elapsed_us,bandwidth,queue_kb,in_flight_kb,paused,"
	      "marked,fetches,service_mean_us,service_max_us,mean_of_ideal\n",
	      file);
	for (size_t i = 0; i < 2; i++)
		for (size_t line = 0; line < LINES; line++)
			for (uint32_t hosts = 64; hosts <= 1024; hosts *= 2) {
				settings = *clusters[i].settings;
				settings.hosts = hosts;
				follow_line(&settings, &lines[line], clusters[i].product);
				fabric__run(&settings, &result);
				fprintf(file,
					"%s,%s,%u,%.1f,%.1f,%.1f,%.3f,%.0f,%.0f,%.3f,%.3f,"
					"%.2f,%.1f,%.1f,%.3f\n",
					clusters[i].name, lines[line].name, hosts,
					result.latency_mean_ns / 1e3, result.latency_p99_ns / 1e3,
					result.elapsed_ns / 1e3,
					ideal_ns(&settings, &result) / result.elapsed_ns,
					result.queue_max / 1e3, result.in_flight_max / 1e3,
					(double)result.paused_ns / result.elapsed_ns,
					(double)result.marked / result.fragments,
					(double)result.fetches / result.fragments,
					result.service_mean_ns / 1e3, result.service_max_ns / 1e3,
					result.latency_mean_ns / ideal_ns(&settings, &result));
			}
	close_csv(file);
}

/* Bandwidth and marks at 200 Gbit/s by the credit of all hosts. */
static void run_thresholds(const char *directory, uint32_t schedules)
{
	FILE *file = open_csv(directory, "thresholds");
	struct fabric_settings settings;
	struct fabric_result result;

	fputs("flow,credit_kb,bandwidth,queue_kb,marked,mean_us\n", file);
	for (size_t line = 0; line < LINES && lines[line].kind == FLOW_CREDIT; line++)
		for (uint64_t credit = 32 * 1024; credit <= 16 << 20; credit *= 2) {
			settings = cluster2;
			settings.hosts = 1024;
			settings.credit = credit;
			follow_line(&settings, &lines[line], 0);
			fabric__run(&settings, &result);
			fprintf(file, "%s,%.0f,%.3f,%.0f,%.3f,%.1f\n", lines[line].name,
				credit / 1e3, ideal_ns(&settings, &result) / result.elapsed_ns,
				result.queue_max / 1e3, (double)result.marked / result.fragments,
				result.latency_mean_ns / 1e3);
		}
	close_csv(file);
}

/* 1,000 hosts at once, with and without a tenth of them in the first class. */
static void run_classes(const char *directory, uint32_t schedules)
{
	FILE *file = open_csv(directory, "classes");
	struct fabric_settings settings = cluster2;
	struct fabric_result one, two;

	settings.hosts = 1000;
	settings.first_class = settings.hosts;
	fabric__run(&settings, &one);
	settings.first_class = 100;
	fabric__run(&settings, &two);
	fputs("hosts,first_class,without_us,with_us,earlier_us\n", file);
	fprintf(file, "%u,%u,%.1f,%.1f,%.1f\n", settings.hosts, settings.first_class,
		one.latency_mean_ns / 1e3, two.first_class_ns / 1e3,
		((double)one.latency_mean_ns - two.first_class_ns) / 1e3);
	close_csv(file);
}

/*
 * Figure 12: one host of 8 to 128 READs; then the paper's 128 hosts of 256 KiB, and a fleet of
 * small hosts and a few large ones, with each kind of I/O thread.
 */
static void run_io(const char *directory, uint32_t schedules)
{
	static const char *const kinds[] = { "poll", "event", "hybrid" };
	static const struct {
		const char *name;
		uint32_t hosts, bytes, small_hosts;
		uint64_t interval_ns;
	} fleets[] = {
		{ "8 READs", 1, 8 * 4096, 0, 10 * MS },
		{ "16 READs", 1, 16 * 4096, 0, 10 * MS },
		{ "32 READs", 1, 32 * 4096, 0, 10 * MS },
		{ "64 READs", 1, 64 * 4096, 0, 10 * MS },
		{ "128 READs", 1, 128 * 4096, 0, 10 * MS },
		{ "128 hosts", 128, 256 * 1024, 0, 100 * MS },
		{ "128 hosts", 128, 256 * 1024, 0, 10 * MS },
		{ "mixed fleet", 1024, 512 * 1024, 1000, 100 * MS },
	};
	FILE *file = open_csv(directory, "io");
	struct fabric_settings settings;
	struct fabric_result result;
	uint64_t small, large_ns;

	fputs("hosts,threads,interval_ms,mean_us,p99_us,small_mean_us,small_p99_us,cpu\n", file);
	for (size_t i = 0; i < sizeof(fleets) / sizeof(*fleets); i++)
		for (int kind = IO_POLL; kind <= IO_HYBRID; kind++) {
			settings = cluster1;
			settings.service_ns = 0;
			settings.io = kind;
			settings.wake_ns = WAKE_NS;
			settings.wake_cpu_ns = WAKE_CPU_NS;
			settings.hosts = fleets[i].hosts;
			settings.bytes = fleets[i].bytes;
			settings.small_hosts = fleets[i].small_hosts;
			settings.small_bytes = 8 * 1024;
			settings.interval_ns = fleets[i].interval_ns;
			settings.scrapes = settings.hosts > 1 ? 10 : 1000;
			settings.spread = true;
			fabric__run(&settings, &result);
			small = (uint64_t)settings.small_hosts * settings.scrapes;
			large_ns = (result.latency_mean_ns * result.scrapes -
				    result.small_mean_ns * small) /
				   (result.scrapes - small);
			fprintf(file, "%s,%s,%llu,%.1f,%.1f,%.1f,%.1f,%.4f\n", fleets[i].name,
				kinds[kind], (unsigned long long)(settings.interval_ns / MS),
				large_ns / 1e3, result.latency_p99_ns / 1e3,
				result.small_mean_ns / 1e3, result.small_p99_ns / 1e3,
				(double)result.busy_ns / (settings.interval_ns * settings.scrapes));
		}
	close_csv(file);
}

/* 10,000 hosts, a hundredth of them in the first class. */
static void run_fleet(const char *directory, uint32_t schedules)
{
	static const struct {
		uint32_t hosts, bytes;
		uint64_t interval_ns;
		double gbits;
	} fleets[] = {
		{ 1000, 128 * 1024, 100 * MS, 25 },
		{ 1000, 128 * 1024, 100 * MS, 100 },
		{ 10000, 8 * 1024, 1000 * MS, 25 },
		{ 10000, 8 * 1024, 100 * MS, 25 },
		{ 10000, 128 * 1024, 1000 * MS, 25 },
		{ 10000, 128 * 1024, 1000 * MS, 100 },
		{ 10000, 128 * 1024, 100 * MS, 200 },
	};
	FILE *file = open_csv(directory, "fleet");
	struct fabric_settings settings;
	struct fabric_result result;

	fputs("gbit_s,hosts,bytes,interval_ms,fitting,scrapes,missed,mean_us,p99_us,first_class_us,bandwidth,queue_kb,credit_kb\n",
	      file);
	for (size_t i = 0; i < sizeof(fleets) / sizeof(*fleets); i++) {
		settings = cluster2;
		settings.hosts = fleets[i].hosts;
		settings.machines = 0;
		settings.service_ns = 0;
		settings.first_class = fleets[i].hosts / 100;
		settings.bytes = fleets[i].bytes;
		settings.interval_ns = fleets[i].interval_ns;
		settings.link_bytes_ns = fleets[i].gbits * GBIT_S;
		settings.host_bytes_ns = 25 * GBIT_S;
		settings.credit = 256 * 1024;
		settings.scrapes = 4;
		settings.spread = true;
		fabric__run(&settings, &result);
		fprintf(file, "%g,%u,%u,%llu,%.0f,%llu,%llu,%.1f,%.1f,%.1f,%.3f,%.0f,%.0f\n",
			fleets[i].gbits, settings.hosts, settings.bytes,
			(unsigned long long)(settings.interval_ns / MS),
			settings.link_bytes_ns * settings.interval_ns / settings.bytes,
			(unsigned long long)result.scrapes, (unsigned long long)result.missed,
			result.latency_mean_ns / 1e3, result.latency_p99_ns / 1e3,
			result.first_class_ns / 1e3,
			ideal_ns(&settings, &result) / result.elapsed_ns,
			result.queue_max / 1e3, settings.credit / 1e3);
	}
	close_csv(file);
}

static void run_faults(const char *directory, uint32_t schedules)
{
	FILE *file = open_csv(directory, "faults");
	struct fabric_settings settings;
	struct fabric_result result;
	uint32_t broken = 0;
	const char *rule;

	fputs("seed,hosts,credit_kb,in_flight_kb,queue_kb,scrapes,missed,failed,lost,wait_us\n",
	      file);
	for (uint32_t seed = 1; seed <= schedules; seed++) {
		fabric__random_settings(seed, &settings);
		fabric__run(&settings, &result);
		rule = fabric__broken_rule(&settings, &result);
		if (rule) {
			warnx("schedule %u: %s", seed, rule);
			broken++;
		}
		fprintf(file, "%u,%u,%.0f,%.0f,%.0f,%llu,%llu,%llu,%llu,%.1f\n", seed,
			settings.hosts, settings.credit / 1e3, result.in_flight_max / 1e3,
			result.queue_max / 1e3, (unsigned long long)result.scrapes,
			(unsigned long long)result.missed, (unsigned long long)result.failed,
			(unsigned long long)result.lost, result.wait_max_ns / 1e3);
	}
	close_csv(file);
	if (broken)
		errx(1, "%u of %u schedules break a rule", broken, schedules);
	printf("%u schedules of faults: no rule is broken\n", schedules);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "schedules", required_argument, NULL, 'n' },
		{}
	};
	static const struct {
		const char *name;
		void (*run)(const char *directory, uint32_t schedules);
	} figures[] = { { "clusters", run_clusters },
			{ "thresholds", run_thresholds },
			{ "classes", run_classes },
			{ "io", run_io },
			{ "fleet", run_fleet },
			{ "faults", run_faults } };
	const char *directory = ".";
	unsigned long schedules = 10000;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'o') {
			directory = optarg;
		} else if (option == 'n') {
			schedules = strtoul(optarg, NULL, 10);
			if (!schedules || schedules > 100000000)
				errx(2, "--schedules: '%s' is not a number from 1 to 100000000",
				     optarg);
		} else {
			return 2;
		}
	}
	for (size_t i = 0; optind == argc - 1 && i < sizeof(figures) / sizeof(*figures);
	     i++) {
		if (strcmp(argv[optind], figures[i].name))
			continue;
		figures[i].run(directory, schedules);
		return 0;
	}
	errx(2, "usage: dart-scale [--output=DIR] [--schedules=N] "
		"clusters|thresholds|classes|io|fleet|faults");
}
