import type { CommitStatus, OrderStatus } from '../gql/graphql.ts'

type Tone = 'waiting' | 'good' | 'bad' | 'over'

const commitWords: Record<CommitStatus, [Tone, string]> = {
  PENDING: ['waiting', 'Accepted, on its way to the chain'],
  BROADCAST: ['waiting', 'Sent to the chain'],
  INCLUDED: ['waiting', 'In a block'],
  FINAL: ['good', 'Final on the chain'],
  FAILED: ['bad', 'Could not reach the chain; you have your money back'],
}

const orderWords: Record<OrderStatus, [Tone, string]> = {
  CREATED: ['waiting', 'Waiting for your payment'],
  PENDING: ['waiting', 'Paid, being carried out'],
  SUCCESS: ['good', 'Done'],
  FAILURE: ['bad', 'Paid, but the action could not be carried out; its seller settles this with you'],
  REFUNDED: ['over', 'You have your money back'],
  EXPIRED: ['over', 'Not paid in time; nothing was charged'],
  CANCELLED: ['over', 'Cancelled; nothing was charged'],
}

const Status = ({ words: [tone, text] }: { words: [Tone, string] }) => <span className={`status ${tone}`}>{text}</span>

export const CommitState = ({ status }: { status: CommitStatus }) => <Status words={commitWords[status]} />
export const OrderState = ({ status }: { status: OrderStatus }) => <Status words={orderWords[status]} />
