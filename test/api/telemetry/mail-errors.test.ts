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

describe('a mail error in `annal doctor`', () => {
  const cases: [what: string, script: Script, url: (port: number) => string, finding: RegExp, fix: RegExp][] = [
    [
      'a wrong password',
      { replies: { AUTH: '535 5.7.8 geheim is wrong' } },
      (port) => `smtp://me:geheim@127.0.0.1:${port}`,
      /rejected the user name or the password of SMTP_URL \(EAUTH 535\)\.$/,
      /percent-encoded/,
    ],
    [
      'an account that requires an app password',
      { replies: { AUTH: '534 5.7.9 application-specific password' } },
      (port) => `smtp://me:geheim@127.0.0.1:${port}`,
      /rejected the user name or the password of SMTP_URL \(EAUTH 534\)/,
      /password for applications/,
    ],
    [
      'a user name without a password',
      {},
      (port) => `smtp://me@127.0.0.1:${port}`,
      /rejected the user name or the password of SMTP_URL \(EAUTH\)/,
      /SMTP_URL/,
    ],
    [
      'a rejected sender',
      { replies: { MAIL: '550 5.7.1 annal@example.org is not yours' } },
      (port) => `smtp://127.0.0.1:${port}`,
      /rejected the sender annal@example\.org \(EENVELOPE 550\)\.$/,
      /MAIL_FROM/,
    ],
    [
      'a rejected sender domain',
      { replies: { MAIL: '553 5.1.8 unknown domain' } },
      (port) => `smtp://127.0.0.1:${port}`,
      /rejected the sender annal@example\.org \(EENVELOPE 553\)/,
      /MAIL_FROM/,
    ],
    [
      'a temporarily rejected sender',
      { replies: { MAIL: '451 4.7.1 too many' } },
      (port) => `smtp://127.0.0.1:${port}`,
      /rejects mail for now \(EENVELOPE 451\)/,
      /limits/,
    ],
    [
      'a server that requires STARTTLS',
      { replies: { MAIL: '530 5.7.0 Must issue a STARTTLS command first' } },
      (port) => `smtp://127.0.0.1:${port}`,
      /accepts mail over TLS only \(EENVELOPE 530\)/,
      /requireTLS=true/,
    ],
    [
      'a sign-in that requires STARTTLS',
      { replies: { AUTH: '538 5.7.11 Encryption required' } },
      (port) => `smtp://me:geheim@127.0.0.1:${port}`,
      /accepts mail over TLS only \(EAUTH 538\)/,
      /requireTLS=true/,
    ],
    [
      'a server that requires authentication',
      { replies: { MAIL: '530 5.7.0 Authentication required' } },
      (port) => `smtp://127.0.0.1:${port}`,
      /requires authentication/,
      /user name and the password into SMTP_URL/,
    ],
    [
      'a server without STARTTLS that SMTP_URL requires',
      { replies: { STAR: '502 not known' } },
      (port) => `smtp://127.0.0.1:${port}?requireTLS=true`,
      /does not offer STARTTLS, which SMTP_URL requires/,
      /smtps:\/\//,
    ],
    [
      'a plain-text port that SMTP_URL uses with TLS',
      {},
      (port) => `smtps://127.0.0.1:${port}`,
      /does not start with TLS \(ERR_SSL/,
      /requireTLS=true/,
    ],
    [
      'a TLS port that SMTP_URL uses without TLS',
      { isTlsFirst: true, certificate: validCertificate },
      (port) => `smtp://127.0.0.1:${port}`,
      /sent no greeting \(ETIMEDOUT\)/,
      /smtps:\/\//,
    ],
    [
      'a self-signed certificate',
      { isTlsFirst: true, certificate: validCertificate },
      (port) => `smtps://127.0.0.1:${port}`,
      /not issued by a trusted CA \(DEPTH_ZERO/,
      /NODE_EXTRA_CA_CERTS/,
    ],
    [
      'a self-signed certificate after STARTTLS',
      { offers: ['STARTTLS'], certificate: validCertificate },
      (port) => `smtp://127.0.0.1:${port}`,
      /not issued by a trusted CA/,
      /NODE_EXTRA_CA_CERTS/,
    ],
    [
      'an expired certificate',
      { isTlsFirst: true, certificate: expiredCertificate },
      (port) => `smtps://127.0.0.1:${port}?${trusted(expiredCertificate)}`,
      /has expired or is not valid yet \(CERT_HAS_EXPIRED\)/,
      /Renew/,
    ],
    [
      'a certificate for another host',
      { isTlsFirst: true, certificate: elsewhereCertificate },
      (port) => `smtps://127.0.0.1:${port}?${trusted(elsewhereCertificate)}`,
      /is for another host name/,
      /host name of the certificate/,
    ],
    [
      'a server that blocks this host',
      { greeting: '554 5.7.1 blocked' },
      (port) => `smtp://127.0.0.1:${port}`,
      /does not talk to this machine \(EPROTOCOL 554\)/,
      /block/,
    ],
    [
      'a server that speaks another protocol',
      { greeting: 'HTTP/1.1 400 Bad Request' },
      (port) => `smtp://127.0.0.1:${port}`,
      /does not speak SMTP/,
      /port in SMTP_URL/,
    ],
    ['a closed port', {}, () => 'smtp://127.0.0.1:1', /refused the connection \(ECONNREFUSED\)/, /running/],
    [
      'a host that does not exist',
      {},
      () => 'smtp://nohost.invalid',
      /nohost\.invalid.* (does not exist|cannot be resolved)/,
      /DNS|host in SMTP_URL/,
    ],
    ['a malformed URL', {}, () => 'smtp://me:ge#heim@h:x', /SMTP_URL is not a valid URL/, /percent-encoded/],
  ]
  it.each(cases)('is explained: %s', async (_, script, url, finding, fix) => {
    const [line] = await doctor(url(await start(script)))
    expect(line).toEqual({
      check: 'mail',
      state: 'error',
      finding: expect.stringMatching(finding),
      fix: expect.stringMatching(fix),
    })
  })

  it('is explained: a server that resets the connection', async () => {
    const server = createServer((socket) => void socket.resetAndDestroy())
    const [line] = await doctor(`smtp://127.0.0.1:${await listen(server, onTestFinished)}`)
    expect(line).toMatchObject({
      state: 'error',
      finding: expect.stringMatching(/closed the connection \(ECONNRESET\)/),
    })
  })
})

describe('`annal doctor` in production', () => {
  it('warns when the mail server does not offer STARTTLS', async () => {
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

  it('warns when SMTP_URL does not require the TLS that the server offers', async () => {
    const port = await start({ offers: ['STARTTLS'], certificate: validCertificate })
    const ca = trusted(validCertificate)
    const url = `smtp://0.0.0.0:${port}?tls.servername=localhost&${ca}`
    expect((await doctor(url, production)).map(({ state }) => state)).toEqual(['ok', 'warning', 'ok'])
    expect((await doctor(`${url}&requireTLS=true`, production)).map(({ state }) => state)).toEqual(['ok', 'ok'])
  })

  it('warns when TRUSTED_PROXIES contains every address', async () => {
    const exposure = async (TRUSTED_PROXIES: string) => {
      const env = { ...production, ANNAL_DIR: '/nowhere', MAIL_FROM: 'annal@example.org', TRUSTED_PROXIES }
      const { stdout } = await annalHere(env, ['doctor', '--only', 'exposure', '--json'])
      return (JSON.parse(stdout) as Line[]).filter(({ finding }) => finding.includes('TRUSTED_PROXIES'))
    }
    for (const networks of ['0.0.0.0/0', '10.0.0.1,::/0', '0.0.0.0/1, 128.0.0.0/1', '::/1,8000::/1', '8.8.8.8/0'])
      expect(await exposure(networks), networks).toMatchObject([
        { state: 'warning', fix: expect.stringContaining('your proxies') },
      ])
    for (const networks of ['10.0.0.0/8', '0.0.0.0/1,128.0.0.0/2', '::1', ''])
      expect(await exposure(networks), networks).toEqual([])
  })

  it('treats no local URL without a password as a secret', async () => {
    const secrets = async (env: Record<string, string>) => {
      const variables = {
        ...production,
        ANNAL_DIR: '/nowhere',
        MAIL_FROM: 'annal@example.org',
        CHAIN_RELAY_KEYS_FILE: '',
        ...env,
      }
      const { stdout } = await annalHere(variables, ['doctor', '--only', 'secrets', '--json'])
      return (JSON.parse(stdout) as Line[])[0]!.finding
    }
    const key = '11'.repeat(32)
    const local = {
      CHAIN_RPC_URL: ['http://127.0.0.1:8545', 'http://localhost:8545', 'http://[::1]:8545', 'ipc:///run/chain.ipc'],
      DATABASE_URL: [
        'postgresql://annal@127.0.0.1/annal',
        'postgresql://annal@localhost/annal',
        'postgresql://annal@localhost/annal?host=/run/postgresql',
      ],
      SMTP_URL: ['smtp://localhost:25'],
    }
    for (const [name, urls] of Object.entries(local))
      for (const url of urls)
        expect(await secrets({ CHAIN_RELAY_KEYS: key, [name]: url }), url).toBe(
          'Environment variables contain secrets: CHAIN_RELAY_KEYS.',
        )
    const secret = {
      CHAIN_RPC_URL: [
        'https://rpc.example.org/v2/key',
        'http://me:geheim@127.0.0.1:8545',
        'http://127.0.0.1.example.org',
      ],
      DATABASE_URL: ['postgresql://annal:geheim@127.0.0.1/annal', 'postgresql://annal@db.example.org/annal'],
      SMTP_URL: ['smtp://me:geheim@localhost:25'],
    }
    for (const [name, urls] of Object.entries(secret))
      for (const url of urls) expect(await secrets({ CHAIN_RELAY_KEYS: key, [name]: url }), url).toContain(name)
  })
})
