/** What single variables cannot know. */
import { hostOf } from './rules.ts'
import type { Values } from './variables.ts'

/** What each variable allows and all together do not. */
export function contradictionsIn(values: Values): string[] {
  const problems: string[] = []
  if (values.HEALTH_PORT && values.HEALTH_PORT === values.PORT && values.ROLES.includes('http')) {
    problems.push('HEALTH_PORT and PORT are the same: probes need a port of their own.')
  }
  if (values.CHAIN_RPC_URL && !values.CHAIN_RELAY_KEYS) {
    problems.push('CHAIN_RELAY_KEYS is needed with CHAIN_RPC_URL: the accounts that pay for chain transactions.')
  }
  if (values.S3_BUCKET && values.IPFS_API_URL) {
    problems.push('S3_BUCKET and IPFS_API_URL are both set: files lie in one of them.')
  }
  if (values.S3_ENDPOINT && !values.S3_BUCKET) {
    problems.push('S3_BUCKET is needed with S3_ENDPOINT: without it, files lie on this machine.')
  }
  if (values.DATABASE_DIRECT_URL && !values.DATABASE_URL) {
    problems.push('DATABASE_URL is needed with DATABASE_DIRECT_URL: where requests reach the same database.')
  }
  if (values.CHAIN_TREASURY_KEY && values.CHAIN_RELAY_KEYS?.includes(values.CHAIN_TREASURY_KEY)) {
    problems.push(
      'CHAIN_TREASURY_KEY is one of CHAIN_RELAY_KEYS: gas for commits would be paid from the coins of others.',
    )
  }
  if (values.GRAPHQL_TRUSTED_ONLY && !values.GRAPHQL_TRUSTED_DOCUMENTS) {
    problems.push('GRAPHQL_TRUSTED_DOCUMENTS is needed with GRAPHQL_TRUSTED_ONLY: what is carried out at all.')
  }
  if ((values.C2PA_CERTIFICATES === undefined) !== (values.C2PA_PRIVATE_KEY === undefined)) {
    problems.push('C2PA_CERTIFICATES and C2PA_PRIVATE_KEY are needed together.')
  }
  if (values.NODE_ENV !== 'production') return problems
  const embedded = [
    !values.DATABASE_URL && 'the database (set DATABASE_URL)',
    !values.CHAIN_RPC_URL && 'the chain (set CHAIN_RPC_URL and CHAIN_RELAY_KEYS)',
    !values.IPFS_API_URL && !values.S3_BUCKET && 'the file store (set S3_BUCKET or IPFS_API_URL)',
    !values.KEY_ENCRYPTION_KEY && 'the key vault (set KEY_ENCRYPTION_KEY)',
    !values.SMTP_URL && 'mail (set SMTP_URL and MAIL_FROM)',
  ].filter((part) => part !== false)
  if (embedded.length && !values.ANNAL_EMBEDDED) {
    problems.push(
      `In production an embedded part is refused: ${embedded.join(', ')}. ANNAL_EMBEDDED=true allows embedded parts.`,
    )
  }
  if (!values.PUBLIC_URL) {
    problems.push(
      'PUBLIC_URL is needed in production: links in mails, and what commits say on the chain for good, are made from it.',
    )
  }
  const host = values.MAIL_FROM && hostOf(values.MAIL_FROM)
  if (!host?.includes('.') || /(^|\.)localhost$/i.test(host)) {
    problems.push('MAIL_FROM is needed in production: an address of your own, such as Annal <no-reply@example.org>.')
  }
  return problems
}
