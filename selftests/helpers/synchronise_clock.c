// SPDX-License-Identifier: GPL-2.0-only
/*
 * synchronise_clock yes|no: tells the kernel that its clock is synchronised, as an
 * NTP daemon does, or that it is not.
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
