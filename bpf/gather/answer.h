/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that answer questions of dartd: see exchange.h.  NAME.bpf.c here has a function
 *
 *	static __always_inline int NAME(struct gather_question *question)
 *
 * that answers one question, and ANSWER_QUESTIONS(NAME), which defines the program.  The function
 * sets the answer with answer__copies(), ANSWER_SAMPLE() or ANSWER_ROW(), or sets @answer of the
 * question to GATHER_ABSENT or GATHER_ENDED, and returns 0; or -ENOSPC if the output is full,
 * -EAGAIN if the next run is to go on with this question (after it has set @cursor of the exchange),
 * or another -errno, if the question is to have no answer this time.
 *
 * dartd runs the program with BPF_PROG_TEST_RUN, so it runs in dartd's context, and a read-side
 * critical section of RCU.  It finds the object of each question anew, because an address that it
 * remembered could be that of another object later.
 *
 * Variables that BTF does not have are found by name, with FIND() in a program SEC("syscall"):
 * dartd runs it once, and it returns 0 or -errno.  A variable "extern const void X __ksym" would be
 * 0 where addresses are hidden, without an error.
 *
 * Verifiers before Linux 6.7 visit the callback of a bpf_loop() once, with the values of the first
 * round, and remove branches that these values cannot reach.  So a variable that callbacks change
 * must begin with a value that the verifier does not know: from a map, or from the kernel.
 */
#ifndef GATHER_ANSWER_H
#define GATHER_ANSWER_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* BTF has the types of the kernel's headers, but no macros. */
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

/* dartd gives the same map to all programs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gather_exchange);
} exchange SEC(".maps");

/* NULL never happens, but the verifier does not know. */
static __always_inline struct gather_exchange *answer__exchange(void)
{
	const __u32 first = 0;

	return bpf_map_lookup_elem(&exchange, &first);
}

/*
 * Appends @bytes to the output, which the caller fills, or returns NULL if the output is full.
 * @bytes is a multiple of 8, and at most GATHER_COPY_MAX.
 */
static __always_inline void *answer__append(__u32 bytes)
{
	struct gather_exchange *in = answer__exchange();
	__u32 at;

	if (!in)
		return NULL;
	at = in->used;
	/* The same limit for all lengths, because the verifier must know it. */
	if (at > GATHER_OUTPUT - GATHER_COPY_MAX)
		return NULL;
	/* The compiler must use the register that was compared. */
	asm volatile("" : "+r"(at));
	in->used = at + bytes;
	return in->output + at;
}

/* The CPU with this place in the list of dartd. */
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

/* For programs with counters per CPU: call it in the SEC("syscall") program. */
static __always_inline int answer__find_cpus(void)
{
	return find_cpus();
}

/* The address of a variable per CPU (as the kernel's pointers of type __percpu have it). */
static __always_inline __u64 answer__at_cpu(__u64 address, __u32 cpu)
{
	return (__u64)at_cpu((const void *)address, cpu);
}

/* Copies of one variable, or of a part of it. */
struct answer_copies {
	__u64 address; /* per CPU */
	__u64 length; /* bytes */
	__u64 done; /* CPUs */
};

/* Appends a copy of @length bytes. */
static __always_inline int answer__copy(__u64 address, __u32 length)
{
	void *copy;

	if (length > GATHER_COPY_MAX)
		return -EINVAL;
	asm volatile("" : "+r"(length));
	copy = answer__append(length);
	if (!copy)
		return -ENOSPC;
	return bpf_probe_read_kernel(copy, length, (const void *)address);
}

static __attribute__((unused)) long answer__copy_cpu(__u32 place, struct answer_copies *copies)
{
	if (answer__copy(answer__at_cpu(copies->address, answer__cpu(place)), copies->length))
		return 1;
	copies->done++;
	return 0;
}

/*
 * Answers with the bytes, for which @question asks, of a variable per CPU at @address, which has
 * @size bytes.  @copy_cpu is the callback that appends the copy of one CPU and counts it.
 */
#define answer__copies_by(question, copy_cpu, address_, size)                                   \
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
			bpf_loop(count_, copy_cpu, &copies_, 0);                                \
			ret_ = answer__end_copies(question, &copies_, count_);                  \
		}                                                                               \
		ret_;                                                                           \
	})

static __always_inline int answer__end_copies(struct gather_question *question,
					      const struct answer_copies *copies, __u32 count)
{
	if (copies->done != count)
		return -ENOSPC;
	question->rows = count;
	question->answer = GATHER_VALUES;
	return 0;
}

static __always_inline int answer__copies(struct gather_question *question, __u64 address,
					  __u32 size)
{
	return answer__copies_by(question, answer__copy_cpu, address, size);
}

/* Counts a row that was appended. */
static __always_inline void answer__add_row(struct gather_question *question)
{
	question->rows++;
	question->answer = GATHER_VALUES;
}

/* Answers with one row, a struct of this type: returns it, filled with 0, or NULL. */
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

/* Appends one of several rows, with its number, to the answer: returns it as ANSWER_SAMPLE(). */
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

/*
 * The kernfs node that a descriptor of dartd refers to, or NULL if it refers to something else than
 * a file of a file system with this number (magic.h).  The descriptor holds the node, but not the
 * object of which it is a directory.
 */
static __always_inline const struct kernfs_node *answer__node(__s32 fd, __u64 magic)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	const struct file *file;
	const struct inode *inode;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	file = READ(const struct file *, BPF_CORE_READ(table, fd) + fd);
	if (!file)
		return NULL;
	inode = BPF_CORE_READ(file, f_inode);
	if (BPF_CORE_READ(inode, i_sb, s_magic) != magic)
		return NULL;
	return BPF_CORE_READ(inode, i_private);
}

/* A constant of the kernel in an enum without name. */
#define CSS_IS_ONLINE (1 << 1)

static __always_inline bool answer__is_online(const struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, self.flags) & CSS_IS_ONLINE;
}

/*
 * The cgroup (v2) that a descriptor of dartd refers to, or NULL if it has ended.  When it ends, its
 * controllers end first: so ask answer__is_online() again behind the last value.  The kernel sets
 * the pointer in the node to NULL, and frees the cgroup after a grace period of RCU.
 */
static __always_inline const struct cgroup *answer__cgroup(const struct gather_question *question)
{
	const struct kernfs_node *node = answer__node(question->fd, CGROUP2_MAGIC);
	const struct cgroup *cgroup = BPF_CORE_READ(node, priv);

	return cgroup && answer__is_online(cgroup) ? cgroup : NULL;
}

/* The question that is to be answered next, or NULL. */
static __always_inline struct gather_question *answer__question(struct gather_exchange *in)
{
	const __u32 next = in->next;

	if (next >= in->count || next >= GATHER_QUESTIONS)
		return NULL;
	return &in->questions[next & (GATHER_QUESTIONS - 1)];
}

/* Bounds how long the program holds the RCU read lock; one question is always answered. */
static __always_inline bool answer__is_late(const struct gather_exchange *in, __u32 round)
{
	return round && bpf_ktime_get_boot_ns() - in->time > in->budget_ns;
}

/*
 * Ends the answer to a question.  Returns true if the program must stop, because the output is
 * full, or the next run goes on with the question.  An answer that does not fit even into an empty
 * output remains GATHER_NOT_YET, and dartd must ask for fewer bytes.
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

/* Defines the program, which answers each question with @function. */
#define ANSWER_QUESTIONS(function)                                    \
	static long answer_question(__u32 round, void *nothing)       \
	{                                                             \
		struct gather_exchange *in = answer__exchange();      \
		struct gather_question *question;                     \
                                                                      \
		if (!in || answer__is_late(in, round))                \
			return 1;                                     \
		question = answer__question(in);                      \
		if (!question)                                        \
			return 1;                                     \
		question->at = in->used;                              \
		question->rows = 0;                                   \
		return answer__end(in, question, function(question)); \
	}                                                             \
                                                                      \
	SEC("?raw_tp")                                                \
	int answer(void *context)                                     \
	{                                                             \
		struct gather_exchange *in = answer__exchange();      \
                                                                      \
		if (!in)                                              \
			return 0;                                     \
		in->time = bpf_ktime_get_boot_ns();                   \
		bpf_loop(GATHER_QUESTIONS, answer_question, NULL, 0); \
		return 0;                                             \
	}

#endif /* GATHER_ANSWER_H */
