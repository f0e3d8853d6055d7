// SPDX-License-Identifier: GPL-2.0-only
/* Parses the command line of dart-report. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/report/ledger_adder.h>
#include <libdart/report/translator.h>
#include <libdart/settings/quantity.h>

#include "options.h"

#define COUNT_DEFAULT		1000
#define RATE_DEFAULT		10000
#define RATE_MAX		1000000000
#define PORTS_DEFAULT		8
#define INT_PORT_DEFAULT	5000
#define CACHE_DEFAULT		1024
#define NS_PER_S		UINT64_C(1000000000)
#define AGE_DEFAULT		NS_PER_S
#define AGE_MIN			UINT64_C(1000000)
#define AGE_MAX			(3600 * NS_PER_S)

enum {
	OPTION_AGE = 256,
	OPTION_CACHE,
	OPTION_COPIES,
	OPTION_EMIT,
	OPTION_FOLLOW,
	OPTION_INT_PORT,
	OPTION_JOURNAL,
	OPTION_LEDGER,
	OPTION_LIVE,
	OPTION_PACKETS,
	OPTION_PORTS,
	OPTION_POSTCARDS,
	OPTION_RATE,
	OPTION_ROWS,
	OPTION_SEED,
	OPTION_SKETCH,
	OPTION_SKEW,
	OPTION_SOURCE,
};

static const struct option long_options[] = {
	{ "age", required_argument, NULL, OPTION_AGE },
	{ "cache", required_argument, NULL, OPTION_CACHE },
	{ "collectors", required_argument, NULL, 'c' },
	{ "copies", required_argument, NULL, OPTION_COPIES },
	{ "count", required_argument, NULL, 'n' },
	{ "emit", required_argument, NULL, OPTION_EMIT },
	{ "flows", required_argument, NULL, 'f' },
	{ "follow", no_argument, NULL, OPTION_FOLLOW },
	{ "help", no_argument, NULL, 'h' },
	{ "int-port", required_argument, NULL, OPTION_INT_PORT },
	{ "interface", required_argument, NULL, 'i' },
	{ "journal", required_argument, NULL, OPTION_JOURNAL },
	{ "json", no_argument, NULL, 'j' },
	{ "ledger", required_argument, NULL, OPTION_LEDGER },
	{ "live", required_argument, NULL, OPTION_LIVE },
	{ "packets", required_argument, NULL, OPTION_PACKETS },
	{ "pcap", required_argument, NULL, 'p' },
	{ "ports", required_argument, NULL, OPTION_PORTS },
	{ "postcards", required_argument, NULL, OPTION_POSTCARDS },
	{ "rate", required_argument, NULL, OPTION_RATE },
	{ "rows", required_argument, NULL, OPTION_ROWS },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "sketch", required_argument, NULL, OPTION_SKETCH },
	{ "skew", required_argument, NULL, OPTION_SKEW },
	{ "source", required_argument, NULL, OPTION_SOURCE },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

const char options__help[] =
	"Usage: dart-report [OPTION]... --interface IFACE\n"
	"                   --collectors FILE | --journal FILE | --ledger FILE | --sketch FILE\n"
	"                   --flows KIND | --pcap FILE | --live IFACE\n"
	"Reports the paths of flows to stores, appends them to a journal, or counts their\n"
	"packets in a ledger or a sketch.\n"
	"\n"
	"  -c, --collectors FILE  collectors to report to (see dart_collectors(5)); may be\n"
	"                         repeated\n"
	"      --journal FILE     append an entry for each packet (see dart_journals(5))\n"
	"      --ledger FILE      add each packet to its flow (see dart_ledgers(5))\n"
	"      --sketch FILE      count the packets of each period (see dart_sketches(5))\n"
	"      --cache N          flows whose packets are added up before (1024)\n"
	"  -i, --interface IFACE  send from this Ethernet interface\n"
	"  -f, --flows KIND       generate flows: uniform, zipf or fat-tree\n"
	"  -n, --count N          number of flows (1000)\n"
	"      --packets N        number of packets (one of each flow)\n"
	"      --seed N           generate other flows (0)\n"
	"      --skew S           zipf: packets of rank r are proportional to 1/r^S (1)\n"
	"      --ports K          fat-tree: ports per switch (8)\n"
	"  -p, --pcap FILE        report the INT-MD packets of a capture\n"
	"      --postcards PORT   gather the postcards to this UDP port in a capture: one report\n"
	"                         for the path of a flow\n"
	"      --rows N           flows whose postcards are gathered at once (2^15)\n"
	"      --age TIME         report a path that is incomplete after this time (1s)\n"
	"      --live IFACE       count the packets that arrive at an interface, in a ledger\n"
	"                         or a sketch, until a signal comes\n"
	"      --copies WHICH     slots to fill per key: one at random (random), or all\n"
	"      --follow           go on with other numbers when a file of collectors, or of a\n"
	"                         ledger or a sketch, changes\n"
	"      --rate N           at most N frames/s (10000); 0: no limit\n"
	"      --source ADDRESS   source address (the first one of the interface)\n"
	"      --emit WHAT        send reports (report), or packets with INT-MD (int)\n"
	"      --int-port PORT    UDP port of INT-MD (5000)\n"
	"  -j, --json             print the summary as JSON\n"
	"  -h, --help             print this and exit\n"
	"  -V, --version          print the version and exit\n";

static int take_number(const char *noun, uint64_t least, uint64_t most,
		       uint64_t *number, struct dart_error *error)
{
	if (dart_quantity__parse(DART_QUANTITY_NUMBER, optarg, least, most, number))
		return dart_error__set(error, EINVAL,
			"'%s' is not a %s (expected a number from %llu to %llu)",
			optarg, noun, (unsigned long long)least,
			(unsigned long long)most);
	return 0;
}

/* Takes one of two words and returns whether it is the second. */
static int take_choice(const char *first, const char *second, bool *is_second,
		       struct dart_error *error)
{
	*is_second = !strcmp(optarg, second);
	if (!*is_second && strcmp(optarg, first))
		return dart_error__set(error, EINVAL, "'%s' is neither '%s' nor '%s'", optarg,
				       first, second);
	return 0;
}

static int take_skew(struct options *options, struct dart_error *error)
{
	double *skew = &options->flows.skew;
	char *end;

	*skew = strtod(optarg, &end);
	if (end == optarg || *end || !(*skew >= DART_FLOWS_SKEW_MIN &&
				       *skew <= DART_FLOWS_SKEW_MAX))
		return dart_error__set(error, EINVAL,
			"'%s' is not a skew (expected a number from %g to %g)",
			optarg, DART_FLOWS_SKEW_MIN, DART_FLOWS_SKEW_MAX);
	return 0;
}

static int take_collectors(struct options *options)
{
	const char **files =
		reallocarray(options->collectors, options->collector_files + 1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files[options->collector_files++] = optarg;
	options->collectors = files;
	return 0;
}

static int take_cache(struct options *options, struct dart_error *error)
{
	uint64_t rows;
	int ret = take_number("size of a cache", 1, DART_LEDGER_CACHE_MAX, &rows, error);

	if (!ret && rows & (rows - 1))
		ret = dart_error__set(error, EINVAL, "'%s' is not a power of two", optarg);
	options->cache = rows;
	return ret;
}

static int take_rows(struct options *options, struct dart_error *error)
{
	const int rows_log2 = dart_quantity__logarithm(optarg, DART_TRANSLATOR_ROWS_LOG2_MAX);

	if (rows_log2 < 0)
		return dart_error__set(error, EINVAL, "'%s' is not a power of two, up to 2^%d",
				       optarg, DART_TRANSLATOR_ROWS_LOG2_MAX);
	options->rows_log2 = rows_log2;
	return 0;
}

static int take_age(struct options *options, struct dart_error *error)
{
	if (dart_quantity__parse(DART_QUANTITY_TIME, optarg, AGE_MIN, AGE_MAX, &options->age_ns))
		return dart_error__set(error, EINVAL,
				       "'%s' is not an age (expected a time from 1ms to 60min)",
				       optarg);
	return 0;
}

static int parse_one(struct options *options, int c, char *argv[],
		     struct dart_error *error, bool *has_kind)
{
	uint64_t number;
	int ret;

	switch (c) {
	case 'c':
		return take_collectors(options);
	case 'i':
		options->interface = optarg;
		return 0;
	case 'p':
		options->pcap = optarg;
		return 0;
	case 'f':
		*has_kind = true;
		if (!dart_flows_kind__find(optarg, &options->flows.kind))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a kind of flows (expected uniform, zipf or fat-tree)",
			optarg);
	case 'n':
		return take_number("count", 1, UINT64_MAX, &options->flows.count, error);
	case 'j':
		options->json = true;
		return 0;
	case OPTION_COPIES:
		return take_choice("random", "all", &options->all_copies, error);
	case OPTION_EMIT:
		return take_choice("report", "int", &options->emit_int, error);
	case OPTION_FOLLOW:
		options->follows = true;
		return 0;
	case OPTION_INT_PORT:
		ret = take_number("port", 1, UINT16_MAX, &number, error);
		options->int_port = number;
		return ret;
	case OPTION_JOURNAL:
		options->journal = optarg;
		return 0;
	case OPTION_LEDGER:
		options->ledger = optarg;
		return 0;
	case OPTION_SKETCH:
		options->sketch = optarg;
		return 0;
	case OPTION_LIVE:
		options->live = optarg;
		return 0;
	case OPTION_CACHE:
		return take_cache(options, error);
	case OPTION_PACKETS:
		return take_number("number of packets", 1, UINT64_MAX, &options->packets, error);
	case OPTION_PORTS:
		ret = take_number("number of ports", 2, UINT8_MAX, &number, error);
		options->flows.k = number;
		return ret;
	case OPTION_POSTCARDS:
		ret = take_number("port", 1, UINT16_MAX, &number, error);
		options->postcard_port = number;
		return ret;
	case OPTION_ROWS:
		return take_rows(options, error);
	case OPTION_AGE:
		return take_age(options, error);
	case OPTION_RATE:
		return take_number("rate", 0, RATE_MAX, &options->rate, error);
	case OPTION_SEED:
		return take_number("seed", 0, UINT64_MAX, &options->flows.seed, error);
	case OPTION_SKEW:
		return take_skew(options, error);
	case OPTION_SOURCE:
		if (inet_pton(AF_INET, optarg, &options->source) == 1)
			return 0;
		return dart_error__set(error, EINVAL, "'%s' is not an IPv4 address", optarg);
	case 'h':
	case 'V':
		options->action = c;
		return 0;
	default:
		return dart_error__set(error, EINVAL, c == ':' ?
			"option '%s' requires a value (see --help)" :
			"unknown option '%s' (see --help)", argv[optind - 1]);
	}
}

/* Checks that the options fit together. */
static int check(const struct options *options, bool has_kind, struct dart_error *error)
{
	const int kinds = options->emit_int + !!options->collector_files + !!options->journal +
			  !!options->ledger + !!options->sketch;
	const uint64_t max = dart_flows__max(&options->flows);

	if (!options->interface)
		return dart_error__set(error, EINVAL,
			"no interface to send from (add --interface IFACE)");
	if (has_kind + !!options->pcap + !!options->live != 1)
		return dart_error__set(error, EINVAL,
			"expected either --flows KIND, --pcap FILE or --live IFACE");
	if (kinds > 1)
		return dart_error__set(error, EINVAL,
			"--emit int, --collectors, --journal, --ledger and --sketch are mutually exclusive");
	if (!kinds)
		return dart_error__set(error, EINVAL,
			"no collector to report to (add --collectors, --journal, --ledger or --sketch FILE)");
	if (options->live && !options->ledger && !options->sketch)
		return dart_error__set(error, EINVAL, "--live needs --ledger or --sketch FILE");
	if (options->follows && !options->collector_files && !options->ledger && !options->sketch)
		return dart_error__set(error, EINVAL,
				       "--follow needs --collectors, --ledger or --sketch FILE");
	if (options->postcard_port && (!options->collector_files || !options->pcap))
		return dart_error__set(error, EINVAL, "--postcards needs --collectors and --pcap FILE");
	if (options->emit_int && options->pcap)
		return dart_error__set(error, EINVAL,
			"--emit int and --pcap are mutually exclusive");
	if (has_kind && !max)
		return dart_error__set(error, EINVAL,
			"a fat tree has no switches with %u ports (choose an even number)",
			options->flows.k);
	if (has_kind && options->flows.count > max)
		return dart_error__set(error, EINVAL,
			"cannot generate %llu such flows (at most %llu)",
			(unsigned long long)options->flows.count,
			(unsigned long long)max);
	return 0;
}

int options__parse(struct options *options, int argc, char *argv[], struct dart_error *error)
{
	bool has_kind = false;
	int c, ret;

	*options = (struct options){
		.flows = {
			.k = PORTS_DEFAULT,
			.count = COUNT_DEFAULT,
			.skew = 1,
		},
		.rate = RATE_DEFAULT,
		.int_port = INT_PORT_DEFAULT,
		.cache = CACHE_DEFAULT,
		.rows_log2 = DART_TRANSLATOR_ROWS_LOG2,
		.age_ns = AGE_DEFAULT,
	};
	dart_error__set(error, 0, "out of memory");
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:f:hi:jn:p:V", long_options, NULL)) != -1) {
		ret = parse_one(options, c, argv, error, &has_kind);
		if (ret)
			return ret;
	}
	if (options->action)
		return 0;
	if (optind < argc)
		return dart_error__set(error, EINVAL, "unexpected argument '%s' (see --help)",
				       argv[optind]);
	return check(options, has_kind, error);
}

void options__clear(struct options *options)
{
	free(options->collectors);
	options->collectors = NULL;
}
