/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes: eBPF programs that come with dartd.  A loaded probe runs in the
 * kernel and fills array maps, which are registered as entries like any other.
 */
#ifndef PROBE_H
#define PROBE_H

#include <bpf/libbpf.h>
#include <stdint.h>

#include <libdart/error.h>

#include "agent/base/background_close.h"
#include "agent/base/changes.h"
#include "agent/base/coverage.h"
#include "agent/base/request.h"
#include "agent/table/registry.h"
#include "bpf_links.h"
#include "probe_kind.h"

struct probe {
	const struct probe_kind *kind;
	struct bpf_object *object;	/* NULL: not loaded */
	struct bpf_links bpf_links;
	uint32_t map_ids[PROBE_MAPS_MAX];
	/* Why loading failed; "" if the probe is loaded or was not requested. */
	struct dart_error failure;
	enum coverage_reason reason;	/* of the failure */
};

struct probes {
	struct registry *registry;
	const struct changes *changes;
	struct coverage_watch *coverage;	/* NULL until agent/coverage/ sets it */
	uint32_t cpus;
	struct probe *probes;		/* one for each kind */
};

/* No probe is loaded yet. */
int probes__open(struct probes *probes, uint32_t cpus, struct registry *registry,
		 const struct changes *changes, struct dart_error *error);
/* To call before probes__close(), so that it does not wait for eBPF programs. */
void probes__close_in_background(const struct probes *probes, struct background_close *closing);
/* The entries remain, for the registry to free. */
void probes__close(struct probes *probes);

/* The requests about probes, which are their subject. */
extern const struct request_type probe_requests[];

#endif /* PROBE_H */
