// SPDX-License-Identifier: GPL-2.0-only
/* Journals for the XDP program: reads their files, and sends entries that wait at the end. */
#include <bpf/bpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/report/packet_socket.h>

#include "appender.h"
#include "maps.h"
#include "pins.h"
#include "program.h"

/* Bytes of the time and the key of an entry: see bpf/append.h. */
#define ENTRY_MIN 21

static int check_entries(const struct dart_journal_target *target, struct dart_error *error)
{
	if (target->geometry.entry_length >= ENTRY_MIN)
		return 0;
	return dart_error__set(
		error, EINVAL,
		"entries of journal '%s' have %u bytes, but a flow needs %d (dartctl journal create --entry 41)",
		target->collector.name, target->geometry.entry_length, ENTRY_MIN);
}

int xdp_appender__load(const char *path, struct in_addr address, struct dart_journal_target *target,
		       struct dart_collectors *collectors, struct dart_error *error)
{
	return dart_journal_target__load(path, address, target, error) ?:
	       check_entries(target, error) ?:
	       xdp_program__lone(&target->collector, collectors, error);
}

/* ---- the last entries */

/* Maps in which entries of an appender, paths or sums of a translator wait. */
struct waiting_kind {
	const char *pin;
	size_t size;	/* of an element */
	bool (*waits)(const void *element);
};

static bool list_waits(const void *element)
{
	const struct reporter_list *list = element;

	return list->count != list->written;
}

static bool row_waits(const void *element)
{
	const struct reporter_row *row = element;

	return row->key_length && !row->is_reported;
}

static bool sum_waits(const void *element)
{
	const struct reporter_sum *sum = element;

	return sum->period && sum->reporters != sum->written;
}

static const struct waiting_kind kinds[] = {
	{ XDP_PIN_LISTS, sizeof(struct reporter_list), list_waits },
	{ XDP_PIN_ROWS, sizeof(struct reporter_row), row_waits },
	{ XDP_PIN_SUMS, sizeof(struct reporter_sum), sum_waits },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/*
 * The map of an attached program.  The program makes a WRITE of one of its elements when a test run
 * gets a frame with its number.
 */
struct waiting {
	const struct waiting_kind *kind;
	int map, program;
	uint32_t elements;	/* of the map */
	uint32_t length;	/* of the frame */
};

static bool waits(const struct waiting *waiting, uint32_t number)
{
	union {
		struct reporter_list list;
		struct reporter_row row;
		struct reporter_sum sum;
	} element;

	return !bpf_map_lookup_elem(waiting->map, &number, &element) &&
	       waiting->kind->waits(&element);
}

static int flush_one(const struct waiting *waiting, uint32_t number,
		     struct dart_packet_socket *socket)
{
	uint8_t frame[DART_JOURNAL_FRAME_MAX] = { 0 };
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame,
			    .data_size_in = waiting->length,
			    .data_out = dart_packet_socket__next(socket),
			    .data_size_out = DART_JOURNAL_FRAME_MAX, .repeat = 1);

	memcpy(frame, &number, sizeof(number));
	if (bpf_prog_test_run_opts(waiting->program, &options))
		return -errno;
	return options.retval == XDP_TX ?
		       dart_packet_socket__push(socket, options.data_size_out) : 0;
}

/* Opens the socket through which the program sends, and finds the length of its frames. */
static int open_socket(const char *interface, struct waiting *waiting,
		       struct dart_packet_socket **socket, struct dart_error *error)
{
	int map = xdp_pins__open_map(interface, XDP_PIN_COLLECTORS,
				     sizeof(struct reporter_collector), NULL);
	struct dart_roce_headers headers = { 0 };
	struct reporter_collector row;
	char name[IF_NAMESIZE];
	uint32_t zero = 0;
	int ret;

	if (map < 0)
		return dart_error__set(error, EPROTO, "another dartctl has attached it");
	ret = bpf_map_lookup_elem(map, &zero, &row) ? -errno : 0;
	close(map);
	if (ret)
		return dart_error__system(error, -ret, "cannot read its maps");
	if (!if_indextoname(row.out_interface, name))
		return dart_error__system(error, errno, "cannot send its last reports");
	/* All WRITEs have one length, which their constant part says. */
	memcpy(&headers, row.constant, sizeof(row.constant));
	waiting->length = sizeof(headers.ethernet) + ntohs(headers.ip.tot_len);
	if (waiting->length > DART_JOURNAL_FRAME_MAX)
		return dart_error__set(error, EPROTO, "another dartctl has attached it");
	return dart_packet_socket__open(name, 0, socket, error);
}

/*
 * Waits until frames that were in the program when its link ended have left it: the kernel does so
 * before a change of a map of maps returns.  On hosts with nohz_full CPUs membarrier(2) fails.
 */
static int await_programs(void)
{
	int former = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 4, 1, NULL);
	DECLARE_LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = former);
	const uint32_t zero = 0;
	int maps = -1, ret = 0;

	if (former >= 0)
		maps = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, NULL, 4, 4, 1, &options);
	if (maps < 0 || bpf_map_update_elem(maps, &zero, &former, BPF_ANY))
		ret = -errno;
	if (maps >= 0)
		close(maps);
	if (former >= 0)
		close(former);
	return ret;
}

static int flush(const char *interface, struct waiting *waiting, struct dart_error *error)
{
	struct dart_packet_socket *socket;
	uint32_t number;
	int ret;

	ret = open_socket(interface, waiting, &socket, error);
	if (ret)
		return ret;
	ret = await_programs();
	for (number = 0; !ret && number < waiting->elements; number++)
		if (waits(waiting, number))
			ret = flush_one(waiting, number, socket);
	ret = ret ?: dart_packet_socket__flush(socket);
	dart_packet_socket__close(socket);
	return ret ? dart_error__system(error, -ret, "cannot send its last reports") : 0;
}

int xdp_appender__flush(const char *interface, struct dart_error *error)
{
	struct waiting waiting = { .map = -1, .program = xdp_pins__open(interface, XDP_PIN_FLUSH) };
	size_t i;
	int ret;

	if (waiting.program < 0)
		return 0;
	for (i = 0; i < KINDS && waiting.map < 0; i++) {
		waiting.kind = &kinds[i];
		waiting.map = xdp_pins__open_map(interface, kinds[i].pin, kinds[i].size,
						 &waiting.elements);
	}
	if (waiting.map >= 0) {
		ret = flush(interface, &waiting, error);
		close(waiting.map);
	} else {
		ret = dart_error__set(error, EPROTO, "another dartctl has attached it");
	}
	close(waiting.program);
	return ret;
}
