// SPDX-License-Identifier: GPL-2.0-only
/* Checks of the kernel: its version, its BTF, its lockdown. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "checks.h"
#include "tools/doctor/text_file.h"

#define BTF "/sys/kernel/btf/vmlinux"

static void check_version(struct findings *findings)
{
	unsigned int major = 0, minor = 0;
	struct utsname kernel;

	uname(&kernel);
	sscanf(kernel.release, "%u.%u", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 2)) {
		findings__ok(findings, "kernel", "Linux %s (6.2 is needed, 6.12 tested)",
			     kernel.release);
		return;
	}
	findings__fail(findings, "kernel",
		       "Linux %s is too old: it refuses read-only memory registrations",
		       kernel.release);
	findings__advise(findings, "boot Linux 6.2 or newer");
}

static void check_btf(struct findings *findings)
{
	struct stat file;

	if (!stat(BTF, &file) && file.st_size > 0) {
		findings__ok(findings, "btf", BTF " has %lld bytes", (long long)file.st_size);
		return;
	}
	findings__fail(findings, "btf", BTF " does not exist: the layout of counters is unknown");
	findings__advise(findings, "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

static void check_lockdown(struct findings *findings)
{
	char line[128];

	/* "none [integrity] confidentiality"; without the LSM, no file. */
	if (!text_file__line(line, sizeof(line), "/sys/kernel/security/lockdown") ||
	    strstr(line, "[none]")) {
		findings__ok(findings, "lockdown", "the kernel is not locked down");
		return;
	}
	/* Reading kernel memory does not concern its integrity. */
	if (strstr(line, "[integrity]")) {
		findings__ok(findings, "lockdown",
			     "the kernel is locked down (integrity), which permits all that dartd does");
		return;
	}
	findings__warn(
		findings, "lockdown",
		"the kernel is locked down (confidentiality): the module refuses sources, and the kernel probes; maps, counters, slices and stores work");
	findings__advise(findings,
			 "boot without lockdown=confidentiality on the kernel's command line");
}

void check_kernel(struct findings *findings)
{
	check_version(findings);
	check_btf(findings);
	check_lockdown(findings);
}
