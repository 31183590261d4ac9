/** The message on stdout when the service is ready. */
import { writeSync } from 'node:fs'
import type { Installation } from './infrastructure.ts'
import { roles as allRoles } from './shared/process.ts'

const STDOUT = 1

/** Errors are ignored: a full disk or a closed pipe must not stop the service. */
function say(text: string): void {
  try {
    writeSync(STDOUT, text)
  } catch {}
}

/** Prints that the service is ready, and where it stores its data. */
export function announce(
  { config: { roles, dir }, parts }: Installation,
  { publicUrl, rpcHost }: { publicUrl: string; rpcHost?: string },
): void {
  const addresses = `
  Playground  ${publicUrl}/graphql
  REST        ${publicUrl}/api/v3`
  say(`Annal is ready.${roles.has('http') ? addresses : ''}${
    roles.size < allRoles.length
      ? `
  Roles       ${[...roles].join(', ')}`
      : ''
  }
  Data        ${dir}
    database  ${parts.database}
    chain     ${parts.chain}${rpcHost === undefined ? '' : ` (${rpcHost})`}
    files     ${parts.files}
    keys      ${parts.keys}
    mail      ${parts.mail}
Stop with Ctrl-C; the data stays.
`)
}
