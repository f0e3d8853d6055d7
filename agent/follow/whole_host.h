/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All sources of a host, registered with one word: each source that needs no selector or can be
 * followed, gathered, unless another source gives the same values or their sums.  They are listed
 * and unregistered together, as the group "host".
 */
#ifndef WHOLE_HOST_H
#define WHOLE_HOST_H

#include "follower.h"

#define WHOLE_HOST_NAME "host"

/* A source that is missing although the whole host is registered. */
struct whole_host_missing {
	bool is_missing;
	enum coverage_reason reason;
	struct dart_error why;
};

/* Sources that cost more than others are not gathered more often. */
#define WHOLE_HOST_RARE_MS 10000

/*
 * Registers the sources of this kernel, gathered as @gathering says, which selects nothing; the
 * group lists the sources that it leaves out, and why. -EEXIST; if nothing can be registered, the
 * first reason.
 */
int whole_host__register(struct followers *followers, const struct selector_choice *gathering,
			 struct entry_group **group, struct dart_error *error);

/* NULL if the host is not registered as a whole, or serves @source. */
const struct whole_host_missing *whole_host__missing(const struct followers *followers,
						     const struct source *source);

#endif /* WHOLE_HOST_H */
