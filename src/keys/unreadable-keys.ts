/** What was sealed and does not open: for `annal check`. Everything that a key wraps is tried, row by row. */

import type { Database } from '../db/database-types.ts'
import { type Finding, findingOf, MOST_ROWS } from '../db/invariants/finding.ts'
import { actionArgsContext } from '../modules/store/action-args.ts'
import { webhookSecretContext } from '../modules/store/network-app-service.ts'
import { keysetPages } from '../shared/async.ts'
import { LostKeyError } from '../shared/errors.ts'
import { type IdPrefix, NIL_UUID, toId } from '../shared/ids.ts'
import { findKeys, sealedTexts } from './key-rotation.sql.ts'
import type { Custody, EnvelopeCipher } from './key-types.ts'

/** Something that does not open, and why. */
export interface Unreadable {
  /** As callers see it. */
  subject: string
  problem: string
}

interface Dependencies {
  database: Database
  custody: Custody
  envelopeCipher: EnvelopeCipher
}

const PAGE = 500
/** No sealed text begins with it, so that none is left out. */
const NO_PREFIX = Buffer.from([255])

const holders = {
  orders: { prefix: 'order', contextOf: actionArgsContext, what: 'its arguments' },
  network_apps: { prefix: 'app', contextOf: webhookSecretContext, what: 'its webhook secret' },
  network_apps_previous: { prefix: 'app', contextOf: webhookSecretContext, what: 'its webhook secret before' },
} satisfies Record<string, { prefix: IdPrefix; contextOf: (id: string) => string; what: string }>

/** At most so many are told. Raises what the vault raises when it cannot be asked. */
export async function findUnreadable(
  { database, custody, envelopeCipher }: Dependencies,
  most: number,
): Promise<Unreadable[]> {
  const found: Unreadable[] = []

  async function attempt(subject: string, what: string, open: () => Promise<unknown>) {
    try {
      await open()
    } catch (error) {
      if (!(error instanceof LostKeyError)) throw error
      found.push({ subject, problem: `${what} does not open: ${error.message}` })
    }
  }

  for (const [holder, { prefix, contextOf, what }] of Object.entries(holders)) {
    const { page } = sealedTexts[holder as keyof typeof holders]
    const texts = keysetPages({
      first: NIL_UUID,
      limit: PAGE,
      read: (after, limit) => database.query(page, { after, limit, currentPrefix: NO_PREFIX }),
      keyOf: ({ id }) => id,
    })
    for await (const rows of texts) {
      for (const { id, envelope } of rows) {
        if (envelope) await attempt(toId(prefix, id), what, () => envelopeCipher.open(envelope, contextOf(id)))
      }
      if (found.length >= most) return found.slice(0, most)
    }
  }
  const keys = keysetPages({
    first: NIL_UUID,
    limit: PAGE,
    read: (after, limit) => database.query(findKeys, { after, limit, currentKey: '', currentVersion: custody.version }),
    keyOf: (row) => row.user_id,
  })
  for await (const rows of keys) {
    for (const { user_id, version, vault_key_id: vaultKeyId, wrapped_data_key: wrappedDataKey } of rows) {
      // One of an earlier version would be given a key share; a rotation tells of those.
      if (version !== custody.version) continue
      const wrapping = { version, vaultKeyId, wrappedDataKey }
      await attempt(toId('user', user_id), 'its key', () => custody.rewrap(user_id, wrapping))
    }
    if (found.length >= most) break
  }
  return found.slice(0, most)
}

/** Tells it like an invariant. */
export const checkSealed = async (parts: Dependencies): Promise<Finding> =>
  findingOf(
    'S1',
    'Everything that is sealed opens: keys of accounts, arguments of orders, webhook secrets.',
    await findUnreadable(parts, MOST_ROWS + 1),
  )
