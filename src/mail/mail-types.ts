/** Content of a mail before translation. Amounts are decimal strings, and IDs are public IDs. */
export type MailMessage = OrderMessage | AccountMessage

export type OrderMessage = OrderFacts &
  (
    | { template: 'receipt'; paid: Split; chargeId: string }
    | { template: 'sale'; earned: Split; platformShare: string }
    /** `contact`: address of the seller, or null if unknown. */
    | { template: 'order-failed'; paid: Split; contact: string | null }
    /** Sent after the webhook of the order failed permanently. */
    | { template: 'automatic-refund'; returned: Split; chargeId: string; refundId: string }
    /** Sent after a refund by an administrator. `isWhole`: true for a refund of the whole price. */
    | {
        template: 'administrator-refund'
        returned: Split
        isWhole: boolean
        reason: string
        chargeId: string
        refundId: string
      }
  )

export type AccountMessage = AccountFacts &
  /** `link`: URL that contains a secret and is valid for the given minutes. */
  (
    | { template: 'password-reset'; link: string; minutes: number }
    | { template: 'password-changed'; at: Date }
    /** Sent to the current address of an account when a change to a new address is requested. */
    | { template: 'email-change-requested'; newEmail: string; at: Date }
    /** Sent to the previous address of an account after the address was changed. */
    | { template: 'email-changed'; newEmail: string; at: Date }
    /** `link`: URL that contains a secret and is valid for the given hours. */
    | { template: 'email-verification'; link: string; hours: number }
    /** Sent after a withdrawal request. `dueAt`: time until which it can be cancelled. */
    | ({ template: 'withdrawal-requested'; dueAt: Date } & WithdrawalFacts)
    /** Sent after a withdrawal ended. `amount`: the amount that arrived on the chain or was returned. */
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

export interface AccountFacts {
  username: string
}

export interface OrderFacts {
  appName: string
  orderId: string
  price: string
  /** Time of the event that the mail reports. */
  at: Date
}

export interface Split {
  points: string
  num: string
}

export interface ComposedMail {
  language: string
  subject: string
  text: string
  html: string
  /** Link in the mail. The link may contain a secret. */
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
