/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For programs that answer questions about counters per CPU with their sums: they add up the words
 * where the kernel keeps them.  A load by bpf_rdonly_cast() takes fewer instructions than copying a
 * word and adding up the copies.  Kernels without bpf_rdonly_cast() copy.
 */
#ifndef GATHER_SUM_H
#define GATHER_SUM_H

#include "answer.h"

/* Words that a round adds up; the type of the cast is a struct of more numbers than that. */
#define SUM_WORDS 32
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

/* Where the words of up to SUM_CPUS CPUs lie, and their sums. */
struct sum_columns {
	sum_words a, b, c, d;
	__u64 *to;
};

/* The words of a CPU from this address on. */
static __always_inline sum_words sum_words_at(__u64 address)
{
	return bpf_rdonly_cast((const void *)address, bpf_core_type_id_kernel(struct linux_mib));
}

/*
 * The words at @address of @cpus CPUs, from index @place of dartd's list on; their sums are at byte
 * @at of the output.
 */
static __always_inline struct sum_columns sum_columns_at(struct gather_exchange *in, __u32 place,
							 __u32 at, __u64 address, const __u32 cpus)
{
	const __u64 *bases = in->bases + place;
	struct sum_columns from = {};

	from.to = (__u64 *)(in->output + at);
	from.a = sum_words_at(address + bases[0]);
	if (cpus > 1)
		from.b = sum_words_at(address + bases[1]);
	if (cpus > 2) {
		from.c = sum_words_at(address + bases[2]);
		from.d = sum_words_at(address + bases[3]);
	}
	/* Makes the compiler load these addresses into registers once, after the last call. */
	asm volatile("" : "+r"(from.a), "+r"(from.b), "+r"(from.c), "+r"(from.d), "+r"(from.to));
	return from;
}

static __always_inline void sum_word(const struct sum_columns *from, const __u32 word,
				     const __u32 cpus, const bool is_first)
{
	__u64 value = from->a[word];

	if (cpus > 1)
		value += from->b[word];
	if (cpus > 2) {
		value += from->c[word];
		value += from->d[word];
	}
	if (is_first)
		from->to[word] = value;
	else
		from->to[word] += value;
}

/*
 * Adds up four words, or goes to the rest of fewer.  Not a loop: clang would not unroll it, and the
 * verifier refuses a variable index of a struct.
 */
#define SUM_FOUR(word)                                       \
	do {                                                 \
		done = (word) * sizeof(__u64);               \
		if (left < done + 4 * sizeof(__u64))         \
			goto rest;                           \
		sum_word(&from, word, cpus, is_first);       \
		sum_word(&from, (word) + 1, cpus, is_first); \
		sum_word(&from, (word) + 2, cpus, is_first); \
		sum_word(&from, (word) + 3, cpus, is_first); \
	} while (0)

#define SUM_SIXTEEN(word)              \
	do {                           \
		SUM_FOUR(word);        \
		SUM_FOUR((word) + 4);  \
		SUM_FOUR((word) + 8);  \
		SUM_FOUR((word) + 12); \
	} while (0)

/* Adds up the next words of the next @cpus CPUs, 1, 2 or SUM_CPUS; the first CPUs begin sums. */
static __always_inline long sum_round(const __u32 cpus, const bool is_first)
{
	struct gather_exchange *in = answer__exchange();
	const __u64 address = sum.address;
	__u32 left = sum.left, place = sum.place, at = sum.at, done;
	struct sum_columns from;

	if (!in || place > GATHER_CPUS - SUM_CPUS || at > GATHER_OUTPUT)
		return 1;
	asm volatile("" : "+r"(place), "+r"(at));
	from = sum_columns_at(in, place, at, address, cpus);
	SUM_SIXTEEN(0);
	SUM_SIXTEEN(16);
	goto end;
rest:
	left -= done;
	if (!left)
		goto end;
	from = sum_columns_at(in, place, at + done, address + done, cpus);
	sum_word(&from, 0, cpus, is_first);
	if (left > sizeof(__u64))
		sum_word(&from, 1, cpus, is_first);
	if (left > 2 * sizeof(__u64))
		sum_word(&from, 2, cpus, is_first);
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

#define SUM_ROUND(name, cpus, is_first)             \
	static long name(__u32 round, void *unused) \
	{                                           \
		return sum_round(cpus, is_first);   \
	}

SUM_ROUND(begin_four, SUM_CPUS, true)
SUM_ROUND(begin_two, 2, true)
SUM_ROUND(begin_one, 1, true)
SUM_ROUND(add_four, SUM_CPUS, false)
SUM_ROUND(add_two, 2, false)
SUM_ROUND(add_one, 1, false)

/* Adds up the words of @count CPUs: @rounds times for each SUM_CPUS of them, and for the others. */
static __always_inline void sum_cpus(__u32 count, __u32 rounds)
{
	if (count >= SUM_CPUS) {
		bpf_loop(rounds, begin_four, NULL, 0);
		bpf_loop((count / SUM_CPUS - 1) * rounds, add_four, NULL, 0);
		bpf_loop(count / 2 % 2 * rounds, add_two, NULL, 0);
	} else if (count >= 2) {
		bpf_loop(rounds, begin_two, NULL, 0);
	} else {
		bpf_loop(rounds, begin_one, NULL, 0);
		return;
	}
	bpf_loop(count % 2 * rounds, add_one, NULL, 0);
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
	sum_cpus(count, rounds);
	if (sum.place != count)
		return -EINVAL;
	question->rows = 1;
	question->answer = GATHER_VALUES;
	return 0;
}

#endif /* GATHER_SUM_H */
