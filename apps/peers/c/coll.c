/* Collective operations: barrier, and the sum of doubles by allreduce. Both
 * buffers are malloc's and touched before anything is timed. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct coll {
	struct options o;
	int rank, ranks;
	double *in, *out;
};

static void barrier(struct coll *c)
{
	struct batches b = {.count = 0};
	int n = scaled(&c->o, 5000, c->ranks);

	while (b.count < c->o.batches) {
		double started = MPI_Wtime();

		for (int i = 0; i < n; i++)
			MPI_Barrier(MPI_COMM_WORLD);
		batch(&b, started, n);
	}
	if (c->rank == 0)
		report(&c->o, &b, "barrier", 0, c->ranks);
}

/* Element i of every rank's input is i plus its rank: sums stay exact. */
static int summed(const struct coll *c, size_t elements)
{
	double ranks = c->ranks, offset = ranks * (ranks - 1) / 2;

	for (size_t i = 0; i < elements; i++)
		if (c->out[i] != ranks * (double)i + offset)
			return 0;
	return 1;
}

static void allreduce(struct coll *c, size_t bytes)
{
	struct batches b = {.count = 0};
	int n = bytes <= 1024 ? 5000 : bytes <= 65536 ? 500 : bytes <= (1 << 20) ? 30 : 4;
	int elements = (int)(bytes / sizeof(double));

	n = scaled(&c->o, n, c->ranks);
	while (b.count < c->o.batches) {
		double started;

		MPI_Barrier(MPI_COMM_WORLD);
		started = MPI_Wtime();
		for (int i = 0; i < n; i++)
			MPI_Allreduce(c->in, c->out, elements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		batch(&b, started, n);
	}
	if (c->rank == 0)
		report(&c->o, &b, "allreduce_f64", bytes, c->ranks);
	check(summed(c, (size_t)elements), "allreduce_f64", bytes);
	memset(c->out, 0, bytes);
}

static int allocate(struct coll *c, size_t bytes)
{
	c->in = malloc(bytes);
	c->out = malloc(bytes);
	if (c->in == NULL || c->out == NULL)
		return 0;
	for (size_t i = 0; i < bytes / sizeof(double); i++)
		c->in[i] = (double)i + c->rank;
	memset(c->out, 0, bytes);
	return 1;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {8, 1024, 65536, 1 << 20, 16 << 20, 64 << 20};
	struct coll c = {.o = parse_options(argc, argv)};

	default_sizes(&c.o, sizes, sizeof sizes / sizeof sizes[0]);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &c.ranks);
	if (!allocate(&c, largest(&c.o)))
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (wanted(&c.o, "barrier"))
		barrier(&c);
	for (int i = 0; i < c.o.nsizes && wanted(&c.o, "allreduce_f64"); i++)
		allreduce(&c, c.o.sizes[i]);
	free(c.in);
	free(c.out);
	MPI_Finalize();
	return 0;
}
