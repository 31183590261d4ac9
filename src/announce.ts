/** What a start says when it is over. */
import { writeSync } from 'node:fs'
import { roles as allRoles } from './domain/roles.ts'
import type { Installation } from './installation.ts'

const STDOUT = 1

/** What nobody hears, as on a full disk or where the reader is gone, changes nothing. */
function say(text: string): void {
  try {
    writeSync(STDOUT, text)
  } catch {}
}

/** Tells whoever has started the service that it serves. */
export function announce(
  { config: { roles, dir }, parts }: Installation,
  { publicUrl, rpcHost, workers = 1 }: { publicUrl: string; rpcHost?: string; workers?: number },
): void {
  const doors = `
  Playground  ${publicUrl}/graphql
  REST        ${publicUrl}/api/v3`
  say(`Annal is ready.${roles.has('http') ? doors : ''}${
    roles.size < allRoles.length
      ? `
  Roles       ${[...roles].join(', ')}`
      : ''
  }${
    workers > 1
      ? `
  Workers     ${workers} for requests, below this process`
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
