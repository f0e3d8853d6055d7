/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the series whose values in the last seconds differ most, relatively, from their values in
 * the seconds before.  Counters are compared by their rates, gauges by their means.
 */
#ifndef CONTROLLER_MOVERS_H
#define CONTROLLER_MOVERS_H

#include "history.h"
#include "json_text.h"

/*
 * Appends [{"family", "labels", "rate", "before", "now", "change"}], at most @count, the greatest
 * change first.  A change is (now - before) / (max(|now|, |before|) + chance), from -2 to 2, where
 * chance is the difference that such a series shows without a cause, such as a few events.  Changes
 * below one hundredth are left out.  @view must begin at least 2 * @span_us before @now_us.
 * Returns 0 or -ENOMEM.
 */
int movers__print(const struct history_view *view, int64_t now_us, int64_t span_us,
		  unsigned int count, struct json_text *text);

#endif /* CONTROLLER_MOVERS_H */
