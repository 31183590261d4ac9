/**
 * The part of a writing statement that has a mail about an account sent: no effect without its mail, and no mail of what
 * was not done. The payload names the account where it is known; an address stands in it only where nothing else does.
 */
import { enqueueSql, type SqlOf } from '../../jobs/enqueue-sql.ts'
import type { AccountMailJob } from '../../jobs/queues.ts'

type Template = AccountMailJob['template']
/** What a mail of this template tells more. */
type FactsOf<Job> = Job extends unknown ? SqlOf<Omit<Job, 'template' | 'requestId' | 'at'>> : never

/** One kind of mail: where its rows come from, and SQL expressions of what it tells. */
export type AccountMailParts = {
  /**
   * What this part is called in the statement, where there are two. It is carried out only if the statement reads it, as by
   * `count(*)`.
   */
  name?: string
  /** The part or join that has a row for each mail, and none when nothing happened. */
  from: string
} & { [T in Template]: { template: T; facts: FactsOf<Extract<AccountMailJob, { template: T }>> } }[Template]

/** Requests are told apart, and put in order, by the database's clock. */
export const accountMailSql = ({ name = 'enqueued_mails', from, template, facts }: AccountMailParts): string => {
  const data = { template: `'${template}'`, requestId: 'uuidv7()', at: 'now()', ...facts }
  return enqueueSql(name, { queue: 'account-mail', from, data })
}
