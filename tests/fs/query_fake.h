/*
 * An artifact with a stand-in for its examination that queries are asked of, and how often one
 * was examined. Link with --wrap for gfs_payload_load, too.
 */
#ifndef QUERY_FAKE_H
#define QUERY_FAKE_H

#include "fake_exam.h"

#include "query.h"
#include "query_ask.h"

#define MIB ((uint64_t)1 << 20)
#define VIEW(members) "{\"view\":{\"collection\":" members "}}"

/* Three targets; the second object of sm_90 disagrees with it, the last has no payload. */
enum { QUERY_OBJECTS = 5 };
extern const struct fake_object query_objects[QUERY_OBJECTS];

struct open {
	struct fake *fake;
	char sha256[65];
	char text[8192]; /* a request */
	char refusal[4096];
};

struct open *opened(void);
void closed(struct open *o);

/* How many payloads were loaded, and as many examined, since forget() or opened(). */
void assert_examined(int count);
void forget(void);

/* A page; the caller frees it. Fails the test if it is refused. */
char *answer(struct open *o, const char *request);
/* A request with the digest and ids, each quoted; good until the next one. */
const char *with_ids(struct open *o, const char *ids, const char *view);

#endif
