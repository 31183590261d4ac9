/**
 * When each alert fires and when it does not, a sample a minute in the notation of `promtool test rules`: `0+5x3` is 0 5 10 15, `1x3` is
 * 1 1 1 1, `_x3` is nothing three times.
 */
interface AlertCase {
  trouble: Record<string, string>
  firesAt: number
  labels: Record<string, string>
  overAt?: number
  calm: Record<string, string>
  calmFrom?: number
}

const a = { instance: 'a:4001' }
const here = { job: 'annal', ...a }

export const alertCases: Record<string, AlertCase> = {
  AnnalDown: {
    trouble: { 'up{job="annal",instance="a:4001"}': '1 1 0x5 1x5' },
    ...{ firesAt: 3, overAt: 8, labels: here },
    calm: { 'up{job="annal",instance="a:4001"}': '1x9 0 1x9', 'up{job="other",instance="b"}': '0x20' },
  },
  AnnalRestartsAgainAndAgain: {
    trouble: { 'process_start_time_seconds{job="annal",instance="a:4001"}': '1 2 3 4 5x40' },
    ...{ firesAt: 4, overAt: 35, labels: here },
    calm: { 'process_start_time_seconds{job="annal",instance="a:4001"}': '1 2 3 4x40' },
  },
  AnnalFaults: {
    // Of a counter that is new no increase tells.
    trouble: { 'annal_requests_total{api="rest",operation="getAsset",code="INTERNAL",instance="a:4001"}': '_x20 1x30' },
    ...{ firesAt: 20, overAt: 30, labels: { api: 'rest', operation: 'getAsset' } },
    calm: {
      'annal_requests_total{api="rest",operation="getAsset",code="INTERNAL",instance="a:4001"}': '1x40',
      'annal_requests_total{api="rest",operation="getAsset",code="NOT_FOUND",instance="a:4001"}': '0+9x40',
    },
    calmFrom: 10,
  },
  AnnalUnavailable: {
    trouble: {
      'annal_requests_total{api="rest",operation="getAsset",code="UNAVAILABLE"}': '0+2x30',
      'annal_requests_total{api="graphql",operation="query",code="OK"}': '0+98x30',
    },
    ...{ firesAt: 6, labels: {} },
    calm: {
      'annal_requests_total{api="rest",operation="getAsset",code="UNAVAILABLE"}': '0+1x30',
      'annal_requests_total{api="graphql",operation="query",code="OK"}': '0+99x30',
    },
  },
  AnnalSlow: {
    trouble: {
      'annal_request_duration_seconds_bucket{api="rest",le="1"}': '0+90x30',
      'annal_request_duration_seconds_bucket{api="rest",le="2.5"}': '0+100x30',
      'annal_request_duration_seconds_bucket{api="rest",le="+Inf"}': '0+100x30',
    },
    ...{ firesAt: 11, labels: {} },
    calm: {
      'annal_request_duration_seconds_bucket{api="rest",le="1"}': '0+100x30',
      'annal_request_duration_seconds_bucket{api="rest",le="2.5"}': '0+100x30',
      'annal_request_duration_seconds_bucket{api="rest",le="+Inf"}': '0+101x30',
    },
  },
  AnnalNoConnections: {
    trouble: { 'annal_pool_waiting{instance="a:4001"}': '0 1x10 0x5' },
    ...{ firesAt: 4, overAt: 12, labels: a },
    calm: { 'annal_pool_waiting{instance="a:4001"}': '0 9 0 9 0 9 0 9 0 9 0 9 0 9 0 9 0 9 0' },
  },
  AnnalQueueTurnsAway: {
    trouble: { 'annal_queue_rejected_total{instance="a:4001",queue="uploads"}': '0+1x20' },
    ...{ firesAt: 6, labels: { ...a, queue: 'uploads' } },
    calm: { 'annal_queue_rejected_total{instance="a:4001",queue="uploads"}': '0 5x20' },
  },
  AnnalEventLoopLate: {
    trouble: { 'nodejs_eventloop_lag_p99_seconds{job="annal",instance="a:4001"}': '0.6x20' },
    ...{ firesAt: 5, labels: here },
    calm: { 'nodejs_eventloop_lag_p99_seconds{job="annal",instance="a:4001"}': '0.5x20' },
  },
  AnnalStoodStill: {
    trouble: { 'annal_process_stalls_total{instance="a:4001"}': '0 0 1x30' },
    ...{ firesAt: 2, overAt: 18, labels: a },
    calm: { 'annal_process_stalls_total{instance="a:4001"}': '3x30' },
  },
  AnnalRoleMissing: {
    // Each process tells of all; who has nothing of the database any more tells what was.
    trouble: {
      'annal_processes{role="relay",instance="a:4001"}': '1 0x10 1x5',
      'annal_processes{role="relay",instance="b:4001"}': '1 0x10 1x5',
      'annal_processes{role="http",instance="a:4001"}': '2x16',
    },
    ...{ firesAt: 2, overAt: 12, labels: { role: 'relay' } },
    calm: {
      'annal_processes{role="relay",instance="a:4001"}': '1x5 0 1x20',
      'annal_processes{role="jobs",instance="a:4001"}': '1x26',
    },
  },
  AnnalMetricsMissing: {
    trouble: { 'annal_scrape_source_up{instance="a:4001",source="chain"}': '0x20' },
    ...{ firesAt: 5, labels: { ...a, source: 'chain' } },
    calm: { 'annal_scrape_source_up{instance="a:4001",source="chain"}': '0x4 1 0x4 1 0x4 1x9' },
  },
  AnnalRelayBehind: {
    trouble: {
      'annal_relay_lag_seconds{instance="a:4001"}': '301x20',
      'annal_relay_lag_seconds{instance="b:4001"}': '0x20',
    },
    ...{ firesAt: 5, labels: {} },
    calm: { 'annal_relay_lag_seconds{instance="a:4001"}': '300x20' },
  },
  AnnalRelayIdle: {
    trouble: {
      'annal_relay_lag_seconds{instance="a:4001"}': '61x20',
      'annal_relay_lane_held{instance="a:4001",account="0xa"}': '0x20',
    },
    ...{ firesAt: 2, labels: {} },
    calm: {
      'annal_relay_lag_seconds{instance="a:4001"}': '61x20',
      'annal_relay_lane_held{instance="b:4001",account="0xa"}': '1x20',
    },
  },
  AnnalRelayPoor: {
    trouble: {
      'annal_relay_balance_coins{account="0xa"}': '0.09x20',
      'annal_relay_balance_coins{account="0xb"}': '1x20',
    },
    ...{ firesAt: 5, labels: { account: '0xa' } },
    calm: { 'annal_relay_balance_coins{account="0xa"}': '0.1x20' },
  },
  AnnalRelayFees: {
    trouble: {
      'annal_relay_base_fee_wei{instance="a:4001"}': '11x20',
      'annal_relay_max_fee_wei{instance="a:4001"}': '10x20',
    },
    ...{ firesAt: 10, labels: {} },
    calm: {
      'annal_relay_base_fee_wei{instance="a:4001"}': '10x20',
      'annal_relay_max_fee_wei{instance="a:4001"}': '10x20',
    },
  },
  AnnalCommitsFail: {
    trouble: { 'annal_relay_commits_failing{instance="a:4001"}': '1x20' },
    ...{ firesAt: 15, labels: {} },
    calm: { 'annal_relay_commits_failing{instance="a:4001"}': '1x14 0 1x8' },
  },
  AnnalCommitsRefunded: {
    trouble: { 'annal_transfers_total{kind="refund",instance="a:4001"}': '0 0 1x80' },
    ...{ firesAt: 2, overAt: 63, labels: {} },
    calm: {
      'annal_transfers_total{kind="refund",instance="a:4001"}': '4x80',
      'annal_transfers_total{kind="order-refund",instance="a:4001"}': '0+1x80',
    },
  },
  AnnalJobsOverdue: {
    trouble: { 'annal_jobs_overdue_seconds{queue="mail"}': '121x20' },
    ...{ firesAt: 5, labels: { queue: 'mail' } },
    calm: { 'annal_jobs_overdue_seconds{queue="mail"}': '120x20' },
  },
  AnnalJobsGivenUp: {
    trouble: { 'annal_jobs_dead{queue="mail"}': '2 2 3x80' },
    ...{ firesAt: 2, overAt: 63, labels: { queue: 'mail' } },
    calm: { 'annal_jobs_dead{queue="mail"}': '3x20 2x60' },
  },
  AnnalWebhooksFail: {
    trouble: {
      'annal_webhook_attempts_total{outcome="failed",status="5xx"}': '0+6x60',
      'annal_webhook_attempts_total{outcome="delivered",status="2xx"}': '0+4x60',
    },
    ...{ firesAt: 31, labels: {} },
    calm: {
      'annal_webhook_attempts_total{outcome="failed",status="5xx"}': '0+5x60',
      'annal_webhook_attempts_total{outcome="delivered",status="2xx"}': '0+5x60',
    },
  },
  AnnalMailsFail: {
    trouble: { 'annal_mails_total{outcome="failed"}': '0+1x40', 'annal_mails_total{outcome="sent"}': '7x40' },
    ...{ firesAt: 16, labels: {} },
    calm: { 'annal_mails_total{outcome="failed"}': '0+9x40', 'annal_mails_total{outcome="sent"}': '0+1x40' },
  },
  AnnalItemsPutOff: {
    trouble: { 'annal_batch_failures{batch_job="deposits"}': '1x80' },
    ...{ firesAt: 60, labels: { batch_job: 'deposits' } },
    calm: { 'annal_batch_failures{batch_job="deposits"}': '1x59 0 1x59' },
  },
  AnnalRetentionLate: {
    trouble: { 'annal_retention_overdue_seconds{instance="a:4001",batch_job="delete-events"}': '30000x20' },
    ...{ firesAt: 10, labels: { batch_job: 'delete-events' } },
    calm: { 'annal_retention_overdue_seconds{instance="a:4001",batch_job="delete-events"}': '21600x20' },
  },
  AnnalDepositsSetAside: {
    trouble: { 'annal_deposits_uncredited{instance="a:4001"}': '1x20' },
    ...{ firesAt: 10, labels: {} },
    calm: { 'annal_deposits_uncredited{instance="a:4001"}': '1x9 0 1x3' },
  },
  AnnalCoinTransfersWait: {
    trouble: { 'annal_suspended_transfers{instance="a:4001"}': '1x80' },
    ...{ firesAt: 60, labels: {} },
    calm: { 'annal_suspended_transfers{instance="a:4001"}': '1x59 0 1x19' },
  },
  AnnalWithdrawalsWait: {
    trouble: { 'annal_withdrawals_waiting_seconds{instance="a:4001"}': '700x20' },
    ...{ firesAt: 5, labels: {} },
    calm: { 'annal_withdrawals_waiting_seconds{instance="a:4001"}': '700x4 600x10' },
  },
  AnnalDepositFrozen: {
    trouble: { 'annal_deposits{instance="a:4001",status="frozen"}': '0x9 1x10' },
    ...{ firesAt: 15, labels: {} },
    calm: {
      'annal_deposits{instance="a:4001",status="frozen"}': '1x4 0x90',
      'annal_deposits{instance="a:4001",status="credited"}': '7x90',
    },
  },
  AnnalNoRoom: {
    trouble: { 'annal_requests_total{api="rest",operation="registerAsset",code="INSUFFICIENT_STORAGE"}': '_x20 1x30' },
    ...{ firesAt: 20, overAt: 30, labels: { api: 'rest' } },
    calm: { 'annal_requests_total{api="rest",operation="registerAsset",code="INSUFFICIENT_STORAGE"}': '2x40' },
    calmFrom: 10,
  },
  AnnalReadsLeftToPrisma: {
    trouble: { 'annal_read_fallbacks_total{read="Asset.findMany"}': '_x70 1x90' },
    ...{ firesAt: 70, overAt: 130, labels: { read: 'Asset.findMany' } },
    calm: { 'annal_read_fallbacks_total{read="Asset.findMany"}': '1x90' },
    calmFrom: 60,
  },
}
