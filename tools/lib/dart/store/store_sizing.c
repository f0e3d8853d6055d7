// SPDX-License-Identifier: LGPL-2.1-or-later
/* The formulas of the DART paper for the quality and size of a store. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "store_sizing.h"

#define COPIES_MAX	DART_STORE_REDUNDANCY_MAX
#define SLOTS_MAX	(UINT64_C(1) << DART_STORE_SLOTS_LOG2_MAX)

/* The probability that this many copies of a report have been overwritten. */
struct losses {
	uint32_t redundancy;
	double of[COPIES_MAX + 1];
};

/* The probability that a slot was overwritten at this @age of its report. */
static double overwritten(double age, uint32_t redundancy)
{
	return -expm1(-age * redundancy);
}

static double choose(uint32_t n, uint32_t k)
{
	double ways = 1;
	uint32_t i;

	for (i = 1; i <= k; i++)
		ways = ways * (n - k + i) / i;
	return ways;
}

/* The probability of exactly @k of @n events with probability @p each. */
static double binomial(uint32_t n, uint32_t k, double p)
{
	return choose(n, k) * pow(p, k) * pow(1 - p, n - k);
}

static struct losses losses_at(double age, uint32_t redundancy)
{
	const double u = overwritten(age, redundancy);
	struct losses losses = { .redundancy = redundancy };
	uint32_t lost;

	for (lost = 0; lost <= redundancy; lost++)
		losses.of[lost] = choose(redundancy, lost) * pow(u, lost) *
			exp(-age * redundancy * (redundancy - lost));
	return losses;
}

/*
 * The mean over all ages.  With u, the probability that a slot has been
 * overwritten, in place of the age, da = du / (N (1 - u)), and the mean of
 * u^j (1 - u)^m is
 *
 *   1/(N load) * integral from 0 to u(load) of u^j (1 - u)^(m - 1) du
 *
 * For m > 0 this is a polynomial, integrated by parts; for m = 0 and j = N it
 * is the rest of the series of -log(1 - u) after u^N/N.  All terms are
 * positive, so small probabilities are as exact as large ones.
 */
static double integral(double u, double rest, uint32_t j, uint32_t m)
{
	double sum = 0, factor = 1;

	for (;; j++, m--) {
		sum += factor * pow(u, j + 1) * pow(rest, m) / (j + 1);
		if (!m)
			return sum;
		factor *= (double)m / (j + 1);
	}
}

static double average_loss_of_all(double load, uint32_t redundancy)
{
	const double writes = load * redundancy;
	const double u = overwritten(load, redundancy);
	double sum = 0, term;
	uint32_t i;

	/* An empty store has lost nothing. */
	if (load == 0)
		return 0;
	if (u > 0.5) {
		for (i = 1; i <= redundancy; i++)
			sum += pow(u, i) / i;
		return 1 - sum / writes;
	}
	for (i = redundancy + 1; ; i++) {
		term = pow(u, i) / i;
		sum += term;
		if (term <= sum * 1e-17)
			return sum / writes;
	}
}

static struct losses average_losses(double load, uint32_t redundancy)
{
	const double writes = load * redundancy;
	const double u = overwritten(load, redundancy);
	struct losses losses = { .redundancy = redundancy };
	uint32_t lost;

	for (lost = 0; lost < redundancy; lost++)
		losses.of[lost] = choose(redundancy, lost) / writes *
			integral(u, exp(-writes), lost, redundancy - lost - 1);
	losses.of[redundancy] = average_loss_of_all(load, redundancy);
	return losses;
}

/* ---- a redundancy that falls */

/*
 * Below these parts of written slots.  They find 93 % on average at a load of 0.5 and 75 % at a
 * load of 1; the best thresholds for each of these loads alone find 0.3 and 0.5 points more.
 */
static const struct {
	double written;
	uint32_t redundancy;
} falling[] = { { 0.65, 8 }, { 0.8, 4 }, { 0.85, 2 }, { 1, 1 } };

#define PHASES (sizeof(falling) / sizeof(falling[0]))

uint32_t dart_store_sizing__falling(double written)
{
	size_t i;

	for (i = 0; i + 1 < PHASES && written >= falling[i].written; i++)
		;
	return falling[i].redundancy;
}

/*
 * The writes to each slot on average when phases end, up to @load, and the copies in each phase, at
 * most @most.  A slot is written with probability 1 - e^-writes.  Returns the number of phases.
 */
static size_t make_phases(double load, uint32_t most, double writes[PHASES + 1],
			  uint32_t copies[PHASES])
{
	double keys = 0, end;
	size_t i;

	writes[0] = 0;
	for (i = 0; i < PHASES; i++) {
		copies[i] = falling[i].redundancy < most ? falling[i].redundancy : most;
		end = -log1p(-falling[i].written);
		writes[i + 1] = writes[i] + (load - keys) * copies[i];
		if (writes[i + 1] <= end)
			return i + 1;
		keys += (end - writes[i]) / copies[i];
		writes[i + 1] = end;
	}
	return i;
}

double dart_store_sizing__falling_oldest(double load, uint32_t most)
{
	double writes[PHASES + 1];
	uint32_t copies[PHASES];
	size_t count = make_phases(load, most, writes, copies);

	return 1 - pow(-expm1(-writes[count]), copies[0]);
}

/*
 * A key of a phase with N copies is found unless all of them were overwritten, each with u = 1 -
 * e^-(writes since).  With u in place of the keys, dk = du / (N (1 - u)), the sum over a phase is
 * the integral of (1 - u^N) / (1 - u) / N = (1 + u + ... + u^(N - 1)) / N.
 */
double dart_store_sizing__falling_average(double load, uint32_t most)
{
	double writes[PHASES + 1], found = 0, before, after;
	uint32_t copies[PHASES], j;
	size_t count = make_phases(load, most, writes, copies), i;

	if (load == 0)
		return 1;
	for (i = 0; i < count; i++) {
		before = -expm1(writes[i] - writes[count]);
		after = -expm1(writes[i + 1] - writes[count]);
		for (j = 1; j <= copies[i]; j++)
			found += (pow(before, j) - pow(after, j)) / j / copies[i];
	}
	return found / load;
}

/* ---- */

double dart_store_sizing__oldest(double load, uint32_t redundancy)
{
	return 1 - pow(overwritten(load, redundancy), redundancy);
}

double dart_store_sizing__average(double load, uint32_t redundancy)
{
	return 1 - average_loss_of_all(load, redundancy);
}

/*
 * The probability that two keys have the same checksum.  A checksum of 0
 * becomes 1, so 1 is twice as likely as any other.
 */
static double same_checksum(uint32_t bits)
{
	const double each = ldexp(1, -(int)bits);

	return each * (1 + 2 * each);
}

static void sum_up(const struct losses *losses, uint32_t checksum_bits,
		   struct dart_sizing_risks *risks)
{
	const double q = same_checksum(checksum_bits);
	const uint32_t n = losses->redundancy;
	const double none = losses->of[n];
	double several = 0;
	uint32_t i;

	for (i = 2; i <= n; i++)
		several += binomial(n, i, q);
	risks->empty = none * pow(1 - q, n);
	risks->wrong.low = none * binomial(n, 1, q);
	risks->wrong.high = risks->wrong.low + none * several;

	risks->ambiguous.low = 0;
	for (i = 1; i < n; i++)
		risks->ambiguous.low += losses->of[i] * -expm1(i * log1p(-q));
	risks->ambiguous.high = risks->ambiguous.low + none * several;
}

void dart_store_sizing__risks_of_oldest(double load, uint32_t redundancy, uint32_t checksum_bits,
					struct dart_sizing_risks *risks)
{
	const struct losses losses = losses_at(load, redundancy);

	sum_up(&losses, checksum_bits, risks);
}

void dart_store_sizing__average_risks(double load, uint32_t redundancy, uint32_t checksum_bits,
				      struct dart_sizing_risks *risks)
{
	const struct losses losses = average_losses(load, redundancy);

	sum_up(&losses, checksum_bits, risks);
}

/* ---- the inverses */

double dart_store_sizing__load(double success, uint32_t redundancy)
{
	double low = -100, high = 100, middle;	/* logarithms of loads */

	while (middle = (low + high) / 2, middle > low && middle < high) {
		if (average_loss_of_all(exp(middle), redundancy) <= 1 - success)
			low = middle;
		else
			high = middle;
	}
	return exp(low);
}

uint32_t dart_store_sizing__redundancy(double load)
{
	uint32_t best = 1, redundancy;

	for (redundancy = 2; redundancy <= COPIES_MAX; redundancy++)
		if (average_loss_of_all(load, redundancy) < average_loss_of_all(load, best))
			best = redundancy;
	return best;
}

double dart_store_sizing__estimate(uint64_t written, uint64_t samples, uint32_t redundancy)
{
	return -log1p(-(double)written / (double)samples) / redundancy;
}

/* ---- lines of the cache */

#define LINE 64

double dart_store_sizing__lines(size_t slot_length)
{
	uint64_t first, last, lines = 0;
	uint32_t slot;

	/* The places of slots within a line repeat after 64 slots, or sooner. */
	for (slot = 0; slot < LINE; slot++) {
		first = slot * slot_length / LINE;
		last = ((slot + 1) * slot_length - 1) / LINE;
		lines += last - first + 1;
	}
	return (double)lines / LINE;
}

size_t dart_store_sizing__whole(size_t slot_length)
{
	size_t length = 1;

	while (length < slot_length)
		length *= 2;
	return length <= LINE ? length : 0;
}

/* ---- stores for a wish */

static int check_wish(const struct dart_sizing_wish *wish, struct dart_error *error)
{
	const struct dart_store_geometry geometry = {
		.slots = 1,
		.value_length = wish->value_length,
		.checksum_bits = wish->checksum_bits ? wish->checksum_bits : 8,
		.redundancy = wish->redundancy ? wish->redundancy : 1,
	};

	if (!wish->flows)
		return dart_error__set(error, EINVAL, "there are no flows");
	if (!wish->success == !wish->memory)
		return dart_error__set(error, EINVAL, "give either the success or the memory");
	if (wish->success && !(wish->success > 0 && wish->success < 1))
		return dart_error__set(error, EINVAL, "the success must be between 0 and 1");
	if (wish->error && !(wish->error > 0 && wish->error < 1))
		return dart_error__set(error, EINVAL, "the error rate must be between 0 and 1");
	if (dart_store_geometry__check(&geometry))
		return dart_error__set(
			error, EINVAL,
			"values have %d to %d bytes, checksums 8, 16, 32 or 64 bits, and a key 1 to %d slots",
			DART_STORE_VALUE_MIN, DART_STORE_VALUE_MAX, COPIES_MAX);
	return 0;
}

static double load_of(const struct dart_sizing_wish *wish, double slots)
{
	return (double)wish->flows / slots;
}

static int too_large(struct dart_error *error, double slots)
{
	return dart_error__set(
		error, ERANGE,
		"this takes %.4g slots, but a store has at most 2^%d (divide the flows among %.0f collectors or more)",
		slots, DART_STORE_SLOTS_LOG2_MAX, ceil(slots / (double)SLOTS_MAX));
}

/*
 * Finds the smallest sufficient store, and for it the fewest sufficient copies,
 * because each copy of a report is one more frame.
 */
static int size_for_success(const struct dart_sizing_wish *wish, struct dart_store_sizing *sizing,
			    struct dart_error *error)
{
	const uint32_t first = wish->redundancy ? wish->redundancy : 1;
	const uint32_t last = wish->redundancy ? wish->redundancy : COPIES_MAX;
	double least = INFINITY, slots;
	uint32_t n;

	for (n = first; n <= last; n++)
		least = fmin(least,
			     (double)wish->flows / dart_store_sizing__load(wish->success, n));
	if (least > (double)SLOTS_MAX)
		return too_large(error, least);
	for (sizing->store.slots = 1; (double)sizing->store.slots < least;)
		sizing->store.slots *= 2;
	for (n = first; n < last; n++)
		if (average_loss_of_all(load_of(wish, sizing->store.slots), n) <= 1 - wish->success)
			break;

	slots = ceil((double)wish->flows / dart_store_sizing__load(wish->success, n));
	sizing->ideal.slots = fmin(slots, (double)sizing->store.slots);
	sizing->ideal.redundancy = sizing->store.redundancy = n;
	return 0;
}

static int size_for_memory(const struct dart_sizing_wish *wish, struct dart_store_sizing *sizing,
			   struct dart_error *error)
{
	const size_t slot = dart_store_geometry__slot_length(&sizing->store);
	uint32_t n = wish->redundancy;

	sizing->ideal.slots = wish->memory / slot;
	if (!sizing->ideal.slots)
		return dart_error__set(error, ERANGE,
				       "a slot takes %zu bytes, but the memory has %" PRIu64, slot,
				       wish->memory);
	if (sizing->ideal.slots > SLOTS_MAX)
		return dart_error__set(error, ERANGE,
				       "a store has at most 2^%d slots, here %" PRIu64
				       " bytes (divide the flows among more stores)",
				       DART_STORE_SLOTS_LOG2_MAX, (uint64_t)(SLOTS_MAX * slot));
	sizing->store.slots = 1;
	while (sizing->store.slots * 2 <= sizing->ideal.slots)
		sizing->store.slots *= 2;
	if (!n)
		n = dart_store_sizing__redundancy(load_of(wish, sizing->store.slots));
	sizing->ideal.redundancy = sizing->store.redundancy = n;
	return 0;
}

int dart_store_sizing__make(const struct dart_sizing_wish *wish, struct dart_store_sizing *sizing,
			    struct dart_error *error)
{
	uint32_t bits = wish->checksum_bits;
	struct dart_sizing_risks risks;
	int ret = check_wish(wish, error);

	if (ret)
		return ret;
	if (!bits)
		bits = wish->error ? 8 : DART_STORE_CHECKSUM_BITS;
	for (;; bits *= 2) {
		sizing->store = (struct dart_store_geometry){
			.value_length = wish->value_length,
			.checksum_bits = bits,
		};
		sizing->ideal = sizing->store;
		ret = wish->memory ? size_for_memory(wish, sizing, error) :
				     size_for_success(wish, sizing, error);
		if (ret || !wish->error)
			return ret;
		dart_store_sizing__average_risks(load_of(wish, sizing->store.slots),
						 sizing->store.redundancy, bits, &risks);
		if (risks.wrong.high <= wish->error)
			return 0;
		if (wish->checksum_bits || bits == 64)
			return dart_error__set(
				error, ERANGE,
				"with %u bits of checksum, up to %.3g of the answers are wrong",
				bits, risks.wrong.high);
	}
}
