/* devices/<device>/inspect/report.json: which kernels a device could load. */
#include "device_kernels.h"

#include <errno.h>
#include <stdlib.h>

#include "cache.h"
#include "device_rank.h"
#include "device_show.h"

struct report {
	struct gfs *fs;
	const struct gfs_vendor_kernels *kernels;
	struct dec_answer *answer;
	struct gfs_ranking ranking;
	struct gfs_rank_rows rows;
	struct gfs_json w;
	struct cJSON *root;
};

static void put_counts(struct report *r)
{
	uint64_t counts[GFS_RANKS] = { 0 };
	struct cJSON *o;

	for (uint32_t i = 0; i < r->rows.count; i++) {
		struct gfs_rank_row row = gfs_rank_rows_get(&r->rows, i);

		counts[row.rank] += row.count;
	}
	gfs_json_uint(&r->w, r->root, "objects", r->kernels->examined);
	o = gfs_json_object(&r->w, r->root, "kernels");
	for (int i = 0; i < GFS_RANKS; i++)
		gfs_json_uint(&r->w, o, dec_verdict_word(gfs_rank_verdict((enum gfs_rank)i)),
			      counts[i]);
}

static void put_row(struct report *r, struct cJSON *in, const struct gfs_rank_row *row)
{
	if (row->rank != GFS_RANK_MISSING) {
		gfs_json_word(&r->w, in, "verdict", dec_verdict_word(gfs_rank_verdict(row->rank)));
		gfs_json_word(&r->w, in, "how",
			      row->how == DEC_HOW_NONE ? NULL : dec_how_word(row->how));
	}
	gfs_rank_row_put(&r->ranking, row, &r->w, in);
}

static void put_rows(struct report *r, const char *key, bool missing)
{
	struct cJSON *array = gfs_json_array(&r->w, r->root, key);

	for (uint32_t i = 0; i < r->rows.count; i++) {
		struct gfs_rank_row row = gfs_rank_rows_get(&r->rows, i);

		if ((row.rank == GFS_RANK_MISSING) == missing)
			put_row(r, gfs_json_object(&r->w, array, NULL), &row);
	}
}

static void put_ids(struct report *r)
{
	struct cJSON *o = gfs_json_object(&r->w, r->root, "ids");
	const struct gfs_vendor_kernels *k = r->kernels;

	for (uint32_t i = 0; i < k->count; i++) {
		uint32_t first;
		enum gfs_rank best = gfs_ranking_best(&r->ranking, i, &first);
		struct gfs_ranges ranges;

		if (best == GFS_RANK_MISSING)
			continue;
		gfs_ranges_begin(&ranges, r->fs, &r->w, o,
				 gfs_json_key(&r->w, gfs_kernel_name(k, i)));
		for (size_t n = k->names[i].first; n < k->names[i + 1].first; n++)
			if (r->ranking.ranks[k->objects[n]] == best)
				gfs_ranges_add(&ranges, k->objects[n]);
		gfs_ranges_end(&ranges);
	}
}

static int show(struct report *r, char **text, size_t *size)
{
	gfs_json_init(&r->w);
	r->root = gfs_json_object(&r->w, NULL, NULL);
	gfs_device_put(&r->w, r->root, r->answer);
	put_counts(r);
	put_rows(r, "loads", false);
	put_rows(r, "missing", true);
	gfs_json_word(&r->w, r->root, "kernel_analysis", gfs_coverage_word(&r->kernels->coverage));
	gfs_coverage_put(&r->kernels->coverage, &r->w, gfs_json_object(&r->w, r->root, "coverage"));
	put_ids(r);
	return gfs_json_finish(&r->w, text, size);
}

int gfs_device_report_show(struct gfs *fs, const struct dec_device *device, char **text,
			   size_t *size)
{
	struct report r = { .fs = fs };
	struct gfs_blob *blob;
	int rc = gfs_vendor_kernels_get(fs, device->vendor, NULL, &blob, &r.kernels);

	if (rc != 0)
		return rc;
	r.answer = dec_judge(fs->artifact, device, NULL);
	rc = r.answer ? gfs_ranking_init(&r.ranking, fs->artifact, r.kernels, r.answer) : -ENOMEM;
	if (rc == 0)
		rc = gfs_rank_rows_init(&r.rows, &r.ranking, NULL, GFS_RANK_MISSING);
	if (rc == 0)
		rc = show(&r, text, size);
	gfs_rank_rows_fini(&r.rows);
	gfs_ranking_fini(&r.ranking);
	dec_answer_free(r.answer);
	gfs_blob_put(blob);
	return rc;
}
