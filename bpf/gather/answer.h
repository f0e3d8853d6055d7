/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that answer questions of dartd (exchange.h).  NAME.bpf.c in this folder defines
 *
 *	static __always_inline int NAME(struct gather_question *question)
 *
 * which answers one question.  The file ends with ANSWER_QUESTIONS(NAME), which defines the
 * program. The function answers with answer__copies(), ANSWER_SAMPLE() or ANSWER_ROW(), or sets
 * @answer of the question to GATHER_ABSENT or GATHER_ENDED, and returns 0.  It returns -ENOSPC if
 * the output is full, -EAGAIN if the next run is to continue with this question (after setting
 * @cursor of the exchange), or another -errno to leave the question without an answer this time.
 *
 * dartd runs the program with BPF_PROG_TEST_RUN, so it runs in the context of dartd, inside an RCU
 * read-side critical section.  It looks up the object of each question again, because another
 * object may by now lie at an address remembered from an earlier run; namespace.h has an exception.
 *
 * Programs find variables that BTF does not describe by name: dartd runs their SEC("syscall")
 * program once, which calls FIND() and returns 0 or -errno.  A variable "extern const void X
 * __ksym" would be 0, without an error, on hosts that hide kernel addresses.
 *
 * Verifiers before Linux 6.7 visit the callback of a bpf_loop() once, with the values of the first
 * round, and remove branches that these values cannot reach.  So a variable that callbacks change
 * must begin with a value that the verifier does not know: one read from a map or from the kernel.
 */
#ifndef GATHER_ANSWER_H
#define GATHER_ANSWER_H

#include <bpf/bpf_helpers.h>

/* BTF describes the types of the kernel's headers, but no macros. */
#define __aligned_u64 __u64 __attribute__((aligned(8)))
#include <linux/dart_zero.h>
#include <linux/dart_zero_samples.h>

#include "bpf/samples/cpus.h"
#include "bpf/samples/setting.h"
#include "bpf/samples/variables.h"
#include "exchange.h"

#define ENOENT 2
#define EAGAIN 11
#define EBUSY 16
#define EINVAL 22
#define ENOSPC 28

/* dartd makes all programs share one such map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gather_exchange);
} exchange SEC(".maps");

/* The programs by their index, which dartd makes all programs share, too. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, GATHER_PROGRAMS);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

/* Never NULL, but the verifier does not know that. */
static __always_inline struct gather_exchange *answer__exchange(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&exchange, &first);
}

/*
 * Reserves @bytes of the output for the caller to fill; returns NULL if the output is full.  @bytes
 * is a multiple of 8, at most GATHER_COPY_MAX.
 */
static __always_inline void *answer__append_to(struct gather_exchange *in, __u32 bytes)
{
	__u32 at;

	if (!in)
		return NULL;
	at = in->used;
	/* One limit for all lengths, because the verifier must know it. */
	if (at > GATHER_OUTPUT - GATHER_COPY_MAX)
		return NULL;
	/* Make the compiler use the register that was compared. */
	asm volatile("" : "+r"(at));
	in->used = at + bytes;
	return in->output + at;
}

static __always_inline void *answer__append(__u32 bytes)
{
	return answer__append_to(answer__exchange(), bytes);
}

/* The CPU at this index of dartd's list. */
static __always_inline __u32 answer__cpu(__u32 place)
{
	const struct gather_exchange *in = answer__exchange();

	return in ? in->cpus[place & (GATHER_CPUS - 1)] : 0;
}

static __always_inline __u32 answer__cpu_count(void)
{
	const struct gather_exchange *in = answer__exchange();

	return in && in->cpu_count <= GATHER_CPUS ? in->cpu_count : 0;
}

static long set_base(__u32 place, void *unused)
{
	struct gather_exchange *in = answer__exchange();

	if (!in)
		return 1;
	place &= GATHER_CPUS - 1;
	in->bases[place] = in->offsets[in->cpus[place] & (GATHER_CPUS - 1)];
	return 0;
}

/* Programs with per-CPU counters call this in their SEC("syscall") program. */
static __always_inline int answer__find_cpus(void)
{
	struct gather_exchange *in = answer__exchange();
	int ret = find_cpus();
	__u32 count = cpu_ids;

	if (ret || !in)
		return ret;
	if (count > GATHER_CPUS)
		count = GATHER_CPUS;
	/* Copied once, because each copy of a variable needs one of them. */
	ret = bpf_probe_read_kernel(in->offsets, count * sizeof(in->offsets[0]),
				    (const void *)percpu_offsets);
	bpf_loop(answer__cpu_count(), set_base, NULL, 0);
	return ret;
}

/* The address of the copy of @cpu; @address is the kernel's __percpu pointer to the variable. */
static __always_inline __u64 answer__at_cpu(__u64 address, __u32 cpu)
{
	const struct gather_exchange *in = answer__exchange();

	return in ? address + in->offsets[cpu & (GATHER_CPUS - 1)] : 0;
}

/* Copies of one per-CPU variable, or of a part of it. */
struct answer_copies {
	__u64 address; /* per CPU */
	__u64 length; /* bytes */
	__u64 done; /* CPUs */
};

/* Appends a copy of @length bytes. */
static __always_inline int answer__copy_to(struct gather_exchange *in, __u64 address, __u32 length)
{
	void *copy;

	if (length > GATHER_COPY_MAX)
		return -EINVAL;
	asm volatile("" : "+r"(length));
	copy = answer__append_to(in, length);
	if (!copy)
		return -ENOSPC;
	return bpf_probe_read_kernel(copy, length, (const void *)address);
}

static __always_inline int answer__copy(__u64 address, __u32 length)
{
	return answer__copy_to(answer__exchange(), address, length);
}

/*
 * Appends the copies of GATHER_ROUND CPUs, because entering a round takes as long as a short copy.
 * All limits are checked once, for the first copy: the output has room for the others.
 */
static __attribute__((unused)) long answer__copy_cpus(__u32 round, struct answer_copies *copies)
{
	struct gather_exchange *in = answer__exchange();
	__u32 place = round * GATHER_ROUND;
	__u64 length = copies->length;
	__u64 done = copies->done;
	__u32 i, cpu;
	__u64 at;

	if (!in || length > GATHER_COPY_MAX)
		return 1;
	at = in->used;
	if (at > GATHER_OUTPUT - GATHER_COPY_MAX)
		return 1;
#pragma unroll
	for (i = 0; i < GATHER_ROUND; i++, place++) {
		if (place >= in->cpu_count)
			break;
		cpu = in->cpus[place & (GATHER_CPUS - 1)];
		if (bpf_probe_read_kernel(in->output + at, length,
					  (const void *)(copies->address +
							 in->offsets[cpu & (GATHER_CPUS - 1)])))
			return 1;
		at += length;
		done++;
	}
	in->used = at;
	copies->done = done;
	return 0;
}

/*
 * Answers @question with the bytes that it selects from the per-CPU variable at @address_, which is
 * @size bytes long.  The callback @copy appends the copies of @by CPUs and counts them.
 */
#define answer__copies_by(question, copy, by, address_, size)                                   \
	({                                                                                      \
		const __u32 count_ = answer__cpu_count();                                       \
		struct answer_copies copies_ = {                                                \
			.address = (address_) + (question)->offset,                             \
			.length = (question)->length,                                           \
		};                                                                              \
		int ret_ = -EINVAL;                                                             \
												\
		if ((__u64)(question)->offset + (question)->length <= (size) &&                 \
		    (question)->length <= GATHER_COPY_MAX) {                                    \
			bpf_loop((count_ + (by) - 1) / (by), copy, &copies_, 0);                \
			ret_ = answer__end_copies(question, &copies_, count_);                  \
		}                                                                               \
		ret_;                                                                           \
	})

/*
 * Copies the kernel's bitmap of online CPUs: only their copies are shown.  dartd would need a
 * system call for it in each pass.
 */
static __always_inline void answer__copy_online(void)
{
	struct gather_exchange *in = answer__exchange();
	__u32 bytes = (cpu_ids + 63) / 64 * 8;

	if (!in)
		return;
	if (bytes == sizeof(in->online[0])) {
		in->online[0] = READ(__u64, online_cpus);
		return;
	}
	if (bytes > sizeof(in->online))
		bytes = sizeof(in->online);
	bpf_probe_read_kernel(in->online, bytes, (const void *)online_cpus);
}

static __always_inline int answer__end_copies(struct gather_question *question,
					      const struct answer_copies *copies, __u32 count)
{
	if (copies->done != count)
		return -ENOSPC;
	if (!question->is_sum)
		answer__copy_online();
	question->rows = count;
	question->answer = GATHER_VALUES;
	return 0;
}

static __always_inline int answer__copies(struct gather_question *question, __u64 address,
					  __u32 size)
{
	return answer__copies_by(question, answer__copy_cpus, GATHER_ROUND, address, size);
}

/* Counts a row that was appended. */
static __always_inline void answer__add_row(struct gather_question *question)
{
	question->rows++;
	question->answer = GATHER_VALUES;
}

/* Answers with one row: returns a zeroed struct of @type in the output, or NULL if that is full. */
#define ANSWER_SAMPLE(question, type)                     \
	({                                                \
		type *to_ = answer__append(sizeof(type)); \
							  \
		if (to_) {                                \
			*to_ = (type){};                  \
			answer__add_row(question);        \
		}                                         \
		to_;                                      \
	})

/* Appends row @number_ of several to the answer; returns its struct as ANSWER_SAMPLE() does. */
#define ANSWER_ROW(question, number_, type)                                              \
	({                                                                               \
		struct gather_row *row_ = answer__append(sizeof(*row_) + sizeof(type));  \
		type *to_ = NULL;                                                        \
											 \
		if (row_) {                                                              \
			row_->number = (number_);                                        \
			to_ = (type *)(row_ + 1);                                        \
			*to_ = (type){};                                                 \
			answer__add_row(question);                                       \
		}                                                                        \
		to_;                                                                     \
	})

#define CGROUP2_MAGIC 0x63677270
#define SYSFS_MAGIC 0x62656572

/* The files of dartd by descriptor.  Not static, because clang would divide it. */
struct answer_descriptors {
	__u64 run; /* gather_exchange.time of the run for which the members below hold */
	__u64 table; /* address */
	__u64 count;
} answer_descriptors;

/* If dartd opens a file meanwhile, the kernel keeps a replaced table until the RCU section ends. */
static __always_inline void answer__find_descriptors(__u64 run)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct fdtable *table = BPF_CORE_READ(task, files, fdt);

	answer_descriptors.table = (__u64)BPF_CORE_READ(table, fd);
	answer_descriptors.count = BPF_CORE_READ(table, max_fds);
	answer_descriptors.run = run;
}

/*
 * The kernfs node of a descriptor of dartd, or NULL if the descriptor is not of a file in a file
 * system with this magic number (magic.h).  The descriptor keeps the node, but not the object that
 * the directory represents.
 */
static __always_inline const struct kernfs_node *answer__node(__s32 fd, __u64 magic)
{
	const struct gather_exchange *in = answer__exchange();
	const struct file *file;
	const struct inode *inode;

	if (!in)
		return NULL;
	if (answer_descriptors.run != in->time)
		answer__find_descriptors(in->time);
	if (fd < 0 || (__u32)fd >= answer_descriptors.count)
		return NULL;
	file = READ(const struct file *, answer_descriptors.table + sizeof(file) * (__u64)fd);
	if (!file)
		return NULL;
	inode = BPF_CORE_READ(file, f_inode);
	if (BPF_CORE_READ(inode, i_sb, s_magic) != magic)
		return NULL;
	return BPF_CORE_READ(inode, i_private);
}

/* From an unnamed enum of the kernel. */
#define CSS_IS_ONLINE (1 << 1)

static __always_inline bool answer__is_online(const struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, self.flags) & CSS_IS_ONLINE;
}

/*
 * The cgroup (v2) of a descriptor of dartd, or NULL if the cgroup has ended.  The controllers of a
 * cgroup end before it does, so check answer__is_online() again after reading the last value.  The
 * kernel sets the pointer in the node to NULL, and frees the cgroup after an RCU grace period.
 */
static __always_inline const struct cgroup *answer__cgroup(const struct gather_question *question)
{
	const struct kernfs_node *node = answer__node(question->fd, CGROUP2_MAGIC);
	const struct cgroup *cgroup = BPF_CORE_READ(node, priv);

	return cgroup && answer__is_online(cgroup) ? cgroup : NULL;
}

/* The next question to answer, or NULL. */
static __always_inline struct gather_question *answer__question(struct gather_exchange *in)
{
	const __u32 next = in->next;

	if (next >= in->count || next >= GATHER_QUESTIONS)
		return NULL;
	return &in->questions[next & (GATHER_QUESTIONS - 1)];
}

/*
 * Bounds the time for which the program holds the RCU read lock; one question is always answered.
 */
static __always_inline bool answer__is_late(const struct gather_exchange *in, __u32 round)
{
	return round && bpf_ktime_get_boot_ns() - in->time > in->budget_ns;
}

/*
 * Ends the answer to a question.  Returns true if the program must stop, because the output is full
 * or the next run continues with this question.  An answer too long even for an empty output
 * remains GATHER_NOT_YET: dartd must ask for fewer bytes.
 */
static __always_inline bool answer__end(struct gather_exchange *in,
					struct gather_question *question, int ret)
{
	const __u32 begin = question->at;

	if (ret)
		question->answer = GATHER_NOT_YET;
	if (question->answer != GATHER_VALUES) {
		question->rows = 0;
		in->used = begin;
	}
	if (ret == -EAGAIN || (ret == -ENOSPC && begin))
		return true;
	in->next++;
	return false;
}

/* Goes on with the program of the next question, unless that is @program or the time is over. */
static __always_inline void answer__go_on(void *context, struct gather_exchange *in, __u32 program)
{
	const struct gather_question *question = answer__question(in);

	if (!question || question->program == program || answer__is_late(in, 1))
		return;
	in->is_continued = 1;
	bpf_tail_call(context, &programs, question->program);
	/* The program is not there: dartd runs it. */
	in->is_continued = 0;
}

/* Defines the program, which answers each of its questions with @function. */
#define ANSWER_QUESTIONS(function)                                        \
	static long answer_question(__u32 round, const __u32 *program)    \
	{                                                                 \
		struct gather_exchange *in = answer__exchange();          \
		struct gather_question *question;                         \
                                                                          \
		if (!in || answer__is_late(in, round))                    \
			return 1;                                         \
		question = answer__question(in);                          \
		if (!question || question->program != *program)           \
			return 1;                                         \
		question->at = in->used;                                  \
		question->rows = 0;                                       \
		return answer__end(in, question, function(question));     \
	}                                                                 \
                                                                          \
	SEC("?raw_tp")                                                    \
	int answer(void *context)                                         \
	{                                                                 \
		struct gather_exchange *in = answer__exchange();          \
		const struct gather_question *question;                   \
		__u32 program;                                            \
                                                                          \
		question = in ? answer__question(in) : NULL;              \
		if (!question)                                            \
			return 0;                                         \
		program = question->program;                              \
		if (!in->is_continued)                                    \
			in->time = bpf_ktime_get_boot_ns();               \
		in->is_continued = 0;                                     \
		bpf_loop(GATHER_QUESTIONS, answer_question, &program, 0); \
		answer__go_on(context, in, program);                      \
		return 0;                                                 \
	}

#endif /* GATHER_ANSWER_H */
