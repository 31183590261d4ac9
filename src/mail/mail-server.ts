/** Tests a mail server for `annal doctor` without sending a mail. */
import { fill } from '../locales/messages.ts'

/** Error of the SMTP library. Never show `response`, because the server's reply may contain addresses and credentials. */
interface SmtpError {
  code?: string
  /** Error code of the operating system or of OpenSSL. */
  originalCode?: string
  timeoutType?: string
  command?: string
  responseCode?: number
  response?: string
}

const TLS_FIRST = 'smtps://user:password@host:465'
const STARTTLS = 'smtp://user:password@host:587?requireTLS=true'

type MailFailure = { finding: string; fix: string }
type Rule = MailFailure & { applies(error: SmtpError): boolean }

/** Causes of errors. The first matching rule explains an error. `{at}` is the server's address, `{host}` its host. */
const rules: Rule[] = [
  {
    applies: ({ originalCode = '' }) => /CERT/.test(originalCode),
    finding: 'The TLS certificate of the mail server at {at} is not valid for {host}, or not issued by a trusted CA',
    fix: 'Install a valid certificate for {host} on the mail server. For a private CA, set NODE_EXTRA_CA_CERTS (docs/how-to/trust-a-private-ca.md).',
  },
  {
    applies: ({ code, originalCode = '', command, responseCode, response = '', timeoutType }) =>
      code === 'ETLS' ||
      /^ERR_(SSL|TLS)|^EPROTO$/.test(originalCode) ||
      timeoutType === 'GREETING_TIMEOUT' ||
      (command === 'STARTTLS' && responseCode !== undefined) ||
      responseCode === 538 ||
      (responseCode === 530 && /TLS/i.test(response)),
    finding: 'The mail server at {at} and SMTP_URL use different modes of TLS',
    fix: `Set SMTP_URL to ${TLS_FIRST} for a port that starts with TLS, or to ${STARTTLS} for a port with STARTTLS.`,
  },
  {
    applies: ({ code, responseCode, response = '' }) =>
      (code === 'EAUTH' && (responseCode ?? 500) >= 500) ||
      (responseCode !== undefined && /auth|log ?in|sign ?in/i.test(response)),
    finding: 'The mail server at {at} does not accept the user name and the password of SMTP_URL',
    fix: 'Correct the user name or the password. Characters such as @ : / # % must be percent-encoded. Many providers require a password for applications.',
  },
  {
    applies: ({ responseCode = 500, command }) => command !== 'CONN' && responseCode < 500,
    finding: 'The mail server at {at} rejects mail temporarily',
    fix: 'Annal retries mail for a day. If the problem persists, check the limits and the log of the mail server.',
  },
  {
    applies: ({ command }) => command === 'MAIL FROM',
    finding: 'The mail server at {at} rejected the sender {from}',
    fix: 'Set MAIL_FROM to an address that this account may send from, or allow the address on the mail server.',
  },
  {
    applies: ({ code }) => code === 'EPROTOCOL',
    finding: 'The server at {at} does not speak SMTP, or blocks this machine',
    fix: 'Check the host and the port in SMTP_URL, and the log of the mail server.',
  },
  {
    applies: () => true,
    finding: 'The mail server at {at} cannot be reached',
    fix: 'Check the host and the port in SMTP_URL, the DNS record, the firewall, and whether the mail server is running.',
  },
]

/** Explains an error. `from` is the sender's address. The finding ends with the error codes and contains no secret. */
function explain(error: SmtpError, smtpUrl: string, from: string): MailFailure {
  const { protocol, hostname: host, port } = new URL(smtpUrl)
  const values = { at: `${host}:${port || (protocol === 'smtps:' ? 465 : 587)}`, host, from }
  const { finding, fix } = rules.find(({ applies }) => applies(error))!
  const codes = [error.originalCode ?? error.code, error.responseCode].filter((part) => part !== undefined)
  return { finding: `${fill(finding, values)} (${codes.join(' ') || 'unknown error'}).`, fix: fill(fix, values) }
}

const CONNECT_MS = 5_000
const REPLY_MS = 8_000
const SENDER_STEP = 'MAIL-FROM'

interface MailServerReport {
  /** Error of the mail server. Undefined if the server accepts mail. */
  failure?: MailFailure
  /** True if the session was encrypted. Undefined if there was no session. */
  isEncrypted?: boolean
}

/** Checks that the mail server accepts the login and the sender. Sends no mail. `sender` is the value of MAIL_FROM. */
export async function checkMailServer(smtpUrl: string, sender: string): Promise<MailServerReport> {
  const from = /<([^<>]+)>\s*$/.exec(sender)?.[1] ?? sender.trim()
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
      // The library sends MAIL FROM only together with a message. A custom authentication can send any command.
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
