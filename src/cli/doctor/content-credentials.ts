/** Checks of what Content Credentials are signed with. */

import { FixableError } from '../../shared/operator-errors.ts'
import { type Diagnosis, right, span, toKnow, warning, wrong } from './diagnosis.ts'
import type { Parts } from './parts.ts'

const SOON_MS = 30 * 86_400_000
const RENEW = 'Get a new certificate, set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY, and restart the servers.'

/** Whether key and certificates fit, and for how long. Nothing is made. */
export async function checkContentCredentials({ config }: Parts): Promise<Diagnosis[]> {
  const { contentCredentials, dir, production } = await config()
  const { findSigningIdentity } = await import('../../modules/content-credentials/content-credentials.ts')
  let identity: ReturnType<typeof findSigningIdentity>
  try {
    identity = findSigningIdentity(contentCredentials, dir)
  } catch (error) {
    if (error instanceof FixableError) throw error
    return [wrong((error as Error).message, 'Set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY to what belongs together.')]
  }
  if (contentCredentials.certificates === undefined) return [withoutCertificates(contentCredentials, production)]
  const { subject, certificates } = identity!
  const now = Date.now()
  return certificates.map((certificate, at) => {
    const whose =
      at === 0 ? `The certificate that signs Content Credentials (${subject})` : `Certificate ${at + 1} of its chain`
    const left = new Date(certificate.validTo).getTime() - now
    if (new Date(certificate.validFrom).getTime() > now) return wrong(`${whose} is not valid yet.`, RENEW)
    if (left <= 0) return wrong(`${whose} expired ${span(left)} ago: files are given without them.`, RENEW)
    if (left < SOON_MS) return warning(`${whose} expires in ${span(left)}.`, RENEW)
    return right(`${whose} is valid for another ${span(left)}.`)
  })
}

function withoutCertificates({ mayBeDevelopment }: { mayBeDevelopment: boolean }, production: boolean): Diagnosis {
  const fix = 'Set C2PA_CERTIFICATES and C2PA_PRIVATE_KEY; docs/content-credentials.md tells what they must be.'
  if (!mayBeDevelopment) return toKnow('No files with Content Credentials are given: there is no certificate.', fix)
  const finding = 'Content Credentials are signed by a chain for development, which says that nobody should trust it.'
  return production ? warning(finding, fix) : toKnow(finding, fix)
}
