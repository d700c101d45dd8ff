#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OVERSUBSCRIBED = 500 };

static void usage(const char *program)
{
	fprintf(stderr,
	        "usage: %s [--ops a,b] [--sizes n,m] [--batches n] [--divide n] [--transport name] [--memory] [--version]\n",
	        program);
	exit(2);
}

/* A positive number, or the end of the program. */
static size_t positive(const char *text, char **rest, const char *program)
{
	long long n = strtoll(text, rest, 10);

	if (*rest == text || n <= 0)
		usage(program);
	return (size_t)n;
}

static int single(const char *text, int most, const char *program)
{
	char *rest;
	size_t n = positive(text, &rest, program);

	if (*rest != '\0' || n > (size_t)most)
		usage(program);
	return (int)n;
}

/* Sizes are of 8-byte elements. */
static void parse_sizes(struct options *o, const char *text, const char *program)
{
	char *rest;

	for (o->nsizes = 0;; text = rest + 1) {
		if (o->nsizes == MAX_SIZES)
			usage(program);
		o->sizes[o->nsizes] = positive(text, &rest, program);
		if (o->sizes[o->nsizes++] % 8 != 0)
			usage(program);
		if (*rest == '\0')
			return;
		if (*rest != ',')
			usage(program);
	}
}

struct options parse_options(int argc, char **argv)
{
	static const struct option names[] = {
		{"ops", required_argument, NULL, 'o'},
		{"sizes", required_argument, NULL, 's'},
		{"batches", required_argument, NULL, 'b'},
		{"divide", required_argument, NULL, 'd'},
		{"transport", required_argument, NULL, 't'},
		{"memory", no_argument, NULL, 'm'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	struct options o = {.batches = 11, .transport = "shm"};
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (c) {
		case 'o': o.ops = optarg; break;
		case 's': parse_sizes(&o, optarg, argv[0]); break;
		case 'b': o.batches = single(optarg, MAX_BATCHES, argv[0]); break;
		case 'd': o.divide = single(optarg, 1000000, argv[0]); break;
		case 't': o.transport = optarg; break;
		case 'm': o.memory = 1; break;
		case 'v': o.version = 1; break;
		default: usage(argv[0]);
		}
	}
	if (optind != argc)
		usage(argv[0]);
	return o;
}

void default_sizes(struct options *o, const size_t *sizes, int n)
{
	if (o->nsizes != 0)
		return;
	memcpy(o->sizes, sizes, (size_t)n * sizeof *sizes);
	o->nsizes = n;
}

/* True when op is one of the comma-separated words of o->ops. */
int wanted(const struct options *o, const char *op)
{
	size_t n = strlen(op);
	const char *word = o->ops;

	if (word == NULL)
		return 1;
	for (;;) {
		if (strncmp(word, op, n) == 0 && (word[n] == ',' || word[n] == '\0'))
			return 1;
		word = strchr(word, ',');
		if (word == NULL)
			return 0;
		word++;
	}
}

size_t largest(const struct options *o)
{
	size_t most = 8;

	for (int i = 0; i < o->nsizes; i++)
		if (o->sizes[i] > most)
			most = o->sizes[i];
	return most;
}

int scaled(const struct options *o, int iterations, int ranks)
{
	int divide = o->divide;

	if (divide == 0)
		divide = ranks > sysconf(_SC_NPROCESSORS_ONLN) ? OVERSUBSCRIBED : 1;
	return iterations > divide ? iterations / divide : 1;
}

void batch(struct batches *b, double started, int iterations)
{
	b->seconds[b->count++] = (MPI_Wtime() - started) / iterations;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void report(const struct options *o, struct batches *b, const char *op, size_t bytes, int ranks)
{
	qsort(b->seconds, (size_t)b->count, sizeof b->seconds[0], by_value);
	printf("{\"peer\":\"%s\",\"op\":\"%s\",\"bytes\":%zu,\"us\":%.4f,\"ranks\":%d,"
	       "\"transport\":\"%s\",\"buffers\":\"heap\"}\n",
	       peer_name(), op, bytes, b->seconds[b->count / 2] * 1e6, ranks, o->transport);
	fflush(stdout);
}

void check(int ok, const char *op, size_t bytes)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s of %zu bytes gave a wrong result\n", peer_name(), op, bytes);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

const char *peer_name(void)
{
#if defined(OPEN_MPI)
	return "openmpi";
#elif defined(MPICH_VERSION)
	return "mpich";
#else
	return "mpi";
#endif
}
