import type { AccountMessage, OrderFacts, OrderMessage } from '../../src/mail/mail-types.ts'

export const order: OrderFacts = {
  appName: 'Upscale',
  orderId: 'order_01h455vb4pex5vsknk084sn02q',
  price: '5.25',
  at: new Date('2026-11-21T06:05:00Z'),
}
export const chargeId = 'transfer_01h455vb4pex5vsknk084sn02q'
export const refundId = 'transfer_01h455vb4pex5vsknk084sn02r'
const paid = { points: '3', num: '2.25' }
export const orderMessages: OrderMessage[] = [
  { template: 'receipt', ...order, paid, chargeId },
  { template: 'sale', ...order, earned: { points: '2.64', num: '1.98' }, platformShare: '0.63' },
  { template: 'order-failed', ...order, paid, contact: 'shop@example.org' },
  { template: 'automatic-refund', ...order, returned: paid, chargeId, refundId },
  {
    template: 'administrator-refund',
    ...order,
    returned: paid,
    isWhole: false,
    reason: 'It never came.',
    chargeId,
    refundId,
  },
]
export const [receipt, sale, failed, refunded] = orderMessages as [
  OrderMessage,
  OrderMessage,
  OrderMessage,
  OrderMessage,
]

const username = 'zoë'
export const link = 'https://annal.example/account/password-reset/user_01h455vb4pex5vsknk084sn02q/3q2-7w_token'
const at = new Date('2026-11-21T06:05:00Z')
export const [reset, changed, moved, verification] = [
  { template: 'password-reset', username, link, minutes: 30 },
  { template: 'password-changed', username, at },
  { template: 'email-changed', username, newEmail: 'new@example.org', at },
  { template: 'email-verification', username, link, hours: 24 },
] as const satisfies AccountMessage[]
const withdrawal = { username, withdrawalId: 'withdrawal_01h455vb4pex5vsknk084sn02q', to: `0x${'e3'.repeat(20)}`, at }
const amounts = { amount: '2.5', fee: '0.000000000000021' }
export const withdrawals: AccountMessage[] = [
  { template: 'withdrawal-requested', ...withdrawal, ...amounts, dueAt: at },
  { template: 'withdrawal-confirmed', ...withdrawal, ...amounts },
  { template: 'withdrawal-failed', ...withdrawal, ...amounts, keepsFee: false },
  { template: 'withdrawal-failed', ...withdrawal, ...amounts, keepsFee: true },
  { template: 'withdrawal-cancelled', ...withdrawal, ...amounts },
]
export const asked: AccountMessage = { template: 'email-change-requested', username, newEmail: 'new@example.org', at }
export const accountMessages: AccountMessage[] = [reset, changed, asked, moved, verification, ...withdrawals]
