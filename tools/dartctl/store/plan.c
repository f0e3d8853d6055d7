// SPDX-License-Identifier: GPL-2.0-only
/* dartctl plan: computes the size of a store from its success rate, or the reverse. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/store/store_sizing.h>

#include "tools/dartctl/cli/command.h"

/* ---- options */

static bool is_digit(char letter)
{
	return letter >= '0' && letter <= '9';
}

static bool parse_unit(const char *unit, double *factor)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {
		{ "", 1 }, { "k", 1e3 }, { "K", 1e3 }, { "M", 1e6 },
		{ "G", 1e9 }, { "T", 1e12 }, { "B", 1 }, { "kB", 1e3 },
		{ "MB", 1e6 }, { "GB", 1e9 }, { "TB", 1e12 }, { "KiB", 0x1p10 },
		{ "MiB", 0x1p20 }, { "GiB", 0x1p30 }, { "TiB", 0x1p40 },
	};
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name))
			continue;
		*factor = units[i].factor;
		return true;
	}
	return false;
}

/* Takes a number that, with its unit, is a whole number from 1 to 2^53: "1.5G" but not "1.5". */
static int take_quantity(void *quantity, const char *text)
{
	double number, factor;
	char *end;

	if (!is_digit(*text) || strspn(text, "0123456789.") > 20)
		return EXIT_USAGE;
	number = strtod(text, &end);
	if (end != text + strspn(text, "0123456789.") || !parse_unit(end, &factor))
		return EXIT_USAGE;
	number *= factor;
	if (!(number >= 1 && number <= 0x1p53) || number != floor(number))
		return EXIT_USAGE;
	*(uint64_t *)quantity = number;
	return EXIT_SUCCESS;
}

static int take_small(void *number, const char *text)
{
	long long small = options__number(text, UINT32_MAX);

	*(uint32_t *)number = small;
	return small <= 0 ? EXIT_USAGE : EXIT_SUCCESS;
}

/* Takes a number above 0 and below 1, or the same in percent. */
static int take_part(void *into, const char *text)
{
	double *part = into;
	char *end;

	if (!is_digit(*text) && *text != '.')
		return EXIT_USAGE;
	*part = strtod(text, &end);
	if (!strcmp(end, "%"))
		*part /= 100;
	else if (*end)
		return EXIT_USAGE;
	return *part > 0 && *part < 1 ? EXIT_SUCCESS : EXIT_USAGE;
}

#define WISH(name, member, function, form_of) \
	OPTION_OWN(name, struct dart_sizing_wish, member, function, .form = form_of)

static const struct option_row rows[] = {
	WISH("flows", flows, take_quantity, "is a whole number such as 100M"),
	WISH("value", value_length, take_small, "is a number of bytes"),
	WISH("success", success, take_part,
	     "is more than 0 and less than 1, such as 0.999 or 99.9%"),
	WISH("memory", memory, take_quantity, "is a size such as 3000MiB or 4GiB"),
	WISH("redundancy", redundancy, take_small, "is a number of copies"),
	WISH("checksum", checksum_bits, take_small, "is a number of bits"),
	WISH("error", error, take_part, "is more than 0 and less than 1, such as 1e-9"),
	{}
};

/* ---- the answer */

static json_t *bounds_to_json(const struct dart_sizing_bounds *bounds)
{
	return json_pack("{s:f, s:f}", "low", bounds->low, "high", bounds->high);
}

static json_t *risks_to_json(const struct dart_sizing_risks *risks)
{
	return json_pack("{s:f, s:o, s:o}", "empty", risks->empty, "ambiguous",
			 bounds_to_json(&risks->ambiguous), "wrong", bounds_to_json(&risks->wrong));
}

/* Makes the part of the answer about @flows keys in a store. */
static json_t *store_to_json(const struct dart_store_geometry *store, uint64_t flows)
{
	const double load = (double)flows / (double)store->slots;
	const uint64_t memory = dart_store_geometry__length(store);
	struct dart_sizing_risks oldest, average;

	dart_store_sizing__risks_of_oldest(load, store->redundancy, store->checksum_bits, &oldest);
	dart_store_sizing__average_risks(load, store->redundancy, store->checksum_bits, &average);
	return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:{s:f, s:f}}", "slots",
			 (json_int_t)store->slots, "memory", (json_int_t)memory, "memory_per_flow",
			 (double)memory / (double)flows, "load", load, "oldest",
			 dart_store_sizing__oldest(load, store->redundancy), "average",
			 dart_store_sizing__average(load, store->redundancy), "oldest_risks",
			 risks_to_json(&oldest), "average_risks", risks_to_json(&average), "falling",
			 "oldest",
			 dart_store_sizing__falling_oldest(load, DART_STORE_REDUNDANCY_MAX),
			 "average",
			 dart_store_sizing__falling_average(load, DART_STORE_REDUNDANCY_MAX));
}

__attribute__((format(printf, 2, 3))) static void reason(json_t *reasons, const char *format, ...)
{
	char sentence[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	json_array_append_new(reasons, json_string(sentence));
}

/* How many lines of the cache a query touches, and the price of touching fewer. */
static void reason_lines(json_t *reasons, const struct dart_store_geometry *store)
{
	const size_t slot = dart_store_geometry__slot_length(store);
	const double lines = dart_store_sizing__lines(slot);
	const size_t whole = dart_store_sizing__whole(slot);

	if (whole == slot)
		reason(reasons, "Each slot lies in one line of the cache: a query touches %u.",
		       store->redundancy);
	else if (whole)
		reason(reasons,
		       "A slot touches %.3g lines of the cache on average, a query %.3g: with --value %zu each slot lies in one, a query touches %.0f %% fewer lines, and the memory is %.3g times as large.",
		       lines, lines * store->redundancy, whole - store->checksum_bits / 8,
		       100 * (1 - 1 / lines), (double)whole / (double)slot);
	else
		reason(reasons, "A slot touches %.3g lines of the cache on average, a query %.3g.",
		       lines, lines * store->redundancy);
}

static void reason_choice(json_t *reasons, const struct dart_sizing_wish *wish,
			  const struct dart_store_sizing *plan)
{
	const uint32_t n = plan->store.redundancy;

	if (wish->error)
		reason(reasons,
		       "%u bits are the narrowest checksum with which at most %g of the queries get a wrong answer.",
		       plan->store.checksum_bits, wish->error);
	if (wish->redundancy)
		return;
	if (wish->memory)
		reason(reasons, "At the load of the store below, N = %u finds the most.", n);
	else
		reason(reasons,
		       "No N finds %g %% in half of the store below; in the whole store N = %u is the lowest that does, and each copy costs one more frame.",
		       wish->success * 100, n);
}

/* Adds the formulas with their numbers, from the memory to the success. */
static void reason_success(json_t *reasons, const struct dart_sizing_wish *wish,
			   const struct dart_store_geometry *ideal)
{
	const double load = (double)wish->flows / (double)ideal->slots;
	const uint32_t n = ideal->redundancy;
	const double u = -expm1(-load * n);

	reason(reasons, "Load: %" PRIu64 " flows / %" PRIu64 " slots = %.6g.",
	       wish->flows, ideal->slots, load);
	reason(reasons, "When all flows have been reported, a slot of the oldest has been overwritten with u = 1 - e^(-N * load) = 1 - e^(-%u * %.6g) = %.6g.",
	       n, load, u);
	reason(reasons, "Oldest: 1 - u^N = 1 - %.6g^%u = %.4f %% are found.", u,
	       n, 100 * dart_store_sizing__oldest(load, n));
	reason(reasons,
	       "Average of all ages: (u + u^2/2 + ... + u^N/N) / (N * load) = %.4f %% are found.",
	       100 * dart_store_sizing__average(load, n));
}

static void reason_errors(json_t *reasons, const struct dart_sizing_wish *wish,
			  const struct dart_store_geometry *ideal)
{
	const double load = (double)wish->flows / (double)ideal->slots;
	struct dart_sizing_risks risks;

	dart_store_sizing__average_risks(load, ideal->redundancy,
					 ideal->checksum_bits, &risks);
	reason(reasons, "Wrong: all copies are overwritten, and another key there has the same checksum of %u bits: %.3g to %.3g of the queries, %.3g answers if each flow is asked for once.",
	       ideal->checksum_bits, risks.wrong.low, risks.wrong.high,
	       risks.wrong.high * (double)wish->flows);
	reason(reasons, "Ambiguous: the key's slots have its checksum with several values: %.3g to %.3g of the queries.",
	       risks.ambiguous.low, risks.ambiguous.high);
}

/* An alternative for stores with epochs, which begin empty again and again. */
static void reason_falling(json_t *reasons, double load)
{
	reason(reasons,
	       "With epochs and a redundancy that falls from 8 to 1 as the store fills (store create --redundancy 8 --epoch TIME --falling), %.4f %% of the oldest and %.4f %% on average.",
	       100 * dart_store_sizing__falling_oldest(load, DART_STORE_REDUNDANCY_MAX),
	       100 * dart_store_sizing__falling_average(load, DART_STORE_REDUNDANCY_MAX));
}

static uint32_t log2_of(uint64_t slots)
{
	uint32_t log2 = 0;

	while (slots >>= 1)
		log2++;
	return log2;
}

static json_t *reasons_of(const struct dart_sizing_wish *wish, const struct dart_store_sizing *plan)
{
	const struct dart_store_geometry *store = &plan->store;
	const double load = (double)wish->flows / (double)store->slots;
	const size_t slot = dart_store_geometry__slot_length(store);
	json_t *reasons = json_array();

	reason(reasons, "A slot has a checksum of %u bytes and a value of %u bytes: %zu bytes.",
	       store->checksum_bits / 8, store->value_length, slot);
	reason_lines(reasons, store);
	reason_choice(reasons, wish, plan);
	if (wish->memory)
		reason(reasons, "%" PRIu64 " bytes are %" PRIu64 " slots.",
		       wish->memory, plan->ideal.slots);
	else
		reason(reasons, "%g %% on average with N = %u needs %" PRIu64 " slots, %.1f bytes for each flow.",
		       wish->success * 100, store->redundancy,
		       plan->ideal.slots, (double)plan->ideal.slots *
		       (double)slot / (double)wish->flows);
	reason_success(reasons, wish, &plan->ideal);
	reason_errors(reasons, wish, &plan->ideal);
	if (plan->ideal.slots == store->slots) {
		reason_falling(reasons, load);
		return reasons;
	}
	reason(reasons,
	       "A store has 2^k slots: with %s of them, 2^%u, %.1f MiB, the load is %.6g, the oldest are found with %.4f %%, and on average %.4f %%.",
	       wish->memory ? "fewer" : "more", log2_of(store->slots),
	       (double)dart_store_geometry__length(store) / 0x1p20, load,
	       100 * dart_store_sizing__oldest(load, store->redundancy),
	       100 * dart_store_sizing__average(load, store->redundancy));
	reason_falling(reasons, load);
	return reasons;
}

static json_t *plan_to_json(const struct dart_sizing_wish *wish,
			    const struct dart_store_sizing *plan)
{
	const struct dart_store_geometry *store = &plan->store;
	json_t *answer = json_pack("{s:I, s:i, s:i, s:i}", "flows", (json_int_t)wish->flows,
				   "value_length", store->value_length, "redundancy",
				   store->redundancy, "checksum_bits", store->checksum_bits);
	json_t *real = store_to_json(store, wish->flows);

	json_object_update_new(answer, store_to_json(&plan->ideal, wish->flows));
	json_object_set_new(real, "slots_log2", json_integer(log2_of(store->slots)));
	json_object_set_new(answer, "store", real);
	json_object_set_new(answer, "reasoning", reasons_of(wish, plan));
	return answer;
}

static void print_text(const struct dart_store_sizing *plan, json_t *answer)
{
	const struct dart_store_geometry *store = &plan->store;
	json_t *sentence;
	size_t i;

	json_array_foreach(json_object_get(answer, "reasoning"), i, sentence)
		printf("%s\n", json_string_value(sentence));
	printf("\ndartctl store create NAME --slots 2^%u --value %u --redundancy %u --checksum %u\n",
	       log2_of(store->slots), store->value_length, store->redundancy, store->checksum_bits);
}

int command_plan(struct options *options, int argc, char **argv)
{
	struct dart_sizing_wish wish = { };
	struct dart_error error;
	struct dart_store_sizing plan;
	json_t *answer;

	if (options__take(options, argc, argv, rows, &wish))
		return EXIT_USAGE;
	if (optind < argc)
		return misuse("'plan' takes options only, not '%s'", argv[optind]);
	if (!wish.flows || !wish.value_length)
		return misuse("'plan' needs --flows and --value");
	if (!wish.success == !wish.memory)
		return misuse("'plan' needs either --success or --memory");
	if (dart_store_sizing__make(&wish, &plan, &error))
		return misuse("%s", error.text);

	answer = plan_to_json(&wish, &plan);
	if (!answer || options->json)
		return print_json(answer, JSON_REAL_PRECISION(12));
	print_text(&plan, answer);
	json_decref(answer);
	return EXIT_SUCCESS;
}
