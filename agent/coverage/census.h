/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of the host that no follower sees, because nothing of their kind is
 * registered, and the registrations that failed.  They are counted when the agent starts,
 * when a follower comes or goes and when a client asks: nothing waits for their events.
 */
#ifndef CENSUS_H
#define CENSUS_H

#include <stdint.h>

#include <libdart/error.h>

#include "agent/base/coverage.h"
#include "agent/follow/follower.h"
#include "agent/registration/registrations.h"

#define CENSUS_EXAMPLE_MAX 256

/* Objects of a kind, and the name of one of them. */
struct census_line {
	uint64_t present;
	char example[CENSUS_EXAMPLE_MAX];
};

/* Registrations that failed, and the last of them. */
struct census_failure {
	uint64_t count;
	char example[CENSUS_EXAMPLE_MAX];
	struct dart_error why;
};

struct census {
	/* Kinds that are not followed as a whole.  For maps: only maps without an entry. */
	struct census_line kinds[COVERAGE_KINDS];
	/* Objects in the namespaces of PID 1 that are missing from the namespaces of dartd. */
	struct census_line invisible[COVERAGE_KINDS];
	struct census_failure maps[COVERAGE_REASONS];
	/* By the index of a source. */
	struct census_source {
		bool has_failed;
		enum coverage_reason reason;
		struct dart_error why;
	} *sources;
	struct dart_error host_failure;	/* of the whole host, or "" */
	enum coverage_reason host_reason;
	uint32_t version_1;	/* bits of controllers, private to census.c */
};

/* -ENOMEM */
int census__open(struct census *census);
void census__close(struct census *census);

/* A kind that cannot be counted gets no objects; the first reason is logged. */
void census__take(struct census *census, const struct followers *followers,
		  const struct registrations *registrations);

/*
 * Why cgroups of version 2 lack the values of @source, as a static sentence: its controller belongs
 * to a hierarchy of version 1.  NULL if it does not, or if @source needs no controller.
 */
const char *census__version_1(const struct census *census, const struct source *source);

/* The kind of the objects that a follower of @source follows. */
enum coverage_kind census__kind_of(const struct source *source);

#endif /* CENSUS_H */
