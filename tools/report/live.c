// SPDX-License-Identifier: GPL-2.0-only
/* Loads the XDP program that counts packets, and empties its maps. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/types.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/flow_counter.h"
#include "live.h"

#include <flow_counter.skel.h>

/* Flows that one system call takes out of a map; a bucket of the map must fit. */
#define BATCH 4096

struct live {
	struct flow_counter_bpf *object;
	struct bpf_link *link; /* NULL after the end */
	int maps[2];
	uint32_t current;
	int cpus;
	struct flow_counter_key keys[BATCH];
	__u64 sums[BATCH];
};

static int load(struct live *live, const char *interface, struct dart_error *error)
{
	const uint32_t number = if_nametoindex(interface);

	if (!number)
		return dart_error__set(error, ENODEV, "there is no interface '%s'", interface);
	live->cpus = libbpf_num_possible_cpus();
	live->object = flow_counter_bpf__open_and_load();
	if (live->cpus < 0 || !live->object)
		return dart_error__system(error, live->cpus < 0 ? -live->cpus : errno,
					  "cannot load the XDP program");
	live->maps[0] = bpf_map__fd(live->object->maps.sums_0);
	live->maps[1] = bpf_map__fd(live->object->maps.sums_1);
	live->link = bpf_program__attach_xdp(live->object->progs.dart_flow_counter, number);
	if (live->link)
		return 0;
	if (errno == EBUSY || errno == EEXIST)
		return dart_error__set(error, errno,
				       "cannot count at '%s': another XDP program is attached",
				       interface);
	return dart_error__system(error, errno, "cannot count at '%s'", interface);
}

int live__open(const char *interface, struct live **result, struct dart_error *error)
{
	struct live *live = calloc(1, sizeof(*live));
	int ret;

	if (!live)
		return dart_error__set(error, ENOMEM, "%s", strerror(ENOMEM));
	libbpf_set_print(NULL);
	ret = load(live, interface, error);
	if (ret)
		live__close(live);
	else
		*result = live;
	return ret;
}

void live__end(struct live *live)
{
	bpf_link__destroy(live->link);
	live->link = NULL;
}

void live__close(struct live *live)
{
	if (!live)
		return;
	live__end(live);
	flow_counter_bpf__destroy(live->object);
	free(live);
}

int live__drain(struct live *live,
		int (*take)(void *argument, const uint8_t *key, size_t length, uint64_t packets),
		void *argument)
{
	const int full = live->maps[live->current];
	const uint32_t zero = 0;
	__u32 count, place, i;
	void *from = NULL;
	int ret = 0, last;

	live->current = !live->current;
	/* The kernel returns when no program counts in the former map any more. */
	if (bpf_map_update_elem(bpf_map__fd(live->object->maps.current), &zero,
				&live->maps[live->current], BPF_ANY))
		return -errno;
	do {
		count = BATCH;
		last = bpf_map_lookup_and_delete_batch(full, from, &place, live->keys, live->sums,
						       &count, NULL);
		/* The last flows come with this error. */
		if (last && errno != ENOENT)
			return -errno;
		for (i = 0; !ret && i < count; i++)
			ret = take(argument, live->keys[i].bytes, live->keys[i].length,
				   live->sums[i]);
		from = &place;
	} while (!ret && !last);
	return ret;
}

void live__rest(const struct live *live, uint64_t *others, uint64_t *crowded)
{
	struct flow_counter_rest *rows = calloc(live->cpus, sizeof(*rows));
	const uint32_t zero = 0;
	int cpu;

	*others = 0;
	*crowded = 0;
	if (rows && !bpf_map_lookup_elem(bpf_map__fd(live->object->maps.rest), &zero, rows))
		for (cpu = 0; cpu < live->cpus; cpu++) {
			*others += rows[cpu].others;
			*crowded += rows[cpu].crowded;
		}
	free(rows);
}
