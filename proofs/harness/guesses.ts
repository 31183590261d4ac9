/** Every way to try a password, at both doors. */
import { Agent } from 'node:http'
import { trySend } from '../../test/support/http-client.ts'
import type { Random } from './random.ts'

/** Whose password is guessed. */
export interface Target {
  email: string
  /** Of one of their sessions, stolen; nobody's have none. */
  token?: string | undefined
}

export interface Guessed {
  /** Which way was taken. */
  way: string
  /**
   * `wrong`: it was looked at. `throttled`: it was not. `refused`: nor was anything else of a document that tries many.
   * Whatever else was told is told as it is, for each guess.
   */
  verdicts: string[]
}

interface Body {
  error?: { type?: string; details?: Record<string, unknown> }
  errors?: { extensions?: { code?: string; details?: Record<string, unknown> } }[]
}

const wrongCodes = ['incorrect_login_credentials', 'validation_error', 'validation_failed']

function verdictOf(code: string | undefined, details: Record<string, unknown> | undefined): string {
  const type = code?.toLowerCase() ?? 'no error'
  const isWrong =
    type === wrongCodes[0] || 'currentPassword' in (details ?? {}) || 'current_password' in (details ?? {})
  return wrongCodes.includes(type) && isWrong ? 'wrong' : type
}

function verdictsOf(status: number, text: string): string[] {
  if (status === 0 || status >= 500) return [`status ${status}`]
  const { error, errors } = JSON.parse(text || '{}') as Body
  if (error) return [verdictOf(error.type, error.details)]
  return errors?.map(({ extensions }) => verdictOf(extensions?.code, extensions?.details)) ?? ['right']
}

/** As many as a document may have at its root. */
const DOCUMENT_FIELDS = 15
const quote = (text: string) => JSON.stringify(text)

interface Attempt {
  target: Target
  /** A wrong one. */
  password: string
}

/** A field of a mutation that tries one password. */
const fields = {
  signIn: ({ target: { email }, password }: Attempt) =>
    `signIn(input: {email: ${quote(email)}, password: ${quote(password)}}) { token }`,
  changePassword: ({ password }: Attempt) =>
    `changePassword(input: {currentPassword: ${quote(password)}, newPassword: "a new password"}) { __typename }`,
  changeEmail: ({ password }: Attempt) =>
    `changeEmail(input: {currentPassword: ${quote(password)}, newEmail: "thief@example.org"}) { __typename }`,
  changeUsername: ({ password }: Attempt) =>
    `changeUsername(input: {currentPassword: ${quote(password)}, newUsername: "thief"}) { __typename }`,
}
type Field = keyof typeof fields

interface Message {
  path: string
  json: object
}

const rest = (path: string, json: object): Message => ({ path: `/api/v3/auth/${path}/`, json })

const graphql = (attempt: Attempt, names: readonly Field[]): Message => {
  const guess = (name: Field, index: number) => fields[name]({ ...attempt, password: `${attempt.password} ${index}` })
  const query = `mutation { ${names.map((name, index) => `a${index}: ${guess(name, index)}`).join(' ')} }`
  return { path: '/graphql', json: { query } }
}

const many = (...names: Field[]) => Array.from({ length: DOCUMENT_FIELDS }, (_, index) => names[index % names.length]!)

/** By anybody, and with a stolen session. */
export const open: Record<string, (attempt: Attempt) => Message> = {
  login: ({ target: { email }, password }) => rest('token/login', { email, password }),
  signIn: (attempt) => graphql(attempt, ['signIn']),
  'signIn, aliases': (attempt) => graphql(attempt, many('signIn')),
}
export const stolen: typeof open = {
  set_password: ({ password }) =>
    rest('users/set_password', { current_password: password, new_password: 'a new password' }),
  set_email: ({ password }) => rest('users/set_email', { current_password: password, new_email: 'thief@example.org' }),
  set_username: ({ password }) => rest('users/set_username', { current_password: password, new_username: 'thief' }),
  changePassword: (attempt) => graphql(attempt, ['changePassword']),
  changeEmail: (attempt) => graphql(attempt, ['changeEmail']),
  changeUsername: (attempt) => graphql(attempt, ['changeUsername']),
  'changes, aliases': (attempt) => graphql(attempt, many('changePassword', 'signIn', 'changeUsername', 'changeEmail')),
}

const ofDocument = (verdict: string) => (verdict === 'validation_failed' ? 'refused' : verdict)

/** An address as its owner might type it. */
const spelt = (email: string, random: Random) =>
  random.pick([
    email,
    email.toUpperCase(),
    ` ${email}`,
    `${email} `,
    email.replace(/^./, (letter) => letter.toUpperCase()),
  ])

// Connections that stay open: making new ones would cost this machine more than it costs the gateways to answer.
const agent = new Agent({ keepAlive: true })

/** One request, by a way that chance picks. */
export async function guess(base: string, target: Target, serial: number, random: Random): Promise<Guessed> {
  const ways = target.token ? { ...open, ...stolen } : open
  const way = random.pick(Object.keys(ways))
  const attempt = { target: { ...target, email: spelt(target.email, random) }, password: `guess ${serial}` }
  const { path, json } = ways[way]!(attempt)
  // Some who steal a session also use it where none is needed.
  const token = way in stolen || random.next() < 0.2 ? target.token : undefined
  const { status, text } = await trySend(base, { path, json, token }, { agent })
  const verdicts = verdictsOf(status, text)
  return { way, verdicts: way.includes('aliases') ? verdicts.map(ofDocument) : verdicts }
}
