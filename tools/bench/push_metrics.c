// SPDX-License-Identifier: GPL-2.0-only
/*
 * push_metrics [OPTION...] KIND URL
 *
 * Pushes invented metrics to a receiver through an output of the controller, for
 * measurements and for tests of receivers.  KIND is remote-write, influx or otlp.
 *
 *   --targets N    hosts (1)
 *   --series N     of each (2000)
 *   --scrapes N    of each (10)
 *   --name TEXT    of which the hosts' names begin (host)
 *   --interval MS  between them, in their times; and in real time with --paced (1000)
 *   --paced        as a controller would; otherwise as fast as possible
 *   --changing P   percent of series that change with each scrape (40)
 *   --generations N  plans, one after the other: series end and begin (1)
 *   --lost         at the end all series end
 *   --version N, --batch N, --delay MS, --spool DIR, --spool-bytes N, --spool-sync TEXT,
 *   --queue-bytes N, --senders N
 *                  as in dart-controller's configuration; a delay of 0 is none
 *   --wait S       until all is sent (60)
 *   --list FILE    the input of the output: lines of JSON, one for each series with
 *                  its labels, times (ns) and values, and "end" if it has ended
 *
 * Prints the counts of the output, and CPU time, as JSON.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "invented_metrics.h"
#include "tools/controller/base/schedule.h"
#include "tools/controller/outputs/output.h"
#include "tools/controller/push/push.h"

struct run {
	struct receiver_settings settings;
	unsigned long targets, series, scrapes, interval_ms, changing, generations, wait_s;
	bool is_paced, is_lost;
	const char *list;
	const char *name;
	struct metric_output *output;
	struct target_settings *hosts;
	struct metric_plan **plans;
	int64_t start_ns;	/* CLOCK_REALTIME of the first scrape */
	struct metric_point *points;
};

static void fail(const char *text)
{
	fprintf(stderr, "push_metrics: %s\n", text);
	exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (!memory)
		fail("out of memory");
	return memory;
}

static const struct option options[] = {
	{ "targets", required_argument, NULL, 't' },
	{ "series", required_argument, NULL, 's' },
	{ "scrapes", required_argument, NULL, 'n' },
	{ "interval", required_argument, NULL, 'i' },
	{ "name", required_argument, NULL, 'N' },
	{ "paced", no_argument, NULL, 'p' },
	{ "changing", required_argument, NULL, 'c' },
	{ "generations", required_argument, NULL, 'g' },
	{ "lost", no_argument, NULL, 'L' },
	{ "version", required_argument, NULL, 'V' },
	{ "batch", required_argument, NULL, 'b' },
	{ "delay", required_argument, NULL, 'd' },
	{ "spool", required_argument, NULL, 'S' },
	{ "spool-bytes", required_argument, NULL, 'B' },
	{ "spool-sync", required_argument, NULL, 'Y' },
	{ "senders", required_argument, NULL, 'M' },
	{ "queue-bytes", required_argument, NULL, 'Q' },
	{ "wait", required_argument, NULL, 'w' },
	{ "list", required_argument, NULL, 'l' },
	{},
};

static void take_option(struct run *run, int option, char *argument)
{
	struct dart_error error;
	const unsigned long number = argument ? strtoul(argument, NULL, 10) : 0;
	struct receiver_settings *settings = &run->settings;

	switch (option) {
	case 't':
		run->targets = number;
		break;
	case 's':
		run->series = number;
		break;
	case 'n':
		run->scrapes = number;
		break;
	case 'i':
		run->interval_ms = number;
		break;
	case 'N':
		run->name = argument;
		break;
	case 'p':
		run->is_paced = true;
		break;
	case 'c':
		run->changing = number;
		break;
	case 'g':
		run->generations = number;
		break;
	case 'L':
		run->is_lost = true;
		break;
	case 'V':
		settings->version = number;
		break;
	case 'b':
		settings->batch = number;
		break;
	case 'd':
		settings->delay_ns = number ? number * 1000000 : RECEIVER_DELAY_NONE;
		break;
	case 'S':
		settings->spool = argument;
		break;
	case 'B':
		settings->spool_bytes = number;
		break;
	case 'Y':
		if (dart_setting__take(dart_settings__find(&receiver_settings__table, "spool_sync"),
				       settings, argument, &error))
			fail("--spool-sync is always, never, or a time");
		break;
	case 'M':
		settings->senders = number;
		break;
	case 'Q':
		settings->queue_bytes = number;
		break;
	case 'w':
		run->wait_s = number;
		break;
	case 'l':
		run->list = argument;
		break;
	default:
		fail("see the comment in push_metrics.c");
	}
}

static void take_arguments(struct run *run, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		take_option(run, option, optarg);
	if (argc - optind != 2 || !run->targets || !run->generations ||
	    run->targets > SETTINGS_TARGETS_MAX)
		fail("see the comment in push_metrics.c");
	run->settings.format = strcmp(argv[optind], "remote-write") ? argv[optind] : "remote_write";
	run->settings.url = argv[optind + 1];
}

static void prepare(struct run *run)
{
	struct timespec now;
	unsigned long i;

	clock_gettime(CLOCK_REALTIME, &now);
	run->start_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	if (!run->is_paced)
		run->start_ns -= run->scrapes * run->interval_ms * 1000000;
	run->points = allocate(run->series, sizeof(*run->points));
	run->plans = allocate(run->generations, sizeof(*run->plans));
	for (i = 0; i < run->generations; i++)
		run->plans[i] = invented_plan__new(run->series, i);
	run->hosts = allocate(run->targets, sizeof(*run->hosts));
	for (i = 0; i < run->targets; i++) {
		run->hosts[i].index = i;
		run->hosts[i].labels = shared_text__new("{\"rack\":\"a 7\"}");
		if (asprintf(&run->hosts[i].name, "%s%lu:4792", run->name, i) < 0)
			fail("out of memory");
	}
}

static struct metric_plan *plan_of(const struct run *run, unsigned long scrape)
{
	return run->plans[scrape * run->generations / run->scrapes];
}

static int64_t time_of(const struct run *run, unsigned long scrape)
{
	return run->start_ns + scrape * run->interval_ms * 1000000LL;
}

static void scrape_one(struct run *run, unsigned long target, unsigned long scrape)
{
	struct metric_plan *plan = plan_of(run, scrape);
	const struct metric_scrape made = {
		.plan = plan,
		.points = run->points,
		.previous = scrape && plan_of(run, scrape - 1) != plan ? plan_of(run, scrape - 1) :
									 NULL,
		.time_ns = time_of(run, scrape),
	};
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		run->points[i] = (struct metric_point){
			.value = invented_plan__value(plan, i, target, scrape, run->changing),
			.time_ns = made.time_ns,
		};
	run->output->operations->scrape(run->output, run->hosts + target, &made);
}

/*
 * Waits while more than half of the bound is queued, because the output drops samples that do not
 * fit.
 */
static void keep_pace(struct run *run, unsigned long scrape)
{
	struct timespec until = {
		.tv_sec = time_of(run, scrape) / 1000000000,
		.tv_nsec = time_of(run, scrape) % 1000000000,
	};
	struct push_counts counts;

	if (run->is_paced) {
		while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == EINTR)
			;
		return;
	}
	for (;;) {
		push__counts(run->output, &counts);
		if (counts.queue_bytes < RECEIVER_QUEUE_DEFAULT / 2)
			return;
		usleep(1000);
	}
}

static void wait_until_sent(struct run *run)
{
	const uint64_t until_ns = monotonic_ns() + run->wait_s * 1000000000ULL;
	struct push_counts counts;
	uint64_t given = run->targets * run->series * run->scrapes;

	do {
		usleep(10000);
		push__counts(run->output, &counts);
	} while (monotonic_ns() < until_ns &&
		 counts.sent + counts.refused + counts.dropped + counts.unsent + counts.repeated <
			 given);
}

static void print_counts(struct run *run, uint64_t elapsed_ns, double invented_s)
{
	struct push_counts counts;
	struct rusage usage;
	uint64_t answered;
	double cpu_s;

	push__counts(run->output, &counts);
	answered = counts.sent + counts.refused;
	getrusage(RUSAGE_SELF, &usage);
	cpu_s = usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6 + usage.ru_stime.tv_sec +
		usage.ru_stime.tv_usec * 1e-6 - invented_s;
	printf("{\"sent\": %llu, \"refused\": %llu, \"dropped\": %llu, \"unsent\": %llu,"
	       " \"repeated\": %llu, \"waiting\": %llu, \"requests\": %llu, \"retries\": %llu,"
	       " \"bytes\": %llu, \"bytes_per_sample\": %.2f, \"cpu_ms_per_200000\": %.1f,"
	       " \"elapsed_s\": %.3f, \"max_rss_kib\": %ld}\n",
	       (unsigned long long)counts.sent, (unsigned long long)counts.refused,
	       (unsigned long long)counts.dropped, (unsigned long long)counts.unsent,
	       (unsigned long long)counts.repeated, (unsigned long long)counts.waiting,
	       (unsigned long long)counts.requests, (unsigned long long)counts.retries,
	       (unsigned long long)counts.bytes, answered ? (double)counts.bytes / answered : 0,
	       answered ? cpu_s * 1e3 * 200000 / answered : 0, elapsed_ns * 1e-9, usage.ru_maxrss);
}

/* The CPU time of making the values alone, which is no part of the output's. */
static double invented_seconds(struct run *run)
{
	struct timespec before, after;
	unsigned long target, scrape;
	volatile double sum = 0;
	uint32_t i;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	for (scrape = 0; scrape < run->scrapes; scrape++) {
		for (target = 0; target < run->targets; target++) {
			for (i = 0; i < plan_of(run, scrape)->series_count; i++)
				sum += invented_plan__value(plan_of(run, scrape), i, target, scrape,
							    run->changing);
		}
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	/* Once for this plan, and once for the pushed samples. */
	return 2 * (after.tv_sec - before.tv_sec + (after.tv_nsec - before.tv_nsec) * 1e-9);
}

static void list_series(struct run *run, unsigned long target,
			unsigned long generation, uint32_t series, FILE *out)
{
	const struct metric_plan *plan = run->plans[generation];
	const struct metric_series *found = plan->series + series;
	unsigned long scrape;
	const char *comma = "";
	uint32_t i;

	fprintf(out, "{\"name\": \"%s\", \"labels\": {\"instance\": \"%s\","
		" \"job\": \"dart\", \"rack\": \"a 7\"", found->name,
		run->hosts[target].name);
	for (i = 0; i < found->label_count; i++)
		fprintf(out, ", \"%s\": \"%s\"", found->labels[i].name, found->labels[i].value);
	fprintf(out, "}, \"ends\": %s, \"points\": [",
		run->is_lost || generation + 1 < run->generations ? "true" : "false");
	for (scrape = 0; scrape < run->scrapes; scrape++) {
		if (plan_of(run, scrape) != plan)
			continue;
		fprintf(out, "%s[%lld, %.17g]", comma, (long long)time_of(run, scrape),
			invented_plan__value(plan, series, target, scrape, run->changing));
		comma = ", ";
	}
	fprintf(out, "]}\n");
}

static void list_all(struct run *run)
{
	FILE *out = fopen(run->list, "we");
	unsigned long target, i;
	uint32_t series;

	if (!out)
		fail("cannot write the list");
	for (target = 0; target < run->targets; target++) {
		for (i = 0; i < run->generations; i++) {
			for (series = 0; series < run->series; series++)
				list_series(run, target, i, series, out);
		}
	}
	if (fclose(out))
		fail("cannot write the list");
}

static void free_all(struct run *run)
{
	unsigned long i;

	for (i = 0; i < run->generations; i++)
		metric_plan__put(run->plans[i]);
	for (i = 0; i < run->targets; i++) {
		shared_text__release(run->hosts[i].labels);
		free(run->hosts[i].name);
	}
	free(run->plans);
	free(run->hosts);
	free(run->points);
}

int main(int argc, char **argv)
{
	struct run run = {
		.targets = 1,
		.series = 2000,
		.scrapes = 10,
		.interval_ms = 1000,
		.changing = 40,
		.generations = 1,
		.wait_s = 60,
		.name = "host",
	};
	const struct metric_output_operations *operations;
	unsigned long target, scrape;
	struct dart_error error;
	struct output *log;
	uint64_t start_ns;

	take_arguments(&run, argc, argv);
	prepare(&run);
	if (run.list)
		list_all(&run);
	if (output__open(STDERR_FILENO, "standard error", 1 << 20, NULL, &log))
		fail("cannot write to standard error");
	if (push__new(&run.settings, log, &run.output, &error))
		fail(error.text);
	operations = run.output->operations;
	start_ns = monotonic_ns();
	for (scrape = 0; scrape < run.scrapes; scrape++) {
		keep_pace(&run, scrape);
		for (target = 0; target < run.targets; target++)
			scrape_one(&run, target, scrape);
	}
	for (target = 0; target < run.targets; target++) {
		if (run.is_lost)
			operations->lost(run.output, run.hosts + target,
					 plan_of(&run, run.scrapes - 1), time_of(&run, run.scrapes),
					 "it is invented");
	}
	wait_until_sent(&run);
	print_counts(&run, monotonic_ns() - start_ns, invented_seconds(&run));
	operations->free(run.output);
	output__end(log);
	output__close(log);
	free_all(&run);
	return EXIT_SUCCESS;
}
