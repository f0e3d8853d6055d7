// SPDX-License-Identifier: GPL-2.0-only
/* Parses the command line of dart-controller. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>

#include "option_code.h"
#include "options_command.h"
#include "options_outputs.h"
#include "options_record.h"
#include "options_targets.h"

static const struct option long_options[] = {
	{ "interval", required_argument, NULL, 'i' },
	{ "count", required_argument, NULL, 'n' },
	{ "json", no_argument, NULL, 'j' },
	{ "once", no_argument, NULL, OPTION_ONCE },
	{ "config", required_argument, NULL, 'c' },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "entries", required_argument, NULL, 'e' },
	{ "flow", required_argument, NULL, OPTION_FLOW },
	{ "io", required_argument, NULL, OPTION_IO },
	{ "transport", required_argument, NULL, OPTION_TRANSPORT },
	{ "tls-certificate", required_argument, NULL, OPTION_TLS_CERTIFICATE },
	{ "tls-key", required_argument, NULL, OPTION_TLS_KEY },
	{ "tls-authorities", required_argument, NULL, OPTION_TLS_AUTHORITIES },
	{ "tls-revoked", required_argument, NULL, OPTION_TLS_REVOKED },
	{ "workers", required_argument, NULL, OPTION_WORKERS },
	{ "clock-bound", required_argument, NULL, OPTION_CLOCK_BOUND },
	{ "file-sd", required_argument, NULL, OPTION_FILE_SD },
	{ "dns-srv", required_argument, NULL, OPTION_DNS_SRV },
	{ "http-sd", required_argument, NULL, OPTION_HTTP_SD },
	{ "socket", required_argument, NULL, OPTION_SOCKET },
	{ "listen", optional_argument, NULL, OPTION_LISTEN },
	{ "listen-token-file", required_argument, NULL, OPTION_LISTEN_TOKEN_FILE },
	{ "web", optional_argument, NULL, OPTION_WEB },
	{ "web-token-file", required_argument, NULL, OPTION_WEB_TOKEN_FILE },
	{ "http-certificate", required_argument, NULL, OPTION_HTTP_CERTIFICATE },
	{ "http-key", required_argument, NULL, OPTION_HTTP_KEY },
	{ "http-user", required_argument, NULL, OPTION_HTTP_USER },
	{ "http-password-file", required_argument, NULL, OPTION_HTTP_PASSWORD_FILE },
	{ "http-name", required_argument, NULL, OPTION_HTTP_NAME },
	{ "remote-write", required_argument, NULL, OPTION_REMOTE_WRITE },
	{ "influx", required_argument, NULL, OPTION_INFLUX },
	{ "record", required_argument, NULL, OPTION_RECORD },
	{ "record-size", required_argument, NULL, OPTION_RECORD_SIZE },
	{ "record-files", required_argument, NULL, OPTION_RECORD_FILES },
	{ "from", required_argument, NULL, OPTION_FROM },
	{ "to", required_argument, NULL, OPTION_TO },
	{ "speed", required_argument, NULL, OPTION_SPEED },
	{ "format", required_argument, NULL, OPTION_FORMAT },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{}
};

static bool parse_count(const char *text, uint64_t *count)
{
	char *end;

	errno = 0;
	*count = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *count;
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
			err = dart_error__set(
				error, EINVAL,
				"'%s' is not a flow control (expected credit, bdp or none)",
				name);
		else if (bytes && settings->flow == SETTINGS_FLOW_NONE)
			err = dart_error__set(
				error, EINVAL,
				"flow control 'none' has no bytes");
		else if (bytes && settings__parse_flow_bytes(
					  bytes, &settings->flow_bytes))
			err = dart_error__set(
				error, EINVAL,
				"'%s' is not a number of bytes (expected 4K to 1G, e.g. 256K)",
				bytes);
	}
	free(copy);
	return err;
}

static int set_path(char **path, struct dart_error *error)
{
	free(*path);
	*path = strdup(optarg);
	return *path ? 0 : dart_error__no_memory(error);
}

static int parse_one(struct options *options, int c, char *argv[],
		     struct dart_error *error)
{
	switch (c) {
	case 'i':
		if (!settings__parse_interval(optarg,
					      &options->settings.interval_ns))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not an interval (expected 100us to 60min, e.g. 1s)",
			optarg);
	case 'n':
		if (parse_count(optarg, &options->count))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a count (expected a number above 0)",
			optarg);
	case OPTION_WORKERS:
		if (!settings__parse_workers(optarg,
					     &options->settings.workers))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a number of workers (expected 1 to 64)",
			optarg);
	case OPTION_CLOCK_BOUND:
		if (!settings__parse_interval(
			    optarg, &options->settings.clock_bound_ns))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a bound of clocks (expected 100us to 60min, e.g. 2s)",
			optarg);
	case OPTION_IO:
		if (!settings__parse_io(optarg, &options->settings.io))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a kind of I/O (expected event, poll or hybrid)",
			optarg);
	case OPTION_TRANSPORT:
		if (!settings__parse_transport(optarg,
					       &options->settings.transport))
			return 0;
		return dart_error__set(
			error, EINVAL,
			"'%s' is not a transport (expected read, rpc or tcp)",
			optarg);
	case OPTION_TLS_CERTIFICATE:
		return set_path(&options->settings.tls.certificate, error);
	case OPTION_TLS_KEY:
		return set_path(&options->settings.tls.key, error);
	case OPTION_TLS_AUTHORITIES:
		return set_path(&options->settings.tls.authorities, error);
	case OPTION_TLS_REVOKED:
		return set_path(&options->settings.tls.revoked, error);
	case 'e':
		return options_targets__add_entries(&options->settings, optarg,
						    error);
	case OPTION_FLOW:
		return parse_flow(&options->settings, optarg, error);
	case 'c':
		options->config = optarg;
		return 0;
	case OPTION_FILE_SD:
		return options_targets__add_source(
			&options->settings, SOURCE_FILE_SD, optarg, error);
	case OPTION_DNS_SRV:
		return options_targets__add_source(
			&options->settings, SOURCE_DNS_SRV, optarg, error);
	case OPTION_HTTP_SD:
		return options_targets__add_source(
			&options->settings, SOURCE_HTTP_SD, optarg, error);
	case OPTION_LISTEN:
	case OPTION_WEB:
	case OPTION_LISTEN_TOKEN_FILE:
	case OPTION_WEB_TOKEN_FILE:
	case OPTION_HTTP_CERTIFICATE:
	case OPTION_HTTP_KEY:
	case OPTION_HTTP_USER:
	case OPTION_HTTP_PASSWORD_FILE:
	case OPTION_HTTP_NAME:
	case OPTION_REMOTE_WRITE:
	case OPTION_INFLUX:
		return options_outputs__parse(&options->settings.outputs, c,
					      optarg, error);
	case OPTION_SOCKET:
		options->socket = optarg;
		return 0;
	case OPTION_RECORD:
	case OPTION_RECORD_SIZE:
	case OPTION_RECORD_FILES:
	case OPTION_FROM:
	case OPTION_TO:
	case OPTION_SPEED:
	case OPTION_FORMAT:
		return options_record__parse(options, c, optarg, error);
	case 'j':
		options->json = true;
		return 0;
	case OPTION_ONCE:
		options->once = true;
		return 0;
	case OPTION_CHECK:
		options->only_checks = true;
		return 0;
	case 'h':
		options->action = OPTIONS_HELP;
		return 0;
	case 'V':
		options->action = OPTIONS_VERSION;
		return 0;
	default:
		/* optind may still point at the word with the letter. */
		if (c == '?' && optopt && optopt < OPTION_CODE_FIRST &&
		    !strchr("injcehV", optopt))
			return dart_error__set(
				error, EINVAL,
				"unknown option '-%c' (see --help)", optopt);
		return dart_error__set(
			error, EINVAL,
			c == ':' ? "option '%s' requires a value (see --help)" :
				   "unknown option '%s' (see --help)",
			argv[optind - 1]);
	}
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
	int c, err = 0;

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
	if (!options->action)
		err = options_command__take(options, argc, argv, error);
	for (; !err && optind < argc; optind++)
		err = options_targets__add(&options->settings, argv[optind],
					   error);
	if (err)
		return err;
	choose_transport(&options->settings);
	return options_command__check(options, error);
}
