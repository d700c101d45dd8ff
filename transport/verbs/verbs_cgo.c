//go:build cgo && linux

#include "verbs_cgo.h"

#include <errno.h>
#include <stdio.h>

#if !__has_include(<infiniband/verbs.h>)

struct v_lib *v_load(char *why, size_t n) {
	snprintf(why, n, "this program was built without infiniband/verbs.h (Debian: libibverbs-dev)");
	return NULL;
}

// Nothing below is ever called: nobody has a struct v_lib.
#define ABSENT { return ENOSYS; }
int v_fork_init(struct v_lib *l) ABSENT
int v_device_name(struct v_lib *l, int i, char *name, size_t n) ABSENT
int v_open(struct v_lib *l, const char *name, struct ibv_context **to) ABSENT
int v_close(struct v_lib *l, struct ibv_context *c) ABSENT
int v_attr(struct v_lib *l, struct ibv_context *c, struct v_attr *a) ABSENT
int v_port(struct v_lib *l, struct ibv_context *c, int port, struct v_port *p) ABSENT
int v_async_fd(struct ibv_context *c) ABSENT
int v_async_event(struct v_lib *l, struct ibv_context *c, struct v_event *e) ABSENT
int v_alloc_pd(struct v_lib *l, struct ibv_context *c, struct ibv_pd **to) ABSENT
int v_dealloc_pd(struct v_lib *l, struct ibv_pd *pd) ABSENT
int v_reg_mr(struct v_lib *l, struct ibv_pd *pd, uintptr_t start, size_t n, int remote, struct ibv_mr **to, uint32_t *lkey, uint32_t *rkey) ABSENT
int v_dereg_mr(struct v_lib *l, struct ibv_mr *mr) ABSENT
int v_create_cq(struct v_lib *l, struct ibv_context *c, int n, struct ibv_comp_channel **channel, struct ibv_cq **to, int *fd) ABSENT
int v_destroy_cq(struct v_lib *l, struct ibv_comp_channel *channel, struct ibv_cq *cq) ABSENT
int v_poll_cq(struct ibv_cq *cq, struct v_wc *wc, int n) ABSENT
int v_arm_cq(struct ibv_cq *cq) ABSENT
int v_cq_event(struct v_lib *l, struct ibv_comp_channel *channel) ABSENT
int v_create_srq(struct v_lib *l, struct ibv_pd *pd, int n, struct ibv_srq **to) ABSENT
int v_destroy_srq(struct v_lib *l, struct ibv_srq *srq) ABSENT
int v_post_srq(struct ibv_srq *srq, uint64_t wr_id, uintptr_t start, uint32_t n, uint32_t lkey) ABSENT
int v_create_qp(struct v_lib *l, struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq, int sends, int receives, uint32_t *inlined,
	struct ibv_qp **to, uint32_t *number) ABSENT
int v_init_qp(struct v_lib *l, struct ibv_qp *qp, int port) ABSENT
int v_connect_qp(struct v_lib *l, struct ibv_qp *qp, const struct v_peer *p) ABSENT
int v_fail_qp(struct v_lib *l, struct ibv_qp *qp) ABSENT
int v_destroy_qp(struct v_lib *l, struct ibv_qp *qp) ABSENT
int v_post(struct ibv_qp *qp, const struct v_request *r, uintptr_t local) ABSENT
int v_post_recv(struct ibv_qp *qp, uint64_t wr_id) ABSENT
const char *v_status(struct v_lib *l, int status) { return "no libibverbs"; }

#else

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

// Functions that verbs.h defines inline go through the device's own table and are
// used as they are; these are the others.
#define FUNCTIONS(F) \
	F(int, fork_init, (void)) \
	F(struct ibv_device **, get_device_list, (int *)) \
	F(void, free_device_list, (struct ibv_device **)) \
	F(const char *, get_device_name, (struct ibv_device *)) \
	F(struct ibv_context *, open_device, (struct ibv_device *)) \
	F(int, close_device, (struct ibv_context *)) \
	F(int, query_device, (struct ibv_context *, struct ibv_device_attr *)) \
	F(int, query_port, (struct ibv_context *, uint8_t, struct _compat_ibv_port_attr *)) \
	F(int, get_async_event, (struct ibv_context *, struct ibv_async_event *)) \
	F(void, ack_async_event, (struct ibv_async_event *)) \
	F(const char *, event_type_str, (enum ibv_event_type)) \
	F(struct ibv_pd *, alloc_pd, (struct ibv_context *)) \
	F(int, dealloc_pd, (struct ibv_pd *)) \
	F(struct ibv_mr *, reg_mr, (struct ibv_pd *, void *, size_t, int)) \
	F(int, dereg_mr, (struct ibv_mr *)) \
	F(struct ibv_comp_channel *, create_comp_channel, (struct ibv_context *)) \
	F(int, destroy_comp_channel, (struct ibv_comp_channel *)) \
	F(struct ibv_cq *, create_cq, (struct ibv_context *, int, void *, struct ibv_comp_channel *, int)) \
	F(int, destroy_cq, (struct ibv_cq *)) \
	F(int, get_cq_event, (struct ibv_comp_channel *, struct ibv_cq **, void **)) \
	F(void, ack_cq_events, (struct ibv_cq *, unsigned int)) \
	F(struct ibv_srq *, create_srq, (struct ibv_pd *, struct ibv_srq_init_attr *)) \
	F(int, destroy_srq, (struct ibv_srq *)) \
	F(struct ibv_qp *, create_qp, (struct ibv_pd *, struct ibv_qp_init_attr *)) \
	F(int, modify_qp, (struct ibv_qp *, struct ibv_qp_attr *, int)) \
	F(int, destroy_qp, (struct ibv_qp *)) \
	F(const char *, wc_status_str, (enum ibv_wc_status))

struct v_lib {
#define FIELD(result, name, arguments) result(*name) arguments;
	FUNCTIONS(FIELD)
};

struct v_lib *v_load(char *why, size_t n) {
	void *handle = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	struct v_lib *l = calloc(1, sizeof *l);
	if (!handle || !l) {
		snprintf(why, n, "%s (Debian: apt-get install libibverbs1 ibverbs-providers)", handle ? strerror(ENOMEM) : dlerror());
		free(l);
		return NULL;
	}
#define FIND(result, name, arguments) \
	if (!(*(void **)&l->name = dlsym(handle, "ibv_" #name))) { \
		snprintf(why, n, "libibverbs.so.1 has no function ibv_" #name); \
		free(l); \
		return NULL; \
	}
	FUNCTIONS(FIND)
	return l;
}

int v_fork_init(struct v_lib *l) { return l->fork_init(); }

// failed is the errno of a call that returned NULL; some providers leave it 0.
static int failed(void) { return errno ? errno : EIO; }

// result of a call that returns 0, an errno or -1.
static int result(int rc) { return rc < 0 ? failed() : rc; }

int v_device_name(struct v_lib *l, int i, char *name, size_t n) {
	int count = 0, rc = ENOENT;
	struct ibv_device **list = l->get_device_list(&count);
	if (!list)
		return failed();
	if (i < count) {
		snprintf(name, n, "%s", l->get_device_name(list[i]));
		rc = 0;
	}
	l->free_device_list(list);
	return rc;
}

int v_open(struct v_lib *l, const char *name, struct ibv_context **to) {
	int count = 0, rc = ENODEV;
	struct ibv_device **list = l->get_device_list(&count);
	if (!list)
		return failed();
	for (int i = 0; i < count && rc == ENODEV; i++)
		if (!strcmp(l->get_device_name(list[i]), name)) {
			*to = l->open_device(list[i]);
			rc = *to ? 0 : failed();
		}
	l->free_device_list(list);
	return rc;
}

int v_close(struct v_lib *l, struct ibv_context *c) { return result(l->close_device(c)); }

int v_attr(struct v_lib *l, struct ibv_context *c, struct v_attr *to) {
	struct ibv_device_attr a = {0};
	int rc = result(l->query_device(c, &a));
	to->max_cqe = a.max_cqe;
	to->max_srq_wr = a.max_srq ? a.max_srq_wr : 0;
	to->max_reads = a.max_qp_rd_atom < a.max_qp_init_rd_atom ? a.max_qp_rd_atom : a.max_qp_init_rd_atom;
	return rc;
}

int v_port(struct v_lib *l, struct ibv_context *c, int port, struct v_port *to) {
	struct ibv_port_attr a = {0};
	struct verbs_context *ops = verbs_get_ctx_op(c, query_port); // without it there are no flags
	int rc = result(ops ? ops->query_port(c, port, &a, sizeof a) : l->query_port(c, port, (struct _compat_ibv_port_attr *)&a));
	to->global = (a.flags & IBV_QPF_GRH_REQUIRED) != 0;
	to->active_mtu = a.active_mtu;
	to->lid = a.lid;
	to->max_msg = a.max_msg_sz;
	return rc;
}

static int unblocked(int fd) { return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

int v_async_fd(struct ibv_context *c) { return unblocked(c->async_fd) ? -1 : c->async_fd; }

int v_async_event(struct v_lib *l, struct ibv_context *c, struct v_event *to) {
	struct ibv_async_event e;
	if (l->get_async_event(c, &e))
		return failed();
	memset(to, 0, sizeof *to);
	to->type = e.event_type;
	snprintf(to->name, sizeof to->name, "%s", l->event_type_str(e.event_type));
	switch (e.event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_PATH_MIG_ERR:
		to->qp_num = e.element.qp->qp_num;
		break;
	case IBV_EVENT_PORT_ERR:
		to->port = e.element.port_num;
		break;
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_SRQ_ERR:
		break;
	default:
		to->type = -1; // nothing is wrong
	}
	l->ack_async_event(&e);
	return 0;
}

int v_alloc_pd(struct v_lib *l, struct ibv_context *c, struct ibv_pd **to) {
	*to = l->alloc_pd(c);
	return *to ? 0 : failed();
}

int v_dealloc_pd(struct v_lib *l, struct ibv_pd *pd) { return result(l->dealloc_pd(pd)); }

int v_reg_mr(struct v_lib *l, struct ibv_pd *pd, uintptr_t start, size_t n, int remote, struct ibv_mr **to, uint32_t *lkey, uint32_t *rkey) {
	int access = IBV_ACCESS_LOCAL_WRITE;
	if (remote)
		access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	*to = l->reg_mr(pd, (void *)start, n, access);
	if (!*to)
		return failed();
	*lkey = (*to)->lkey;
	*rkey = (*to)->rkey;
	return 0;
}

int v_dereg_mr(struct v_lib *l, struct ibv_mr *mr) { return result(l->dereg_mr(mr)); }

int v_create_cq(struct v_lib *l, struct ibv_context *c, int n, struct ibv_comp_channel **channel, struct ibv_cq **to, int *fd) {
	*channel = l->create_comp_channel(c);
	if (!*channel)
		return failed();
	*fd = (*channel)->fd;
	*to = unblocked(*fd) ? NULL : l->create_cq(c, n, NULL, *channel, 0);
	if (*to)
		return 0;
	int rc = failed();
	l->destroy_comp_channel(*channel);
	return rc;
}

int v_destroy_cq(struct v_lib *l, struct ibv_comp_channel *channel, struct ibv_cq *cq) {
	int rc = result(l->destroy_cq(cq));
	return rc ? rc : result(l->destroy_comp_channel(channel));
}

int v_poll_cq(struct ibv_cq *cq, struct v_wc *to, int n) {
	struct ibv_wc wc[16];
	int got = ibv_poll_cq(cq, n < 16 ? n : 16, wc);
	for (int i = 0; i < got; i++) {
		to[i].wr_id = wc[i].wr_id;
		to[i].status = wc[i].status;
		to[i].byte_len = wc[i].byte_len;
		to[i].imm = ntohl(wc[i].imm_data);
		to[i].qp_num = wc[i].qp_num;
		to[i].vendor_err = wc[i].vendor_err;
	}
	return got;
}

int v_arm_cq(struct ibv_cq *cq) { return result(ibv_req_notify_cq(cq, 0)); }

int v_cq_event(struct v_lib *l, struct ibv_comp_channel *channel) {
	struct ibv_cq *cq;
	void *context;
	if (l->get_cq_event(channel, &cq, &context))
		return failed();
	l->ack_cq_events(cq, 1);
	return 0;
}

int v_create_srq(struct v_lib *l, struct ibv_pd *pd, int n, struct ibv_srq **to) {
	struct ibv_srq_init_attr a = {.attr = {.max_wr = n, .max_sge = 1}};
	*to = l->create_srq(pd, &a);
	return *to ? 0 : failed();
}

int v_destroy_srq(struct v_lib *l, struct ibv_srq *srq) { return result(l->destroy_srq(srq)); }

int v_post_srq(struct ibv_srq *srq, uint64_t wr_id, uintptr_t start, uint32_t n, uint32_t lkey) {
	struct ibv_sge sge = {start, n, lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;
	return result(ibv_post_srq_recv(srq, &wr, &bad));
}

int v_create_qp(struct v_lib *l, struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq, int sends, int receives, uint32_t *inlined,
		struct ibv_qp **to, uint32_t *number) {
	struct ibv_qp_init_attr a = {.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = IBV_QPT_RC};
	a.cap.max_send_wr = sends;
	a.cap.max_recv_wr = receives;
	a.cap.max_send_sge = a.cap.max_recv_sge = 1;
	a.cap.max_inline_data = *inlined;
	*to = l->create_qp(pd, &a);
	if (!*to)
		return failed();
	*inlined = a.cap.max_inline_data;
	*number = (*to)->qp_num;
	return 0;
}

int v_init_qp(struct v_lib *l, struct ibv_qp *qp, int port) {
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = port};
	a.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	return result(l->modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

// Retries: 4.096 us * 2^16 = 268 ms until a packet is sent again, six times: soft-RoCE
// takes seven for ever, and a responder whose queue pair has failed need not say so. A
// receiver is never without a request (credits), so running into one is no error and
// repeated for ever.
int v_connect_qp(struct v_lib *l, struct ibv_qp *qp, const struct v_peer *p) {
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .path_mtu = p->mtu, .dest_qp_num = p->qp_num, .rq_psn = p->psn};
	a.max_dest_rd_atomic = p->reads;
	a.min_rnr_timer = 1;
	a.ah_attr.dlid = p->lid;
	a.ah_attr.port_num = p->port;
	a.ah_attr.is_global = p->global;
	if (p->global) {
		memcpy(a.ah_attr.grh.dgid.raw, p->gid, sizeof p->gid);
		a.ah_attr.grh.sgid_index = p->gid_index;
		a.ah_attr.grh.hop_limit = 64;
	}
	int rc = result(l->modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	if (rc)
		return rc;
	struct ibv_qp_attr b = {.qp_state = IBV_QPS_RTS, .timeout = 16, .retry_cnt = 6, .rnr_retry = 7, .sq_psn = p->own_psn};
	b.max_rd_atomic = p->reads;
	return result(l->modify_qp(qp, &b, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		IBV_QP_MAX_QP_RD_ATOMIC));
}

int v_fail_qp(struct v_lib *l, struct ibv_qp *qp) {
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};
	return result(l->modify_qp(qp, &a, IBV_QP_STATE));
}

int v_destroy_qp(struct v_lib *l, struct ibv_qp *qp) { return result(l->destroy_qp(qp)); }

int v_post(struct ibv_qp *qp, const struct v_request *r, uintptr_t local) {
	static const int opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM};
	struct ibv_sge sge = {local, r->length, r->lkey};
	struct ibv_send_wr wr = {.wr_id = r->wr_id, .sg_list = &sge, .num_sge = r->length > 0, .opcode = opcodes[r->opcode]}, *bad;
	wr.send_flags = (r->signalled ? IBV_SEND_SIGNALED : 0) | (r->inlined ? IBV_SEND_INLINE : 0);
	wr.imm_data = htonl(r->imm);
	if (r->opcode == V_ADD || r->opcode == V_SWAP) {
		wr.wr.atomic.remote_addr = r->remote;
		wr.wr.atomic.rkey = r->rkey;
		wr.wr.atomic.compare_add = r->compare_add;
		wr.wr.atomic.swap = r->swap;
	} else {
		wr.wr.rdma.remote_addr = r->remote;
		wr.wr.rdma.rkey = r->rkey;
	}
	return result(ibv_post_send(qp, &wr, &bad));
}

int v_post_recv(struct ibv_qp *qp, uint64_t wr_id) {
	struct ibv_recv_wr wr = {.wr_id = wr_id}, *bad;
	return result(ibv_post_recv(qp, &wr, &bad));
}

const char *v_status(struct v_lib *l, int status) { return l->wc_status_str(status); }

#endif
