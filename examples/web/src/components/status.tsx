import type { CommitStatus, DepositStatus, OrderStatus, WithdrawalStatus } from '../gql/graphql.ts'

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

const depositWords: Record<DepositStatus, [Tone, string]> = {
  PENDING: ['waiting', 'In a block that is not deep enough; it cannot be spent yet'],
  CREDITED: ['good', 'In your wallet'],
  FROZEN: ['bad', 'The chain has lost its block; it is out of your wallet until the chain has it again'],
}

const withdrawalWords: Record<WithdrawalStatus, [Tone, string]> = {
  WAITING: ['waiting', 'Waiting; it can be cancelled'],
  SENDING: ['waiting', 'On its way over the chain'],
  CONFIRMED: ['good', 'Arrived'],
  FAILED: ['bad', 'The recipient refused it; the amount is back in your wallet'],
  CANCELLED: ['over', 'Cancelled; amount and fee are back in your wallet'],
}

const Status = ({ words: [tone, text] }: { words: [Tone, string] }) => <span className={`status ${tone}`}>{text}</span>

export const CommitState = ({ status }: { status: CommitStatus }) => <Status words={commitWords[status]} />
export const OrderState = ({ status }: { status: OrderStatus }) => <Status words={orderWords[status]} />
export const DepositState = ({ status }: { status: DepositStatus }) => <Status words={depositWords[status]} />
export const WithdrawalState = ({ status }: { status: WithdrawalStatus }) => <Status words={withdrawalWords[status]} />
