// SPDX-License-Identifier: GPL-2.0-only
/*
 * tea-sim: measures the share of packets that the cache of a switch absorbs, as in section 6 of the
 * TEA paper.
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cached_traffic.h"
#include "tea_paper.h"
#include "tools/dartctl/switch/cache/keys.h"

static const char usage[] =
	"Usage: tea-sim [OPTION]... balance|throughput|functions\n"
	"Sends packets of many flows through the sketch of the P4 program, the cache of\n"
	"'dartctl switch push' and libdart's shares, without a network, and prints beside\n"
	"the result what \"TEA: Enabling State-Intensive Network Functions on Programmable\n"
	"Switches\" says in section 6.\n"
	"\n"
	"  balance        figure 9a: packets that the cache absorbs, lookups by server\n"
	"  throughput     figure 9b: a model, from these and the paper's limit of a server\n"
	"  functions      the table of network functions: a model as well\n"
	"\n"
	"      --flows=N     flows (1000000)\n"
	"      --cache=N     entries of the cache (1024)\n"
	"      --period=N    packets of a period (1000000)\n"
	"      --threshold=N lowest threshold of popular keys, packets of a period (32)\n"
	"      --seeds=N     runs with other flows, of which all is averaged (3)\n"
	"      --output=DIR  directory of the CSV files (.output/bench)\n"
	"      --help        print this and exit\n";

#define SERVERS	8
#define SKEWS	4
#define SEEDS	100	/* at most */
#define WARM	5	/* periods */
#define PERIODS	5

/* 0: all flows send equally many packets. */
static const double skews[SKEWS] = { 0, 0.90, 0.95, 0.99 };

struct task {
	struct cached_traffic traffic;
	uint32_t seeds;
	FILE *csv;
};

/* Averages over all seeds. */
struct result {
	double absorbed, best;	/* fractions of the packets */
	double reports, exchanges;	/* of a period */
	/* by number of servers: fractions of all packets at the most used one */
	double busiest_uncached[SERVERS + 1];
	double busiest[SERVERS + 1];
	/* with 8 servers, of the first seed: fraction of all packets by server */
	double uncached[SERVERS], cached[SERVERS];
};

static void add_up(const uint64_t shares[static DART_TEA_SHARES],
		   uint64_t packets, uint32_t servers, double by_server[SERVERS])
{
	uint32_t share;

	memset(by_server, 0, SERVERS * sizeof(*by_server));
	/* Each server holds equally many consecutive shares. */
	for (share = 0; share < DART_TEA_SHARES; share++)
		by_server[share * servers / DART_TEA_SHARES] += (double)shares[share] / packets;
}

static double busiest(const uint64_t shares[static DART_TEA_SHARES],
		      uint64_t packets, uint32_t servers)
{
	double by_server[SERVERS], most = 0;
	uint32_t i;

	add_up(shares, packets, servers, by_server);
	for (i = 0; i < servers; i++)
		most = fmax(most, by_server[i]);
	return most;
}

static struct result measure(const struct task *task, double skew)
{
	struct cached_traffic traffic = task->traffic;
	struct result result = { 0 };
	struct cached_load load;
	const double n = task->seeds;
	uint32_t servers;

	traffic.skew = skew;
	for (traffic.seed = 1; traffic.seed <= task->seeds; traffic.seed++) {
		cached_traffic__run(&traffic, &load);
		result.absorbed += (double)load.absorbed / load.packets / n;
		result.best += load.best / n;
		result.reports += load.reports / n / PERIODS;
		result.exchanges += load.exchanges / n / PERIODS;
		for (servers = 1; servers <= SERVERS; servers++) {
			result.busiest_uncached[servers] +=
				busiest(load.all, load.packets, servers) / n;
			result.busiest[servers] += busiest(load.missed, load.packets, servers) / n;
		}
		if (traffic.seed == 1) {
			add_up(load.all, load.packets, SERVERS, result.uncached);
			add_up(load.missed, load.packets, SERVERS, result.cached);
		}
	}
	return result;
}

/* ---- figure 9a */

/* With 8 servers, the most used one in proportion to the average one. */
static double uneven_uncached(const struct result *result)
{
	return SERVERS * result->busiest_uncached[SERVERS];
}

static double uneven(const struct result *result)
{
	return SERVERS * result->busiest[SERVERS] / (1 - result->absorbed);
}

static void balance(struct task *task)
{
	uint32_t i, server;

	printf("Figure 9a: %u flows, a cache of %u, %u servers, %u runs of %u periods of %" PRIu64 " packets.\n"
	       "Measured: the fraction of packets that the cache absorbs, and the most used server\n"
	       "in proportion to the average one.\n\n"
	       "  skew  absorbed   paper  if perfect   busiest server: uncached  cached   a period: reports  exchanges\n",
	       task->traffic.flows, task->traffic.cache, SERVERS, task->seeds,
	       PERIODS, task->traffic.period);
	fprintf(task->csv, "skew,server,uncached,cached\n");
	for (i = 0; i < SKEWS; i++) {
		const struct result result = measure(task, skews[i]);
		char paper[8] = "-";

		if (skews[i] == 0.99)
			snprintf(paper, sizeof(paper), "%.0f %%", 100 * TEA_PAPER_ABSORBED);
		printf("  %.2f  %6.1f %%  %6s    %6.1f %%   %24.2f  %6.2f   %17.0f  %9.0f\n",
		       skews[i], 100 * result.absorbed, paper, 100 * result.best,
		       uneven_uncached(&result), uneven(&result), result.reports, result.exchanges);
		for (server = 0; server < SERVERS; server++)
			fprintf(task->csv, "%.2f,%u,%.6f,%.6f\n", skews[i], server + 1,
				result.uncached[server], result.cached[server]);
	}
	printf("\nThe paper says of its figure that the load is evenly spread with the cache.\n");
}

/* ---- figure 9b */

/* Without loss: until the most used server reaches its limit of lookups. */
static double limit(double most)
{
	return fmin(TEA_PAPER_LOOKUPS_HIGH_MPPS / most, TEA_PAPER_GENERATORS_MPPS);
}

static void throughput(struct task *task)
{
	uint32_t i, servers;

	printf("Figure 9b, MODELLED: million packets of 64 bytes a second without a loss, from the\n"
	       "measured fraction of packets at the most used server. From the paper are a server's\n"
	       "%.1f million lookups a second and the generators' %.1f million packets.\n\n"
	       "  skew  cache",
	       TEA_PAPER_LOOKUPS_HIGH_MPPS, TEA_PAPER_GENERATORS_MPPS);
	for (servers = 1; servers <= SERVERS; servers *= 2)
		printf("  %u server%s", servers, servers == 1 ? " " : "s");
	printf("  paper, 8\n");
	fprintf(task->csv, "skew,servers,uncached,cached\n");
	for (i = 0; i < SKEWS; i++) {
		const struct result result = measure(task, skews[i]);
		uint32_t cached;

		for (cached = 0; cached <= 1; cached++) {
			printf("  %.2f  %5s", skews[i], cached ? "yes" : "no");
			for (servers = 1; servers <= SERVERS; servers *= 2)
				printf("  %9.1f", limit(cached ? result.busiest[servers] :
								 result.busiest_uncached[servers]));
			if (cached && skews[i] >= 0.95)
				printf("  %8d\n", TEA_PAPER_SERVERS_8_MPPS);
			else
				printf("  %8s\n", "-");
		}
		for (servers = 1; servers <= SERVERS; servers++)
			fprintf(task->csv, "%.2f,%u,%.3f,%.3f\n", skews[i],
				servers, limit(result.busiest_uncached[servers]),
				limit(result.busiest[servers]));
	}
}

/* ---- the table of network functions */

static void functions(struct task *task)
{
	const double uncached =
		(TEA_PAPER_NF_UNCACHED_LOW_MPPS + TEA_PAPER_NF_UNCACHED_HIGH_MPPS) / 2;
	const double cached = (TEA_PAPER_NF_CACHED_LOW_MPPS + TEA_PAPER_NF_CACHED_HIGH_MPPS) / 2;
	uint32_t i;

	printf("Network functions, MODELLED. A NAT, a firewall, a load balancer and a VPN gateway\n"
	       "look one entry up for each packet, so only the packets by key distinguish them:\n"
	       "throughput = the paper's %.2f million lookups a second / packets not absorbed, of one\n"
	       "server and as many as the generators send (%.1f).\n\n"
	       "  skew  absorbed, measured   million packets a second, modelled\n",
	       uncached, TEA_PAPER_GENERATORS_MPPS);
	fprintf(task->csv,
		"skew,absorbed,perfect,uneven_uncached,uneven_cached,reports,exchanges,throughput\n");
	for (i = 0; i < SKEWS; i++) {
		const struct result result = measure(task, skews[i]);
		const double modelled = fmin(uncached / (1 - result.absorbed),
					     TEA_PAPER_GENERATORS_MPPS);

		printf("  %.2f  %16.1f %%   %32.1f\n", skews[i], 100 * result.absorbed, modelled);
		fprintf(task->csv, "%.2f,%.6f,%.6f,%.6f,%.6f,%.1f,%.1f,%.3f\n", skews[i],
			result.absorbed, result.best, uneven_uncached(&result), uneven(&result),
			result.reports, result.exchanges, modelled);
	}
	printf("\nThe paper's four functions: %.2f to %.2f without the cache, %.2f to %.2f with it, at\n"
	       "%.2f to %.2f us. If all else was equal, its cache absorbed %.1f %% of that traffic.\n",
	       TEA_PAPER_NF_UNCACHED_LOW_MPPS, TEA_PAPER_NF_UNCACHED_HIGH_MPPS,
	       TEA_PAPER_NF_CACHED_LOW_MPPS, TEA_PAPER_NF_CACHED_HIGH_MPPS,
	       TEA_PAPER_NF_LATENCY_LOW_US, TEA_PAPER_NF_LATENCY_HIGH_US,
	       100 * (1 - uncached / cached));
}

static const struct figure {
	const char *name;
	const char *file;
	void (*run)(struct task *task);
} figures[] = {
	{ "balance", "tea_model_balance.csv", balance },
	{ "throughput", "tea_model_throughput.csv", throughput },
	{ "functions", "tea_model_functions.csv", functions },
};

static int run(const struct figure *figure, struct task *task, const char *output)
{
	char *path;

	if (asprintf(&path, "%s/%s", output, figure->file) < 0)
		err(EXIT_FAILURE, "%s", output);
	task->csv = fopen(path, "we");
	if (!task->csv)
		err(EXIT_FAILURE, "%s", path);
	figure->run(task);
	if (fclose(task->csv))
		err(EXIT_FAILURE, "%s", path);
	printf("  %s\n", path);
	free(path);
	return EXIT_SUCCESS;
}

/* Ends the program unless @text is a number from @low to @high. */
static uint64_t number(const char *option, const char *text, uint64_t low, uint64_t high)
{
	unsigned long long value;
	char *end;

	value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || value < low || value > high)
		errx(EXIT_FAILURE, "--%s: expected a number from %" PRIu64 " to %" PRIu64, option,
		     low, high);
	return value;
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "flows", required_argument, NULL, 'f' },
		{ "cache", required_argument, NULL, 'c' },
		{ "period", required_argument, NULL, 'p' },
		{ "threshold", required_argument, NULL, 't' },
		{ "seeds", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct task task = {
		.traffic = {
			.flows = TEA_PAPER_FLOWS, .cache = TEA_PAPER_CACHE,
			.threshold = 32, .period = 1000000, .warm = WARM,
			.periods = PERIODS,
		},
		.seeds = 3,
	};
	const char *output = ".output/bench";
	int option;
	size_t i;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'f':
			task.traffic.flows = number("flows", optarg, 1, 1 << 26);
			break;
		case 'c':
			task.traffic.cache = number("cache", optarg, 1, CACHE_KEYS_ENTRIES_MAX);
			break;
		case 'p':
			task.traffic.period = number("period", optarg, 1, UINT32_MAX);
			break;
		case 't':
			task.traffic.threshold = number("threshold", optarg, 1, UINT16_MAX);
			break;
		case 's':
			task.seeds = number("seeds", optarg, 1, SEEDS);
			break;
		case 'o':
			output = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		default:
			return 2;
		}
	}
	for (i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (optind == argc - 1 && !strcmp(argv[optind], figures[i].name))
			return run(&figures[i], &task, output);
	fputs("tea-sim: expected one of balance, throughput, functions (see tea-sim --help)\n",
	      stderr);
	return 2;
}
