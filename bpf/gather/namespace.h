/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that answer questions about network namespaces: finds the namespaces.
 *
 * A question names a namespace by number, because a descriptor would keep the namespace alive.  The
 * first question of a batch walks over the kernel's list, and finds the namespaces of all questions.
 * The kernel links a namespace after setting up all its parts.  It removes the link, and waits for
 * all RCU readers, before it frees any part; it treats the devices of a namespace in the same way.
 *
 * Later runs of the batch use the addresses that the walk found if no grace period of RCU has begun
 * since: the kernel frees a namespace that it removed after the walk only after a grace period that
 * begins later still, and such a grace period waits for the end of the run.  Otherwise they walk
 * over the list again.
 */
#ifndef GATHER_NAMESPACE_H
#define GATHER_NAMESPACE_H

#include "answer.h"

/* The longest list that one run can walk over. */
#define NAMESPACES_MAX (1 << 16)
#define BUCKETS 1024

/* Addresses of net_namespace_list, and of rcu_state: 0 in a kernel for one CPU. */
static __u64 namespace_list;
static __u64 rcu_variable;

static __always_inline int namespace__find_variables(void)
{
	return FIND(namespace_list, "net_namespace_list") ?: FIND_ANY(rcu_variable, "rcu_state");
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
/* Addresses of the namespaces of questions; 0: not found. */
__u64 found[GATHER_QUESTIONS];
static __u64 found_run; /* gather_exchange.time of the last run for which they are valid */
static __u64 found_batch; /* other runs of this batch may use them; 0: none may */
static __u32 is_whole; /* the walk reached the end of the list */

/* Numbers of the kernel that change when a grace period begins, and when it ends. */
struct grace_periods {
	__u64 normal;
	__u64 expedited;
};

/* Not static, like buckets. */
struct grace_periods found_periods; /* during the walk */
struct grace_periods seen_periods; /* in the last run that walked */

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

/*
 * Returns false if the kernel does not tell them, or if only one CPU is online: kernels before 6.1
 * then free memory without a grace period.
 */
static __always_inline bool read_grace_periods(struct grace_periods *periods)
{
	const struct rcu_state *rcu = (const void *)rcu_variable;

	if (!rcu_variable || !bpf_core_field_exists(rcu->gp_seq) ||
	    !bpf_core_field_exists(rcu->expedited_sequence) ||
	    !bpf_core_field_exists(rcu->n_online_cpus))
		return false;
	periods->normal = BPF_CORE_READ(rcu, gp_seq);
	periods->expedited = BPF_CORE_READ(rcu, expedited_sequence);
	return BPF_CORE_READ(rcu, n_online_cpus) > 1;
}

#define RCU_SEQ_STATE_MASK 3 /* of the kernel; 0: none is in progress */

/*
 * Had the grace period in progress begun before this run, so that it does not wait for this run?
 * Nothing else can be freed without a change of the numbers.
 */
static __always_inline bool began_before(__u64 now, __u64 seen)
{
	return !(now & RCU_SEQ_STATE_MASK) || now == seen;
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

static __always_inline void find_namespaces(const struct gather_exchange *in)
{
	struct walk walk = { .link = READ(__u64, namespace_list), .run = in->time };
	struct grace_periods now = {};
	const bool is_known = read_grace_periods(&now);

	bpf_loop(GATHER_QUESTIONS, file_question, &walk.run, 0);
	is_whole = 0;
	bpf_loop(NAMESPACES_MAX, visit_namespace, &walk, 0);
	found_run = walk.run;
	found_batch = 0;
	if (is_known && is_whole && began_before(now.normal, seen_periods.normal) &&
	    began_before(now.expedited, seen_periods.expedited)) {
		found_batch = in->batch;
		found_periods = now;
	}
	seen_periods = now;
}

/* May this run use the addresses that an earlier one found? */
static __always_inline bool are_kept(const struct gather_exchange *in)
{
	struct grace_periods now = {};

	return found_batch == in->batch && read_grace_periods(&now) &&
	       now.normal == found_periods.normal && now.expedited == found_periods.expedited;
}

/* The namespace of the question at @index, or NULL. */
static __always_inline const struct net *found_namespace(__u32 index)
{
	struct gather_exchange *in = answer__exchange();

	if (!in || index >= GATHER_QUESTIONS)
		return NULL;
	if (found_run != in->time) {
		if (are_kept(in))
			found_run = in->time;
		else
			find_namespaces(in);
	}
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
