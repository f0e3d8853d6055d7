/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples that dartd takes itself, because eBPF programs cannot ask a driver or a file server.
 * Each kind asks over an interface of the kernel.
 */
#ifndef OWN_SAMPLE_H
#define OWN_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

struct own_sample;

struct own_sample_kind {
	/* Returns -errno as DART_ZERO_IOC_ADD_RECORD does; the caller sets the kind of *@sample. */
	int (*open)(const struct dart_zero_record *wanted, struct own_sample **sample);
	void (*close)(struct own_sample *sample);
	/*
	 * Fills in the zeroed @values of row @index, and *@number if the sample consists of several
	 * rows.  *@time is now (CLOCK_BOOTTIME, ns); the function may set it to an earlier time to
	 * which the values belong.  Returns 0, -EAGAIN (no new values yet), -ENODATA (the object
	 * lacks such values now) or -ENODEV (the object ended).  Does not wait for others.
	 */
	int (*sample)(struct own_sample *sample, uint32_t index, void *values, uint64_t *number,
		      uint64_t *time);
};

/* The first member of the struct of each kind. */
struct own_sample {
	const struct own_sample_kind *kind;
	uint32_t rows; /* room of the record */
	/*
	 * Inode of a network namespace, or 0: a sample counts only if the namespace had not ended
	 * when the values were read, because the kernel reuses the numbers of namespaces.
	 */
	uint32_t netns;
	uint32_t identity; /* of this namespace; 0: not known yet, see struct gather_question */
};

extern const struct own_sample_kind filesystem_sample;
extern const struct own_sample_kind link_sample;
extern const struct own_sample_kind perf_sample;
extern const struct own_sample_kind rdma_sample;

#endif /* OWN_SAMPLE_H */
