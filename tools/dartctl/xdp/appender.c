// SPDX-License-Identifier: GPL-2.0-only
/* Journals for the XDP program: reads their files, and sends the last entries. */
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

/* Opens the socket through which the appender sends, and finds the length of its frames. */
static int open_socket(int collectors, struct dart_packet_socket **socket, uint32_t *length,
		       struct dart_error *error)
{
	struct reporter_collector row;
	char name[IF_NAMESIZE];
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(collectors, &zero, &row))
		return dart_error__system(error, errno, "cannot read its maps");
	if (!if_indextoname(row.out_interface, name))
		return dart_error__system(error, errno, "cannot send its last entries");
	*length = sizeof(struct dart_roce_headers) + (1u << row.journal.batch_log2) +
		  DART_ROCE_ICRC_LENGTH;
	return dart_packet_socket__open(name, 0, socket, error);
}

/* Sends the entries that wait in @list, as the program makes a WRITE of them. */
static int flush_list(int program, uint32_t list, uint32_t length,
		      struct dart_packet_socket *socket)
{
	uint8_t frame[DART_JOURNAL_FRAME_MAX] = { 0 };
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = length,
			    .data_out = dart_packet_socket__next(socket), .data_size_out = length,
			    .repeat = 1);

	memcpy(frame, &list, sizeof(list));
	if (bpf_prog_test_run_opts(program, &options))
		return -errno;
	return options.retval == XDP_TX ? dart_packet_socket__push(socket, length) : 0;
}

static int flush_lists(int program, uint32_t lists, int collectors, struct dart_error *error)
{
	struct dart_packet_socket *socket = NULL;
	uint32_t list, length = 0;
	int ret;

	ret = open_socket(collectors, &socket, &length, error);
	if (ret)
		return ret;
	for (list = 0; !ret && list < lists; list++)
		ret = flush_list(program, list, length, socket);
	ret = ret ?: dart_packet_socket__flush(socket);
	dart_packet_socket__close(socket);
	return ret ? dart_error__system(error, -ret, "cannot send its last entries") : 0;
}

int xdp_appender__flush(const char *interface, struct dart_error *error)
{
	int program = xdp_pins__open(interface, XDP_PIN_FLUSH), map, collectors, ret;
	uint32_t lists;

	if (program < 0)
		return 0;
	map = xdp_pins__open_map(interface, XDP_PIN_LISTS, sizeof(struct reporter_list), &lists);
	collectors = xdp_pins__open_map(interface, XDP_PIN_COLLECTORS,
					sizeof(struct reporter_collector), NULL);
	if (map < 0 || collectors < 0) {
		ret = dart_error__set(error, EPROTO, "another dartctl has attached it");
	} else {
		/* Until frames that were in the program when its link ended have left it. */
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		ret = flush_lists(program, lists, collectors, error);
	}
	if (collectors >= 0)
		close(collectors);
	if (map >= 0)
		close(map);
	close(program);
	return ret;
}
