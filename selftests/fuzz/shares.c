// SPDX-License-Identifier: GPL-2.0-only
/* Files of shares, JSON. */
#include <libdart/store/share_history.h>

#include "fuzz.h"

/* The same owners of each share, in both. */
static void require_same(const struct dart_share_history *one, const struct dart_share_history *other)
{
	struct dart_share_owner owners[2][DART_SHARE_OWNERS_MAX];
	uint32_t share, count, i;

	for (share = 0; share < DART_STORE_SHARES; share++) {
		count = dart_share_history__owners(one, share, owners[0]);
		require(dart_share_history__owners(other, share, owners[1]) == count);
		for (i = 0; i < count; i++) {
			require(owners[0][i].collector.s_addr == owners[1][i].collector.s_addr);
			require(owners[0][i].since_ms == owners[1][i].since_ms);
			require(!i || owners[0][i].until_ms == owners[0][i - 1].since_ms);
			require(!i || owners[0][i].until_ms > owners[0][i].since_ms);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *json = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
	struct dart_share_history *history, *again;
	struct dart_error error = {};
	struct dart_share_set all;
	json_t *printed;

	if (!json)
		return 0;
	if (dart_share_history__take(json, "it", &history, &error)) {
		require_sentence(&error);
		json_decref(json);
		return 0;
	}
	json_decref(json);
	printed = dart_share_history__to_json(history);
	require(printed && dart_share_history__is_in(printed));
	require(!dart_share_history__take(printed, "it", &again, &error));
	require_same(history, again);
	json_decref(printed);
	dart_share_history__free(again);

	require(!dart_share_set__parse("0-1023", &all));
	require(dart_share_history__move(history, &all, (struct in_addr){ 1 }, 1) >= 0);
	dart_share_history__shares(history, (struct in_addr){ 1 }, &all);
	require(dart_share_set__count(&all) == DART_STORE_SHARES);
	dart_share_history__free(history);
	return 0;
}
