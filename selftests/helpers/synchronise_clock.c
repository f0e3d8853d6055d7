// SPDX-License-Identifier: GPL-2.0-only
/*
 * synchronise_clock yes|no: tells the kernel, as an NTP daemon does, that its clock is
 * or is not synchronised.
 */
#include <err.h>
#include <string.h>
#include <sys/timex.h>

int main(int argc, char **argv)
{
	struct timex clock = {
		.modes = ADJ_STATUS | ADJ_MAXERROR,
		.maxerror = 1000,
	};

	if (argc != 2)
		errx(2, "usage: synchronise_clock yes|no");
	if (strcmp(argv[1], "yes"))
		clock.status = STA_UNSYNC;
	if (adjtimex(&clock) < 0)
		err(1, "cannot adjust the clock");
	return 0;
}
