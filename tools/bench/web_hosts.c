// SPDX-License-Identifier: GPL-2.0-only
/*
 * web_hosts [OPTION]... HOSTS SERIES: the page of dart-controller, with invented hosts in place of
 * scraped hosts: for its tests, for measurements, and to look at it.
 *
 * Prints "URL http://127.0.0.1:PORT/" when it serves.  Then standard input, line by line, says
 * what happens: "stop N" (host N is silent), "lose N" (it cannot be scraped), "start N",
 * "remove N", and "report" (prints memory and time used).  With --silent, no host was ever
 * scraped before it is started.  It ends with standard input.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tools/controller/web/web.h"

#include "invented_host.h"

#define SECOND_NS 1000000000LL
/* A greater delay makes the farm skip scrapes. */
#define LATE_MAX_NS (30 * SECOND_NS)

struct arguments {
	const char *address, *token_path;
	size_t bytes;
	int64_t interval_ns, past_ns;
	unsigned int hosts;
	bool is_silent;
	struct invented_size size;
};

struct fed_host {
	struct target_settings settings;
	struct invented_host host;
	bool is_there, is_fed;
	int64_t due_ns; /* CLOCK_REALTIME */
};

struct farm {
	struct arguments arguments;
	struct invented_plan *plan;
	struct metric_output *output;
	struct fed_host *hosts;
	uint64_t scrapes;
	int64_t spent_ns; /* in the output */
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static int usage(void)
{
	fputs("Usage: web_hosts [--address HOST:PORT] [--token-file FILE] [--interval MS]\n"
	      "                 [--past SECONDS] [--memory MIB] [--cpus N] [--containers N]\n"
	      "                 [--hostile] [--silent] HOSTS SERIES\n",
	      stderr);
	return 2;
}

static bool parse(int argc, char *argv[], struct arguments *arguments)
{
	static const struct option options[] = {
		{ "address", required_argument, NULL, 'a' },
		{ "token-file", required_argument, NULL, 't' },
		{ "interval", required_argument, NULL, 'i' },
		{ "past", required_argument, NULL, 'p' },
		{ "memory", required_argument, NULL, 'm' },
		{ "cpus", required_argument, NULL, 'c' },
		{ "containers", required_argument, NULL, 'k' },
		{ "hostile", no_argument, NULL, 'x' },
		{ "silent", no_argument, NULL, 's' },
		{ }
	};
	int c;

	*arguments = (struct arguments){
		.address = "127.0.0.1:0",
		.interval_ns = SECOND_NS,
		.size = { .cpus = 8, .containers = 12 },
	};
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'a')
			arguments->address = optarg;
		else if (c == 't')
			arguments->token_path = optarg;
		else if (c == 'i')
			arguments->interval_ns = atoi(optarg) * 1000000LL;
		else if (c == 'p')
			arguments->past_ns = atoi(optarg) * SECOND_NS;
		else if (c == 'm')
			arguments->bytes = (size_t)atoi(optarg) << 20;
		else if (c == 'c')
			arguments->size.cpus = atoi(optarg);
		else if (c == 'k')
			arguments->size.containers = atoi(optarg);
		else if (c == 'x')
			arguments->size.is_hostile = true;
		else if (c == 's')
			arguments->is_silent = true;
		else
			return false;
	}
	if (argc - optind != 2)
		return false;
	arguments->hosts = atoi(argv[optind]);
	arguments->size.series = atoi(argv[optind + 1]);
	return arguments->hosts <= SETTINGS_TARGETS_MAX && arguments->interval_ns > 0 &&
	       arguments->size.cpus <= INVENTED_CPUS_MAX;
}

static void feed(struct farm *farm, struct fed_host *fed, int64_t time_ns)
{
	struct metric_scrape scrape = {
		.plan = &farm->plan->plan,
		.points = fed->host.points,
		.time_ns = time_ns,
	};
	int64_t start_ns;

	invented_host__move(&fed->host, time_ns);
	start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	farm->output->operations->scrape(farm->output, &fed->settings, &scrape);
	farm->spent_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	farm->scrapes++;
}

static int add_host(struct farm *farm, unsigned int index)
{
	const struct arguments *arguments = &farm->arguments;
	struct fed_host *fed = &farm->hosts[index];
	int64_t now = now_ns(CLOCK_REALTIME), time_ns;
	int ret;

	fed->settings.index = index;
	fed->settings.interval_ns = arguments->interval_ns;
	if (asprintf(&fed->settings.name,
		     arguments->size.is_hostile && index == 1 ?
			     "<script>window.hacked=1</script>:%u" :
			     "host%03u.example:4792",
		     index) < 0)
		return -ENOMEM;
	ret = invented_host__init(&fed->host, farm->plan, index + 1);
	if (ret)
		return ret;
	farm->output->operations->added(farm->output, &fed->settings);
	time_ns = now - arguments->past_ns + arguments->interval_ns * index / arguments->hosts;
	for (; time_ns < now; time_ns += arguments->interval_ns)
		feed(farm, fed, time_ns);
	fed->due_ns = time_ns;
	fed->is_there = true;
	fed->is_fed = !arguments->is_silent;
	return 0;
}

static void report(const struct farm *farm)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("REPORT scrapes %llu output_ns_per_scrape %lld max_rss_kib %ld cpu_ms %lld\n",
	       (unsigned long long)farm->scrapes,
	       (long long)(farm->spent_ns / (int64_t)(farm->scrapes ?: 1)), usage.ru_maxrss,
	       (long long)(now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000000));
}

static void obey(struct farm *farm, const char *line)
{
	struct fed_host *fed;
	unsigned int index;
	char word[16];
	int words = sscanf(line, "%15s %u", word, &index);

	if (words < 1)
		return;
	fed = words == 2 && index < farm->arguments.hosts ? &farm->hosts[index] : NULL;
	if (!strcmp(word, "report")) {
		report(farm);
	} else if (!fed || !fed->is_there) {
		printf("? %s", line);
	} else if (!strcmp(word, "remove")) {
		fed->is_there = fed->is_fed = false;
		farm->output->operations->removed(farm->output, &fed->settings);
	} else {
		fed->is_fed = !strcmp(word, "start");
		fed->due_ns = now_ns(CLOCK_REALTIME);
		if (!strcmp(word, "lose"))
			farm->output->operations->lost(
				farm->output, &fed->settings, &farm->plan->plan, fed->due_ns,
				"the agent does not answer: connection refused");
	}
	if (strcmp(word, "report"))
		printf("DONE %s", line);
	fflush(stdout);
}

/* Feeds all due scrapes; returns the milliseconds until the next. */
static int feed_due(struct farm *farm)
{
	int64_t now = now_ns(CLOCK_REALTIME), next = now + SECOND_NS;
	struct fed_host *fed;
	unsigned int i;

	for (i = 0; i < farm->arguments.hosts; i++) {
		fed = &farm->hosts[i];
		if (!fed->is_fed)
			continue;
		if (fed->due_ns <= now) {
			/* The time of a READ varies. */
			feed(farm, fed,
			     fed->due_ns + dart_random__below(&fed->host.random, 300000));
			fed->due_ns += farm->arguments.interval_ns;
			if (fed->due_ns < now - LATE_MAX_NS)
				fed->due_ns = now;
		}
		if (fed->due_ns < next)
			next = fed->due_ns;
	}
	now = now_ns(CLOCK_REALTIME);
	return next > now ? (next - now + 999999) / 1000000 : 0;
}

static void run(struct farm *farm)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	char line[64];

	setvbuf(stdin, NULL, _IONBF, 0);
	for (;;) {
		if (poll(&input, 1, feed_due(farm)) <= 0)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			break;
		obey(farm, line);
	}
}

int main(int argc, char *argv[])
{
	struct farm farm = { };
	struct http_settings http = { };
	struct web_settings settings = { .http = &http };
	struct dart_error error;
	unsigned int i;
	int ret = 0;

	if (!parse(argc, argv, &farm.arguments))
		return usage();
	http.address = (char *)farm.arguments.address;
	http.token_path = (char *)farm.arguments.token_path;
	settings.history_bytes = farm.arguments.bytes;
	settings.interval_ns = farm.arguments.interval_ns;
	if (web__new(&settings, NULL, &farm.output, &error)) {
		fprintf(stderr, "web_hosts: %s\n", error.text);
		return 1;
	}
	farm.plan = invented_plan__new(&farm.arguments.size);
	farm.hosts = calloc(farm.arguments.hosts ?: 1, sizeof(*farm.hosts));
	if (!farm.plan || !farm.hosts)
		ret = -ENOMEM;
	for (i = 0; i < farm.arguments.hosts && !ret; i++)
		ret = add_host(&farm, i);
	if (!ret) {
		printf("URL http://127.0.0.1:%u/\n", web__port(farm.output));
		fflush(stdout);
		run(&farm);
	}
	farm.output->operations->free(farm.output);
	for (i = 0; farm.hosts && i < farm.arguments.hosts; i++) {
		free(farm.hosts[i].settings.name);
		invented_host__clear(&farm.hosts[i].host);
	}
	free(farm.hosts);
	if (farm.plan)
		metric_plan__put(&farm.plan->plan);
	return ret ? 1 : 0;
}
