// SPDX-License-Identifier: GPL-2.0-only
/* Checks of the limits of dartd: locked memory, open files, huge pages for its stores. */
#include <dirent.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#include <dart/control.h>

#include "checks.h"
#include "tools/doctor/process_limit.h"
#include "tools/doctor/text_file.h"

#define MIB (UINT64_C(1) << 20)

/* Further descriptors that dartd will need: for clients and followers. */
#define FILES_SPARE 64
#define FILES_ADVISED 65536

static void check_memory_of_process(struct findings *findings, pid_t pid)
{
	uint64_t limit, pinned;

	if (process_limit__has_capability(pid, CAP_IPC_LOCK)) {
		findings__ok(findings, "memlock", "dartd may pin any memory (CAP_IPC_LOCK)");
		return;
	}
	if (!process_limit__get(pid, "Max locked memory", &limit))
		return;
	if (limit == PROCESS_LIMIT_NONE) {
		findings__ok(findings, "memlock", "dartd has no limit");
		return;
	}
	pinned = process_limit__status_bytes(pid, "VmPin");
	if (limit < pinned + DART_CONTROL_LENGTH_MAX)
		findings__fail(findings, "memlock",
			       "dartd may pin %llu KiB and has pinned %llu KiB: registrations fail",
			       (unsigned long long)limit >> 10, (unsigned long long)pinned >> 10);
	else
		findings__warn(findings, "memlock",
			       "dartd may pin no more than %llu MiB, stores among it",
			       (unsigned long long)(limit / MIB));
	findings__advise(findings, "set LimitMEMLOCK=infinity in its unit, and now");
	findings__command(findings, "prlimit --pid %d --memlock=unlimited:unlimited", (int)pid);
}

/* Checks the limit in the unit, with which systemd will start dartd. */
static void check_memory_of_unit(struct findings *findings)
{
	char limit[64] = "";
	FILE *output;

	if (!text_file__exists("/run/systemd/system"))
		return;
	output = popen("systemctl show -P LimitMEMLOCK dartd 2>/dev/null", "re");
	if (output && !fgets(limit, sizeof(limit), output))
		*limit = '\0';
	if (output)
		pclose(output);
	limit[strcspn(limit, "\n")] = '\0';
	if (!*limit)
		return;
	if (!strcmp(limit, "infinity")) {
		findings__ok(findings, "memlock", "the unit of dartd sets no limit");
		return;
	}
	findings__warn(findings, "memlock", "the unit of dartd limits pinned memory to %s bytes",
		       limit);
	findings__command(
		findings,
		"mkdir -p /etc/systemd/system/dartd.service.d && printf '[Service]\\nLimitMEMLOCK=infinity\\n' > /etc/systemd/system/dartd.service.d/memlock.conf && systemctl daemon-reload");
}

/* Counts the open descriptors of a process; -1 if only root may see them. */
static long long count_files(pid_t pid)
{
	struct dirent *entry;
	long long count = 0;
	char path[64];
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	if (!files)
		return -1;
	while ((entry = readdir(files)))
		count += *entry->d_name != '.';
	closedir(files);
	return count;
}

static void check_files(struct findings *findings, pid_t pid)
{
	long long count = count_files(pid);
	uint64_t limit;

	if (!process_limit__get(pid, "Max open files", &limit))
		return;
	if (count < 0 && limit >= 2 * FILES_SPARE) {
		findings__ok(findings, "files",
			     "dartd may open %llu (only root sees how many it has open)",
			     (unsigned long long)limit);
		return;
	}
	if (count < 0)
		count = 0;
	if (limit >= (uint64_t)count + FILES_SPARE) {
		findings__ok(findings, "files", "dartd has %lld open of %llu",
			     count, (unsigned long long)limit);
		return;
	}
	if (limit <= (uint64_t)count)
		findings__fail(findings, "files",
			       "dartd has %lld files open and may open %llu: no client can connect",
			       count, (unsigned long long)limit);
	else
		findings__warn(findings, "files", "dartd has %lld files open and may open %llu",
			       count, (unsigned long long)limit);
	findings__advise(findings, "set LimitNOFILE=%u in its unit, and now", FILES_ADVISED);
	findings__command(findings, "prlimit --pid %d --nofile=%u:%u", (int)pid, FILES_ADVISED,
			  FILES_ADVISED);
}

void check_limits(struct findings *findings, const struct running_agent *agent)
{
	if (!agent->pid) {
		check_memory_of_unit(findings);
		return;
	}
	check_memory_of_process(findings, agent->pid);
	check_files(findings, agent->pid);
}

/* ---- huge pages: enough of them must be free for stores that have none */

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
		/* Huge pages gain nothing for a smaller store; a file uses its own pages. */
		if (json_is_true(json_object_get(store, "huge_pages")) ||
		    json_object_get(store, "file") || bytes < size)
			continue;
		wanted += (bytes + size - 1) / size;
		stores++;
	}
	if (free >= wanted) {
		findings__ok(findings, "huge_pages",
			     "%llu of %llu are free, stores without them would need %llu", free,
			     total, wanted);
		return;
	}
	findings__warn(
		findings, "huge_pages",
		"%u store%s without huge pages (%llu of %llu KiB each needed, %llu free): each report costs more TLB misses",
		stores, stores == 1 ? " is" : "s are", wanted, size >> 10, free);
	findings__advise(findings, "reserve them, then create the stores again");
	findings__command(findings, "sysctl -w vm.nr_hugepages=%llu", total + wanted - free);
}
