/**
 * The part of a writing statement that has a mail about an account sent: no effect without its mail, and no mail of what
 * was not done. The payload names the account where it is known; an address stands in it only where nothing else does.
 */
import type { AccountMessage } from '../ports.ts'

export interface AccountMailParts {
  /** What this part is called in the statement. It is carried out only if the statement reads it, as by `count(*)`. */
  name: string
  /** The part or join that has a row for each mail, and none when nothing happened. */
  from: string
  template: AccountMessage['template']
  /** More of the payload, by name, as SQL expressions. */
  facts: Record<string, string>
}

/** Requests are told apart, and put in order, by the database's clock. */
export const accountMailSql = ({ name, from, template, facts }: AccountMailParts): string => `
  ${name} as materialized (
    select enqueue('account-mail', jsonb_build_object('template', '${template}', 'requestId', uuidv7(), 'at', now(),
      ${Object.entries(facts)
        .map(([fact, value]) => `'${fact}', ${value}`)
        .join(', ')})) from ${from}
  )`
