/**
 * Uses of a mailed token over all three interfaces, and checks of the account afterwards. The product and the controls use the same checks.
 */

import type { ConnectedDatabase } from '../../src/db/database.ts'
import { float, int, statement, text, uuid } from '../../src/db/sql.ts'
import { type Answer, trySend } from '../../test/support/http-client.ts'
import type { MailedLink } from '../../test/support/read-mails.ts'
import type { Random } from './random.ts'

export const doorNames = ['REST', 'GraphQL', 'page'] as const
export type DoorName = (typeof doorNames)[number]

export interface Use {
  door: DoorName | 'control'
  /** Index of the gateway. */
  gateway: number
  /** Password to set. It is different for every use. */
  password: string
  link: MailedLink
}

export interface Outcome extends Use {
  /** `done`, `refused`, or any other result. */
  verdict: string
  /** Time of sending, as a value of `performance.now()`. */
  sentAt: number
  answeredAt: number
}

const document = 'mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) { user { id } } }'

const messages = {
  REST: ({ link, password }: Use) => ({
    path: '/api/v3/auth/users/reset_password_confirm/',
    json: { ...link, new_password: password },
  }),
  GraphQL: ({ link, password }: Use) => ({
    path: '/graphql',
    json: { query: document, variables: { input: { ...link, newPassword: password } } },
  }),
  page: ({ link: { uid, token }, password }: Use) => ({
    path: `/account/password-reset/${uid}/${token}`,
    urlencoded: { 'new-password': password, 'new-password-again': password },
  }),
}

interface Body {
  error?: { type: string }
  errors?: { extensions?: { code?: string } }[]
  data?: { resetPassword?: { user: { id: string } } }
}

/** Returns the verdict of a response. Only documented responses count as done or refused. */
function verdictOf(door: DoorName, { status, text }: Answer): string {
  const other = `status ${status}: ${text.slice(0, 200)}`
  if (door === 'page') return status === 200 ? 'done' : status === 410 ? 'refused' : other
  if (door === 'REST' && status === 204) return 'done'
  if (status === 0 || status >= 500) return other
  const { error, errors, data } = JSON.parse(text) as Body
  if (data?.resetPassword) return 'done'
  return error?.type === 'invalid_token' || errors?.[0]?.extensions?.code === 'INVALID_TOKEN' ? 'refused' : other
}

type Gateways = readonly { url: string }[]

/** Uses a token. Never throws: errors are returned as the verdict. */
export async function useToken(gateways: Gateways, use: Use & { door: DoorName }): Promise<Outcome> {
  const answer = await trySend(gateways[use.gateway]!.url, messages[use.door](use))
  return {
    ...use,
    verdict: verdictOf(use.door, answer),
    sentAt: answer.sentAt,
    answeredAt: answer.sentAt + answer.milliseconds,
  }
}

/** Plans token uses in random order, alternating between gateways, interfaces and links. */
export function planUses(random: Random, count: number, gateways: number, links: readonly MailedLink[], name: string) {
  const uses = Array.from({ length: count }, (_, index) => ({
    door: doorNames[index % doorNames.length]!,
    gateway: Math.floor(index / doorNames.length) % gateways,
    password: `${name} by use ${index}`,
    link: links[Math.floor(index / doorNames.length / gateways) % links.length]!,
  }))
  return random.shuffle(uses)
}

/** Returns the number of pending uses when the first response arrived. */
export const atOnce = (outcomes: readonly Outcome[]) => {
  const first = Math.min(...outcomes.map(({ answeredAt }) => answeredAt))
  return outcomes.filter(({ sentAt }) => sentAt < first).length
}

export const winnersOf = (outcomes: readonly Outcome[]) => outcomes.filter(({ verdict }) => verdict === 'done')

/** Returns a message for each way in which the uses of one token had a wrong number of successes. */
export function judgeUses(what: string, outcomes: readonly Outcome[], winners: number): string[] {
  const won = winnersOf(outcomes).length
  const odd = outcomes.find(({ verdict }) => verdict !== 'done' && verdict !== 'refused')
  return [
    ...(won === winners ? [] : [`${what}: ${won} of ${outcomes.length} uses succeeded, not ${winners}.`]),
    ...(odd ? [`${what}: a use by ${odd.door} was answered with ${odd.verdict}`] : []),
  ]
}

export interface Standing {
  id: string
  hash: string
  sessions: number
  /** Number of `password.reset` entries in the audit log. */
  resets: number
}

const findStanding = statement(
  'proof_reset_standing',
  { parameters: { email: text }, columns: { id: text, hash: text, sessions: int, resets: int } },
  `select u.id::text, u.password_hash as hash,
     (select count(*)::int from access_tokens t where t.user_id = u.id) as sessions,
     (select count(*)::int from audit_entries a where a.user_id = u.id and a.action = 'password.reset') as resets
   from users u where lower(u.email) = lower($email)`,
)

export const readStanding = async (database: ConnectedDatabase, email: string) =>
  (await database.query(findStanding, { email }))[0]!

const expireTokens = statement(
  'proof_expire_tokens',
  { parameters: { email: text, seconds: float } },
  `update one_time_tokens t set expires_at = now() + make_interval(secs => $seconds) from users u
   where u.id = t.user_id and lower(u.email) = lower($email)`,
)

/** Moves the expiry of the account's tokens to the given number of seconds from now. */
export const moveExpiry = (database: ConnectedDatabase, email: string, seconds: number) =>
  database.query(expireTokens, { email, seconds })

const repeatRequest = statement(
  'proof_repeat_request',
  { parameters: { request: text, email: text }, columns: { enqueue: uuid } },
  `select enqueue('account-mail',
     jsonb_build_object('template', 'password-reset', 'requestId', $request, 'at', now(), 'email', $email))`,
)

/** Enqueues the mail job of a request again, as after a lost response of the mail server. `mailId`: ID of the request's mail. */
export const repeatMail = (database: ConnectedDatabase, mailId: string, email: string) =>
  database.query(repeatRequest, { request: mailId.replace('password-reset-', ''), email })
