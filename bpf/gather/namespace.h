/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that answer questions about network namespaces: finds the namespaces.
 *
 * A question names a namespace by number, because a descriptor would keep the namespace alive.  The
 * first question of a batch walks over the kernel's list, and finds the namespaces of all
 * questions.  The kernel links a namespace after setting up all its parts.  It removes the link,
 * and waits for all RCU readers, before it frees any part; it treats the devices of a namespace in
 * the same way.
 *
 * Later runs of the batch use the addresses that the walk found if no grace period of RCU has begun
 * since: the kernel frees a namespace that it removed after the walk only after a grace period that
 * begins later still, and such a grace period waits for the end of the run.  Otherwise they walk
 * over the list again.
 *
 * For the same reason a walk over thousands of namespaces goes on in the next run when the time of
 * its run is over.  If a grace period began meanwhile, it begins again; after RESTARTS such
 * beginnings it takes the time that it needs, because grace periods might never leave it enough,
 * and so it does where the kernel does not tell its grace periods.
 */
#ifndef GATHER_NAMESPACE_H
#define GATHER_NAMESPACE_H

#include "answer.h"

/* The longest list that one run can walk over. */
#define NAMESPACES_MAX (1 << 16)
#define BUCKETS 1024
/* Namespaces that a walk visits before it looks at the time again. */
#define VISITS 32
/* Questions that a round files; divides GATHER_QUESTIONS. */
#define FILED 8
#define RESTARTS 8

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

/* Numbers of the kernel that change when a grace period begins, and when it ends. */
struct grace_periods {
	__u64 normal;
	__u64 expedited;
};

/* Not static, like buckets. */
struct grace_periods found_periods; /* during the walk */
struct grace_periods seen_periods; /* in the last run that walked */

/* Not static, like buckets. */
struct namespace_walk {
	__u64 link; /* address: of the next namespace, or the head of the list at its end */
	__u64 run; /* gather_exchange.time of its first run */
	__u32 visited;
	__u32 restarts;
	__u32 can_go_on; /* addresses remain valid until a grace period begins */
	__u32 is_late; /* the next run is to go on */
} namespace_walk;

static __always_inline struct question_list *bucket_of(__u32 number)
{
	return &buckets[number & (BUCKETS - 1)];
}

/* Entering a round takes as long as filing a question. */
static long file_questions(__u32 round, void *unused)
{
	struct gather_exchange *in = answer__exchange();
	const __u64 run = namespace_walk.run;
	struct question_list *bucket;
	__u32 i, next, index;

	if (!in)
		return 1;
	next = in->next + round * FILED;
#pragma unroll
	for (i = 0; i < FILED; i++) {
		index = next + i;
		if (index >= in->count || index >= GATHER_QUESTIONS)
			return 1;
		asm volatile("" : "+r"(index));
		bucket = bucket_of(in->questions[index].netns);
		following[index] = bucket->run == run ? bucket->first : 0;
		bucket->run = run;
		bucket->first = index + 1;
		found[index] = 0;
	}
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

/* Have no grace periods begun or ended between these? */
static __always_inline bool are_same(const struct grace_periods *one,
				     const struct grace_periods *other)
{
	return one->normal == other->normal && one->expedited == other->expedited;
}

/* Goes on with the walk of the last run, or begins a walk.  Returns whether it begins. */
static __always_inline bool namespace_walk__begins(const struct gather_exchange *in)
{
	struct grace_periods now = {};
	const bool is_known = read_grace_periods(&now);

	namespace_walk.is_late = 0;
	if (in->cursor && is_known && namespace_walk.can_go_on && are_same(&now, &found_periods))
		return false;
	if (!is_known)
		namespace_walk.restarts = RESTARTS;
	else
		namespace_walk.restarts = in->cursor ? namespace_walk.restarts + 1 : 0;
	namespace_walk.link = READ(__u64, namespace_list);
	namespace_walk.run = in->time;
	namespace_walk.visited = 0;
	namespace_walk.can_go_on = is_known && began_before(now.normal, seen_periods.normal) &&
				   began_before(now.expedited, seen_periods.expedited);
	found_periods = now;
	seen_periods = now;
	return true;
}

/* The next namespace, visited in @round of this run; NULL: the walk or the run ends. */
static __always_inline const struct net *namespace_walk__next(__u32 round)
{
	const struct gather_exchange *in = answer__exchange();
	const __u64 link = namespace_walk.link;

	if (!in || !link || link == namespace_list)
		return NULL;
	if (!(round % VISITS) && namespace_walk.restarts < RESTARTS && answer__is_late(in, round)) {
		namespace_walk.is_late = 1;
		return NULL;
	}
	namespace_walk.link = READ(__u64, link);
	namespace_walk.visited++;
	return namespace_of(link);
}

/* Has the walk reached the end of the list? */
static __always_inline bool namespace_walk__is_whole(void)
{
	return namespace_walk.link == namespace_list;
}

/* Ends the part of the walk in this run; -EAGAIN: the next run goes on. */
static __always_inline int namespace_walk__end(struct gather_exchange *in)
{
	/* Another number than before, unless the walk began again. */
	in->cursor = namespace_walk.is_late ? namespace_walk.visited + 1 : 0;
	return namespace_walk.is_late ? -EAGAIN : 0;
}

static long visit_namespace(__u32 round, void *unused)
{
	struct matching matching;
	struct question_list *bucket;

	matching.net = namespace_walk__next(round);
	if (!matching.net)
		return 1;
	matching.number = number_of(matching.net);
	bucket = bucket_of(matching.number);
	if (bucket->run == namespace_walk.run) {
		matching.next = bucket->first;
		bpf_loop(GATHER_QUESTIONS, match_question, &matching, 0);
	}
	return 0;
}

/* -EAGAIN: the next run goes on. */
static __always_inline int find_namespaces(struct gather_exchange *in)
{
	int ret;

	found_batch = 0;
	if (namespace_walk__begins(in))
		bpf_loop(GATHER_QUESTIONS / FILED, file_questions, NULL, 0);
	bpf_loop(NAMESPACES_MAX, visit_namespace, NULL, 0);
	ret = namespace_walk__end(in);
	if (ret)
		return ret;
	found_run = in->time;
	found_batch = namespace_walk.can_go_on && namespace_walk__is_whole() ? in->batch : 0;
	return 0;
}

/* May this run use the addresses that an earlier one found? */
static __always_inline bool are_kept(const struct gather_exchange *in)
{
	struct grace_periods now = {};

	return found_batch == in->batch && read_grace_periods(&now) &&
	       are_same(&now, &found_periods);
}

/* Sets @net to the namespace of the next question, or to NULL.  -EAGAIN: as above. */
static __always_inline int found_namespace(struct gather_exchange *in, const struct net **net)
{
	__u32 index = in->next;
	int ret;

	if (index >= GATHER_QUESTIONS)
		return -EINVAL;
	if (found_run != in->time) {
		if (are_kept(in)) {
			found_run = in->time;
		} else {
			ret = find_namespaces(in);
			if (ret)
				return ret;
		}
	}
	asm volatile("" : "+r"(index));
	*net = (const void *)found[index & (GATHER_QUESTIONS - 1)];
	return 0;
}

/*
 * Sets @net to the namespace of the next question, @question; or to NULL after answering that it
 * ended, or that the walk did not reach it.  Returns 0, or -EAGAIN for the end of the run.
 */
static __always_inline int namespace__find(struct gather_question *question, const struct net **net)
{
	struct gather_exchange *in = answer__exchange();
	const int ret = in ? found_namespace(in, net) : -EINVAL;
	__u32 identity;

	if (ret)
		return ret;
	identity = *net ? identity_of(*net) : 0;
	if (!*net || (question->identity && question->identity != identity)) {
		question->answer = *net || namespace_walk__is_whole() ? GATHER_ENDED :
									GATHER_NOT_YET;
		*net = NULL;
		return 0;
	}
	question->identity = identity;
	return 0;
}

#endif /* GATHER_NAMESPACE_H */
