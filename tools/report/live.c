// SPDX-License-Identifier: GPL-2.0-only
/* Loads the XDP program that counts packets, and empties its maps. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libdart/store/store_hash.h>

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
	size_t counters; /* of a bank of a sketch; 0: sums of flows */
	int64_t *columns; /* both banks */
	struct flow_counter_key keys[BATCH];
	__u64 sums[BATCH];
};

static const uint32_t polynomials[DART_SKETCH_ROWS_MAX] = {
	DART_STORE_SLOT_0, DART_STORE_SLOT_1, DART_STORE_SLOT_2, DART_STORE_SLOT_3,
	DART_STORE_SLOT_4, DART_STORE_SLOT_5, DART_STORE_SLOT_6, DART_STORE_SLOT_7,
};

/*
 * Fills the CRC table: the effect of each byte on a register of zeros, computed from its effect on
 * a register of ones.
 */
static void fill_table(uint32_t table[256], uint32_t polynomial)
{
	unsigned int i;

	for (i = 0; i < 256; i++) {
		const uint8_t byte = ~i;

		table[i] = ~dart_store__crc(polynomial, &byte, 1) ^ 0x00ffffff;
	}
}

static int configure(struct live *live, const struct dart_sketch_geometry *sketch)
{
	struct flow_counter_bpf *object = live->object;
	uint32_t row;

	if (!sketch)
		return bpf_program__set_autoload(object->progs.dart_flow_sketcher, false);
	live->counters = (size_t)sketch->rows << sketch->columns_log2;
	object->rodata->sketch = (struct flow_counter_sketch){
		.rows = sketch->rows,
		.columns_log2 = sketch->columns_log2,
		.is_count_sketch = sketch->kind == DART_SKETCH_COUNT_SKETCH,
	};
	for (row = 0; row < sketch->rows; row++)
		fill_table(object->rodata->row_tables[row], polynomials[row]);
	return bpf_program__set_autoload(object->progs.dart_flow_counter, false) ?:
	       bpf_map__set_max_entries(object->maps.columns,
					DART_SKETCH_BANKS * live->counters);
}

static size_t columns_length(const struct live *live)
{
	return DART_SKETCH_BANKS * live->counters * sizeof(*live->columns);
}

/* Loads the program, and maps the columns into this process if it counts in them. */
static int load_object(struct live *live, const struct dart_sketch_geometry *sketch)
{
	void *columns;
	int ret;

	live->object = flow_counter_bpf__open();
	if (!live->object)
		return -errno;
	ret = configure(live, sketch) ?: flow_counter_bpf__load(live->object);
	if (ret || !sketch)
		return ret;
	columns = mmap(NULL, columns_length(live), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(live->object->maps.columns), 0);
	if (columns == MAP_FAILED)
		return -errno;
	live->columns = columns;
	return 0;
}

static const struct bpf_program *program_of(const struct live *live)
{
	return live->counters ? live->object->progs.dart_flow_sketcher :
				live->object->progs.dart_flow_counter;
}

static int load(struct live *live, const char *interface,
		const struct dart_sketch_geometry *sketch, struct dart_error *error)
{
	const uint32_t number = if_nametoindex(interface);
	int ret;

	if (!number)
		return dart_error__set(error, ENODEV, "there is no interface '%s'", interface);
	live->cpus = libbpf_num_possible_cpus();
	ret = live->cpus < 0 ? live->cpus : load_object(live, sketch);
	if (ret)
		return dart_error__system(error, -ret, "cannot load the XDP program");
	live->maps[0] = bpf_map__fd(live->object->maps.sums_0);
	live->maps[1] = bpf_map__fd(live->object->maps.sums_1);
	live->link = bpf_program__attach_xdp(program_of(live), number);
	if (live->link)
		return 0;
	if (errno == EBUSY || errno == EEXIST)
		return dart_error__set(error, errno,
				       "cannot count at '%s': another XDP program is attached",
				       interface);
	return dart_error__system(error, errno, "cannot count at '%s'", interface);
}

int live__open(const char *interface, const struct dart_sketch_geometry *sketch,
	       struct live **result, struct dart_error *error)
{
	struct live *live = calloc(1, sizeof(*live));
	int ret;

	if (!live)
		return dart_error__set(error, ENOMEM, "%s", strerror(ENOMEM));
	libbpf_set_print(NULL);
	ret = load(live, interface, sketch, error);
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
	if (live->columns)
		munmap(live->columns, columns_length(live));
	flow_counter_bpf__destroy(live->object);
	free(live);
}

/*
 * Lets the program count in map @number, and waits until it uses the former map, or bank, on no CPU
 * any more: the kernel does so before a change of a map of maps returns.  On hosts with nohz_full
 * CPUs membarrier(2) fails.  Returns 0 or -errno.
 */
static int live__change_map(struct live *live, uint32_t number)
{
	const uint32_t zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(live->object->maps.current), &zero,
				&live->maps[number], BPF_ANY))
		return -errno;
	return 0;
}

int live__drain(struct live *live,
		int (*take)(void *argument, const uint8_t *key, size_t length, uint64_t packets),
		void *argument)
{
	const int full = live->maps[live->current];
	__u32 count, place, i;
	void *from = NULL;
	int ret, last;

	live->current = !live->current;
	ret = live__change_map(live, live->current);
	if (ret)
		return ret;
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

int live__drain_columns(struct live *live, struct dart_sketcher *sketcher)
{
	int64_t *full = live->columns + live->current * live->counters;
	int ret;

	live->current = !live->current;
	__atomic_store_n(&live->object->bss->bank, live->current, __ATOMIC_SEQ_CST);
	ret = live__change_map(live, 0);
	if (ret)
		return ret;
	dart_sketcher__add(sketcher, full);
	memset(full, 0, live->counters * sizeof(*full));
	return 0;
}

struct flow_counter_rest live__rest(const struct live *live)
{
	struct flow_counter_rest *rows = calloc(live->cpus, sizeof(*rows)), sum = {};
	const uint32_t zero = 0;
	int cpu;

	if (rows && !bpf_map_lookup_elem(bpf_map__fd(live->object->maps.rest), &zero, rows))
		for (cpu = 0; cpu < live->cpus; cpu++) {
			sum.others += rows[cpu].others;
			sum.crowded += rows[cpu].crowded;
			sum.counted += rows[cpu].counted;
		}
	free(rows);
	return sum;
}
