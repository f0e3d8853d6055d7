/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that answer questions about counters per CPU with their sums: they add up the words
 * where the kernel keeps them.  A load by bpf_rdonly_cast() takes fewer instructions than copying a
 * word and adding up the copies.  Kernels without bpf_rdonly_cast() copy.
 */
#ifndef GATHER_SUM_H
#define GATHER_SUM_H

#include "answer.h"

/* Words that a round adds up; the type of the cast is a struct of this many numbers. */
#define SUM_WORDS 16
#define SUM_BYTES (SUM_WORDS * sizeof(__u64))
/* CPUs that a round adds up: the addresses of their words have to be in registers. */
#define SUM_CPUS 4

/* The position in the sum.  Not on the stack: see answer.h about verifiers before Linux 6.7. */
struct sum {
	__u64 address; /* per CPU, of the next word */
	__u32 left; /* bytes of these CPUs */
	__u32 at; /* byte of the output for the next sum */
	__u32 length; /* bytes */
	__u32 place; /* index of the next CPU in dartd's list */
} sum;

typedef const volatile __u64 *sum_words;

/* The next words of a CPU. */
static __always_inline sum_words sum_words_at(__u64 address)
{
	return bpf_rdonly_cast((const void *)address, bpf_core_type_id_kernel(struct tcp_mib));
}

static __always_inline void begin_sums(__u64 *to)
{
	int i;

#pragma unroll
	for (i = 0; i < SUM_WORDS; i++)
		to[i] = 0;
}

/* Not a loop: clang would not unroll it, and the verifier refuses a variable index of a struct. */
#define SUM_ONE(word)                             \
	do {                                      \
		if ((word) * sizeof(*to) >= left) \
			goto end;                 \
		value = a[word];                  \
		if (cpus > 1)                     \
			value += b[word];         \
		if (cpus > 2) {                   \
			value += c[word];         \
			value += d[word];         \
		}                                 \
		to[word] += value;                \
	} while (0)

#define SUM_FOUR(word)             \
	do {                       \
		SUM_ONE(word);     \
		SUM_ONE(word + 1); \
		SUM_ONE(word + 2); \
		SUM_ONE(word + 3); \
	} while (0)

/* Adds up the next words of the next @cpus CPUs: 1, 2 or SUM_CPUS. */
static __always_inline long sum_round(const __u32 cpus)
{
	struct gather_exchange *in = answer__exchange();
	const __u64 address = sum.address;
	__u32 left = sum.left, place = sum.place, at = sum.at;
	const __u64 *bases;
	sum_words a, b = NULL, c = NULL, d = NULL;
	__u64 *to, value;

	if (!in || place > GATHER_CPUS - SUM_CPUS || at > GATHER_OUTPUT)
		return 1;
	asm volatile("" : "+r"(place), "+r"(at));
	bases = in->bases + place;
	to = (__u64 *)(in->output + at);
	a = sum_words_at(address + bases[0]);
	if (cpus > 1)
		b = sum_words_at(address + bases[1]);
	if (cpus > 2) {
		c = sum_words_at(address + bases[2]);
		d = sum_words_at(address + bases[3]);
	}
	if (!place)
		begin_sums(to);
	/* Makes the compiler load these addresses into registers once, after the last call. */
	asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(to));
	SUM_FOUR(0);
	SUM_FOUR(4);
	SUM_FOUR(8);
	SUM_FOUR(12);
end:
	/* Read again, because the verifier keeps the bounds that it learned at each jump. */
	left = *(const volatile __u32 *)&sum.left;
	if (left > SUM_BYTES) {
		sum.address = address + SUM_BYTES;
		sum.at = at + SUM_BYTES;
		sum.left = left - SUM_BYTES;
		return 0;
	}
	left = sum.length;
	sum.address = address - (left - 1) / SUM_BYTES * SUM_BYTES;
	sum.at = at - (left - 1) / SUM_BYTES * SUM_BYTES;
	sum.left = left;
	sum.place = place + cpus;
	return 0;
}

static long sum_four(__u32 round, void *unused)
{
	return sum_round(SUM_CPUS);
}

static long sum_two(__u32 round, void *unused)
{
	return sum_round(2);
}

static long sum_one(__u32 round, void *unused)
{
	return sum_round(1);
}

/*
 * Answers @question with the sums of the words that it selects from the per-CPU variable at
 * @address, which is @size bytes long; with copies if the question or the kernel needs them.
 */
static __always_inline int answer__sums(struct gather_question *question, __u64 address, __u32 size)
{
	const __u32 count = answer__cpu_count(), length = question->length;
	const __u32 rounds = (length + SUM_BYTES - 1) / SUM_BYTES;

	if (!CAN_CAST || !question->is_sum || !length)
		return answer__copies(question, address, size);
	if ((__u64)question->offset + length > size || length > GATHER_COPY_MAX)
		return -EINVAL;
	sum.address = address + question->offset;
	sum.left = length;
	sum.at = question->at;
	sum.length = length;
	sum.place = 0;
	if (!answer__append(length))
		return -ENOSPC;
	bpf_loop(count / SUM_CPUS * rounds, sum_four, NULL, 0);
	bpf_loop(count / 2 % 2 * rounds, sum_two, NULL, 0);
	bpf_loop(count % 2 * rounds, sum_one, NULL, 0);
	if (sum.place != count)
		return -EINVAL;
	question->rows = 1;
	question->answer = GATHER_VALUES;
	return 0;
}

#endif /* GATHER_SUM_H */
