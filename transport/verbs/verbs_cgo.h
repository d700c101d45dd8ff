// What this package needs of libibverbs, in terms that do not depend on its headers:
// a program that was built where they are missing says so when a device is opened.
// Every function that returns int returns 0 or an errno.
#ifndef GOLAUNCH_VERBS_H
#define GOLAUNCH_VERBS_H

#include <stddef.h>
#include <stdint.h>

// struct v_lib is the library: its functions, found by dlsym. Nothing here is linked
// with libibverbs.
struct v_lib;
struct ibv_context;
struct ibv_pd;
struct ibv_mr;
struct ibv_cq;
struct ibv_comp_channel;
struct ibv_srq;
struct ibv_qp;

struct v_attr {
	int max_cqe, max_srq_wr, max_reads;
};

struct v_port {
	int active_mtu, lid, global; // global: packets need addresses whatever the link layer is
	uint32_t max_msg;
};

struct v_wc {
	uint64_t wr_id;
	uint32_t status, byte_len, imm, qp_num, vendor_err, pad;
};

struct v_peer { // the other end of a queue pair
	uint8_t gid[16];
	uint32_t qp_num, psn;
	int lid, mtu, reads, global, gid_index, port;
	uint32_t own_psn;
};

struct v_request {
	uint64_t wr_id, remote, compare_add, swap;
	uint32_t length, lkey, rkey, imm;
	int opcode, signalled, inlined;
};

struct v_event {
	int type;
	uint32_t qp_num; // 0: not of a queue pair
	int port;        // 0: not of a port
	char name[64];
};

enum { V_WRITE, V_READ, V_ADD, V_SWAP, V_SEND, V_CREDIT };

struct v_lib *v_load(char *why, size_t n);
int v_fork_init(struct v_lib *l);
int v_device_name(struct v_lib *l, int i, char *name, size_t n); // ENOENT past the last
int v_open(struct v_lib *l, const char *name, struct ibv_context **to);
int v_close(struct v_lib *l, struct ibv_context *c);
int v_attr(struct v_lib *l, struct ibv_context *c, struct v_attr *a);
int v_port(struct v_lib *l, struct ibv_context *c, int port, struct v_port *p);
int v_async_fd(struct ibv_context *c);
int v_async_event(struct v_lib *l, struct ibv_context *c, struct v_event *e);

int v_alloc_pd(struct v_lib *l, struct ibv_context *c, struct ibv_pd **to);
int v_dealloc_pd(struct v_lib *l, struct ibv_pd *pd);
int v_reg_mr(struct v_lib *l, struct ibv_pd *pd, uintptr_t start, size_t n, int remote, struct ibv_mr **to, uint32_t *lkey, uint32_t *rkey);
int v_dereg_mr(struct v_lib *l, struct ibv_mr *mr);

int v_create_cq(struct v_lib *l, struct ibv_context *c, int n, struct ibv_comp_channel **channel, struct ibv_cq **to, int *fd);
int v_destroy_cq(struct v_lib *l, struct ibv_comp_channel *channel, struct ibv_cq *cq);
int v_poll_cq(struct ibv_cq *cq, struct v_wc *wc, int n); // how many, or -1
int v_arm_cq(struct ibv_cq *cq);
int v_cq_event(struct v_lib *l, struct ibv_comp_channel *channel);

int v_create_srq(struct v_lib *l, struct ibv_pd *pd, int n, struct ibv_srq **to);
int v_destroy_srq(struct v_lib *l, struct ibv_srq *srq);
int v_post_srq(struct ibv_srq *srq, uint64_t wr_id, uintptr_t start, uint32_t n, uint32_t lkey);

// A queue pair with srq receives from it, one without has receives requests of its own.
int v_create_qp(struct v_lib *l, struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq, int sends, int receives, uint32_t *inlined,
	struct ibv_qp **to, uint32_t *number);
int v_init_qp(struct v_lib *l, struct ibv_qp *qp, int port);
int v_connect_qp(struct v_lib *l, struct ibv_qp *qp, const struct v_peer *p);
int v_fail_qp(struct v_lib *l, struct ibv_qp *qp);
int v_destroy_qp(struct v_lib *l, struct ibv_qp *qp);
int v_post(struct ibv_qp *qp, const struct v_request *r, uintptr_t local);
int v_post_recv(struct ibv_qp *qp, uint64_t wr_id);

const char *v_status(struct v_lib *l, int status);

#endif
