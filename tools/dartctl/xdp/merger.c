// SPDX-License-Identifier: GPL-2.0-only
/* Sketches for the XDP program: reads their files, and keeps the queue pairs of sketchers. */
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <unistd.h>

#include "merger.h"
#include "pins.h"
#include "program.h"
#include "tools/dartctl/cli/sketchers.h"

#define NS_PER_S 1000000000ULL
/* A bank has strips of one period for as long as two of them. */
#define FORGET_PERIODS 2

int xdp_merger__load(const char *path, struct in_addr address, struct xdp_merger *merger,
		     struct dart_collectors *collectors, struct dart_error *error)
{
	struct sketchers sketchers;
	uint32_t i;
	int ret;

	ret = sketchers__load(path, address, &sketchers, error);
	if (ret)
		return ret;
	merger->target = sketchers.target;
	merger->count = sketchers.count;
	for (i = 0; i < sketchers.count; i++)
		merger->sources[i] = (struct reporter_source){
			sketchers.sources[i].address.s_addr, htobe32(sketchers.sources[i].qpn),
		};
	return xdp_program__lone(&merger->target.collector, collectors, error);
}

struct reporter_merging xdp_merger__merging(const struct xdp_merger *merger, uint64_t age_ns)
{
	const struct dart_sketch_geometry *geometry = &merger->target.geometry;

	return (struct reporter_merging){
		.age_ns = age_ns,
		.forget_ns = FORGET_PERIODS * geometry->period * NS_PER_S,
		/* Fewer than all bits, because the translator has a part, too. */
		.sketchers = (1ULL << merger->count) - 1,
		.strips_log2 = geometry->columns_log2 - DART_SKETCH_STRIP_COLUMNS_LOG2,
		.rows = geometry->rows,
		.kind = geometry->kind,
		.period = geometry->period,
	};
}

int xdp_merger__fill(const struct xdp_merger *merger, int sketchers)
{
	uint32_t i;

	for (i = 0; i < merger->count; i++)
		if (bpf_map_update_elem(sketchers, &merger->sources[i], &i, BPF_ANY))
			return -errno;
	return 0;
}

/* ---- following */

/* The rows of the map of sketchers. */
struct known {
	uint32_t count;
	struct reporter_source sources[2 * DART_SKETCH_PARTS_MAX];
	uint32_t numbers[2 * DART_SKETCH_PARTS_MAX];
};

static int known__read(struct known *known, int sketchers)
{
	const struct reporter_source *before = NULL;

	for (known->count = 0; known->count < 2 * DART_SKETCH_PARTS_MAX; known->count++) {
		struct reporter_source *source = &known->sources[known->count];

		if (bpf_map_get_next_key(sketchers, before, source))
			return errno == ENOENT ? 0 : -errno;
		if (bpf_map_lookup_elem(sketchers, source, &known->numbers[known->count]))
			return -errno;
		before = source;
	}
	return 0;
}

/* Does it have the sketchers of @merger?  Their queue pairs may differ. */
static bool known__has_same(const struct known *known, const struct xdp_merger *merger)
{
	uint64_t found = 0;
	uint32_t i;

	for (i = 0; i < known->count; i++) {
		const uint32_t number = known->numbers[i];

		if (number >= merger->count ||
		    merger->sources[number].address != known->sources[i].address)
			return false;
		found |= 1ULL << number;
	}
	return found == (1ULL << merger->count) - 1;
}

static int remove_former(const struct known *known, const struct xdp_merger *merger, int sketchers)
{
	uint32_t i;

	for (i = 0; i < known->count; i++)
		if (merger->sources[known->numbers[i]].queue_pair != known->sources[i].queue_pair &&
		    bpf_map_delete_elem(sketchers, &known->sources[i]))
			return -errno;
	return 0;
}

int xdp_merger__follow(const char *interface, const struct xdp_merger *merger,
		       struct dart_error *error)
{
	int map = xdp_pins__open_map(interface, XDP_PIN_SKETCHERS, sizeof(uint32_t), NULL);
	struct known known;
	int ret;

	if (map < 0)
		return dart_error__set(error, ENOENT,
				       "the program does not add up strips (dartctl xdp detach %s, and attach it again)",
				       interface);
	ret = known__read(&known, map);
	if (!ret && !known__has_same(&known, merger)) {
		close(map);
		return dart_error__set(error, EINVAL,
				       "the file has other sketchers (dartctl xdp detach %s, and attach it again)",
				       interface);
	}
	ret = ret ?: xdp_merger__fill(merger, map) ?: remove_former(&known, merger, map);
	close(map);
	return ret ? dart_error__system(error, -ret, "cannot change its sketchers") : 0;
}
