/* SPDX-License-Identifier: GPL-2.0-only */
/* How the value of an invented series moves. */
#ifndef BENCH_INVENTED_MOTION_H
#define BENCH_INVENTED_MOTION_H

enum invented_shape {
	INVENTED_CONSTANT,	/* @base */
	INVENTED_WALK,		/* a gauge between 0 and 2 * @base */
	INVENTED_RATE,		/* a counter of about @base per second */
	INVENTED_RARE,		/* a counter that grows by one now and then */
	INVENTED_CPU,		/* seconds of CPU @unit in mode @part: see invented_host.c */
	INVENTED_BUCKET,	/* of a histogram of @base events per second, up to @limit */
};

struct invented_motion {
	enum invented_shape shape;
	double base;
	double limit;
	unsigned int unit, part;
};

#endif /* BENCH_INVENTED_MOTION_H */
