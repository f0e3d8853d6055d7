// SPDX-License-Identifier: GPL-2.0-only
/* Checks of the kernel: its version, its BTF, its addresses, its lockdown, its clocks. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/utsname.h>

#include "checks.h"
#include "tools/doctor/text_file.h"

#define BTF "/sys/kernel/btf/vmlinux"

bool kernel__is_since(unsigned int major, unsigned int minor)
{
	unsigned int here = 0, minor_here = 0;
	struct utsname kernel;

	uname(&kernel);
	sscanf(kernel.release, "%u.%u", &here, &minor_here);
	return here > major || (here == major && minor_here >= minor);
}

/* 6.1 is the oldest kernel that tests run; before 5.17 the programs of dartd cannot be loaded. */
static void check_version(struct findings *findings)
{
	struct utsname kernel;

	uname(&kernel);
	if (kernel__is_since(MODULE_SINCE)) {
		findings__ok(findings, "kernel", "Linux %s (6.1 is needed, 6.12 tested)",
			     kernel.release);
	} else if (kernel__is_since(6, 1)) {
		findings__ok(
			findings, "kernel",
			"Linux %s: dartd gathers by eBPF programs; the module dart_zero needs 6.2",
			kernel.release);
	} else {
		findings__fail(
			findings, "kernel",
			"Linux %s is too old: eBPF programs of dartd gather from 6.1 on, the module from 6.2 on",
			kernel.release);
		findings__advise(findings, "boot Linux 6.1 or newer");
	}
}

static void check_btf(struct findings *findings)
{
	struct stat file;

	if (!stat(BTF, &file) && file.st_size > 0) {
		findings__ok(findings, "btf", BTF " has %lld bytes", (long long)file.st_size);
		return;
	}
	findings__fail(
		findings, "btf",
		BTF " does not exist: the layout of counters is unknown, and no eBPF program gathers");
	findings__advise(findings, "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

static void check_addresses(struct findings *findings)
{
	char value[16];

	if (!text_file__line(value, sizeof(value), "/proc/sys/kernel/kptr_restrict"))
		return;
	if (value[0] < '2') {
		findings__ok(findings, "addresses",
			     "eBPF programs with CAP_SYSLOG find variables of the kernel");
		return;
	}
	findings__warn(
		findings, "addresses",
		"the kernel hides the addresses of its variables from all processes: most sources that eBPF programs gather are refused");
	findings__command(findings, "sysctl kernel.kptr_restrict=1");
}

static void check_lockdown(struct findings *findings)
{
	char line[128];

	/* "none [integrity] confidentiality"; the file exists only with the LSM. */
	if (!text_file__line(line, sizeof(line), "/sys/kernel/security/lockdown") ||
	    strstr(line, "[none]")) {
		findings__ok(findings, "lockdown", "the kernel is not locked down");
		return;
	}
	/* Integrity mode forbids writes only; dartd reads kernel memory. */
	if (strstr(line, "[integrity]")) {
		findings__ok(findings, "lockdown",
			     "the kernel is locked down (integrity), which permits all that dartd does");
		return;
	}
	findings__warn(
		findings, "lockdown",
		"the kernel is locked down (confidentiality): the module refuses sources, and the kernel refuses probes and eBPF programs that gather; maps, counters, slices and stores work");
	findings__advise(findings,
			 "boot without lockdown=confidentiality on the kernel's command line");
}

void check_kernel(struct findings *findings)
{
	check_version(findings);
	check_btf(findings);
	check_addresses(findings);
	check_lockdown(findings);
}

/* ---- clocks: synchronised, and fast to read */

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0"

static void check_synchronisation(struct findings *findings)
{
	struct timex clock = {};

	if (adjtimex(&clock) >= 0 && !(clock.status & STA_UNSYNC)) {
		findings__ok(findings, "clock", "synchronised, error at most %ld ms",
			     clock.maxerror / 1000);
		return;
	}
	findings__warn(findings, "clock",
		       "not synchronised: times of this host do not compare with those of others");
	if (text_file__exists("/run/systemd/system"))
		findings__command(findings, "timedatectl set-ntp true");
	else
		findings__advise(findings, "start chronyd or ntpd");
}

/* The TSC and clocks of hypervisors are fast; others take a microsecond to read. */
static void check_source(struct findings *findings)
{
	char current[32], available[256];

	text_file__line(current, sizeof(current), CLOCKSOURCE "/current_clocksource");
	text_file__line(available, sizeof(available), CLOCKSOURCE "/available_clocksource");
	if (strcmp(current, "hpet") && strcmp(current, "acpi_pm") && strcmp(current, "jiffies") &&
	    strcmp(current, "refined-jiffies")) {
		findings__ok(findings, "clocksource", "%s", current);
		return;
	}
	findings__warn(findings, "clocksource",
		       "%s is slow to read: latencies are larger than they need be", current);
	if (strstr(available, "tsc"))
		findings__command(findings, "echo tsc > " CLOCKSOURCE "/current_clocksource");
	else
		findings__advise(
			findings,
			"the kernel found the TSC unstable (see dmesg): update the firmware, or boot with tsc=reliable if it is not");
}

void check_clock(struct findings *findings)
{
	check_synchronisation(findings);
	check_source(findings);
}
