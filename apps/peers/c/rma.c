/* One-sided operations from rank 0 to rank 1: put, get, fetch_add,
 * lock_put_unlock; and fence, by every rank. The origin's buffer is malloc's, the
 * elements are 64-bit integers. */
#include "bench.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORIGIN = 0, TARGET = 1 };

struct rma {
	struct options o;
	int rank, ranks;
	MPI_Win win;
	int64_t *local; /* this rank's part of the window */
	int64_t *buf;   /* the origin's buffer */
	size_t bytes;   /* length of both */
};

static int iterations(const struct rma *r, size_t bytes)
{
	int n = bytes <= 1024 ? 20000 : bytes <= 65536 ? 2000 : bytes <= (1 << 20) ? 100 : 10;

	return scaled(&r->o, n, r->ranks);
}

static void everybody(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t pattern(size_t i, int seed)
{
	return (int64_t)(i * UINT64_C(0x0101010101010101) + (uint64_t)seed);
}

static void fill(int64_t *mem, size_t bytes, int seed)
{
	for (size_t i = 0; i < bytes / sizeof *mem; i++)
		mem[i] = pattern(i, seed);
}

static int holds(const int64_t *mem, size_t bytes, int seed)
{
	for (size_t i = 0; i < bytes / sizeof *mem; i++)
		if (mem[i] != pattern(i, seed))
			return 0;
	return 1;
}

static void put(struct rma *r, size_t bytes)
{
	struct batches b = {.count = 0};
	int n = iterations(r, bytes), count = (int)(bytes / sizeof *r->buf);

	if (r->rank == ORIGIN)
		fill(r->buf, bytes, 1);
	memset(r->local, 0, bytes);
	MPI_Win_sync(r->win);
	everybody();
	while (r->rank == ORIGIN && b.count < r->o.batches) {
		double started = MPI_Wtime();

		for (int i = 0; i < n; i++) {
			MPI_Put(r->buf, count, MPI_INT64_T, TARGET, 0, count, MPI_INT64_T, r->win);
			MPI_Win_flush(TARGET, r->win);
		}
		batch(&b, started, n);
	}
	everybody();
	if (r->rank == ORIGIN)
		report(&r->o, &b, "put", bytes, r->ranks);
	MPI_Win_sync(r->win);
	if (r->rank == TARGET)
		check(holds(r->local, bytes, 1), "put", bytes);
}

static void get(struct rma *r, size_t bytes)
{
	struct batches b = {.count = 0};
	int n = iterations(r, bytes), count = (int)(bytes / sizeof *r->buf);

	if (r->rank == TARGET)
		fill(r->local, bytes, 2);
	memset(r->buf, 0, bytes);
	MPI_Win_sync(r->win);
	everybody();
	while (r->rank == ORIGIN && b.count < r->o.batches) {
		double started = MPI_Wtime();

		for (int i = 0; i < n; i++) {
			MPI_Get(r->buf, count, MPI_INT64_T, TARGET, 0, count, MPI_INT64_T, r->win);
			MPI_Win_flush(TARGET, r->win);
		}
		batch(&b, started, n);
	}
	everybody();
	if (r->rank == ORIGIN) {
		report(&r->o, &b, "get", bytes, r->ranks);
		check(holds(r->buf, bytes, 2), "get", bytes);
	}
}

static void fetch_add(struct rma *r)
{
	struct batches b = {.count = 0};
	int n = scaled(&r->o, 20000, r->ranks);
	int64_t one = 1, before = 0;

	memset(r->local, 0, sizeof before);
	MPI_Win_sync(r->win);
	everybody();
	while (r->rank == ORIGIN && b.count < r->o.batches) {
		double started = MPI_Wtime();

		for (int i = 0; i < n; i++) {
			MPI_Fetch_and_op(&one, &before, MPI_INT64_T, TARGET, 0, MPI_SUM, r->win);
			MPI_Win_flush(TARGET, r->win);
		}
		batch(&b, started, n);
	}
	everybody();
	if (r->rank == ORIGIN) {
		report(&r->o, &b, "fetch_add", sizeof one, r->ranks);
		check(before == (int64_t)n * r->o.batches - 1, "fetch_add", sizeof one);
	}
}

static void lock_put_unlock(struct rma *r)
{
	struct batches b = {.count = 0};
	int n = scaled(&r->o, 5000, r->ranks);

	fill(r->buf, 8, 3);
	everybody();
	while (r->rank == ORIGIN && b.count < r->o.batches) {
		double started = MPI_Wtime();

		for (int i = 0; i < n; i++) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, r->win);
			MPI_Put(r->buf, 1, MPI_INT64_T, TARGET, 0, 1, MPI_INT64_T, r->win);
			MPI_Win_unlock(TARGET, r->win);
		}
		batch(&b, started, n);
	}
	everybody();
	if (r->rank == ORIGIN)
		report(&r->o, &b, "lock_put_unlock", 8, r->ranks);
	if (r->rank == TARGET) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, r->win);
		check(holds(r->local, 8, 3), "lock_put_unlock", 8);
		MPI_Win_unlock(TARGET, r->win);
	}
	everybody();
}

static void fence(struct rma *r)
{
	struct batches b = {.count = 0};
	int n = scaled(&r->o, 5000, r->ranks);

	while (b.count < r->o.batches) {
		double started = MPI_Wtime();

		for (int i = 0; i < n; i++)
			MPI_Win_fence(0, r->win);
		batch(&b, started, n);
	}
	if (r->rank == ORIGIN)
		report(&r->o, &b, "fence", 0, r->ranks);
}

/* The operations under lock_all come first, as a window is never fenced inside
 * a passive epoch. */
static void measure(struct rma *r)
{
	MPI_Win_lock_all(0, r->win);
	for (int i = 0; i < r->o.nsizes; i++) {
		if (wanted(&r->o, "put"))
			put(r, r->o.sizes[i]);
		if (wanted(&r->o, "get"))
			get(r, r->o.sizes[i]);
	}
	if (wanted(&r->o, "fetch_add"))
		fetch_add(r);
	everybody();
	MPI_Win_unlock_all(r->win);
	if (wanted(&r->o, "lock_put_unlock"))
		lock_put_unlock(r);
	if (wanted(&r->o, "fence"))
		fence(r);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {8, 1024, 65536, 1 << 20, 16 << 20};
	struct rma r = {.o = parse_options(argc, argv)};

	default_sizes(&r.o, sizes, sizeof sizes / sizeof sizes[0]);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
	if (r.ranks < 2) {
		fprintf(stderr, "%s: the one-sided benchmark needs at least 2 ranks, got %d\n", argv[0], r.ranks);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	r.bytes = largest(&r.o);
	MPI_Win_allocate((MPI_Aint)r.bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &r.local, &r.win);
	r.buf = malloc(r.bytes);
	if (r.buf == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(r.local, 0, r.bytes);
	memset(r.buf, 1, r.bytes);
	measure(&r);
	MPI_Win_free(&r.win);
	free(r.buf);
	MPI_Finalize();
	return 0;
}
