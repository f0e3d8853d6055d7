// SPDX-License-Identifier: GPL-2.0-only
/* Checks of the clocks: synchronised, and fast to read. */
#include <string.h>
#include <sys/timex.h>

#include "checks.h"
#include "tools/doctor/text_file.h"

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

/* The TSC, or a clock of the hypervisor; others take a microsecond to read. */
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
