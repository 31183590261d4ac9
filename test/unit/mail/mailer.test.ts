import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OutgoingMail } from '../../../src/mail/mail-types.ts'
import { createMailer } from '../../../src/mail/mailer.ts'
import { RejectedRecipientError } from '../../../src/shared/errors.ts'
import { atEnd } from '../../support/at-end.ts'
import { type MailMood, startMailServer } from '../../support/mail-server.ts'
import { parseMail } from '../../support/parse-mail.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'
import { createTestLog } from '../../support/test-log.ts'

const from = 'Annal <no-reply@annal.example>'
const mail: OutgoingMail = {
  id: 'receipt-order_01',
  to: { name: 'Zoë', address: 'zoe@example.org' },
  language: 'zh-tw',
  subject: 'Upscale 的收據',
  text: 'Thank you.\n.A line that begins with a dot',
  html: '<p>Thank you, 謝謝</p>',
  date: new Date('2026-11-21T06:05:00Z'),
}

const dir = await createTemporaryFolder()

const toFiles = () => createMailer({ smtpUrl: undefined, dir, from, log: createTestLog() })

const SHORT = { connection: 1_000, socket: 1_000, whole: 3_000 }

async function overSmtp(mood: MailMood, timeouts?: typeof SHORT) {
  const server = await startMailServer(atEnd, mood)
  const log = createTestLog()
  return { server, log, mailer: createMailer({ smtpUrl: server.url, dir, from, log, timeouts }) }
}

describe('mails over SMTP', () => {
  it('a mail over SMTP has a text part, an HTML part and the headers of an automatic mail', async () => {
    const { server, mailer } = await overSmtp('accept')
    await mailer.send(mail)
    expect(server.mails).toHaveLength(1)
    const [received] = server.mails
    expect(received).toMatchObject({ from: 'no-reply@annal.example', to: ['zoe@example.org'] })
    const { headers, subject, to, text, html } = parseMail(received!.source)
    expect({ subject, to, text, html }).toEqual({
      subject: mail.subject,
      to: 'Zoë <zoe@example.org>',
      text: mail.text,
      html: mail.html,
    })
    expect(headers).toMatchObject({
      from: [from],
      'message-id': ['<receipt-order_01@annal.example>'],
      'auto-submitted': ['auto-generated'],
      'content-language': ['zh-tw'],
      date: ['Sat, 21 Nov 2026 06:05:00 +0000'],
    })
  })

  it('a mail keeps its message ID when it is sent again', async () => {
    const { server, mailer } = await overSmtp('accept')
    await mailer.send(mail)
    await mailer.send(mail)
    const ids = server.mails.map(({ source }) => parseMail(source).headers['message-id'])
    expect(ids).toEqual([['<receipt-order_01@annal.example>'], ['<receipt-order_01@annal.example>']])
  })

  it.each(['refuse', 'hang', 'hang-after-data', '451', '550 5.7.1', '554'] as const)(
    'reports UNAVAILABLE without naming the recipient if the mail server does this: %s',
    async (mood) => {
      const { server, mailer, log } = await overSmtp(mood, SHORT)
      // Without the timeout, the mailer would wait for minutes.
      const error = await mailer.send(mail).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(/did not accept the mail/) })
      expect((error as Error).cause).toBeUndefined()
      expect(String((error as Error).stack)).not.toContain('zoe')
      expect(log.lines).toEqual([])
      server.mood = 'accept'
      await mailer.send(mail)
      expect(server.mails).toHaveLength(1)
    },
  )

  it('sending a mail has a total timeout', async () => {
    const { mailer } = await overSmtp('hang-after-data', { ...SHORT, socket: 60_000, whole: 1_000 })
    await expect(mailer.send(mail)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  it('a mail to an unknown recipient fails permanently, and the error does not name the recipient', async () => {
    const { server, mailer, log } = await overSmtp('550')
    const error = await mailer.send(mail).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(RejectedRecipientError)
    expect(error).toMatchObject({ status: 550, message: 'The mail server permanently rejects the recipient (550).' })
    expect([server.mails, log.lines]).toEqual([[], []])
  })
})

describe('mails without a server', () => {
  it('without a mail server, stores each mail as one .eml file that only its owner can read', async () => {
    const mailer = toFiles()
    await mailer.send(mail)
    await mailer.send(mail)
    expect(await readdir(dir)).toEqual(['20261121T060500Z-receipt-order_01.eml'])
    const path = join(dir, '20261121T060500Z-receipt-order_01.eml')
    const source = await readFile(path, 'utf8')
    expect(source).not.toMatch(/[^\r]\n/)
    expect(parseMail(source)).toMatchObject({ subject: mail.subject, text: mail.text, html: mail.html })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })
})

describe('links of mails', () => {
  const link = 'https://annal.example/account/password-reset/user_01/secret'
  const withLink = { ...mail, text: link, link }

  function createNotes() {
    const notes: object[] = []
    const note = (fields: object) => void notes.push(fields)
    return { notes, log: { ...createTestLog(), debug: note, info: note, warn: note, error: note } }
  }

  it('logs the link of a mail if mails are stored as files and link logging is enabled', async () => {
    const { notes, log } = createNotes()
    await createMailer({ smtpUrl: undefined, dir, from, log, showLinks: true }).send(withLink)
    expect(notes).toEqual([{ link, file: join(dir, '20261121T060500Z-receipt-order_01.eml') }])
    await createMailer({ smtpUrl: undefined, dir, from, log, showLinks: true }).send(mail)
    expect(notes).toHaveLength(1)
  })

  it('does not log the link of a mail by default, and never with a mail server', async () => {
    const { notes, log } = createNotes()
    await createMailer({ smtpUrl: undefined, dir, from, log }).send(withLink)
    const server = await startMailServer(atEnd)
    await createMailer({ smtpUrl: server.url, dir, from, log, showLinks: true }).send(withLink)
    expect(server.mails).toHaveLength(1)
    expect(notes).toEqual([])
  })
})

describe('user input in mails', () => {
  it.each(['\r\n', '\n', '\r', '\u2028', '\u0000', '\u0085'].map((each) => [JSON.stringify(each), each] as const))(
    'user input cannot add a mail header with %s in a name, subject or language',
    async (_, lineBreak) => {
      const { server, mailer } = await overSmtp('accept')
      const injected = `x${lineBreak}Bcc: victim@example.org${lineBreak}${lineBreak}<script>`
      await mailer.send({ ...mail, subject: injected, language: injected, to: { ...mail.to, name: injected } })
      const [received] = server.mails
      expect(received!.to).toEqual(['zoe@example.org'])
      const { headers, subject, text } = parseMail(received!.source)
      expect(Object.keys(headers).sort()).toEqual(
        [
          ...['auto-submitted', 'content-language', 'content-type', 'date', 'from'],
          ...['message-id', 'mime-version', 'subject', 'to'],
        ].sort(),
      )
      expect(subject).toBe('x Bcc: victim@example.org <script>')
      expect(text).toBe(mail.text)
    },
  )

  it.each(
    [
      'zoe@example.org\r\nBcc: victim@example.org',
      'zoe@example.org\r\nRCPT TO:<victim@example.org>',
      'zoe@example.org, victim@example.org',
      'zoe@example.org;victim@example.org',
      'Zoë <zoe@example.org>',
      'victim@example.org@example.com',
      '"victim@example.org,"@example.com',
      'nobody',
      '',
    ].map((address) => [JSON.stringify(address), address] as const),
  )('user input cannot add a mail recipient with the address %s', async (_, address) => {
    const { server, mailer } = await overSmtp('accept')
    await expect(mailer.send({ ...mail, to: { name: '', address } })).rejects.toThrow(RangeError)
    expect(server.visits).toBe(0)
  })

  it('a display name cannot add a mail recipient', async () => {
    const { server, mailer } = await overSmtp('accept')
    await mailer.send({ ...mail, to: { ...mail.to, name: 'A" <victim@example.org>, "B' } })
    expect(server.mails[0]!.to).toEqual(['zoe@example.org'])
  })

  it('user input cannot write outside the mail folder', async () => {
    await expect(toFiles().send({ ...mail, id: '../../etc/cron' })).rejects.toThrow(RangeError)
    await expect(toFiles().send({ ...mail, id: 'a>\r\nBcc: x' })).rejects.toThrow(RangeError)
  })
})
