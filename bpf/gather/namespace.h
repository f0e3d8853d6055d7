/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that answer questions about network namespaces: finds the namespaces.
 *
 * A question names a namespace by number, because a descriptor would keep the namespace alive.  The
 * first question of a run walks over the kernel's list, and finds the namespaces of all questions.
 * The kernel links a namespace after setting up all its parts.  It removes the link, and waits for
 * all RCU readers, before it frees any part; it treats the devices of a namespace in the same way.
 */
#ifndef GATHER_NAMESPACE_H
#define GATHER_NAMESPACE_H

#include "answer.h"

/* The longest list that one run can walk over. */
#define NAMESPACES_MAX (1 << 16)
#define BUCKETS 1024

/* The address of net_namespace_list. */
static __u64 namespace_list;

static __always_inline int namespace__find_variables(void)
{
	return FIND(namespace_list, "net_namespace_list");
}

static __always_inline const struct net *namespace_of(__u64 link)
{
	return (const void *)(link - bpf_core_field_offset(struct net, list));
}

static __always_inline __u32 number_of(const struct net *net)
{
	return BPF_CORE_READ(net, ns.inum);
}

/* A part of a number that the kernel never gives to another namespace; not 0. */
static __always_inline __u32 identity_of(const struct net *net)
{
	const __u64 cookie = BPF_CORE_READ(net, net_cookie);

	return (__u32)cookie ?: 1;
}

/* The questions of one run about namespaces: lists of questions by the number of the namespace. */
struct question_list {
	__u64 run; /* gather_exchange.time of the run for which @first holds */
	__u32 first; /* index of a question + 1; 0: none */
	__u32 unused;
};

/* Not static, because clang would divide them into variables with names that BTF refuses. */
struct question_list buckets[BUCKETS];
__u32 following[GATHER_QUESTIONS]; /* like bucket.first */
/* Addresses of the namespaces of questions, valid in the same run only; 0: not found. */
__u64 found[GATHER_QUESTIONS];
static __u64 found_run;
static __u32 is_whole; /* the walk reached the end of the list */

static __always_inline struct question_list *bucket_of(__u32 number)
{
	return &buckets[number & (BUCKETS - 1)];
}

static long file_question(__u32 place, const __u64 *run)
{
	struct gather_exchange *in = answer__exchange();
	struct question_list *bucket;
	__u32 index;

	if (!in)
		return 1;
	index = in->next + place;
	if (index >= in->count || index >= GATHER_QUESTIONS)
		return 1;
	asm volatile("" : "+r"(index));
	bucket = bucket_of(in->questions[index].netns);
	following[index] = bucket->run == *run ? bucket->first : 0;
	bucket->run = *run;
	bucket->first = index + 1;
	found[index] = 0;
	return 0;
}

struct matching {
	const struct net *net;
	__u32 number;
	__u32 next; /* like bucket.first */
};

static long match_question(__u32 round, struct matching *matching)
{
	struct gather_exchange *in = answer__exchange();
	__u32 index = matching->next - 1;

	if (!in || index >= GATHER_QUESTIONS)
		return 1;
	asm volatile("" : "+r"(index));
	if (in->questions[index].netns == matching->number)
		found[index] = (__u64)matching->net;
	matching->next = following[index];
	return 0;
}

struct walk {
	__u64 link;
	__u64 run;
};

static long visit_namespace(__u32 round, struct walk *walk)
{
	struct matching matching;
	struct question_list *bucket;

	if (!walk->link || walk->link == namespace_list) {
		is_whole = walk->link == namespace_list;
		return 1;
	}
	matching.net = namespace_of(walk->link);
	matching.number = number_of(matching.net);
	bucket = bucket_of(matching.number);
	if (bucket->run == walk->run) {
		matching.next = bucket->first;
		bpf_loop(GATHER_QUESTIONS, match_question, &matching, 0);
	}
	walk->link = READ(__u64, walk->link);
	return 0;
}

static __always_inline void find_namespaces(__u64 run)
{
	struct walk walk = { .link = READ(__u64, namespace_list), .run = run };

	bpf_loop(GATHER_QUESTIONS, file_question, &walk.run, 0);
	is_whole = 0;
	bpf_loop(NAMESPACES_MAX, visit_namespace, &walk, 0);
	found_run = run;
}

/* The namespace of the question at @index, or NULL. */
static __always_inline const struct net *found_namespace(__u32 index)
{
	struct gather_exchange *in = answer__exchange();

	if (!in || index >= GATHER_QUESTIONS)
		return NULL;
	if (found_run != in->time)
		find_namespaces(in->time);
	asm volatile("" : "+r"(index));
	return (const void *)found[index & (GATHER_QUESTIONS - 1)];
}

/*
 * The namespace of the next question, @question; or NULL after answering that it ended, or that the
 * walk did not reach it.
 */
static __always_inline const struct net *namespace__find(struct gather_question *question)
{
	const struct gather_exchange *in = answer__exchange();
	const struct net *net = in ? found_namespace(in->next) : NULL;
	const __u32 identity = net ? identity_of(net) : 0;

	if (!net || (question->identity && question->identity != identity)) {
		question->answer = net || is_whole ? GATHER_ENDED : GATHER_NOT_YET;
		return NULL;
	}
	question->identity = identity;
	return net;
}

#endif /* GATHER_NAMESPACE_H */
