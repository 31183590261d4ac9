/** `annal doctor` with mail servers that reject mail, and with unencrypted connections. */
import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { annalHere } from '../../support/annal-command.ts'
import { listen } from '../../support/listen.ts'
import { elsewhereCertificate, expiredCertificate, tlsKey, validCertificate } from '../../support/tls-certificates.ts'

interface Script {
  greeting?: string
  offers?: string[]
  replies?: Record<string, string>
  certificate?: string
  isTlsFirst?: boolean
}

function serve(socket: Socket, script: Script, isFirst = true) {
  const { greeting = '220 server', offers = [], replies = {}, certificate } = script
  const say = (line: string) => socket.write(`${line}\r\n`)
  const obey = (line: string) => {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb in replies) return say(replies[verb]!)
    if (verb === 'EHLO')
      return say(['250-server', ...offers.map((offer) => `250-${offer}`), '250 AUTH PLAIN'].join('\r\n'))
    if (verb === 'QUIT') return socket.end('221 bye\r\n')
    if (verb !== 'STAR') return say(verb === 'AUTH' ? '235 welcome' : '250 ok')
    socket.removeListener('data', hear)
    say('220 go ahead')
    const secure = new TLSSocket(socket, { isServer: true, key: tlsKey, cert: certificate! })
    secure.on('error', () => socket.destroy())
    serve(secure, { ...script, offers: [] }, false)
  }
  let rest = ''
  const hear = (chunk: Buffer) => {
    const lines = (rest + chunk).split('\r\n')
    rest = lines.pop()!
    lines.forEach(obey)
  }
  socket.on('error', () => undefined).on('data', hear)
  if (isFirst) say(greeting)
}

async function start(script: Script): Promise<number> {
  const server = script.isTlsFirst
    ? createTlsServer({ key: tlsKey, cert: script.certificate! }, (socket) => serve(socket, script))
    : createServer((socket) => serve(socket, script))
  server.on('tlsClientError', () => undefined)
  return listen(server, onTestFinished)
}

interface Line {
  state: string
  finding: string
  fix: string | null
}

const production = { NODE_ENV: 'production', ANNAL_EMBEDDED: 'true', PUBLIC_URL: 'https://annal.example.org' }

async function doctor(SMTP_URL: string, env: Record<string, string> = {}): Promise<Line[]> {
  const variables = { ANNAL_DIR: '/nowhere', MAIL_FROM: 'Annal <annal@example.org>', SMTP_URL, ...env }
  const { stdout } = await annalHere(variables, ['doctor', '--only', 'mail', '--json'])
  expect(stdout).not.toContain('geheim')
  return JSON.parse(stdout) as Line[]
}

const trusted = (certificate: string) => `tls.ca=${encodeURIComponent(certificate)}`
const startTls = { offers: ['STARTTLS'], isTlsFirst: false }
const explanationOf = async (script: Script, url: string) =>
  (await doctor(url.replace('PORT', String(await start(script)))))[0]
const explained = (finding: RegExp, fix: RegExp) => ({
  ...{ check: 'mail', state: 'error', finding: expect.stringMatching(finding), fix: expect.stringMatching(fix) },
})

describe('mail errors in `annal doctor`', () => {
  const [plain, signIn, tls] = ['smtp://127.0.0.1:PORT', 'smtp://me:geheim@127.0.0.1:PORT', 'smtps://127.0.0.1:PORT']
  const secure = (certificate: string) => ({ isTlsFirst: true, certificate })

  it.each<[what: string, replies: Record<string, string>, finding: RegExp, fix: RegExp]>([
    ['a wrong password', { AUTH: '535 5.7.8 geheim is wrong' }, /user name and the password.*EAUTH 535/, /encoded/],
    ['a required app password', { AUTH: '534 5.7.9 another' }, /name and the password.*EAUTH 534/, /for applications/],
    ['a rejected sender', { MAIL: '550 5.7.1 not yours' }, /sender annal@example\.org \(EENVELOPE 550\)/, /MAIL_FROM/],
    ['a rejected domain', { MAIL: '553 5.1.8 unknown' }, /sender annal@example\.org \(EENVELOPE 553\)/, /MAIL_FROM/],
    ['a temporary rejection', { MAIL: '451 4.7.1 too many' }, /rejects mail temporarily \(EENVELOPE 451\)/, /limits/],
    ['required TLS', { MAIL: '530 Must issue a STARTTLS command' }, /TLS \(EENVELOPE 530\)/, /requireTLS=true/],
    ['TLS required for sign-in', { AUTH: '538 Encryption required' }, /TLS \(EAUTH 538\)/, /requireTLS=true/],
    ['a required sign-in', { MAIL: '530 Authentication required' }, /the password.*EENVELOPE 530/, /Correct the/],
  ])('is explained: %s', async (_, replies, finding, fix) => {
    expect(await explanationOf({ replies }, 'AUTH' in replies ? signIn : plain)).toEqual(explained(finding, fix))
  })

  it.each<[what: string, script: Script, url: string, finding: RegExp, fix: RegExp]>([
    ['a user name without a password', {}, 'smtp://me@127.0.0.1:PORT', /the user name and the password/, /encoded/],
    ['missing STARTTLS', { replies: { STAR: '502 no' } }, `${plain}?requireTLS=true`, /modes of TLS/, /smtps:/],
    ['TLS to a plain-text port', {}, tls, /modes of TLS \(ERR_SSL/, /requireTLS=true/],
    ['plain text to a TLS port', secure(validCertificate), plain, /modes of TLS \(ETIMEDOUT\)/, /smtps:/],
    ['a self-signed certificate', secure(validCertificate), tls, /certificate.*SELF_SIGNED/, /NODE_EXTRA_CA/],
    ['the same after STARTTLS', { ...secure(validCertificate), ...startTls }, plain, /SELF_SIGNED/, /NODE_EXTRA/],
    ['an expired one', secure(expiredCertificate), `${tls}?${trusted(expiredCertificate)}`, /HAS_EXPIRED/, /Install/],
    ['another host', secure(elsewhereCertificate), `${tls}?${trusted(elsewhereCertificate)}`, /ALTNAME/, /127\.0/],
    ['a blocked address', { greeting: '554 blocked' }, plain, /blocks this machine \(EPROTOCOL 554\)/, /log/],
    ['another protocol', { greeting: 'HTTP/1.1 400 Bad Request' }, plain, /does not speak SMTP/, /port in SMTP_URL/],
    ['a closed port', {}, 'smtp://127.0.0.1:1', /cannot be reached \(ECONNREFUSED\)/, /running/],
    ['an unknown host', {}, 'smtp://nohost.invalid', /nohost\.invalid.*cannot be reached/, /DNS/],
    ['a malformed URL', {}, 'smtp://me:ge#heim@h:x', /SMTP_URL is not a valid URL/, /percent-encoded/],
  ])('`annal doctor` explains a mail connection error: %s', async (_, script, url, finding, fix) => {
    expect(await explanationOf(script, url)).toEqual(explained(finding, fix))
  })

  it('`annal doctor` explains a mail server that resets the connection', async () => {
    const server = createServer((socket) => void socket.resetAndDestroy())
    const [line] = await doctor(`smtp://127.0.0.1:${await listen(server, onTestFinished)}`)
    expect(line).toMatchObject({
      state: 'error',
      finding: expect.stringMatching(/cannot be reached \(ECONNRESET\)/),
    })
  })
})

describe('`annal doctor` in production', () => {
  it('`annal doctor` warns in production when the mail server does not offer STARTTLS', async () => {
    const port = await start({})
    expect(await doctor(`smtp://0.0.0.0:${port}`, production)).toMatchObject([
      { state: 'ok' },
      {
        state: 'warning',
        finding: expect.stringContaining('does not offer STARTTLS'),
        fix: expect.stringContaining('smtps://'),
      },
      { state: 'ok' },
    ])
    expect((await doctor(`smtp://0.0.0.0:${port}`))[1]).toMatchObject({ state: 'info' })
    // Connections within this machine cannot be intercepted.
    expect((await doctor(`smtp://127.0.0.1:${port}`, production))[1]).toMatchObject({ state: 'info' })
  })

  it('`annal doctor` warns in production when SMTP_URL does not require the TLS that the server offers', async () => {
    const port = await start({ offers: ['STARTTLS'], certificate: validCertificate })
    const ca = trusted(validCertificate)
    const url = `smtp://0.0.0.0:${port}?tls.servername=localhost&${ca}`
    expect((await doctor(url, production)).map(({ state }) => state)).toEqual(['ok', 'warning', 'ok'])
    expect((await doctor(`${url}&requireTLS=true`, production)).map(({ state }) => state)).toEqual(['ok', 'ok'])
  })

  it('warns when TRUSTED_PROXIES contains a huge network', async () => {
    const exposure = async (TRUSTED_PROXIES: string) => {
      const env = { ...production, ANNAL_DIR: '/nowhere', MAIL_FROM: 'annal@example.org', TRUSTED_PROXIES }
      const { stdout } = await annalHere(env, ['doctor', '--only', 'exposure', '--json'])
      return (JSON.parse(stdout) as Line[]).filter(({ finding }) => finding.includes('TRUSTED_PROXIES'))
    }
    for (const networks of ['0.0.0.0/0', '10.0.0.1,::/0', '0.0.0.0/1, 128.0.0.0/1', '::/1,8000::/1', '8.8.8.8/0'])
      expect(await exposure(networks), networks).toMatchObject([
        { state: 'warning', fix: expect.stringContaining('your proxies') },
      ])
    for (const networks of ['10.0.0.0/8', 'fc00::/7', '::1', '']) expect(await exposure(networks), networks).toEqual([])
  })

  it('`annal doctor` does not treat a local URL without a password as a secret', async () => {
    const secrets = async (env: Record<string, string>) => {
      const variables = { ...production, ANNAL_DIR: '/nowhere', MAIL_FROM: 'annal@example.org', ...env }
      const { stdout } = await annalHere(variables, ['doctor', '--only', 'secrets', '--json'])
      return (JSON.parse(stdout) as Line[])[0]!.finding
    }
    const key = { CHAIN_RELAY_KEYS_FILE: '', CHAIN_RELAY_KEYS: '11'.repeat(32) }
    const only = 'Environment variables contain secrets: CHAIN_RELAY_KEYS.'
    for (const CHAIN_RPC_URL of ['http://127.0.0.1:8545', 'http://[::1]:8545', 'ipc:///run/chain.ipc'])
      expect(await secrets({ ...key, CHAIN_RPC_URL })).toBe(only)
    for (const DATABASE_URL of ['postgresql://annal@127.0.0.1/annal', 'postgresql://annal@localhost/annal?host=/run'])
      expect(await secrets({ ...key, DATABASE_URL })).toBe(only)
    expect(await secrets({ ...key, SMTP_URL: 'smtp://localhost:25' })).toBe(only)
    for (const CHAIN_RPC_URL of [
      'https://rpc.example.org/v2/key',
      'http://me:geheim@127.0.0.1',
      'http://127.0.0.1.a.org',
    ])
      expect(await secrets({ ...key, CHAIN_RPC_URL })).toContain('CHAIN_RPC_URL')
    for (const DATABASE_URL of ['postgresql://annal:geheim@127.0.0.1/annal', 'postgresql://annal@db.example.org/annal'])
      expect(await secrets({ ...key, DATABASE_URL })).toContain('DATABASE_URL')
    expect(await secrets({ ...key, SMTP_URL: 'smtp://me:geheim@localhost:25' })).toContain('SMTP_URL')
  })
})
