/** Schemas of environment variables. */
import { z } from 'zod'
import { parseDatabaseUrl } from '../db/parse-database-url.ts'
import { limitsWith } from '../shared/limits.ts'
import { AMOUNT } from '../shared/money.ts'
import { roles } from '../shared/process.ts'

export const decimal = z.string().regex(AMOUNT, 'Expected a decimal number such as 0.1.')
export const flag = z.stringbool({
  truthy: ['true', '1', 'yes', 'on'],
  falsy: ['false', '0', 'no', 'off'],
  error: 'Expected true or false.',
})
export const whole = (min: number, max: number) =>
  z
    .string()
    .transform((text) => (/^\d{1,16}$/.test(text) ? Number(text) : Number.NaN))
    .refine((value) => value >= min && value <= max, `Expected a whole number from ${min} to ${max}.`)
export const port = whole(0, 65_535)
export const count = whole(1, 999_999_999)
export const share = z
  .string()
  .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'Expected a share from 0 to 1, such as 0.1.')
  .transform(Number)
/** Some chain IDs exceed 32 bits. */
export const chainId = whole(1, Number.MAX_SAFE_INTEGER)
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'Expected an address.')
export const addresses = z
  .string()
  .transform((text) => text.split(',').flatMap((each) => each.trim() || []))
  .pipe(z.array(address))
export const webUrl = z.url({ protocol: /^https?$/, error: 'Expected an http:// or https:// URL.' })
/** Returns whether a path can be appended to a URL. True for an invalid URL, which has its own error. */
export const isBare = (text: string) => {
  const url = URL.parse(text)
  if (!url) return true
  const { username, search, hash } = url
  return username === '' && search === '' && hash === '' && !/[?#]$/.test(text)
}
/** Order of the curve secp256k1. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const isPrivateKey = (digits: string) => BigInt(`0x${digits}`) > 0n && BigInt(`0x${digits}`) < CURVE_ORDER
export const relayKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim().toLowerCase().replace(/^0x/, '')))
  .refine((keys) => keys.every((key) => /^[0-9a-f]{64}$/.test(key)), {
    error: 'Expected 64 hex digits, or several of them separated by commas.',
    abort: true,
  })
  .refine(
    (keys) => keys.every(isPrivateKey),
    'Expected private keys of secp256k1, which are above 0 and below its order.',
  )
  .refine((keys) => new Set(keys).size === keys.length, 'The list contains a key twice.')
  .transform((keys) => keys.map((key) => `0x${key}`))
const mailbox = /^(?:[^<>@]*<([^<>@\s]+@([^<>@\s]+))>|([^<>@\s]+@([^<>@\s]+)))$/
/** Returns the host of a sender such as `Annal <no-reply@example.org>`, or undefined if it is invalid. */
export const hostOf = (sender: string) => {
  const match = mailbox.exec(sender.trim())
  return match?.[2] ?? match?.[4]
}
const someRoles = `Expected some of ${roles.join(', ')}, separated by commas.`
export const roleList = z
  .string()
  .transform((text) => [...new Set(text.split(',').flatMap((each) => each.trim() || []))])
  .pipe(z.array(z.enum(roles, someRoles)).min(1, someRoles))
function isDatabaseUrl(url: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(url)) return false
  try {
    const { hostname, searchParams } = parseDatabaseUrl(url)
    return !`${hostname}${searchParams.get('host') ?? ''}`.includes(',') && !searchParams.has('target_session_attrs')
  } catch {
    return false
  }
}

/** A connection URL of PostgreSQL with one host. The message never contains the URL, which holds a password. */
export const databaseUrl = z
  .string()
  .refine(
    isDatabaseUrl,
    'Expected postgresql://user:password@host:5432/name with one host. In a password, write / ? # @ : and , as %2F %3F %23 %40 %3A and %2C.',
  )
/** Maxima of limits, as `name=maximum` pairs separated by commas. */
export const limitOverrides = z.string().superRefine((text, context) => {
  try {
    limitsWith(text)
  } catch (error) {
    context.addIssue((error as Error).message)
  }
})
export const network = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])
