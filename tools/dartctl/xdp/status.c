// SPDX-License-Identifier: GPL-2.0-only
/* dartctl xdp status: the counters of the XDP programs of this machine. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/report/roce_frame.h>

#include "link.h"
#include "maps.h"
#include "pins.h"
#include "tools/dartctl/cli/command.h"
#include "tools/dartctl/cli/table.h"

/* In the order of struct reporter. */
static const char *const counters[] = {
	"reports",    "appended",  "gathered",	 "others",  "truncated", "malformed",
	"incomplete", "anonymous", "unassigned", "cramped", "damaged",	 "tagged",
	"answers",    "stale",
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

/* A row of the map, which begins with the counters. */
union row {
	struct reporter reporter;
	__u64 counters[COUNTERS];
};

_Static_assert(COUNTERS * sizeof(__u64) == offsetof(struct reporter, stale) + sizeof(__u64),
	       "each counter has a name");

/*
 * The mode of the program; "gone" if its interface no longer exists, "incomplete" if the command
 * that attaches or detaches it is running, or has not ended.
 */
static const char *mode_of(const char *interface)
{
	int fd = xdp_pins__open(interface, XDP_PIN_LINK);
	struct bpf_link_info info = { };
	__u32 size = sizeof(info);
	int ret;

	if (fd < 0)
		return fd == -ENOENT ? "incomplete" : "unknown";
	ret = bpf_obj_get_info_by_fd(fd, &info, &size);
	close(fd);
	if (ret)
		return "unknown";
	return info.xdp.ifindex ? xdp_link__mode(info.xdp.ifindex) : "gone";
}

/* Adds the sum over all CPUs of each counter to @json. */
static int add_counters(const char *interface, json_t *json)
{
	int fd = xdp_pins__open_map(interface, XDP_PIN_COUNTERS, sizeof(union row), NULL);
	__u64 sums[COUNTERS] = { 0 };
	union row row;
	__u32 cpu;
	size_t i;

	if (fd < 0)
		return fd;
	for (cpu = 0; !bpf_map_lookup_elem(fd, &cpu, &row); cpu++)
		for (i = 0; i < COUNTERS; i++)
			sums[i] += row.counters[i];
	close(fd);
	for (i = 0; i < COUNTERS; i++)
		if (json_object_set_new(json, counters[i], json_integer(sums[i])))
			return -ENOMEM;
	return 0;
}

/* Members of a collector with a reliable connection; @maps: of the collectors and sequences. */
static json_t *arrival_of(const int maps[2], uint32_t number)
{
	struct reporter_collector collector;
	struct reporter_sequence row;
	const char *state = "asking";
	uint32_t unanswered = 0;

	if (bpf_map_lookup_elem(maps[0], &number, &collector) || !collector.is_reliable ||
	    bpf_map_lookup_elem_flags(maps[1], &number, &row, BPF_F_LOCK))
		return json_pack("{s:s}", "transport", "uc");
	if (row.state & (SEQUENCE_FOLLOWED | SEQUENCE_ASKING))
		unanswered = (row.next - row.expected) & DART_ROCE_PSN_MASK;
	if (row.state & SEQUENCE_FOLLOWED)
		state = "followed";
	else if (row.state & SEQUENCE_BROKEN)
		state = "error";
	return json_pack("{s:s, s:s, s:I, s:I, s:I}", "transport", "rc", "state", state, "lost",
			 (json_int_t)row.lost, "stops", (json_int_t)row.stops, "unanswered",
			 (json_int_t)unanswered);
}

static int add_collector(const struct reporter_reports *row, const int maps[2], uint32_t number,
			 json_t *list)
{
	char address[INET_ADDRSTRLEN];
	json_t *json;

	inet_ntop(AF_INET, &row->address[3], address, sizeof(address));
	json = json_pack("{s:s%, s:s, s:I, s:I}", "store", row->store,
			 strnlen(row->store, sizeof(row->store)), "address", address, "qpn",
			 (json_int_t)row->qpn, "reports", (json_int_t)row->reports);
	/* The list owns @json from now on. */
	return json_array_append_new(list, json) ||
			       json_object_update_new(json, arrival_of(maps, number)) ?
		       -ENOMEM : 0;
}

static int add_collectors(const char *interface, json_t *json)
{
	const int maps[2] = {
		xdp_pins__open_map(interface, XDP_PIN_COLLECTORS, sizeof(struct reporter_collector),
				   NULL),
		xdp_pins__open_map(interface, XDP_PIN_SEQUENCES, sizeof(struct reporter_sequence),
				   NULL),
	};
	json_t *list = json_array();
	struct reporter_reports row;
	__u32 number;
	int fd = xdp_pins__open_map(interface, XDP_PIN_REPORTS, sizeof(row), NULL), ret = 0;
	size_t i;

	if (fd < 0 || json_object_set(json, "collectors", list))
		ret = fd < 0 ? fd : -ENOMEM;
	for (number = 0; !ret && !bpf_map_lookup_elem(fd, &number, &row); number++)
		ret = add_collector(&row, maps, number, list);
	if (fd >= 0)
		close(fd);
	for (i = 0; i < 2; i++)
		if (maps[i] >= 0)
			close(maps[i]);
	json_decref(list);
	return ret;
}

/* Adds the reporter of @interface, without counters if it has no maps. */
static int add_reporter(const char *interface, json_t *list)
{
	json_t *json = json_pack("{s:s, s:s}", "interface", interface, "mode", mode_of(interface));
	int ret;

	if (!json)
		return -ENOMEM;
	ret = add_counters(interface, json);
	ret = ret ?: add_collectors(interface, json);
	/* It was detached meanwhile. */
	if (ret == -ENOENT && !xdp_pins__exist(interface)) {
		json_decref(json);
		return 0;
	}
	if (ret == -ENOENT)
		ret = json_object_set_new(json, "mode", json_string("incomplete")) ? -ENOMEM : 0;
	if (ret) {
		json_decref(json);
		return ret;
	}
	return json_array_append_new(list, json) ? -ENOMEM : 0;
}

static void explain(const char *interface, int ret, struct dart_error *error)
{
	if (ret == -EPROTO)
		dart_error__set(
			error, -ret,
			"cannot read the XDP reporters: another dartctl has attached one (dartctl xdp detach %s, and attach it again)",
			interface);
	else
		dart_error__set(error, -ret, "cannot read the XDP reporter of '%s': %s", interface,
				strerror(-ret));
}

/*
 * Adds all reporters of this machine, or only the one of @interface unless that is NULL.  A
 * reporter that cannot be read does not hide the others: sets *@unread after a warning.
 */
static int add_reporters(const char *interface, json_t *list, bool *unread,
			 struct dart_error *error)
{
	DIR *directory = opendir(XDP_PINS);
	char name[IF_NAMESIZE];
	struct dirent *entry;
	int ret = 0;

	if (!directory && errno == ENOENT)
		return 0;
	if (!directory)
		return dart_error__set(error, errno, "cannot read the XDP reporters: %s%s",
				       strerror(errno), errno == EACCES ? " (only root may)" : "");
	while ((entry = readdir(directory))) {
		xdp_pins__interface(entry->d_name, name);
		if (entry->d_name[0] == '.' || (interface && strcmp(interface, name)))
			continue;
		ret = add_reporter(name, list);
		if (!ret)
			continue;
		explain(name, ret, error);
		if (interface)
			break;
		print_warning(error->text);
		*unread = true;
		ret = 0;
	}
	closedir(directory);
	return ret;
}

static const struct table_column of_collector[] = {
	TEXT_COLUMN("store", "store"),
	TEXT_COLUMN("address", "address"),
	NUMBER_COLUMN("qpn", "qpn"),
	TEXT_COLUMN("transport", "transport"),
	TEXT_COLUMN("state", "state"),
	NUMBER_COLUMN("reports", "reports"),
	NUMBER_COLUMN("lost", "lost"),
	NUMBER_COLUMN("stops", "stops"),
	NUMBER_COLUMN("unanswered", "unanswered"),
	{ }
};

static int print(json_t *reporters, bool has_collectors)
{
	struct table_column columns[2 + COUNTERS + 1] = {
		TEXT_COLUMN("interface", "interface"),
		TEXT_COLUMN("mode", "mode"),
	};
	int status;
	size_t i;

	for (i = 0; i < COUNTERS; i++)
		columns[2 + i] = (struct table_column){ counters[i], counters[i], true, NULL };
	status = table__print_objects(reporters, columns);
	if (status || !has_collectors)
		return status;
	putchar('\n');
	return table__print_objects(json_object_get(json_array_get(reporters, 0), "collectors"),
				    of_collector);
}

int command_xdp_status(const struct options *options, int argc, char **argv)
{
	const char *interface = argc ? argv[0] : NULL;
	json_t *reporters = json_array();
	struct dart_error error;
	bool unread = false;
	int status, ret;

	ret = add_reporters(interface, reporters, &unread, &error);
	if (ret)
		status = fail(-ret, "%s", error.text);
	else if (interface && !json_array_size(reporters))
		status = fail(ENOENT, "no XDP reporter is attached to '%s'", interface);
	else if (options->json)
		status = print_json(json_incref(reporters), 0);
	else
		status = print(reporters, interface);
	json_decref(reporters);
	return status ?: unread ? EXIT_FAILURE : EXIT_SUCCESS;
}
