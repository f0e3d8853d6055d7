/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Questions of dartd to its gathering programs, and their answers.
 *
 * Without the module dart_zero, dartd gathers by eBPF programs that never attach to anything: it
 * writes questions into the exchange, which is one array map that all these programs share, and
 * runs the program of their source with BPF_PROG_TEST_RUN.  Each question asks for the values of
 * one object:
 *
 *	counters that the kernel keeps per CPU (a source below DART_ZERO_SOURCE_GATHERING): the
 *		answer consists of @length bytes, from byte @offset of the variable, for each CPU
 *		in @cpus, in this order; with @is_sum it may be one such copy, the sums of the words
 *	DART_ZERO_SOURCE_CGROUP_CPU: one such copy, the times of the cgroup and its descendants.
 *		The sum can miss times that the kernel moves meanwhile; a later sum includes them.
 *		dartd never shows a lower time than before
 *	a sample with one row: the answer is its struct in <linux/dart_zero_samples.def>
 *	a sample with several rows: the answer consists of @rows times a struct gather_row and the
 *		struct of the sample
 *
 * A program answers the questions from @next on, and stops when the output is full or @budget_ns
 * has passed, so that it holds the RCU read lock for a bounded time.  If the next question is for
 * another program, it goes on with that program, by a tail call: one run can answer questions of
 * several programs.  The last program leaves the number of the first question without an answer in
 * @next; dartd takes the answers and runs the program of that question.  All answers of one
 * question come from one run.
 *
 * Numbers are in the byte order of the machine.  The programs and dartd are of one build, so
 * the exchange carries no version.  Only the thread that gathers writes the exchange or runs
 * programs.
 */
#ifndef GATHER_EXCHANGE_H
#define GATHER_EXCHANGE_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define GATHER_QUESTIONS	256
#define GATHER_CPUS		8192
#define GATHER_PROGRAMS		64
#define GATHER_OUTPUT		(1 << 20)	/* bytes */
/*
 * A program holds the RCU read lock while it runs, which should not last longer than 0.2 ms.  It
 * looks at the time between steps, so it exceeds its budget by a step and the end of the run.
 */
#define GATHER_BUDGET_NS	150000
/* The longest copy of a variable, or sample. */
#define GATHER_COPY_MAX		4096
/* CPUs from which a program copies a variable before it looks again at the room that is left. */
#define GATHER_ROUND		8
#define GATHER_OUTPUT_SPARE	((GATHER_ROUND - 1) * GATHER_COPY_MAX)

enum gather_answer {
	GATHER_NOT_YET = 0,	/* no answer this time: the record keeps its values */
	GATHER_VALUES = 1,
	GATHER_ABSENT = 2,	/* the object lacks these values now */
	GATHER_ENDED = 3,	/* the object no longer exists */
};

struct gather_question {
	__u32 source;		/* enum dart_zero_source */
	__u32 program;		/* index of the program that answers, below GATHER_PROGRAMS */
	/*
	 * A descriptor of dartd for the object: the directory of a cgroup, or the directory of a
	 * block device in /sys/dev/block; -1: none.  O_PATH suffices.
	 */
	__s32 fd;
	__u32 netns;		/* inode of a network namespace, or 0 */
	__u32 ifindex;		/* of a network device in it, or 0 */
	__u32 offset;		/* bytes, a multiple of 8 */
	__u32 length;		/* bytes, a multiple of 8; 0: a sample */
	__u32 answer;		/* out: enum gather_answer */
	__u32 rows;		/* out: copies or rows in the answer */
	__u32 at;		/* out: byte of the output where the answer begins */
	/*
	 * The kernel reuses the numbers of network namespaces.  in: 0, or @identity of an earlier
	 * answer about @netns: if the number now belongs to another namespace, the answer is
	 * GATHER_ENDED.  out: identity of the namespace.
	 */
	__u32 identity;
	__u32 is_sum;		/* not 0: only sums of words over all CPUs are of interest */
};

/*
 * A question with the source GATHER_NAMESPACES asks for the list of network namespaces: its answer
 * consists of @rows times this struct.
 */
#define GATHER_NAMESPACES 0

struct gather_namespace {
	__u32 inode;
	__u32 identity;		/* see struct gather_question */
};

/* Before each row of a sample with several rows. */
struct gather_row {
	__u64 number;		/* of the CPU, node or device */
};

/*
 * A question with the source DART_ZERO_SOURCE_NETDEV and @length 0 asks for the kind of the
 * counters per CPU that the device has: its answer is a struct gather_row whose @number is the
 * kind.  The answer is GATHER_ABSENT if only the driver knows.
 */
enum gather_statistics {
	GATHER_STATISTICS_LSTATS = 1,	/* struct pcpu_lstats */
	GATHER_STATISTICS_TSTATS = 2,	/* struct pcpu_sw_netstats */
	GATHER_STATISTICS_DSTATS = 3,	/* struct pcpu_dstats */
};

struct gather_exchange {
	__u32 count;		/* in: questions */
	__u32 next;		/* in, out: the first question without an answer */
	__u32 used;		/* in: 0; out: bytes of the output */
	__u32 cpu_count;	/* in: of @cpus */
	__u64 budget_ns;	/* in */
	__u64 time;		/* out: CLOCK_BOOTTIME at the start of the run, ns */
	/*
	 * For programs that may need longer than the budget for one question: their position in it.
	 * in: 0 for the first run of a pass.  out: not 0 if the next run continues with the
	 * question @next.
	 */
	__u64 cursor;
	__u64 batch;		/* in: another number for each list of questions; not 0 */
	/* For programs only: not 0 when a program begins that goes on with another one's run */
	__u64 is_continued;
	__u16 cpus[GATHER_CPUS];	/* in: all possible CPUs */
	__u64 online[GATHER_CPUS / 64];	/* out, with copies for each CPU: bitmap of online CPUs */
	/* Only for programs: offset of the per-CPU memory of each CPU, by the number of the CPU */
	__u64 offsets[GATHER_CPUS];
	__u64 bases[GATHER_CPUS];	/* only for programs: these offsets in the order of @cpus */
	struct gather_question questions[GATHER_QUESTIONS];
	__u8 output[GATHER_OUTPUT + GATHER_OUTPUT_SPARE] __attribute__((aligned(8)));
};

#endif /* GATHER_EXCHANGE_H */
