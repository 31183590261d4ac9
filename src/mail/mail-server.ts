/** Tests a mail server for `annal doctor` without sending a mail. */
import { fill } from '../locales/messages.ts'

/** Error of a failed attempt. Never show the server's reply: servers put addresses and credentials into it. */
interface SmtpError {
  code?: string
  /** Error code of the operating system or of OpenSSL. */
  originalCode?: string
  timeoutType?: string
  command?: string
  responseCode?: number
  response?: string
}

interface MailFailure {
  finding: string
  fix: string
}

const TLS_FIRST = 'smtps://user:password@host:465'
const STARTTLS = 'smtp://user:password@host:587?requireTLS=true'
const REACH = 'Check the host and the port in SMTP_URL, the firewall, and whether your provider blocks the port.'

type Rule = [applies: (error: SmtpError, isTlsFirst: boolean) => boolean, finding: string, fix: string]

const hasCode =
  (...codes: string[]) =>
  ({ code = '', originalCode = '' }: SmtpError) =>
    codes.includes(code) || codes.includes(originalCode)

/** Causes of errors. The first rule that applies explains an error. `{at}` is the server's address, `{host}` its host name. */
const rules: Rule[] = [
  [
    hasCode('CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'),
    'The TLS certificate of the mail server at {at} has expired or is not valid yet',
    'Renew the certificate at the mail server. If it is valid, correct the clock of this machine.',
  ],
  [
    hasCode('ERR_TLS_CERT_ALTNAME_INVALID'),
    'The TLS certificate of the mail server at {at} is for another host name',
    'Write the host name of the certificate into SMTP_URL, or install a certificate for {host} at the mail server.',
  ],
  [
    ({ originalCode = '' }) => /SELF_SIGNED_CERT|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)|CERT_/.test(originalCode),
    'The TLS certificate of the mail server at {at} is not issued by a trusted CA',
    'Install a certificate of a CA with its intermediate certificates at the mail server, or name the certificate of a private CA in NODE_EXTRA_CA_CERTS (docs/how-to/trust-a-private-ca.md).',
  ],
  [
    hasCode('ECONNREFUSED'),
    'The mail server at {at} refused the connection',
    'Check the host and the port in SMTP_URL, and that the mail server is running.',
  ],
  [
    hasCode('ENOTFOUND', 'EDNS'),
    'The host name {host} of the mail server cannot be resolved',
    'Correct the host in SMTP_URL or its DNS record, and check the DNS servers of this machine.',
  ],
  [
    ({ command, responseCode }) => command === 'STARTTLS' && responseCode !== undefined,
    'The mail server at {at} does not offer STARTTLS, which SMTP_URL requires',
    `Enable TLS at the mail server, or set SMTP_URL to ${TLS_FIRST}.`,
  ],
  [
    ({ originalCode = '' }, isTlsFirst) =>
      isTlsFirst && /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|EPROTO/.test(originalCode),
    'The mail server at {at} does not start with TLS',
    `The port probably expects STARTTLS: set SMTP_URL to ${STARTTLS}. For smtps://, use port 465.`,
  ],
  [
    ({ code, originalCode = '' }) => /^ERR_(SSL|TLS)|^EPROTO$/.test(originalCode) || code === 'ETLS',
    'The TLS handshake with the mail server at {at} failed',
    'The mail server must offer TLS 1.2 or later. Look at its log.',
  ],
  [
    ({ timeoutType }, isTlsFirst) => timeoutType === 'GREETING_TIMEOUT' && !isTlsFirst,
    'The mail server at {at} accepted the connection and sent no greeting',
    `The port probably expects TLS first: set SMTP_URL to ${TLS_FIRST}. For STARTTLS, use port 587.`,
  ],
  [
    ({ timeoutType, code, originalCode }) => timeoutType !== undefined || [code, originalCode].includes('ETIMEDOUT'),
    'The mail server at {at} did not answer in time',
    `${REACH} Look at the load and the log of the mail server.`,
  ],
  [
    ({ responseCode, response = '' }) => responseCode === 538 || (responseCode === 530 && /TLS/i.test(response)),
    'The mail server at {at} accepts mail over TLS only',
    `Set SMTP_URL to ${STARTTLS}, without ignoreTLS.`,
  ],
  [
    ({ code, responseCode = 500 }) => code === 'EAUTH' && responseCode >= 500,
    'The mail server at {at} rejected the user name or the password of SMTP_URL',
    'Write the right ones into SMTP_URL. Characters such as @ : / # % must be percent-encoded. Many providers require a password for applications. If the mail server has no AUTH PLAIN or LOGIN, remove both.',
  ],
  [
    ({ command, responseCode }) => command === 'CONN' && responseCode !== undefined,
    'The mail server at {at} does not talk to this machine',
    'Look at the log of the mail server. It may block or limit the address of this machine.',
  ],
  [
    ({ responseCode, response = '' }) =>
      responseCode === 530 || (responseCode !== undefined && /auth|log ?in|sign ?in/i.test(response)),
    'The mail server at {at} requires authentication',
    'Write the user name and the password into SMTP_URL.',
  ],
  [
    ({ responseCode = 500 }) => responseCode < 500,
    'The mail server at {at} rejects mail for now',
    'Mail is tried again for a day. If this lasts, look at the limits and the log of the mail server.',
  ],
  [
    ({ command }) => command === 'MAIL FROM',
    'The mail server at {at} rejected the sender {from}',
    'Set MAIL_FROM to an address that this account may send from, or allow it at the mail server.',
  ],
  [hasCode('EPROTOCOL'), 'The server at {at} does not speak SMTP', 'Correct the host and the port in SMTP_URL.'],
  [
    hasCode('ECONNECTION', 'ECONNRESET', 'EPIPE'),
    'The mail server at {at} closed the connection',
    `Check the port in SMTP_URL and the log of the mail server. A port with STARTTLS needs ${STARTTLS}, a port that expects TLS first ${TLS_FIRST}.`,
  ],
  [() => true, 'The mail server at {at} cannot be used', REACH],
]

/** Explains an error. `from` is the sender's address. The finding ends with the error codes and contains no secret. */
function explain(error: SmtpError, smtpUrl: string, from: string): MailFailure {
  const { protocol, hostname: host, port } = new URL(smtpUrl)
  const isTlsFirst = protocol === 'smtps:'
  const values = { at: `${host}:${port || (isTlsFirst ? 465 : 587)}`, host, from }
  const [, finding, fix] = rules.find(([applies]) => applies(error, isTlsFirst))!
  const codes = [error.originalCode ?? error.code, error.responseCode].filter((part) => part !== undefined)
  return { finding: `${fill(finding, values)} (${codes.join(' ') || 'unknown error'}).`, fix: fill(fix, values) }
}

const CONNECT_MS = 5_000
const REPLY_MS = 8_000
const SENDER_STEP = 'MAIL-FROM'

const addressOf = (sender: string) => /<([^<>]+)>\s*$/.exec(sender)?.[1] ?? sender.trim()

export interface MailServerReport {
  /** Undefined if the server accepts mail. */
  failure?: MailFailure
  /** True if the session was encrypted. Undefined if there was no session. */
  isEncrypted?: boolean
}

/** Checks that the mail server accepts the login and the sender. Sends no mail. `sender` is the value of MAIL_FROM. */
export async function checkMailServer(smtpUrl: string, sender: string): Promise<MailServerReport> {
  const from = addressOf(sender)
  const explained = (error: unknown) => explain(error as SmtpError, smtpUrl, from)
  if (!URL.canParse(smtpUrl)) {
    const fix = `Write it as ${TLS_FIRST}. Characters such as @ : / # % in the password must be percent-encoded.`
    return { failure: { finding: 'SMTP_URL is not a valid URL.', fix } }
  }
  const [{ default: SMTPConnection }, { parseConnectionUrl }] = await Promise.all([
    import('nodemailer/lib/smtp-connection'),
    import('nodemailer/lib/shared'),
  ])
  const { auth, ...options } = parseConnectionUrl(smtpUrl)
  let refusal: SmtpError | undefined
  const connection = new SMTPConnection({
    ...options,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: REPLY_MS,
    customAuth: {
      // The library sends MAIL FROM only together with a message. Its interface for custom authentication can send
      // any command.
      async [SENDER_STEP]({ sendCommand }) {
        const { status, response } = await sendCommand(`MAIL FROM:<${from}>`)
        if (status >= 400) refusal = { code: 'EENVELOPE', command: 'MAIL FROM', responseCode: status, response }
      },
    },
  })
  const failed = new Promise<never>((_, reject) => connection.on('error', reject))
  const step = (begin: (done: (error?: Error | null) => void) => void) =>
    Promise.race([
      failed,
      new Promise<void>((resolve, reject) => begin((error) => (error ? reject(error) : resolve()))),
    ])
  try {
    await step((done) => connection.connect(done))
    const isEncrypted = connection.secure
    try {
      if (auth && connection.allowsAuth) await step((done) => connection.login(auth, done))
      await step((done) => connection.login({ method: SENDER_STEP }, done))
    } catch (error) {
      connection.close()
      return { failure: explained(error), isEncrypted }
    }
    connection.quit()
    return { ...(refusal && { failure: explained(refusal) }), isEncrypted }
  } catch (error) {
    connection.close()
    return { failure: explained(error) }
  }
}
