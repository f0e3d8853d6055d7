// SPDX-License-Identifier: GPL-2.0-only
/* Journals for the XDP program: reads their files, and sends entries that wait at the end. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libdart/report/packet_socket.h>

#include "appender.h"
#include "maps.h"
#include "pins.h"

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
	uint32_t share;
	int ret;

	ret = dart_journal_target__load(path, address, target, error) ?:
		      check_entries(target, error);
	if (ret)
		return ret;
	collectors->list = malloc(sizeof(*collectors->list));
	if (!collectors->list)
		return dart_error__system(error, ENOMEM, "cannot load the journal");
	collectors->count = 1;
	collectors->list[0] = target->collector;
	collectors->shares[0] = 0;
	for (share = 1; share < DART_STORE_SHARES; share++)
		collectors->shares[share] = DART_COLLECTOR_NONE;
	return 0;
}

/* ---- the last entries */

/*
 * Where entries of an appender, or postcards of a translator, wait.  The program makes a WRITE of
 * an entry of this map when a test run gets a frame with its number.
 */
struct waiting {
	int map, program;
	uint32_t entries;	/* of the map */
	uint32_t length;	/* of the frame, before the program */
	bool has_lists;		/* of an appender; rows of a translator otherwise */
};

static bool waits(const struct waiting *waiting, uint32_t number)
{
	union {
		struct reporter_list list;
		struct reporter_row row;
	} entry;

	if (bpf_map_lookup_elem(waiting->map, &number, &entry))
		return false;
	return waiting->has_lists ? entry.list.count != entry.list.written :
				    entry.row.key_length && !entry.row.is_reported;
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
	waiting->length = sizeof(struct dart_roce_headers) + DART_ROCE_ICRC_LENGTH;
	if (waiting->has_lists)
		waiting->length += 1u << row.journal.batch_log2;
	return dart_packet_socket__open(name, 0, socket, error);
}

static int flush(const char *interface, struct waiting *waiting, struct dart_error *error)
{
	struct dart_packet_socket *socket;
	uint32_t number;
	int ret;

	ret = open_socket(interface, waiting, &socket, error);
	if (ret)
		return ret;
	/* Until frames that were in the program when its link ended have left it. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	for (number = 0; !ret && number < waiting->entries; number++)
		if (waits(waiting, number))
			ret = flush_one(waiting, number, socket);
	ret = ret ?: dart_packet_socket__flush(socket);
	dart_packet_socket__close(socket);
	return ret ? dart_error__system(error, -ret, "cannot send its last reports") : 0;
}

int xdp_appender__flush(const char *interface, struct dart_error *error)
{
	struct waiting waiting = { .program = xdp_pins__open(interface, XDP_PIN_FLUSH) };
	int ret;

	if (waiting.program < 0)
		return 0;
	waiting.map = xdp_pins__open_map(interface, XDP_PIN_LISTS, sizeof(struct reporter_list),
					 &waiting.entries);
	waiting.has_lists = waiting.map >= 0;
	if (waiting.map < 0)
		waiting.map = xdp_pins__open_map(interface, XDP_PIN_ROWS,
						 sizeof(struct reporter_row), &waiting.entries);
	if (waiting.map >= 0) {
		ret = flush(interface, &waiting, error);
		close(waiting.map);
	} else {
		ret = dart_error__set(error, EPROTO, "another dartctl has attached it");
	}
	close(waiting.program);
	return ret;
}
