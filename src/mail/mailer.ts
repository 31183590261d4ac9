/** Sends mails over SMTP, or writes them to files if no server is configured. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SendMailOptions } from 'nodemailer'
import { memoizeAsync } from '../shared/async.ts'
import { DomainError, RejectedRecipientError } from '../shared/errors.ts'
import type { Log } from '../shared/log.ts'
import { noopTelemetry, type Telemetry } from '../telemetry/telemetry-types.ts'
import type { Mailer, OutgoingMail } from './mail-types.ts'

/** Timeouts in milliseconds. A mail must be sent or fail within 20 s, because its job may be retried after that. */
const TIMEOUTS = { connection: 10_000, socket: 15_000, whole: 18_000 }

interface MailerOptions {
  /** URL of the mail server: `smtp://` or `smtps://`, with optional credentials. If undefined, mails go to `dir`. */
  smtpUrl: string | undefined
  dir: string
  /** Value of the From header, such as `Annal <no-reply@example.org>`. */
  from: string
  log: Log
  telemetry?: Telemetry
  /** True to log the links of mails that are written to files. Development only: such a link works like a password. */
  showLinks?: boolean
  timeouts?: typeof TIMEOUTS
}

const SAFE_ID = /^[\w.-]{1,200}$/
const NOT_IN_AN_ADDRESS = /[\s\p{Cc}<>(),:;"\\]/u

/** Removes line breaks and control characters, which could add mail headers. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()

/** Throws RangeError for an ID or recipient that could end a header or add another recipient. */
function assertSafe({ id, to }: OutgoingMail): void {
  if (!SAFE_ID.test(id)) throw new RangeError('The ID of a mail is not valid in a header or a file name.')
  if (NOT_IN_AN_ADDRESS.test(to.address) || to.address.split('@').length !== 2)
    throw new RangeError(`The mail ${id} has a recipient that is not one plain address.`)
}

/** Creates a mailer, which sends mails over SMTP or writes `.eml` files. Equal mail IDs give equal Message-IDs. */
export function createMailer(options: MailerOptions): Mailer {
  const {
    smtpUrl,
    dir,
    from,
    log,
    telemetry: { meter, tracer } = noopTelemetry,
    showLinks,
    timeouts = TIMEOUTS,
  } = options
  const domain = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
  const present = ({ id, to, date, language, subject, text, html }: OutgoingMail): SendMailOptions => ({
    from,
    to: { name: oneLine(to.name), address: to.address },
    messageId: `<${id}@${domain}>`,
    subject: oneLine(subject),
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': oneLine(language) },
    ...{ date, text, html, disableFileAccess: true, disableUrlAccess: true },
  })
  const deliver = smtpUrl ? smtpDelivery(smtpUrl, timeouts) : fileDelivery(dir, showLinks ? log : undefined)
  return {
    async send(mail) {
      assertSafe(mail)
      try {
        await tracer.span('send mail', { kind: 'client' }, () => deliver(mail, present(mail)))
        meter.count('annal_mails_total', { outcome: 'sent' })
      } catch (error) {
        const outcome = error instanceof RejectedRecipientError ? 'rejected' : 'failed'
        meter.count('annal_mails_total', { outcome })
        throw error
      }
    },
  }
}

/** Loads the SMTP library on first use, because loading takes 100 ms. */
const loadNodemailer = () => import('nodemailer')

type Deliver = (mail: OutgoingMail, message: SendMailOptions) => Promise<void>

/** Error of the SMTP library. Never log `response`, because the reply of the server may contain addresses. */
type SmtpFailure = { code?: string; command?: string; responseCode?: number; response?: string }

/**
 * Matches replies for an unknown mailbox. Servers also reject a recipient because of the sender: 554, 5.7 (policy, such
 * as relaying denied), 5.1.7 and 5.1.8 (sender's address). An operator can fix these errors, so the mail is retried.
 */
const UNKNOWN_RECIPIENT = /^55[0136](?![ -]5\.(?:7\.|1\.[78]\b))/

function smtpDelivery(url: string, timeouts: typeof TIMEOUTS): Deliver {
  const transport = memoizeAsync(async () =>
    (await loadNodemailer()).createTransport({
      url,
      connectionTimeout: timeouts.connection,
      greetingTimeout: timeouts.connection,
      dnsTimeout: timeouts.connection,
      socketTimeout: timeouts.socket,
    }),
  )
  return async (_mail, message) => {
    const smtp = await transport()
    try {
      await smtp.sendMail({ ...message, signal: AbortSignal.timeout(timeouts.whole) })
    } catch (error) {
      const { code = 'unknown', command, responseCode, response = '' } = error as SmtpFailure
      if (command === 'RCPT TO' && UNKNOWN_RECIPIENT.test(response)) throw new RejectedRecipientError(responseCode)
      const reason = [code, responseCode].filter((part) => part !== undefined).join(' ')
      throw new DomainError('UNAVAILABLE', `The mail server did not accept the mail (${reason}).`, { retryAfter: 5 })
    }
  }
}

/** Returns a timestamp such as `20260121T061500Z`, with which file names are sorted by time. */
const stamp = (date: Date) => date.toISOString().replace(/[-:]|\.\d+/g, '')

/** Writes mails to files. Logs their links if `log` is given. */
function fileDelivery(dir: string, log: Log | undefined): Deliver {
  const transport = memoizeAsync(async () =>
    (await loadNodemailer()).createTransport({ streamTransport: true, buffer: true, newline: 'windows' }),
  )
  return async ({ id, date, link }, message) => {
    const { message: bytes } = await (await transport()).sendMail(message)
    const path = join(dir, `${stamp(date)}-${id}.eml`)
    // A retry after a crash replaces the partial file.
    const part = join(dir, `.${id}.part`)
    try {
      await writeFile(part, bytes as Buffer, { mode: 0o600, flush: true })
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
    if (link) log?.info({ link, file: path }, 'Mail with a link written')
  }
}
