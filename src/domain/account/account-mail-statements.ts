import { statement } from '../ports.ts'
import { byAddressSql } from './address-sql.ts'

/** Whom a mail about an account goes to. */
export interface AddresseeRow {
  id: string
  username: string
  display_name: string
  email: string
  email_verified: boolean
  /** Whether the address is theirs alone. */
  email_held: boolean
  pending_email: string | null
  language: string
}

const addressee =
  'select id, username, display_name, email, email_verified, email_held, pending_email, language from users'

export const findAddressee = statement<AddresseeRow>(
  'account_addressee',
  `${addressee} where id = $1::uuid and deleted_at is null`,
)

/** Who holds an address; while nobody does, who claimed it first. */
export const findAddresseeByEmail = statement<AddresseeRow>(
  'account_addressee_by_email',
  `${addressee} ${byAddressSql}`,
)

/** The newest accounts that wait for an address to be verified; none once one of them has it. */
export const findAwaiting = statement<AddresseeRow>(
  'account_awaiting',
  `${addressee}
   where deleted_at is null
     and (lower(pending_email) = lower($1) or (lower(email) = lower($1) and not email_verified and pending_email is null))
     and not exists (select from users o where lower(o.email) = lower($1) and o.email_verified)
   order by created_at desc, id desc limit 3`,
)

/** A row when $2 seconds have passed since $1. */
export const isOver = statement<{ over: true }>(
  'account_mail_over',
  'select true as over where now() >= $1::timestamptz + make_interval(secs => $2::int)',
)
