// SPDX-License-Identifier: GPL-2.0-only
/* Check of huge pages: enough of them are free for stores that have none. */
#include <stdio.h>
#include <string.h>

#include "checks.h"

#define CHECK "huge_pages"

static unsigned long long meminfo(const char *name)
{
	unsigned long long number = 0;
	char line[128];
	FILE *lines = fopen("/proc/meminfo", "re");

	while (lines && fgets(line, sizeof(line), lines))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line + strlen(name), ": %llu", &number) == 1)
			break;
	if (lines)
		fclose(lines);
	return number;
}

void check_huge_pages(struct findings *findings, const struct running_agent *agent)
{
	unsigned long long size = meminfo("Hugepagesize") << 10;
	unsigned long long free = meminfo("HugePages_Free");
	unsigned long long total = meminfo("HugePages_Total");
	unsigned long long bytes, wanted = 0;
	unsigned int stores = 0;
	json_t *store;
	size_t i;

	if (!size)
		return;
	json_array_foreach(agent->stores, i, store) {
		bytes = json_integer_value(json_object_get(store, "bytes"));
		/* A smaller store gains nothing; a file has its own pages. */
		if (json_is_true(json_object_get(store, "huge_pages")) ||
		    json_object_get(store, "file") || bytes < size)
			continue;
		wanted += (bytes + size - 1) / size;
		stores++;
	}
	if (free >= wanted) {
		findings__ok(findings, CHECK,
			     "%llu of %llu are free, stores without them would need %llu", free,
			     total, wanted);
		return;
	}
	findings__warn(
		findings, CHECK,
		"%u store%s without huge pages (%llu of %llu KiB each needed, %llu free): each report costs more TLB misses",
		stores, stores == 1 ? " is" : "s are", wanted, size >> 10, free);
	findings__advise(findings, "reserve them, then create the stores again");
	findings__command(findings, "sysctl -w vm.nr_hugepages=%llu", total + wanted - free);
}
