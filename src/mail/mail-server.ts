/** Tests a mail server for `annal doctor` without sending a mail. */
import { explainMailFailure, type MailFailure, type SmtpError } from './mail-failure.ts'

/** Timeout of the connection, in milliseconds. */
const CONNECT_MS = 5_000
/** Timeout of each reply after the greeting, in milliseconds. */
const REPLY_MS = 8_000
/** Name of the custom authentication method that sends the sender's address. */
const SENDER_STEP = 'MAIL-FROM'

const addressOf = (sender: string) => /<([^<>]+)>\s*$/.exec(sender)?.[1] ?? sender.trim()

/** Result of a mail server test. */
export interface MailServerReport {
  /** Undefined if the server accepts mail. */
  failure?: MailFailure
  /** True if the session was encrypted. Undefined if there was no session. */
  isEncrypted?: boolean
}

/**
 * Connects to the mail server at `smtpUrl` and checks that it accepts the sender. Logs in if the URL has credentials.
 * Sends no mail. `sender` is the value of MAIL_FROM.
 */
export async function checkMailServer(smtpUrl: string, sender: string): Promise<MailServerReport> {
  const from = addressOf(sender)
  const explained = (error: unknown) => explainMailFailure(error as SmtpError, { smtpUrl, from })
  if (!URL.canParse(smtpUrl)) return { failure: explained({}) }
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
