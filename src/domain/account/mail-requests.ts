/** How often mails can be asked for. Counted alike whether or not there is such an account, so nothing shows which it is. */
import { createHash } from 'node:crypto'
import type { Actor } from '../actor.ts'
import type { Limits } from '../limits.ts'
import { networkOf } from '../request-limits.ts'

const HOUR = 3600
/** To one address. Each mail holds a good link, so whoever asks in another's name locks nobody out. */
const PER_ADDRESS = 5

/** Valid addresses are ASCII. Limits hold digests of them: they are counted for strangers, too. */
const subjectOf = (email: string) => createHash('sha256').update(email.toLowerCase()).digest('hex')

export type MailRequests = ReturnType<typeof createMailRequests>

export const createMailRequests = ({ limits, perHour }: { limits: Limits; perHour: number }) => ({
  /** Counts one request for a mail of this kind to a valid address. Raises THROTTLED. */
  async take(actor: Actor, kind: 'reset' | 'verification', email: string): Promise<void> {
    if (actor.kind !== 'system') {
      await limits.take({ name: kind, count: perHour, seconds: HOUR }, networkOf(actor.address))
    }
    await limits.take({ name: `${kind}-address`, count: PER_ADDRESS, seconds: HOUR }, subjectOf(email))
  },
})
