// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock_state [disturb]: prints the state from adjtimex() as a JSON object, times in
 * ns. disturb: first sets all members, to values that differ in sign and size.
 */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <sys/timex.h>

static void adjust(struct timex *clock)
{
	if (adjtimex(clock) < 0)
		err(1, "cannot adjust the clock");
}

static void disturb(void)
{
	struct timex tai = { .modes = ADJ_TAI, .constant = 37 };
	struct timex clock = {
		.modes = ADJ_STATUS | ADJ_NANO | ADJ_FREQUENCY | ADJ_MAXERROR |
			 ADJ_ESTERROR | ADJ_TICK | ADJ_TIMECONST,
		.status = STA_PLL,
		.freq = -50 * 65536 - 1234,
		.maxerror = 5000,
		.esterror = 42,
		.tick = 10007,
		.constant = 3,
	};
	struct timex offset = {
		.modes = ADJ_OFFSET,
		.offset = -1234567,
	};

	adjust(&tai);
	adjust(&clock);
	adjust(&offset);
}

int main(int argc, char **argv)
{
	struct timex clock = {};

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "disturb")))
		errx(2, "usage: clock_state [disturb]");
	if (argc == 2)
		disturb();
	adjust(&clock);
	if (!(clock.status & STA_NANO)) {
		clock.offset *= 1000;
		clock.jitter *= 1000;
	}
	printf("{\"status\": %d, \"offset\": %ld, \"maxerror\": %ld, \"esterror\": %ld, \"frequency\": %ld, \"tai\": %d, \"timeconstant\": %ld, \"tick\": %ld, ",
	       clock.status, clock.offset, clock.maxerror * 1000, clock.esterror * 1000, clock.freq,
	       clock.tai, clock.constant, clock.tick);
	printf("\"ppsfrequency\": %ld, \"ppsjitter\": %ld, \"ppsstability\": %ld, \"ppsshift\": %d, \"ppsjittercount\": %ld, \"ppscalibrations\": %ld, \"ppserrors\": %ld, \"ppsstabilityexceeded\": %ld}\n",
	       clock.ppsfreq, clock.jitter, clock.stabil, clock.shift,
	       clock.jitcnt, clock.calcnt, clock.errcnt, clock.stbcnt);
	return 0;
}
