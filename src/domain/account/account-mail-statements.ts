import { statement } from '../ports.ts'

/** Whom a mail about an account goes to. */
export interface AddresseeRow {
  id: string
  username: string
  display_name: string
  email: string
  email_verified: boolean
  language: string
}

const addressee = 'select id, username, display_name, email, email_verified, language from users'

export const findAddressee = statement<AddresseeRow>(
  'account_addressee',
  `${addressee} where id = $1::uuid and deleted_at is null`,
)

export const findAddresseeByEmail = statement<AddresseeRow>(
  'account_addressee_by_email',
  `${addressee} where lower(email) = lower($1) and deleted_at is null`,
)
