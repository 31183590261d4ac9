/** Invalid configurations. Each error names the variable, and contains no secret. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { describeConfig, findUnread, readConfig } from '../../../src/config.ts'
import { ConfigError } from '../../../src/shared/operator-errors.ts'

const dir = mkdtempSync(join(tmpdir(), 'annal-config-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = (name: string, content: string) => {
  writeFileSync(join(dir, name), content)
  return join(dir, name)
}

const KEY = 'ab'.repeat(32)
const production = {
  NODE_ENV: 'production',
  ANNAL_EMBEDDED: 'true',
  PUBLIC_URL: 'https://annal.example.org/',
  MAIL_FROM: 'Annal <no-reply@example.org>',
}

const refusal = (env: Record<string, string>): string => {
  try {
    readConfig(env)
    return 'accepted'
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as Error).message
  }
}

describe('configuration', () => {
  it('accepts an empty configuration, and a production configuration with a public URL and a mail sender', () => {
    expect(readConfig({})).toMatchObject({ production: false, publicUrl: undefined })
    expect(readConfig(production)).toMatchObject({ production: true, publicUrl: 'https://annal.example.org' })
    expect(readConfig({ ...production, MAIL_FROM: 'no-reply@example.org' }).mail.from).toBe('no-reply@example.org')
  })

  it.each([
    ['an unknown environment', { NODE_ENV: 'Production' }, /NODE_ENV/],
    ['a javascript: URL', { PUBLIC_URL: 'javascript:alert(1)' }, /PUBLIC_URL: Expected an http/],
    ['a file: URL', { PUBLIC_URL: 'file:///etc' }, /PUBLIC_URL: Expected an http/],
    ['a URL with a query', { PUBLIC_URL: 'https://a.example/?x' }, /PUBLIC_URL: Expected no more than/],
    ['a URL with a password', { PUBLIC_URL: 'https://me:secret@a.example/' }, /PUBLIC_URL: Expected no more/],
    ['a missing public URL in production', { ...production, PUBLIC_URL: '' }, /PUBLIC_URL is needed in production/],
    ['a missing mail sender in production', { ...production, MAIL_FROM: '' }, /MAIL_FROM is needed in production/],
    [
      'a mail sender at localhost in production',
      { ...production, MAIL_FROM: 'Annal <a@localhost>' },
      /MAIL_FROM is needed/,
    ],
    ['a mail sender without an address', { MAIL_FROM: 'Annal' }, /MAIL_FROM: Expected an address/],
    [
      'a duplicate relay key',
      { CHAIN_RELAY_KEYS: `0x${KEY},${KEY.toUpperCase()}` },
      /RELAY_KEYS: .* contains a key twice/,
    ],
    ['a truncated relay key', { CHAIN_RELAY_KEYS: KEY.slice(2) }, /CHAIN_RELAY_KEYS: Expected 64 hex digits/],
    ['an empty secret file', { DATABASE_URL_FILE: file('empty', ' \n') }, /DATABASE_URL: The file .* is empty/],
    ['a missing secret file', { SMTP_URL_FILE: join(dir, 'none') }, /SMTP_URL: The file .* cannot be read \(ENOENT\)/],
    ['a secret set twice', { DATABASE_URL: 'x', DATABASE_URL_FILE: file('url', 'y') }, /Set either DATABASE_URL or /],
    ...[
      'mysql://a/b',
      'postgresql://u:secret#abab@a/b',
      'postgresql://u:secret/abab@a/b',
      'postgresql://a:70000/b',
      'postgresql://a,b/c',
      'postgresql:///c?host=a,b',
      'postgresql://a/c?target_session_attrs=read-write',
    ].map((url): [string, Record<string, string>, RegExp] => [
      `the database URL ${url}`,
      { DATABASE_URL: url },
      /DATABASE_URL: Expected postgresql:\/\/user:password@host:5432\/name with one host\. In a password, write/,
    ]),
    ['an invalid Kubo URL', { IPFS_API_URL: 'http://a:5001,b' }, /IPFS_API_URL: Expected an http:\/\/ or https/],
    ['a negative port', { PORT: '-1' }, /PORT: Expected a whole number from 0 to 65535\.$/],
    ['a long shutdown delay', { SHUTDOWN_DELAY_SECONDS: '999999999999' }, /whole number from 0 to 60\.$/],
    ['an unsafe chain ID', { CHAIN_ID: '9007199254740992' }, /CHAIN_ID: Expected .* from 1 to 9007/],
    ['an empty list of roles', { ROLES: ',' }, /ROLES: Expected some of http, relay, /],
    ['an invalid boolean', { ANNAL_EMBEDDED: 'maybe' }, /ANNAL_EMBEDDED: Expected true or false\.$/],
    ['a word as public URL', { PUBLIC_URL: 'foo' }, /PUBLIC_URL: Expected an http:\/\/ or https:\/\/ URL\.$/],
    ['a relay key that is zero', { CHAIN_RELAY_KEYS: '00'.repeat(32) }, /CHAIN_RELAY_KEYS: Expected a private key/],
    ['an excessive treasury key', { CHAIN_TREASURY_KEY: 'ff'.repeat(32) }, /CHAIN_TREASURY_KEY: Expected a private/],
    ['one port for the API and probes', { PORT: '4115', HEALTH_PORT: '4115' }, /HEALTH_PORT and PORT are the same/],
    ['a chain URL without relay keys', { CHAIN_RPC_URL: 'http://127.0.0.1:1' }, /CHAIN_RELAY_KEYS is needed/],
  ])('rejects a configuration with %s', (_, env, sentence) => {
    expect(refusal(env)).toMatch(sentence)
    expect(refusal(env)).not.toMatch(/abab|secret/i)
  })

  it('warns about unknown environment variables with a name similar to a known one', () => {
    const set = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, 'x']))
    const unread = set('ANNAL_DIRECTORY CHAIN_CONFIRMATION DATABASE_URI GAS_FEE_FILE SMTP_USER WEB_CONCURRENCY')
    const others = set('OTEL_EXPORTER_OTLP_HEADERS NODE_OPTIONS ANNAL_PORT_4000_TCP ANNAL_SERVICE_HOST')
    const read = { ...production, ...set('DATABASE_URL_FILE ANNAL_TOKEN AWS_REGION SESSION_MANAGER'), S3_BUKET: '' }
    const warnings = findUnread({ ...unread, ...others, ...read })
    expect(warnings.map((sentence) => sentence.split(' ')[0]).sort()).toEqual(Object.keys(unread))
    expect(warnings).toContain('GAS_FEE_FILE has no effect: GAS_FEE is not a secret and cannot be read from a file.')
  })

  it('accepts a configuration that serves only health probes on PORT', () => {
    const alone = { ROLES: 'jobs', PORT: '4115', HEALTH_PORT: '4115' }
    expect(readConfig(alone)).toMatchObject({ port: 4115, healthPort: 4115 })
  })

  it('documents the format of each key that the configuration rejects', () => {
    const keys = describeConfig().filter(({ name }) => refusal({ [name]: 'no' }).includes('64 hex digits'))
    expect(keys.length).toBeGreaterThan(3)
    expect(keys.filter(({ doc }) => !doc.includes('64 hex digits')).map(({ name }) => name)).toEqual([])
  })

  it('reports all problems of a configuration together', () => {
    expect(refusal({ PORT: 'x', PUBLIC_URL: 'javascript:1' })).toMatch(/PORT[\s\S]*PUBLIC_URL/)
    expect(refusal({ NODE_ENV: 'production' })).toMatch(/Embedded parts[\s\S]*PUBLIC_URL[\s\S]*MAIL_FROM/)
  })
})
