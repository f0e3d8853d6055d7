// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/error.h>

#include "attach.h"
#include "interface.h"
#include "link.h"
#include "maps.h"
#include "program.h"
#include "pins.h"

#define FILES_MAX	DART_COLLECTORS_MAX
/* The INT specification has no number of its own. */
#define INT_PORT	5000

enum {
	OPTION_COLLECTORS = OPTIONS_OWN,
	OPTION_THROUGH,
	OPTION_SOURCE,
	OPTION_INT_PORT,
	OPTION_REPORT_PORT,
	OPTION_COPIES,
};

static const struct option long_options[] = {
	{ "collectors", required_argument, NULL, OPTION_COLLECTORS },
	{ "through", required_argument, NULL, OPTION_THROUGH },
	{ "source", required_argument, NULL, OPTION_SOURCE },
	{ "int-port", required_argument, NULL, OPTION_INT_PORT },
	{ "report-port", required_argument, NULL, OPTION_REPORT_PORT },
	{ "copies", required_argument, NULL, OPTION_COPIES },
	{ }
};

/* What the command line says. */
struct request {
	const char *interface;
	const char *through;	/* NULL: the same interface */
	struct in_addr source;	/* INADDR_ANY: that interface's address */
	uint16_t int_port;
	uint16_t report_port;
	bool all_copies;
	size_t file_count;
	const char *files[FILES_MAX];
};

static int parse_port(const char *text, uint16_t *port)
{
	unsigned long number;
	char *end;

	number = strtoul(text, &end, 10);
	if (!strspn(text, "0123456789") || *end || number > UINT16_MAX)
		return misuse("'%s' is no UDP port", text);
	*port = number;
	return 0;
}

static int parse(struct options *options, int argc, char **argv,
		 struct request *request)
{
	int option, ret = 0;

	*request = (struct request){ .int_port = INT_PORT };
	while (!ret && (option = options__next(options, argc, argv,
					       long_options)) != -1) {
		switch (option) {
		case OPTION_COLLECTORS:
			if (request->file_count == FILES_MAX)
				return misuse("too many files of collectors");
			request->files[request->file_count++] = optarg;
			break;
		case OPTION_THROUGH:
			request->through = optarg;
			break;
		case OPTION_SOURCE:
			if (inet_pton(AF_INET, optarg, &request->source) != 1)
				return misuse("'%s' is no IPv4 address",
					      optarg);
			break;
		case OPTION_INT_PORT:
			ret = parse_port(optarg, &request->int_port);
			break;
		case OPTION_REPORT_PORT:
			ret = parse_port(optarg, &request->report_port);
			break;
		case OPTION_COPIES:
			request->all_copies = !strcmp(optarg, "all");
			if (!request->all_copies && strcmp(optarg, "random"))
				return misuse("--copies is random or all, not '%s'",
					      optarg);
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (ret)
		return ret;
	if (argc - optind != 1 || !request->file_count)
		return misuse("'attach' needs an interface and --collectors FILE");
	if (request->int_port == request->report_port)
		return misuse("--int-port and --report-port need different ports");
	request->interface = argv[optind];
	return 0;
}

/* A path is all that this reporter has for a value. */
static int check_values(const struct dart_collectors *collectors,
			struct dart_error *error)
{
	uint32_t length = collectors->list[0].geometry.value_length;

	if (length == REPORTER_VALUE)
		return 0;
	dart_error__set(
		error, 0,
		"values of %u bytes: paths and postcards have %d (dartctl store create --value %d)",
		length, REPORTER_VALUE, REPORTER_VALUE);
	return -1;
}

static int attach(const struct request *request, const struct interface *in,
		  const struct interface *out, struct reporter_plan *plan,
		  struct dart_error *error)
{
	struct xdp_reporter_bpf *object;
	int ret;

	ret = check_values(&plan->collectors, error);
	if (!ret)
		ret = reporter_object__load(plan, &object, error);
	if (ret)
		return ret;
	ret = reporter_link__make(in->name, in->number, out->number, object,
				  error);
	xdp_reporter_bpf__destroy(object);
	return ret;
}

static int find_interfaces(const struct request *request, struct interface *in,
			   struct interface *out, struct dart_error *error)
{
	int ret;

	ret = interface__find(request->interface, in, error);
	if (!ret)
		ret = interface__find(request->through ?: request->interface,
				      out, error);
	if (request->source.s_addr != INADDR_ANY)
		out->address = request->source;
	if (!ret && out->address.s_addr == INADDR_ANY) {
		dart_error__set(
			error, 0,
			"%s has no IPv4 address for reports to come from (--source)",
			out->name);
		ret = -1;
	}
	return ret;
}

static void say_how(const struct request *request, const struct interface *in,
		    const struct interface *out, uint32_t collectors)
{
	char address[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &out->address, address, sizeof(address));
	printf("%s reports as %s to %u collector%s%s%s, %s XDP\n", in->name,
	       address, collectors, collectors == 1 ? "" : "s",
	       request->through ? " through " : "",
	       request->through ?: "", reporter_link__mode(in->number));
}

int reporter__attach(struct options *options, int argc, char **argv)
{
	struct interface in, out;
	struct reporter_plan plan;
	struct request request;
	struct dart_error error;
	int ret;

	ret = parse(options, argc, argv, &request);
	if (ret)
		return ret;
	if (geteuid())
		return fail("cannot attach to %s: only root may",
			    request.interface);
	libbpf_set_print(NULL);
	ret = find_interfaces(&request, &in, &out, &error);
	if (!ret && reporter_pins__exist(in.name)) {
		dart_error__set(
			&error, 0,
			"there is a reporter already (dartctl reporter detach %s)",
			in.name);
		ret = -1;
	}
	if (ret)
		return fail("cannot attach to %s: %s", request.interface,
			    error.text);

	plan = (struct reporter_plan){
		.out_interface = out.number,
		.int_port = request.int_port,
		.report_port = request.report_port,
		.all_copies = request.all_copies,
	};
	memcpy(plan.out_mac, out.mac, sizeof(plan.out_mac));
	ret = dart_collectors__load(request.files, request.file_count,
				    out.address, &plan.collectors, &error);
	if (!ret) {
		ret = attach(&request, &in, &out, &plan, &error);
		if (!ret && !options->json)
			say_how(&request, &in, &out, plan.collectors.count);
		dart_collectors__free(&plan.collectors);
	}
	return ret ? fail("cannot attach to %s: %s", request.interface,
			  error.text) :
		     EXIT_SUCCESS;
}

int reporter__detach(const struct options *options, int argc, char **argv)
{
	int ret;

	if (argc != 1)
		return misuse("'detach' needs an interface");
	if (geteuid())
		return fail("cannot detach from %s: only root may", argv[0]);
	if (!*argv[0] || strlen(argv[0]) >= IF_NAMESIZE ||
	    strchr(argv[0], '/') || !reporter_pins__exist(argv[0]))
		return fail("cannot detach from %s: there is no reporter",
			    argv[0]);
	ret = reporter_pins__remove(argv[0]);
	return ret ? fail("cannot detach from %s: %s", argv[0],
			  strerror(-ret)) :
		     EXIT_SUCCESS;
}
