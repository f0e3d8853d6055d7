// SPDX-License-Identifier: GPL-2.0-only
/* dartctl xdp attach, detach: sets up and removes the XDP program. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/escape.h>
#include <libdart/report/translator.h>
#include <libdart/settings/quantity.h>

#include "appender.h"
#include "interface.h"
#include "link.h"
#include "merger.h"
#include "offload.h"
#include "pins.h"
#include "program.h"
#include "tools/dartctl/cli/collectors_follow.h"
#include "tools/dartctl/cli/command.h"

/* The INT specification assigns no port. */
#define INT_PORT	5000

/* Of paths and sums that are gathered: as a translator in user space has. */
#define AGE_NS		1000000000ULL
#define AGE_MIN_NS	1000000ULL
#define AGE_MAX_NS	3600000000000ULL

/* The request of the command line. */
struct request {
	const char *interface;
	const char *through;	/* NULL: the same interface */
	struct in_addr source;	/* INADDR_ANY: the address of this interface */
	uint16_t int_port;
	uint16_t report_port;
	const char *copies;	/* NULL: random */
	bool all_copies;
	const char *journal;	/* its file; NULL: stores or a sketch */
	const char *sketch;	/* its file */
	uint16_t postcards;	/* UDP port; 0: no paths are gathered */
	const char *age;	/* NULL: AGE_NS */
	long long rows_log2;	/* -1: by default */
	struct collectors_files files;
};

static int take_source(void *address, const char *text)
{
	return inet_pton(AF_INET, text, address) == 1 ? 0 :
							misuse("'%s' is not an IPv4 address", text);
}

static int take_port(void *port, const char *text)
{
	long long number = options__number(text, UINT16_MAX);

	if (number < 0)
		return misuse("'%s' is not a UDP port", text);
	*(uint16_t *)port = number;
	return 0;
}

static int take_copies(void *copies, const char *text)
{
	*(const char **)copies = text;
	return strcmp(text, "all") && strcmp(text, "random") ? EXIT_USAGE : EXIT_SUCCESS;
}

static int take_rows(void *log2, const char *text)
{
	return options__take_power(log2, text) ?:
	       *(long long *)log2 > DART_TRANSLATOR_ROWS_LOG2_MAX ? EXIT_USAGE : EXIT_SUCCESS;
}

static const struct option_row rows[] = {
	OPTION_OWN("collectors", struct request, files, collectors_files__take),
	OPTION_WORD("journal", struct request, journal),
	OPTION_WORD("sketch", struct request, sketch),
	OPTION_WORD("through", struct request, through),
	OPTION_OWN("source", struct request, source, take_source),
	OPTION_OWN("int-port", struct request, int_port, take_port),
	OPTION_OWN("report-port", struct request, report_port, take_port),
	OPTION_OWN("copies", struct request, copies, take_copies, .form = "is random or all"),
	OPTION_OWN("postcards", struct request, postcards, take_port),
	OPTION_OWN("rows", struct request, rows_log2, take_rows,
		   .form = "is a power of two, up to 2^22"),
	OPTION_WORD("age", struct request, age),
	{}
};

static int parse(struct options *options, int argc, char **argv, struct request *request)
{
	*request = (struct request){
		.int_port = INT_PORT,
		.rows_log2 = -1,
	};
	if (options__take(options, argc, argv, rows, request))
		return EXIT_USAGE;
	if (argc - optind != 1 || !(request->files.count || request->journal || request->sketch))
		return misuse("'%s' needs INTERFACE and --collectors FILE, --journal FILE or --sketch FILE",
			      argv[0]);
	if (request->sketch && (request->files.count || request->journal || request->copies ||
				request->report_port || request->postcards))
		return misuse("--sketch excludes --collectors, --journal, --copies, --report-port and --postcards");
	/* Entries have no room for the keys of postcards, and there are no copies of them. */
	if (request->journal &&
	    (request->files.count || request->copies || request->report_port))
		return misuse("--journal excludes --collectors, --copies and --report-port");
	if (request->postcards && (request->journal || request->copies || request->report_port))
		return misuse("--postcards excludes --journal, --copies and --report-port");
	if (!request->postcards && request->rows_log2 >= 0)
		return misuse("--rows needs --postcards");
	if (!request->postcards && !request->sketch && request->age)
		return misuse("--age needs --postcards or --sketch");
	request->all_copies = request->copies && !strcmp(request->copies, "all");
	if (request->int_port == request->report_port)
		return misuse("--int-port and --report-port need different ports");
	request->interface = argv[optind];
	return 0;
}

/* Accepts only values that the program writes: paths and postcards. */
static int check_values(const struct xdp_setup *setup, struct dart_error *error)
{
	const uint32_t length = setup->collectors.list[0].geometry.value_length;

	if (setup->journal || setup->sketch || length == REPORTER_VALUE)
		return 0;
	return dart_error__set(
		error, EINVAL,
		"the store has values of %u bytes, but paths and postcards have %d (dartctl store create --value %d)",
		length, REPORTER_VALUE, REPORTER_VALUE);
}

static int load_and_link(const struct interface *in, const struct interface *out,
			 const struct xdp_setup *setup, const struct xdp_merger *merger,
			 struct dart_error *error)
{
	struct xdp_reporter_bpf *object;
	int ret;

	ret = check_values(setup, error) ?: xdp_program__load(setup, &object, error);
	if (ret)
		return ret;
	ret = setup->sketch ? xdp_merger__fill(merger, bpf_map__fd(object->maps.sketchers)) : 0;
	if (ret)
		dart_error__system(error, -ret, "cannot load the XDP program");
	ret = ret ?: xdp_link__create(in->name, in->number, out->number, object, error);
	xdp_reporter_bpf__destroy(object);
	return ret;
}

static int find_interfaces(const struct request *request, struct interface *in,
			   struct interface *out, struct dart_error *error)
{
	int ret;

	ret = interface__find(request->interface, in, error) ?:
		      interface__find(request->through ?: request->interface, out, error);
	if (request->source.s_addr != INADDR_ANY)
		out->address = request->source;
	if (!ret && out->address.s_addr == INADDR_ANY)
		ret = dart_error__set(
			error, EADDRNOTAVAIL,
			"'%s' has no IPv4 address to report from (give one with --source)",
			out->name);
	return ret;
}

static int find_age(const struct request *request, uint64_t *age_ns, struct dart_error *error)
{
	*age_ns = AGE_NS;
	if (request->age && dart_quantity__parse(DART_QUANTITY_TIME, request->age, AGE_MIN_NS,
						 AGE_MAX_NS, age_ns))
		return dart_error__set(error, EINVAL,
				       "'%s' is not an age (expected a time from 1ms to 60min)",
				       request->age);
	return 0;
}

static struct reporter_translation translation_of(const struct request *request, uint64_t age_ns)
{
	if (!request->postcards)
		return (struct reporter_translation){ .port = 0 };
	return (struct reporter_translation){
		.age_ns = age_ns,
		.rows_log2 = request->rows_log2 < 0 ? DART_TRANSLATOR_ROWS_LOG2 :
						      request->rows_log2,
		.port = htons(request->postcards),
	};
}

static void print_setup(const struct request *request, const struct interface *in,
			const struct interface *out, const struct xdp_setup *setup)
{
	const uint32_t collectors = setup->collectors.count;
	char address[INET_ADDRSTRLEN];
	/* From a file of another machine. */
	char name[DART_ESCAPE_BYTES * sizeof(setup->collectors.list->name)];

	dart_escape__text(setup->collectors.list->name, sizeof(setup->collectors.list->name),
			  DART_ESCAPE_SENTENCE, name, sizeof(name));
	inet_ntop(AF_INET, &out->address, address, sizeof(address));
	if (setup->sketch) {
		printf("%s adds up strips of %d sketcher%s as %s to sketch %s%s%s, %s XDP\n",
		       in->name, __builtin_popcountll(setup->merging.sketchers),
		       setup->merging.sketchers == 1 ? "" : "s", address,
		       name, request->through ? " through " : "",
		       request->through ?: "", xdp_link__mode(in->number));
		return;
	}
	if (setup->journal) {
		printf("%s appends as %s to journal %s%s%s, %s XDP\n", in->name, address,
		       name, request->through ? " through " : "",
		       request->through ?: "", xdp_link__mode(in->number));
		return;
	}
	printf("%s reports%s as %s to %u collector%s%s%s, %s XDP\n", in->name,
	       request->postcards ? " paths of postcards" : "", address, collectors,
	       collectors == 1 ? "" : "s", request->through ? " through " : "",
	       request->through ?: "", xdp_link__mode(in->number));
}

/* Pins what detach() is to turn on again, before it is turned off. */
static int pin_offload(const char *interface, const struct xdp_offload *offload)
{
	const int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "dart_offload", sizeof(uint32_t),
				       sizeof(*offload), 1, NULL);
	const uint32_t zero = 0;
	int ret;

	if (map < 0)
		return -errno;
	ret = bpf_map_update_elem(map, &zero, offload, BPF_ANY) ?
		      -errno :
		      xdp_pins__add(interface, XDP_PIN_OFFLOAD, map);
	close(map);
	return ret;
}

/* Only generic XDP needs this: see offload.h. */
static void keep_tags_in_frames(const struct interface *in)
{
	struct xdp_offload offload;
	struct dart_error error;
	int ret;

	if (strcmp(xdp_link__mode(in->number), "generic"))
		return;
	ret = xdp_offload__find(in->name, &offload, &error);
	if (ret > 0) {
		ret = pin_offload(in->name, &offload);
		if (ret)
			dart_error__system(&error, -ret, "cannot pin the VLAN offload of '%s'",
					   offload.interface);
		else
			ret = xdp_offload__end(&offload, &error);
	}
	if (ret)
		print_warning(error.text);
}

static void restore_offload(const char *interface)
{
	const int map = xdp_pins__open_map(interface, XDP_PIN_OFFLOAD, sizeof(struct xdp_offload),
					   NULL);
	const uint32_t zero = 0;
	struct xdp_offload offload;
	struct dart_error error;

	if (map < 0)
		return;
	if (!bpf_map_lookup_elem(map, &zero, &offload) && xdp_offload__restore(&offload, &error))
		print_warning(error.text);
	close(map);
}

/* The memory of a collector without a store: a journal or a sketch, of which one is in use. */
struct memory {
	struct dart_journal_target journal;
	struct xdp_merger merger;
};

/* Loads the collectors of @setup, and @memory if the request names a journal or a sketch. */
static int load_collectors(const struct request *request, struct in_addr reporter,
			   uint64_t age_ns, struct xdp_setup *setup, struct memory *memory,
			   struct dart_error *error)
{
	int ret;

	if (request->journal) {
		setup->journal = &memory->journal;
		return xdp_appender__load(request->journal, reporter, &memory->journal,
					  &setup->collectors, error);
	}
	if (!request->sketch)
		return dart_collectors__load(request->files.paths, request->files.count, reporter,
					     &setup->collectors, error);
	ret = xdp_merger__load(request->sketch, reporter, &memory->merger, &setup->collectors,
			       error);
	if (ret)
		return ret;
	setup->sketch = &memory->merger.target;
	setup->merging = xdp_merger__merging(&memory->merger, age_ns);
	return 0;
}

static int attach(struct options *options, int argc, char **argv)
{
	struct memory memory;
	struct interface in, out;
	struct xdp_setup setup;
	struct request request;
	struct dart_error error;
	uint64_t age_ns;
	int ret;

	ret = parse(options, argc, argv, &request);
	if (ret)
		return ret;
	if (geteuid())
		return fail(EPERM, "cannot attach to '%s': only root may", request.interface);
	libbpf_set_print(NULL);
	ret = find_interfaces(&request, &in, &out, &error);
	if (!ret && xdp_pins__exist(in.name))
		ret = dart_error__set(&error, EEXIST,
				      "an XDP reporter is attached already (dartctl xdp detach %s)",
				      in.name);
	if (ret)
		goto out;

	setup = (struct xdp_setup){
		.out_interface = out.number,
		.int_port = request.int_port,
		.report_port = request.report_port,
		.all_copies = request.all_copies,
	};
	memcpy(setup.out_mac, out.mac, sizeof(setup.out_mac));
	ret = find_age(&request, &age_ns, &error);
	if (!ret) {
		setup.translation = translation_of(&request, age_ns);
		ret = load_collectors(&request, out.address, age_ns, &setup, &memory, &error);
	}
	if (!ret) {
		ret = load_and_link(&in, &out, &setup, &memory.merger, &error);
		if (!ret)
			keep_tags_in_frames(&in);
		if (!ret && !options->json)
			print_setup(&request, &in, &out, &setup);
		dart_collectors__free(&setup.collectors);
	}
out:
	return ret ? fail(-ret, "cannot attach to '%s': %s", request.interface, error.text) :
		     EXIT_SUCCESS;
}

static int detach(const struct options *options, int argc, char **argv)
{
	const char *name = argv[0];
	struct dart_error error;
	int ret;

	if (geteuid())
		return fail(EPERM, "cannot detach from '%s': only root may", name);
	if (!xdp_pins__is_name(name) || !xdp_pins__exist(name))
		return fail(ENOENT, "cannot detach from '%s': no XDP reporter is attached", name);
	ret = xdp_link__end(name);
	if (!ret && xdp_appender__flush(name, &error))
		print_warning(error.text);
	if (!ret)
		restore_offload(name);
	ret = ret ?: xdp_pins__remove(name);
	return ret ? fail(-ret, "cannot detach from '%s': %s", name, strerror(-ret)) : EXIT_SUCCESS;
}

const struct command xdp_commands[] = {
	{ "attach",
	  "INTERFACE --collectors FILE...|--journal FILE|--sketch FILE [--through INTERFACE] [--source ADDRESS] [--copies random|all] [--int-port PORT] [--report-port PORT] [--postcards PORT [--rows N]] [--age TIME]",
	  "report packets with telemetry that arrive there", .parse = attach },
	{ "follow", "INTERFACE --collectors FILE...|--journal FILE|--sketch FILE",
	  "take over changes of the files while the reporter runs", .parse = command_xdp_follow },
	{ "detach", "INTERFACE", "stop reporting packets of an interface", .run = detach,
	  .least = 1, .most = 1 },
	{ "status", "[INTERFACE]", "count reported packets, and the others by reason",
	  .run = command_xdp_status, .most = 1 },
	{ }
};
