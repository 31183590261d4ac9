/** Mail, from what it says to its way out of the house. */

/** What a mail says, before it is put into words. Amounts are decimal strings, ids are as callers see them. */
export type MailMessage = OrderMessage | AccountMessage

/** About an order. */
export type OrderMessage = OrderFacts &
  (
    | { template: 'receipt'; paid: Split; chargeId: string }
    | { template: 'sale'; earned: Split; platformShare: string }
    /** `contact`: where the seller can be reached, if anywhere. */
    | { template: 'order-failed'; paid: Split; contact: string | null }
    /** After the webhook of the order failed permanently. */
    | { template: 'automatic-refund'; returned: Split; chargeId: string; refundId: string }
    /** By an administrator. `isWhole`: true for a refund of the whole price. */
    | {
        template: 'administrator-refund'
        returned: Split
        isWhole: boolean
        reason: string
        chargeId: string
        refundId: string
      }
  )

/** About an account. */
export type AccountMessage = AccountFacts &
  /** `link`: a URL that carries a secret, good for so many minutes. */
  (
    | { template: 'password-reset'; link: string; minutes: number }
    | { template: 'password-changed'; at: Date }
    /** Goes to the present address, of which another one is to take the place. */
    | { template: 'email-change-requested'; newEmail: string; at: Date }
    /** Goes to the address that was given up. */
    | { template: 'email-changed'; newEmail: string; at: Date }
    /** `link`: a URL that carries a secret, good for so many hours. */
    | { template: 'email-verification'; link: string; hours: number }
    /** Coins that were asked for. `dueAt`: until when it can be cancelled. */
    | ({ template: 'withdrawal-requested'; dueAt: Date } & WithdrawalFacts)
    /** What became of them; `amount` of one that is over is what came back, or what arrived. */
    | ({ template: 'withdrawal-confirmed' | 'withdrawal-cancelled' } & WithdrawalFacts)
    /** `keepsFee`: whether the chain took the fee, so that the amount alone came back. */
    | ({ template: 'withdrawal-failed'; keepsFee: boolean } & WithdrawalFacts)
  )

/** What every mail about a withdrawal tells. */
export interface WithdrawalFacts {
  withdrawalId: string
  amount: string
  fee: string
  to: string
  at: Date
}

/** What every mail about an account tells. */
export interface AccountFacts {
  username: string
}

/** What every mail about an order tells. */
export interface OrderFacts {
  appName: string
  orderId: string
  price: string
  /** When what it tells happened. */
  at: Date
}

/** An amount in the two currencies it was paid in. */
export interface Split {
  points: string
  num: string
}

/** A message in words. */
export interface ComposedMail {
  /** The language it came out in, such as `zh-TW`. */
  language: string
  subject: string
  text: string
  html: string
  /** The link it asks to open, which may carry a secret. */
  link?: string
}

/** Puts a message into the words of a language; one that is not known gets English. */
export type ComposeMail = (message: MailMessage, language: string) => ComposedMail

/** A mail that is about to go out. */
export interface OutgoingMail extends ComposedMail {
  /** Names the mail for good, in letters, digits, `.`, `_` and `-`: what is sent again under it is the same mail. */
  id: string
  to: { name: string; address: string }
  /** When it was written: the same each time it is sent again. */
  date: Date
}

/** Mail leaving the house. */
export interface Mailer {
  /** Resolves once the next server has taken the mail. Raises UNAVAILABLE, RejectedRecipientError. */
  send(mail: OutgoingMail): Promise<void>
}
