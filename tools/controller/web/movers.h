/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has changed: of all series, those whose value in the last seconds differs most,
 * relatively, from that in the seconds before.  Of a counter its rates are compared, of a
 * gauge its means.
 */
#ifndef CONTROLLER_MOVERS_H
#define CONTROLLER_MOVERS_H

#include "history.h"
#include "json_text.h"

/*
 * Appends [{"family", "labels", "rate", "before", "now", "change"}], at most @count, the
 * greatest change first; a change is (now - before) / (max(|now|, |before|) + chance), from
 * -2 to 2, where chance is what such a series differs by without a cause, such as a few
 * events. Series that differ by less than a hundredth are left out.  @view has at least 2 * @span_us before @now_us.  Returns 0 or -ENOMEM.
 */
int movers__print(const struct history_view *view, int64_t now_us, int64_t span_us,
		  unsigned int count, struct json_text *text);

#endif /* CONTROLLER_MOVERS_H */
