// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples the I/O of a cgroup on each disk.  One program is for the module, which asks for one row
 * after the other; another answers dartd with all rows: see sample.h.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "cgroup_io.h"
#include "sample.h"

#define MINOR_BITS 20
#define ROWS_MAX 16 /* of a record */

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return find_cpus();
}

/* The device of row @index, or NULL if the cgroup used fewer devices. */
static __always_inline const struct blkcg_gq *find_disk(const struct cgroup_subsys_state *state,
							__u64 index, bool *is_followed)
{
	struct io_search search = {
		.node = first_device(state),
		.before = index,
	};

	bpf_loop(DEVICES_MAX, find_device, &search, 0);
	*is_followed = search.node;
	return search.found;
}

static __always_inline __u32 number_of(const struct blkcg_gq *blkg)
{
	return BPF_CORE_READ(blkg, q, disk, part0, bd_dev);
}

static __always_inline void take_disk(const struct cgroup_subsys_state *state,
				      const struct blkcg_gq *blkg, bool is_cut,
				      struct dart_zero_cgroup_disk *disk)
{
	const __u32 number = number_of(blkg);
	struct io_walk walk = { .top = state };

	disk->major = number >> MINOR_BITS;
	disk->minor = number & ((1 << MINOR_BITS) - 1);
	add_line(blkg, &walk, &disk->io);
	disk->io.left_out = walk.is_cut || is_cut;
}

SEC("raw_tp.w/dart_zero_sample")
int sample_cgroup_disks(struct bpf_raw_tracepoint_args *context)
{
	const struct cgroup_subsys_state *state;
	const struct blkcg_gq *blkg = NULL;
	struct dart_zero_cgroup_disk values = {};
	bool is_followed = false;
	__u64 index;

	if (SAMPLE_OF(context)->source != DART_ZERO_SOURCE_CGROUP_DISKS)
		return 0;
	index = SAMPLE_OF(context)->index;
	state = CGROUP_STATE(CGROUP_OF(context), io);
	if (state)
		blkg = find_disk(state, index, &is_followed);
	if (!blkg) {
		SAMPLE_OF(context)->answer = DART_ZERO_ANSWER_ABSENT;
		return 0;
	}
	take_disk(state, blkg, index == ROWS_MAX - 1 && is_followed, &values);
	SAMPLE_OF(context)->number = number_of(blkg);
	SAMPLE_ANSWER(context, values);
	return 0;
}

/* An answer with a row for each device. */
struct disk_rows {
	struct gather_question *question;
	const struct cgroup_subsys_state *state;
	__s64 ret;
};

static long add_row(__u32 index, struct disk_rows *rows)
{
	const struct cgroup_subsys_state *state = rows->state;
	struct dart_zero_cgroup_disk *disk;
	const struct blkcg_gq *blkg;
	bool is_followed;

	blkg = find_disk(state, index, &is_followed);
	if (!blkg)
		return 1;
	disk = ANSWER_ROW(rows->question, number_of(blkg), struct dart_zero_cgroup_disk);
	if (!disk) {
		rows->ret = -ENOSPC;
		return 1;
	}
	take_disk(state, blkg, index == ROWS_MAX - 1 && is_followed, disk);
	return 0;
}

static __always_inline int answer_cgroup_disks(struct gather_question *question)
{
	const struct cgroup *cgroup = answer__cgroup(question);
	struct disk_rows rows = { .question = question };

	if (question->source != DART_ZERO_SOURCE_CGROUP_DISKS)
		return -EINVAL;
	question->answer = GATHER_ABSENT;
	if (cgroup)
		rows.state = CGROUP_STATE(cgroup, io);
	if (rows.state)
		bpf_loop(ROWS_MAX, add_row, &rows, 0);
	if (!cgroup || !answer__is_online(cgroup))
		question->answer = GATHER_ENDED;
	return rows.ret;
}

ANSWER_QUESTIONS(answer_cgroup_disks)

char LICENSE[] SEC("license") = "GPL";
