// SPDX-License-Identifier: GPL-2.0-only
/* Kernel counts that show the leftovers of a test. */
#include "leftovers.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "test.h"

/* From a file of lines "name value". */
static long value_of(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char line_name[64];
	long value;

	assert_non_null(file);
	while (fscanf(file, "%63s %ld%*[^\n]", line_name, &value) == 2) {
		if (!strcmp(line_name, name)) {
			fclose(file);
			return value;
		}
	}
	fail_msg("%s has no %s", path, name);
	return 0;
}

static void write_one(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_int_equal(write(fd, "1", 1), 1);
	close(fd);
}

/* The counts of each CPU reach /proc/vmstat late, or when stat_refresh is written. */
long leftovers__pinned_pages(void)
{
	write_one("/proc/sys/vm/stat_refresh");
	return value_of("/proc/vmstat", "nr_foll_pin_acquired") -
	       value_of("/proc/vmstat", "nr_foll_pin_released");
}

long leftovers__module_references(void)
{
	FILE *file = fopen("/sys/module/dart_zero/refcnt", "re");
	long count;

	if (!file)
		return 0;
	assert_int_equal(fscanf(file, "%ld", &count), 1);
	fclose(file);
	return count;
}

bool leftovers__map_exists(uint32_t id)
{
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Objects of kernel threads show no pid. */
long leftovers__rdma(const char *kind)
{
	char command[64], line[512];
	long count = 0;
	FILE *list;

	snprintf(command, sizeof(command), "rdma resource show %s", kind);
	list = popen(command, "r");
	assert_non_null(list);
	while (fgets(line, sizeof(line), list))
		count += strstr(line, " pid ") != NULL;
	assert_int_equal(pclose(list), 0);
	return count;
}

long leftovers__memory_kib(void)
{
	write_one("/proc/sys/vm/drop_caches");
	return value_of("/proc/meminfo", "MemTotal:") - value_of("/proc/meminfo", "MemFree:") -
	       value_of("/proc/meminfo", "Cached:") - value_of("/proc/meminfo", "SReclaimable:");
}

long leftovers__vmalloc_kib(void)
{
	return value_of("/proc/meminfo", "VmallocUsed:");
}
