/* A job that does nothing: init, one barrier, exit. Whoever starts it measures
 * the wall time of the whole command. With --memory rank 0 prints the largest
 * private memory of any rank; with --version it prints the library's version
 * and needs no launcher. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_version(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length = 0;

	MPI_Get_library_version(text, &length);
	puts(text);
	return 0;
}

/* Bytes that only this process has: Private_Clean and Private_Dirty; -1 where
 * the kernel does not tell. */
static long long private_memory(void)
{
	char line[256];
	long long kib, sum = 0;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");

	if (f == NULL)
		return -1;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "Private_Clean: %lld kB", &kib) == 1 ||
		    sscanf(line, "Private_Dirty: %lld kB", &kib) == 1)
			sum += kib;
	fclose(f);
	return sum * 1024;
}

static void report_memory(int rank, int ranks)
{
	long long mine = private_memory(), most = 0;

	MPI_Reduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("{\"peer\":\"%s\",\"op\":\"private_memory\",\"bytes\":%lld,\"ranks\":%d}\n",
		       peer_name(), most, ranks);
}

int main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	int rank, ranks;

	if (o.version)
		return print_version();
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	if (o.memory)
		report_memory(rank, ranks);
	MPI_Finalize();
	return 0;
}
