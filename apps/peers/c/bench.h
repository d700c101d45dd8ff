/* What the programs share: options, the batch clock and the JSON line. */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <stddef.h>

enum { MAX_SIZES = 32, MAX_BATCHES = 1001 };

struct options {
	const char *ops;        /* comma-separated names; NULL means every operation */
	size_t sizes[MAX_SIZES];
	int nsizes;             /* 0 means the program's own sizes */
	int batches;            /* odd, so that the median is one of them */
	int divide;             /* iterations are divided by this */
	const char *transport;  /* what the results call it; the launcher has chosen it */
	int memory;             /* launch only: report private memory */
	int version;            /* launch only: print the library's version */
};

/* One benchmark in progress: the time of each batch, in seconds an operation. */
struct batches {
	double seconds[MAX_BATCHES];
	int count;
};

/* Reads the command line. Ends the program with 2 when it is not understood. */
struct options parse_options(int argc, char **argv);

/* Gives o the program's own sizes when the command line named none. */
void default_sizes(struct options *o, const size_t *sizes, int n);

int wanted(const struct options *o, const char *op);
size_t largest(const struct options *o);

/* iterations / divide, at least 1. Where ranks outnumber the machine's cores
 * and --divide was not given, divide is 500. */
int scaled(const struct options *o, int iterations, int ranks);

void batch(struct batches *b, double started, int iterations);

/* Prints the median as one JSON line. */
void report(const struct options *o, struct batches *b, const char *op, size_t bytes, int ranks);

/* Tells what differs and aborts the job when ok is 0. */
void check(int ok, const char *op, size_t bytes);

const char *peer_name(void);

#endif
