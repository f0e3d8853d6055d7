/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The labels that an output gives to all series of a target: "instance", its name;
 * "job", which is "dart"; the labels in the settings of the output, and the labels in the settings
 * of the target.  Later ones take precedence.  A label with an empty text, as job: '' in the
 * settings, is left out.  Labels that a series already carries are renamed: see label_collisions.h.
 */
#ifndef CONTROLLER_LABEL_SET_H
#define CONTROLLER_LABEL_SET_H

#include <jansson.h>
#include <stdatomic.h>
#include <stddef.h>

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/settings/labels.h"

/* The label whose text is the name of the series. */
#define LABEL_SET_NAME "__name__"

/* Of a series by itself; series with more are not sent. */
#define SERIES_LABELS_MAX 64
/* The labels of target and output, instance, job and __name__. */
#define LABEL_SET_MAX (2 * LABELS_MAX + 3)

/* Immutable, and counted: it is read in several threads. */
struct label_set {
	atomic_uint holders;
	struct shared_text *source; /* the target's, that it is made of */
	json_t *texts; /* owns them */
	struct label_set *plain; /* owned: with plain names; NULL: all are plain */
	uint32_t count;
	/* By strcmp() of names; __name__ among them, without a value. */
	struct metric_label labels[LABEL_SET_MAX];
};

/* All labels of a series. */
struct merged_labels {
	size_t count;
	struct metric_label labels[SERIES_LABELS_MAX + LABEL_SET_MAX];
};

/*
 * For series of @plan.  The caller is the first holder.  @own are the labels of the output, or
 * NULL.  If series of the target have rules, the labels of the target are @labels_of_series, unless
 * these are NULL, as for the series up.  Labels that @rules of the output touch are left out,
 * because the series carry what the rules leave of them; @rules may be NULL.  Returns NULL if out
 * of memory.
 */
struct label_set *label_set__new(const struct target_settings *target,
				 const struct target_labels *labels_of_series, const json_t *own,
				 const struct metric_plan *plan, const struct relabel_rules *rules);
struct label_set *label_set__hold(struct label_set *set);
/* NULL is allowed. */
void label_set__release(struct label_set *set);
/* The labels for protocols that take only plain names. */
static inline const struct label_set *label_set__plain(const struct label_set *set)
{
	return set->plain ?: set;
}

/* Are names and texts the same, plain names too? */
bool label_set__equal(const struct label_set *one, const struct label_set *other);

/*
 * Puts the labels of @series and of @set into @merged, in the order of strcmp() of their names, as
 * the specifications demand; __name__ is the name of the series.  Of two labels with the same name,
 * which only a set for another plan leads to, the label of the series remains.  The texts stay in
 * @series and @set.  False if there are too many.
 */
bool label_set__merge(const struct label_set *set, const struct metric_series *series,
		      struct merged_labels *merged);
/* The name of the series, the text of __name__; "" without one. */
const char *merged_labels__name(const struct merged_labels *labels);

#endif /* CONTROLLER_LABEL_SET_H */
