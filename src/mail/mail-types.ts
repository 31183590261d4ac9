/** Content of a mail before translation. Amounts are decimal strings, and IDs are public IDs. */
export type MailMessage = OrderMessage | AccountMessage

export type OrderMessage = OrderFacts &
  (
    | { template: 'receipt'; paid: Split; chargeId: string }
    | { template: 'sale'; earned: Split; platformShare: string }
    /** `contact`: e-mail address of the seller. Null if unknown. */
    | { template: 'order-failed'; paid: Split; contact: string | null }
    /** Sent after the webhook of the order failed permanently. */
    | ({ template: 'automatic-refund' } & Refund)
    /** Sent after a refund by an administrator. `isWhole`: true for a refund of the whole price. */
    | ({ template: 'administrator-refund'; isWhole: boolean; reason: string } & Refund)
  )

export type AccountMessage = {
  username: string
} /** `link`: URL that contains a secret and is valid for the given time. */ & (
  | { template: 'password-reset'; link: string; minutes: number }
  | { template: 'password-changed'; at: Date }
  /** Sent to the current address of an account. */
  | { template: 'email-change-requested'; newEmail: string; at: Date }
  /** Sent to the previous address of an account. */
  | { template: 'email-changed'; newEmail: string; at: Date }
  | { template: 'email-verification'; link: string; hours: number }
  /** `dueAt`: time until which the withdrawal can be cancelled. */
  | ({ template: 'withdrawal-requested'; dueAt: Date } & WithdrawalFacts)
  /** `amount`: the amount that arrived on the chain or was returned. */
  | ({ template: 'withdrawal-confirmed' | 'withdrawal-cancelled' } & WithdrawalFacts)
  /** `keepsFee`: true if the chain charged the fee, so that only the amount was returned. */
  | ({ template: 'withdrawal-failed'; keepsFee: boolean } & WithdrawalFacts)
)

export interface WithdrawalFacts {
  withdrawalId: string
  amount: string
  fee: string
  to: string
  at: Date
}

export interface OrderFacts {
  appName: string
  orderId: string
  price: string
  /** Time of the reported event. */
  at: Date
}

export type Split = { points: string; num: string }
type Refund = { returned: Split; chargeId: string; refundId: string }

export interface ComposedMail {
  language: string
  subject: string
  text: string
  html: string
  /** Link in the mail, which may contain a secret. */
  link?: string
}

export type ComposeMail = (message: MailMessage, language: string) => ComposedMail

export interface OutgoingMail extends ComposedMail {
  /** Permanent ID of the mail: letters, digits, `.`, `_` and `-`. A retry with the same ID sends the same mail. */
  id: string
  to: { name: string; address: string }
  /** Time of the message. A retry uses the same time. */
  date: Date
}

export interface Mailer {
  /** Resolves once the next server has accepted the mail. Throws UNAVAILABLE and RejectedRecipientError. */
  send(mail: OutgoingMail): Promise<void>
}
