/** Whether a mail server takes us: for an operator who asks. */
import { DomainError } from '../domain/errors.ts'

/** Milliseconds. */
const PATIENCE_MS = 8_000

/**
 * Connects to the server at `smtpUrl`, and signs in if the address has credentials; sends nothing. Raises UNAVAILABLE with a
 * sentence that names the reason and no secret.
 */
export async function assertMailServer(smtpUrl: string): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    dnsTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  })
  try {
    await transport.verify()
  } catch (error) {
    const { code = 'unknown', responseCode } = error as { code?: string; responseCode?: number }
    const reason = [code, responseCode].filter((part) => part !== undefined).join(' ')
    throw new DomainError('UNAVAILABLE', `The mail server does not take us (${reason}).`, { cause: error })
  } finally {
    transport.close()
  }
}
