/** All limits. The setting `LIMITS` overrides their maxima. */

const MINUTE = 60
const HOUR = 3_600

/** Limits by name. A rate limit has a window. The other limits apply to concurrent use by one caller. */
export const limitRules = {
  'requests-per-user': { max: 6_000, seconds: MINUTE, doc: 'requests a minute per account' },
  'requests-per-address': { max: 6_000, seconds: MINUTE, doc: 'anonymous requests a minute per address' },
  'concurrent-operations': { max: 50, doc: 'concurrent operations per caller and process' },
  'streams-per-user': { max: 50, doc: 'open event streams and subscriptions per account' },
  'streams-per-address': { max: 200, doc: 'open event streams and subscriptions per address' },
  'upload-megabytes': { max: 1_000, doc: 'megabytes in concurrent uploads per account' },
  'open-orders': { max: 100, doc: 'unconfirmed orders per account' },
  'sign-in': { max: 20, seconds: MINUTE, doc: 'sign-ins a minute per address' },
  'sign-up': { max: 100, seconds: HOUR, doc: 'sign-ups an hour per address' },
  'sign-up-mailbox': { max: 10, seconds: HOUR, doc: 'sign-ups an hour per mailbox' },
  reset: { max: 20, seconds: HOUR, doc: 'password resets an hour per address' },
  'reset-mailbox': { max: 5, seconds: HOUR, doc: 'password resets an hour per e-mail address' },
  verification: { max: 20, seconds: HOUR, doc: 'verification mails an hour per address' },
  'verification-mailbox': { max: 5, seconds: HOUR, doc: 'verification mails an hour per e-mail address' },
  'email-change': { max: 10, seconds: HOUR, doc: 'changes of the e-mail address an hour per account' },
  'email-change-mailbox': { max: 10, seconds: HOUR, doc: 'changes of the e-mail address an hour per new mailbox' },
  'password-change': { max: 10, seconds: HOUR, doc: 'password changes an hour per account' },
  'own-password': { max: 100, seconds: HOUR, doc: 'password confirmations an hour per account' },
  picture: { max: 60, seconds: HOUR, doc: 'profile pictures an hour per account' },
  'picture-address': { max: 300, seconds: HOUR, doc: 'profile pictures an hour per address' },
  upload: { max: 600, seconds: HOUR, doc: 'registered files an hour per account' },
  withdrawal: { max: 60, seconds: HOUR, doc: 'withdrawal attempts an hour per account' },
  'withdrawal-quote': { max: 300, seconds: HOUR, doc: 'withdrawal quotes an hour per account' },
} as const satisfies Record<string, { max: number; seconds?: number; doc: string }>

type LimitName = keyof typeof limitRules

export type RateLimitName = {
  [Name in LimitName]: (typeof limitRules)[Name] extends { seconds: number } ? Name : never
}[LimitName]

export type Limits = Readonly<Record<LimitName, number>>

const names = Object.keys(limitRules) as LimitName[]

/** `overrides`: `name=maximum` pairs separated by commas. Throws an Error for an invalid pair. */
export function limitsWith(overrides: string): Limits {
  const maxima = Object.fromEntries(names.map((name) => [name, limitRules[name].max])) as Record<LimitName, number>
  for (const pair of overrides.split(',').flatMap((each) => each.trim() || [])) {
    const [name = '', max = ''] = pair.split('=').map((part) => part.trim())
    if (!Object.hasOwn(limitRules, name) || !/^[1-9]\d{0,8}$/.test(max)) {
      throw new Error(`Expected the name of a limit and a whole number, such as upload=5000, but got ${pair}.`)
    }
    maxima[name as LimitName] = Number(max)
  }
  return maxima
}

export const limitsText = names
  .map((name) => `\`${name}\` (${limitRules[name].max} ${limitRules[name].doc})`)
  .join(', ')
