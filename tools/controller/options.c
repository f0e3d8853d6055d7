// SPDX-License-Identifier: GPL-2.0-only
/* Parses the command line of dart-controller. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>

#include "http/http_address.h"
#include "options.h"

static const struct option long_options[] = {
	{ "interval", required_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "once", no_argument, NULL, '1' },
	{ "config", required_argument, NULL, 'c' },
	{ "entries", required_argument, NULL, 'e' },
	{ "flow", required_argument, NULL, 'f' },
	{ "io", required_argument, NULL, 'o' },
	{ "transport", required_argument, NULL, 'T' },
	{ "tls-certificate", required_argument, NULL, 'C' },
	{ "tls-key", required_argument, NULL, 'K' },
	{ "tls-authorities", required_argument, NULL, 'A' },
	{ "workers", required_argument, NULL, 'w' },
	{ "file-sd", required_argument, NULL, 'F' },
	{ "dns-srv", required_argument, NULL, 'D' },
	{ "http-sd", required_argument, NULL, 'H' },
	{ "socket", required_argument, NULL, 'S' },
	{ "listen", optional_argument, NULL, 'L' },
	{ "web", optional_argument, NULL, 'B' },
	{ "web-token-file", required_argument, NULL, 'U' },
	{ "remote-write", required_argument, NULL, 'W' },
	{ "influx", required_argument, NULL, 'I' },
	{ "record", required_argument, NULL, 'R' },
	{ "record-size", required_argument, NULL, 'Z' },
	{ "record-files", required_argument, NULL, 'N' },
	{ "from", required_argument, NULL, '<' },
	{ "to", required_argument, NULL, '>' },
	{ "speed", required_argument, NULL, 'x' },
	{ "format", required_argument, NULL, 'O' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

const char options__help[] =
	"Usage: dart-controller [OPTION]... [HOST[:PORT]]...\n"
	"       dart-controller doctor [-j] [-e NAME,...] HOST[:PORT]\n"
	"       dart-controller status [-j] [--socket PATH]\n"
	"       dart-controller record FILE [OPTION]... [HOST[:PORT]]...\n"
	"       dart-controller replay [-j] [--from TIME] [--to TIME] [--speed X] FILE...\n"
	"       dart-controller dump [--format KIND] [--from TIME] [--to TIME] FILE...\n"
	"Reads metrics from the memory of hosts by RDMA READ, or asks their agents, finds out\n"
	"why that fails, shows what a controller that runs does, or replays what one recorded.\n"
	"\n"
	"  -i, --interval TIME    time between scrapes: 100ms, 1s (default), 1min\n"
	"  -n, --count N          exit after N scrapes of each agent\n"
	"      --once             print all values of one scrape and exit\n"
	"  -e, --entries NAME,... scrape only these entries; 'cgroup:*' is a pattern\n"
	"      --flow KIND[,BYTES] bound what is in flight: credit (bytes of all agents,\n"
	"                         the default if there can be several), bdp (of each) or none\n"
	"      --io KIND          wait for READs by event (the default), poll, or hybrid:\n"
	"                         poll for small scrapes and wait for large ones\n"
	"      --transport KIND   READ the memory of hosts (read, the default), or ask their\n"
	"                         agents, over RDMA (rpc) or over TCP with TLS (tcp)\n"
	"      --tls-certificate FILE, --tls-key FILE, --tls-authorities FILE\n"
	"                         for tcp: certificate of this controller, its key, and who\n"
	"                         signs those of agents\n"
	"  -j, --json             print JSON, one line per scrape\n"
	"      --workers N        decode in N threads; 1 by default\n"
	"  -c, --config FILE      read further agents and settings from a YAML file, and\n"
	"                         again on SIGHUP\n"
	"      --file-sd FILE     scrape the agents of a JSON file, as it changes\n"
	"      --dns-srv NAME     scrape the agents of SRV records\n"
	"      --http-sd URL      scrape the agents that a URL names\n"
	"      --listen[=ADDRESS:PORT] serve metrics over HTTP, at 127.0.0.1:4794 by default\n"
	"      --web[=ADDRESS:PORT] serve a page that shows all values, live, and the last hour;\n"
	"                         at 127.0.0.1:4795 by default\n"
	"      --web-token-file FILE what a browser must know to see them\n"
	"      --remote-write URL send metrics to a receiver of Prometheus' remote write\n"
	"      --influx URL       send metrics to an InfluxDB, or what takes its line protocol\n"
	"      --socket PATH      where status asks\n"
	"      --record FILE      also record what is read; the command record does only that\n"
	"      --record-size SIZE end the recording, or begin another file, at so many bytes; 1G\n"
	"                         by default\n"
	"      --record-files N   keep N files: FILE, FILE.1 and so on; 1 by default\n"
	"      --from TIME, --to TIME\n"
	"                         of a recording, only this: '2026-11-25 10:30:00', +90s from its\n"
	"                         beginning, or @ and seconds since 1970\n"
	"      --speed X          replay X times as fast, or with max as fast as possible\n"
	"      --format KIND      dump as csv (the default) or json\n"
	"  -h, --help             print this and exit\n"
	"  -V, --version          print the version and exit\n"
	"\n"
	"HOST is a name or an address ([V6]:PORT for IPv6); PORT is 4792 by default, by tcp 4793.\n";

static bool parse_count(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *count;
}

static int add_entries(struct settings *settings, const char *names,
		       struct dart_error *error)
{
	char *copy = strdup(names), *rest = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ","))) {
		err = settings__add_entry(settings, name);
		if (err == -EEXIST)
			err = dart_error__set(error, EINVAL,
				"entry '%s' is named twice", name);
		else if (err == -EINVAL)
			dart_error__set(error, 0,
				"'%s' is not an entry (expected NAME,NAME as in dartctl list)",
				name);
	}
	free(copy);
	return err;
}

static int add_target(struct settings *settings, const char *text,
		      struct dart_error *error)
{
	uint16_t port;
	char *host;
	int err;

	err = settings__parse_agent(text, &host, &port);
	if (err)
		return dart_error__set(error, -err,
			"'%s' is not an agent (expected HOST, HOST:PORT or [V6]:PORT)",
			text);
	err = settings__add_target(
		settings, host,
		port ?: settings__default_port(settings->transport), 0);
	free(host);
	if (err == -EEXIST)
		return dart_error__set(error, EINVAL,
				       "agent '%s' is named twice", text);
	if (err == -E2BIG)
		return dart_error__set(error, EINVAL,
				       "there are more than %d agents",
				       SETTINGS_TARGETS_MAX);
	if (!err && settings->transport)
		settings->targets[settings->target_count - 1].transport =
			settings->transport;
	return err;
}

static int add_source(struct settings *settings, enum source_kind kind,
		      const char *place, struct dart_error *error)
{
	int err = settings__add_source(settings, kind, place);
	struct shared_text *name = source_kind__name(kind, place);
	const char *text = name ? name->text : "?";

	if (err == -EINVAL)
		dart_error__set(error, 0, "'%s' is not %s", text,
				source_kind__expected(kind));
	else if (err == -EEXIST)
		err = dart_error__set(error, EINVAL,
				      "source '%s' is named twice", text);
	shared_text__release(name);
	if (err == -E2BIG)
		return dart_error__set(error, EINVAL,
				       "there are more than %d sources",
				       SETTINGS_SOURCES_MAX);
	return err;
}

/* "credit", or with a bound "credit,16K". */
static int parse_flow(struct settings *settings, const char *text,
		      struct dart_error *error)
{
	char *copy = strdup(text), *bytes = copy, *name;
	int err = copy ? 0 : -ENOMEM;

	settings->flow_bytes = 0;
	if (!err) {
		name = strsep(&bytes, ",");
		if (settings__parse_flow(name, &settings->flow))
			err = dart_error__set(error, EINVAL,
				"'%s' is not a flow control (expected credit, bdp or none)",
				name);
		else if (bytes && settings->flow == SETTINGS_FLOW_NONE)
			err = dart_error__set(error, EINVAL,
				"flow control 'none' has no bytes");
		else if (bytes && settings__parse_flow_bytes(
					  bytes, &settings->flow_bytes))
			err = dart_error__set(error, EINVAL,
				"'%s' is not a number of bytes (expected 4K to 1G, e.g. 256K)",
				bytes);
	}
	free(copy);
	return err;
}

/* Options of recordings. */
static int parse_record(struct options *options, int c,
			struct dart_error *error)
{
	struct settings_record *record = &options->settings.record;
	struct replay_options *replay = &options->replay;

	switch (c) {
	case 'R':
		return settings_record__set_path(record, optarg);
	case 'Z':
		if (!settings__parse_record_size(optarg, &record->size))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not the size of a recording (expected 1M to 16T, e.g. 1G)",
			optarg);
	case 'N':
		if (!settings__parse_record_files(optarg, &record->files))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a number of files (expected 1 to 1000)",
			optarg);
	case 'x':
		replay->has_speed = true;
		if (!replay_options__parse_speed(optarg, &replay->speed))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a speed (expected 0.001 to 1000000, or max)",
			optarg);
	case 'O':
		if (!replay_options__parse_format(optarg, &replay->format))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a format (expected csv or json)", optarg);
	default:
		if (!replay_time__parse(optarg, c == '<' ? &replay->from :
							   &replay->to))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a time (expected '2026-11-25 10:30:00', +90s or @1764066600)",
			optarg);
	}
}

static int set_path(char **path, struct dart_error *error)
{
	free(*path);
	*path = strdup(optarg);
	return *path ? 0 : dart_error__no_memory(error);
}

static int set_address(char **address, struct dart_error *error)
{
	if (optarg && !http_address__is_valid(optarg))
		return dart_error__set(error, EINVAL,
			"'%s' is not an address to listen at (expected HOST:PORT, [V6]:PORT or :PORT)",
			optarg);
	free(*address);
	*address = strdup(optarg ?: HTTP_ADDRESS_DEFAULT);
	return *address ? 0 : dart_error__no_memory(error);
}

static int add_receiver(struct output_settings *outputs,
			enum receiver_kind kind, struct dart_error *error)
{
	struct receiver_settings receiver = {
		.kind = kind,
		.url = strdup(optarg),
	};
	int err = receiver.url ? output_settings__add_receiver(outputs,
							       &receiver, error) :
				 dart_error__no_memory(error);

	receiver_settings__clear(&receiver);
	return err;
}

static int parse_one(struct options *options, int c, char *argv[],
		     struct dart_error *error)
{
	switch (c) {
	case 'i':
		if (!settings__parse_interval(optarg,
					      &options->settings.interval_ns))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not an interval (expected 100us to 60min, e.g. 1s)",
			optarg);
	case 'n':
		if (parse_count(optarg, &options->count))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a count (expected a number above 0)",
			optarg);
	case 'w':
		if (!settings__parse_workers(optarg,
					     &options->settings.workers))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a number of workers (expected 1 to 64)",
			optarg);
	case 'o':
		if (!settings__parse_io(optarg, &options->settings.io))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a kind of I/O (expected event, poll or hybrid)",
			optarg);
	case 'T':
		if (!settings__parse_transport(optarg,
					       &options->settings.transport))
			return 0;
		return dart_error__set(error, EINVAL,
			"'%s' is not a transport (expected read, rpc or tcp)",
			optarg);
	case 'C':
		return set_path(&options->settings.tls.certificate, error);
	case 'K':
		return set_path(&options->settings.tls.key, error);
	case 'A':
		return set_path(&options->settings.tls.authorities, error);
	case 'e':
		return add_entries(&options->settings, optarg, error);
	case 'f':
		return parse_flow(&options->settings, optarg, error);
	case 'c':
		options->config = optarg;
		return 0;
	case 'F':
		return add_source(&options->settings, SOURCE_FILE_SD, optarg,
				  error);
	case 'D':
		return add_source(&options->settings, SOURCE_DNS_SRV, optarg,
				  error);
	case 'H':
		return add_source(&options->settings, SOURCE_HTTP_SD, optarg,
				  error);
	case 'L':
		return set_address(&options->settings.outputs.listen, error);
	case 'B':
		return set_address(&options->settings.outputs.web, error);
	case 'U':
		return set_path(&options->settings.outputs.web_token_path,
				error);
	case 'W':
		return add_receiver(&options->settings.outputs,
				    RECEIVER_REMOTE_WRITE, error);
	case 'I':
		return add_receiver(&options->settings.outputs, RECEIVER_INFLUX,
				    error);
	case 'S':
		options->socket = optarg;
		return 0;
	case 'R':
	case 'Z':
	case 'N':
	case '<':
	case '>':
	case 'x':
	case 'O':
		return parse_record(options, c, error);
	case 'j':
		options->json = true;
		return 0;
	case '1':
		options->once = true;
		return 0;
	case 'h':
	case 'V':
		options->action = c;
		return 0;
	default:
		/* optind may still point at the word with the letter. */
		if (c == '?' && optopt && !strchr("inefjchow1V", optopt))
			return dart_error__set(error, EINVAL,
				"unknown option '-%c' (see --help)", optopt);
		return dart_error__set(error, EINVAL, c == ':' ?
			"option '%s' requires a value (see --help)" :
			"unknown option '%s' (see --help)", argv[optind - 1]);
	}
}

/* Are there options that only scraping takes, and a replay does not? */
static bool has_scraping(const struct options *options)
{
	const struct settings *settings = &options->settings;

	return options->config || options->count || options->once ||
	       settings->interval_ns || settings->flow || settings->io ||
	       settings->workers || settings->source_count ||
	       settings->transport || settings->tls.certificate ||
	       settings->tls.key || settings->tls.authorities ||
	       settings->record.path || settings->record.size ||
	       settings->record.files;
}

/* Are there options that only scraping takes? */
static bool has_more(const struct options *options)
{
	return has_scraping(options) ||
	       output_settings__has_any(&options->settings.outputs);
}

/* Are there options that only replay and dump take? */
static bool has_replay(const struct options *options)
{
	const struct replay_options *replay = &options->replay;

	return replay->from.is_set || replay->to.is_set || replay->has_speed ||
	       replay->format;
}

static int check_status(const struct options *options, struct dart_error *error)
{
	if (!has_more(options) && !has_replay(options) &&
	    !options->settings.target_count && !options->settings.entry_count)
		return 0;
	return dart_error__set(error, EINVAL,
			       "status takes only the options --json and --socket");
}

static int check_doctor(const struct options *options, struct dart_error *error)
{
	if (options->settings.target_count != 1)
		return dart_error__set(error, EINVAL,
				       "doctor takes one HOST[:PORT]");
	if (has_more(options) || has_replay(options) || options->socket)
		return dart_error__set(error, EINVAL,
			"doctor takes only the options --json and --entries");
	return 0;
}

/* The rest of the words are files. */
static int take_files(struct options *options, const char *command, int argc,
		      char *argv[], struct dart_error *error)
{
	const bool dumps = !strcmp(command, "dump");
	struct replay_options *replay = &options->replay;

	replay->files = argv + optind;
	replay->file_count = argc - optind;
	if (!replay->file_count)
		return dart_error__set(error, EINVAL, "%s takes files",
				       command);
	/* One that the other command has is neither's. */
	if (has_scraping(options) || options->settings.entry_count ||
	    options->socket ||
	    (dumps ? has_more(options) || replay->has_speed || options->json :
		     replay->format != DUMP_NONE))
		return dart_error__set(error, EINVAL, dumps ?
			"dump takes only the options --format, --from and --to" :
			"replay takes only the options --json, --listen, --from, --to and --speed");
	if (!dumps && !replay->has_speed)
		replay->speed = 1;
	if (dumps && !replay->format)
		replay->format = DUMP_CSV;
	options->json = options->json || replay->format == DUMP_JSON;
	options->action = 'r';
	return 0;
}

/* The word behind the command record. */
static int take_record(struct options *options, int argc, char *argv[],
		       struct dart_error *error)
{
	if (optind == argc || options->settings.record.path)
		return dart_error__set(error, EINVAL,
				       "record takes a file, and then agents");
	options->only_records = true;
	return settings_record__set_path(&options->settings.record,
					 argv[optind++]);
}

static int check_record(const struct options *options, struct dart_error *error)
{
	const struct settings_record *record = &options->settings.record;

	if (has_replay(options))
		return dart_error__set(error, EINVAL,
			"--from, --to, --speed and --format are options of replay and dump");
	if ((record->size || record->files) && !record->path &&
	    !options->config)
		return dart_error__set(error, EINVAL,
			"--record-size and --record-files need --record FILE");
	return 0;
}

/* Of sources: their options may come before that of the transport. */
static void choose_transport(struct settings *settings)
{
	size_t i;

	for (i = 0; settings->transport && i < settings->source_count; i++)
		settings->sources[i].defaults.transport = settings->transport;
}

int options__parse(struct options *options, int argc, char *argv[],
		   struct dart_error *error)
{
	int c, err;

	memset(options, 0, sizeof(*options));
	dart_error__set(error, 0, "out of memory");
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":i:n:jc:e:hV", long_options,
				NULL)) != -1) {
		err = parse_one(options, c, argv, error);
		if (err)
			return err;
	}
	if (!options->action && optind < argc &&
	    (!strcmp(argv[optind], "doctor") ||
	     !strcmp(argv[optind], "status")))
		options->action = *argv[optind++];
	if (!options->action && optind < argc &&
	    (!strcmp(argv[optind], "replay") ||
	     !strcmp(argv[optind], "dump"))) {
		optind++;
		return take_files(options, argv[optind - 1], argc, argv, error);
	}
	if (!options->action && optind < argc &&
	    !strcmp(argv[optind], "record")) {
		optind++;
		err = take_record(options, argc, argv, error);
		if (err)
			return err;
	}
	for (; optind < argc; optind++) {
		err = add_target(&options->settings, argv[optind], error);
		if (err)
			return err;
	}
	choose_transport(&options->settings);

	if (options->action == 'd')
		return check_doctor(options, error);
	if (options->action == 's')
		return check_status(options, error);
	if (options->action)
		return 0;
	err = check_record(options, error);
	if (err)
		return err;
	if (options->once && options->count)
		return dart_error__set(error, EINVAL,
			"--once and --count are mutually exclusive");
	if (!options->settings.target_count && !options->config &&
	    !options->settings.source_count)
		return dart_error__set(error, EINVAL,
			"no agent to scrape (add HOST[:PORT], --config FILE or a source)");
	/* The configuration may have the certificates. */
	return options->config ? 0 :
				 settings__check_tls(&options->settings, error);
}
