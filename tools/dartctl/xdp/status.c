// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "link.h"
#include "maps.h"
#include "pins.h"
#include "tools/dartctl/table.h"

/* In the order of struct reporter. */
static const char *const counters[] = {
	"reports", "others", "truncated", "malformed", "incomplete",
	"anonymous", "unassigned", "cramped",
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

_Static_assert(COUNTERS * sizeof(__u64) == sizeof(struct reporter),
	       "each counter has a name");

/* How it runs: "gone" if its interface is. */
static const char *mode_of(const char *interface)
{
	int fd = reporter_pins__open(interface, REPORTER_PIN_LINK);
	struct bpf_link_info info = { };
	__u32 size = sizeof(info);
	int ret;

	if (fd < 0)
		return "unknown";
	ret = bpf_obj_get_info_by_fd(fd, &info, &size);
	close(fd);
	if (ret)
		return "unknown";
	return info.xdp.ifindex ? reporter_link__mode(info.xdp.ifindex) :
				  "gone";
}

/* The sums over all CPUs, and each under its name in @json. */
static int add_counters(const char *interface, json_t *json)
{
	int fd = reporter_pins__open(interface, REPORTER_PIN_COUNTERS);
	__u64 row[COUNTERS], sums[COUNTERS] = { 0 };
	__u32 cpu;
	size_t i;

	if (fd < 0)
		return fd;
	for (cpu = 0; !bpf_map_lookup_elem(fd, &cpu, row); cpu++)
		for (i = 0; i < COUNTERS; i++)
			sums[i] += row[i];
	close(fd);
	for (i = 0; i < COUNTERS; i++)
		if (json_object_set_new(json, counters[i],
					json_integer(sums[i])))
			return -ENOMEM;
	return 0;
}

static int add_collectors(const char *interface, json_t *json)
{
	int fd = reporter_pins__open(interface, REPORTER_PIN_REPORTS);
	char address[INET_ADDRSTRLEN];
	struct reporter_reports row;
	json_t *list = json_array();
	int ret = list ? 0 : -ENOMEM;
	__u32 number;

	if (fd < 0) {
		json_decref(list);
		return fd;
	}
	for (number = 0; !ret && !bpf_map_lookup_elem(fd, &number, &row);
	     number++) {
		inet_ntop(AF_INET, &row.address[3], address, sizeof(address));
		if (json_array_append_new(list,
				json_pack("{s:s%, s:s, s:I, s:I}", "store",
					  row.store,
					  strnlen(row.store, sizeof(row.store)),
					  "address", address, "qpn",
					  (json_int_t)row.qpn, "reports",
					  (json_int_t)row.reports)))
			ret = -ENOMEM;
	}
	close(fd);
	if (ret) {
		json_decref(list);
		return ret;
	}
	return json_object_set_new(json, "collectors", list) ? -ENOMEM : 0;
}

static json_t *describe(const char *interface, int *error)
{
	json_t *json = json_pack("{s:s, s:s}", "interface", interface, "mode",
				 mode_of(interface));

	*error = json ? add_counters(interface, json) : -ENOMEM;
	if (!*error)
		*error = add_collectors(interface, json);
	if (*error) {
		json_decref(json);
		return NULL;
	}
	return json;
}

/* All reporters of this machine, or the one of @interface unless NULL. */
static json_t *describe_all(const char *interface, int *error)
{
	json_t *list = json_array(), *one;
	DIR *directory = opendir(REPORTER_PINS);
	char name[IF_NAMESIZE];
	struct dirent *entry;

	*error = list ? 0 : -ENOMEM;
	if (!directory && errno != ENOENT)
		*error = -errno;
	while (!*error && directory && (entry = readdir(directory))) {
		reporter_pins__interface(entry->d_name, name);
		if (entry->d_name[0] == '.' ||
		    (interface && strcmp(interface, name)))
			continue;
		one = describe(name, error);
		if (one && json_array_append_new(list, one))
			*error = -ENOMEM;
	}
	if (directory)
		closedir(directory);
	if (*error) {
		json_decref(list);
		return NULL;
	}
	return list;
}

/* A line for each of @rows with @members, under their names. */
static int fill(struct libscols_table *table, const json_t *rows,
		const char *const *members, size_t texts, size_t count)
{
	size_t i, column;
	json_t *row;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = table__add_column(table, members[i], i >= texts);
	json_array_foreach(rows, i, row) {
		if (!ret)
			ret = table__add_line(table);
		for (column = 0; column < count && !ret; column++)
			ret = table__set(table, column,
					 json_object_get(row, members[column]));
	}
	return ret;
}

static int print(const json_t *rows, const char *const *members, size_t texts,
		 size_t count)
{
	struct libscols_table *table = table__new();

	if (!table)
		return fail("memory is short");
	return table__print(table, fill(table, rows, members, texts, count));
}

static int print_all(const json_t *reporters, bool has_collectors)
{
	static const char *const of_collector[] = {
		"store", "address", "qpn", "reports",
	};
	const char *members[COUNTERS + 2] = { "interface", "mode" };
	int status;

	memcpy(members + 2, counters, sizeof(counters));
	status = print(reporters, members, 2, COUNTERS + 2);
	if (!status && has_collectors) {
		putchar('\n');
		status = print(json_object_get(json_array_get(reporters, 0),
					       "collectors"),
			       of_collector, 2, 4);
	}
	return status;
}

int reporter__status(const struct options *options, int argc, char **argv)
{
	const char *interface = argc ? argv[0] : NULL;
	int error, status = EXIT_SUCCESS;
	json_t *reporters;

	if (argc > 1)
		return misuse("'status' takes an interface, or nothing");
	reporters = describe_all(interface, &error);
	if (!reporters)
		return fail("cannot look at the reporters: %s%s",
			    strerror(-error),
			    error == -EACCES ? " (only root may)" : "");
	if (interface && !json_array_size(reporters)) {
		json_decref(reporters);
		return fail("there is no reporter at %s", interface);
	}
	if (options->json) {
		json_t *answer = json_pack("{s:O}", "reporters", reporters);

		if (!answer || json_dumpf(answer, stdout, JSON_INDENT(2)))
			status = fail("memory is short");
		else
			putchar('\n');
		json_decref(answer);
	} else {
		status = print_all(reporters, interface);
	}
	json_decref(reporters);
	return status;
}
