/*
 * An artifact made by hand whose payloads are lines of text, and a stand-in for decode's
 * examination that reads them. Link with --wrap for dec_inspect, dec_inspect_without and
 * dec_inspection_free.
 *
 *     begins                   the first line: the object begins another container
 *     state partial            the words of inspect.h
 *     consistency conflict
 *     target sm_90             the payload's
 *     kernel NAME [KEY VALUE...]    a key of resources.def, or code OFFSET+SIZE,
 *                              descriptor OFFSET, arg NAME:SIZE, note FIELD
 *     problem FIELD            makes it partial
 */
#ifndef FAKE_EXAM_H
#define FAKE_EXAM_H

#include "fs_test.h"

#include <stdatomic.h>

#include "inspect.h"
#include "internal.h"
#include "tree_text.h"

/* One object: payload NULL is an object without one. */
struct fake_object {
	const char *target;
	const char *payload;
};

struct fake {
	char *dir;
	char *path;
	struct dec_artifact artifact;
	struct dec_container *containers;
	struct dec_object *objects;
	struct dec_target *targets;
	uint32_t *of_targets;
	struct gfs fs;
};

/* Examinations since the last fake_open(). */
extern atomic_int fake_exams;

/* Targets are listed in bytewise order; AMD's begin with "gfx". */
struct fake *fake_open(const struct fake_object *objects, uint32_t count, uint64_t cache);
void fake_close(struct fake *f);

/* A file of hundreds of such objects, over and over, is the same, whatever the threads do, and
 * without room to keep anything. */
void fake_same_every_time(const struct fake_object *objects, uint32_t count, const char *path);

#endif
