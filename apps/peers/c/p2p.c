/* Messages between rank 0 and rank 1: pingpong, half of a round trip. Each rank
 * sends what it has just received, from the same malloc'ed buffer; the elements
 * are 64-bit integers. */
#include "bench.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 7 };

struct p2p {
	struct options o;
	int rank, ranks;
	int64_t *buf;
};

static int round_trips(const struct p2p *p, size_t bytes)
{
	int n = bytes <= 1024 ? 20000 : bytes <= 65536 ? 2000 : bytes <= (1 << 20) ? 100 : 10;

	return scaled(&p->o, n, p->ranks);
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

static void exchange(const struct p2p *p, int count, int n)
{
	for (int i = 0; i < n; i++) {
		if (p->rank == 0) {
			MPI_Send(p->buf, count, MPI_INT64_T, 1, TAG, MPI_COMM_WORLD);
			MPI_Recv(p->buf, count, MPI_INT64_T, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(p->buf, count, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(p->buf, count, MPI_INT64_T, 0, TAG, MPI_COMM_WORLD);
		}
	}
}

/* What rank 0 sent first comes back last, so its buffer tells of all trips. */
static void pingpong(struct p2p *p, size_t bytes)
{
	struct batches b = {.count = 0};
	int n = round_trips(p, bytes), count = (int)(bytes / sizeof *p->buf);

	fill(p->buf, bytes, p->rank == 0 ? 4 : 5);
	MPI_Barrier(MPI_COMM_WORLD);
	if (p->rank < 2) {
		exchange(p, count, 1);
		while (b.count < p->o.batches) {
			double started = MPI_Wtime();

			exchange(p, count, n);
			batch(&b, started, 2 * n);
		}
		check(holds(p->buf, bytes, 4), "pingpong", bytes);
	}
	if (p->rank == 0)
		report(&p->o, &b, "pingpong", bytes, p->ranks);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {8, 1024, 65536, 1 << 20, 16 << 20};
	struct p2p p = {.o = parse_options(argc, argv)};

	default_sizes(&p.o, sizes, sizeof sizes / sizeof sizes[0]);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
	if (p.ranks < 2) {
		fprintf(stderr, "%s: messages need at least 2 ranks, got %d\n", argv[0], p.ranks);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	p.buf = malloc(largest(&p.o));
	if (p.buf == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(p.buf, 1, largest(&p.o));
	for (int i = 0; i < p.o.nsizes && wanted(&p.o, "pingpong"); i++)
		pingpong(&p, p.o.sizes[i]);
	free(p.buf);
	MPI_Finalize();
	return 0;
}
