// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers the question how many processes are in each state.
 *
 * The program walks over the process IDs, 64 at a time, in the kernel's tree of IDs.  A host can
 * run more processes than one run may count: the cursor of the exchange is then the next ID, where
 * the next run continues.  No run uses an address that an earlier run found.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#include "answer.h"

static __u64 pid_namespace; /* address of the initial one */

/* An xarray: slots of a node, and bits of the index for each level. */
#define SLOTS 64
#define SLOT_BITS 6
/* 4 suffice for 2^22 IDs. */
#define LEVELS 6
/* IDs are less than 2^22. */
#define STEPS_MAX (1 << 16)

/* Bits of task_struct.__state and .exit_state from include/linux/sched.h: BTF lacks macros. */
#define STATE_REPORT 0x7f
#define STATE_DISK_SLEEP 2
#define STATE_IDLE 0x402
#define STATE_REPORT_IDLE 0x80
#define STATE_SHOWN_AS_DISK_SLEEP (0x1000 | 0x8000) /* waits for an rt_mutex; frozen */

/* Processes by state, numbered as by task_state_index(), up to this run.  Not static: an array. */
__u64 counts[16];
__u64 slots[SLOTS]; /* of the current node */

SEC("syscall")
int find_variables(const struct sample_setting *setting)
{
	return FIND(pid_namespace, "init_pid_ns");
}

/* Like __task_state_index(). */
static __always_inline __u32 state_index(__u32 state, __u32 exit_state)
{
	__u32 report = (state | exit_state) & STATE_REPORT;
	__u32 index = 0;
	int i;

	if ((state & STATE_IDLE) == STATE_IDLE)
		report = STATE_REPORT_IDLE;
	if (state & STATE_SHOWN_AS_DISK_SLEEP)
		report = STATE_DISK_SLEEP;
	for (i = 0; i < 8; i++)
		if (report & 1 << i)
			index = i + 1;
	return index;
}

/* Counts the process whose ID is in the slot, if it is the ID of a process. */
static long count_process(__u32 number, void *nothing)
{
	const struct pid *pid = (const void *)slots[number & (SLOTS - 1)];
	const struct task_struct *task;
	__u64 link;

	/* All other entries set one of these bits. */
	if (!pid || (__u64)pid & 3)
		return 0;
	link = (__u64)BPF_CORE_READ(pid, tasks[PIDTYPE_TGID].first);
	if (!link)
		return 0;
	task = (const void *)(link -
			      bpf_core_field_offset(struct task_struct, pid_links[PIDTYPE_TGID]));
	counts[state_index(BPF_CORE_READ(task, __state), BPF_CORE_READ(task, exit_state)) & 15]++;
	return 0;
}

static __always_inline bool is_node(__u64 entry)
{
	return (entry & 3) == 2 && entry > 4096;
}

static __always_inline const struct xa_node *node_of(__u64 entry)
{
	return (const void *)(entry - 2);
}

/* A walk over the IDs. */
struct id_walk {
	__u64 next; /* ID; the first of a node */
	bool is_done;
};

/* Reads the slots around @next.  If the tree lacks their node, skips them and returns false. */
static __always_inline bool read_slots(struct id_walk *walk)
{
	const struct pid_namespace *space = (const void *)pid_namespace;
	__u64 entry = (__u64)BPF_CORE_READ(space, idr.idr_rt.xa_head);
	const struct xa_node *node;
	__u32 shift = 0;
	int i;

	if (!is_node(entry) ||
	    walk->next >> (BPF_CORE_READ(node_of(entry), shift) + SLOT_BITS & 63)) {
		walk->is_done = true;
		return false;
	}
	for (i = 0; i < LEVELS; i++) {
		node = node_of(entry);
		shift = BPF_CORE_READ(node, shift) & 63;
		if (!shift && !bpf_core_read(slots, sizeof(slots), &node->slots))
			return true;
		entry = READ(__u64, (const void *)node +
					    bpf_core_field_offset(struct xa_node, slots) +
					    sizeof(__u64) * (walk->next >> shift & (SLOTS - 1)));
		if (!shift || !is_node(entry))
			break;
	}
	walk->next = ((walk->next >> shift) + 1) << shift;
	return false;
}

static long count_node(__u32 round, struct id_walk *walk)
{
	const struct gather_exchange *in = answer__exchange();

	if (!in || answer__is_late(in, round))
		return 1;
	if (read_slots(walk)) {
		bpf_loop(SLOTS, count_process, NULL, 0);
		walk->next += SLOTS;
	}
	return walk->is_done;
}

static __always_inline int answer_processes(struct gather_question *question)
{
	struct dart_zero_processes *processes = ANSWER_SAMPLE(question, struct dart_zero_processes);

	if (!processes)
		return -ENOSPC;
	processes->running = counts[0];
	processes->sleeping = counts[1];
	processes->disk_sleep = counts[2];
	processes->stopped = counts[3];
	processes->tracing_stop = counts[4];
	processes->dead = counts[5];
	processes->zombie = counts[6];
	processes->parked = counts[7];
	processes->idle = counts[8];
	processes->total = counts[0] + counts[1] + counts[2] + counts[3] + counts[4] + counts[5] +
			   counts[6] + counts[7] + counts[8];
	return 0;
}

static __always_inline int processes(struct gather_question *question)
{
	struct gather_exchange *in = answer__exchange();
	struct id_walk walk;

	if (!in || question->source != DART_ZERO_SOURCE_PROCESSES)
		return -EINVAL;
	walk.next = in->cursor;
	walk.is_done = false;
	if (!walk.next)
		__builtin_memset(counts, 0, sizeof(counts));
	bpf_loop(STEPS_MAX, count_node, &walk, 0);
	in->cursor = walk.is_done ? 0 : walk.next;
	return walk.is_done ? answer_processes(question) : -EAGAIN;
}

ANSWER_QUESTIONS(processes)

char LICENSE[] SEC("license") = "GPL";
