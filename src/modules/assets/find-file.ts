import type { Database } from '../../db/database-types.ts'
import { boolean, orNull, statement, text, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import type { Actor } from '../../shared/actor.ts'
import { isNid } from '../../shared/ids.ts'
import { visibleAssetsSql } from '../../shared/policy.ts'

/** Which of all files a CID is. The same bytes can be the file of one asset and the thumbnail of another. */

/** How a file is sent. */
export interface FoundFile {
  fileName: string
  mimeType: string
  publicAccess: boolean
}

const columns = { kind: text, fileName: text, mimeType: text, publicAccess: boolean }
const pinsSql = `select p.kind::text as kind, a.file_name as "fileName", a.mime_type as "mimeType", a.public_access as "publicAccess"
   from pins p join assets a on a.id = p.asset_id`
/**
 * Thumbnails and trees go first: they are what we made, whoever registers the same bytes and calls them something else. Then what is public,
 * for answers to it may be shared.
 */
const firstSql = `order by array_position('{THUMBNAIL,TREE,FILE}', p.kind::text), a.public_access desc, a.id limit 1`

/** A pin of an asset that a reader may see. */
const findPin = statement(
  'asset_pin_find',
  { parameters: { cid: text, reader: orNull(uuid) }, columns },
  `${pinsSql} where p.cid = $cid and p.kind <> 'C2PA' and ${visibleAssetsSql} ${firstSql}`,
)

/**
 * Finds a pin of the asset that a link was made for, unless the account of its owner is locked. Only the owner gets a link to a file with
 * Content Credentials, so `allow_c2pa_download` does not apply here.
 */
const findLinkedPin = statement(
  'asset_pin_linked',
  { parameters: { cid: text, linkedAsset: uuid }, columns },
  `${pinsSql} join users u on u.id = a.owner_id
   where p.cid = $cid and a.id = $linkedAsset and a.deleted_at is null and u.locked_at is null ${firstSql}`,
)

/** A file with Content Credentials: the owner's where no others are given any. */
const findCopy = statement(
  'asset_pin_copy',
  { parameters: { cid: text, reader: orNull(uuid) }, columns },
  `${pinsSql} join users u on u.id = a.owner_id
   where p.cid = $cid and p.kind = 'C2PA' and ${visibleAssetsSql}
     and (u.allow_c2pa_download or a.owner_id is not distinct from $reader) ${firstSql}`,
)

/**
 * What file, thumbnail, tree or file with Content Credentials a CID is, for this actor or by a link; else null. What we made has no name
 * of its own: that of the file, which could be another one's and private, is not told by it. `linkedAsset`: the UUID of the asset that a
 * link was made for.
 */
export function createFindFile({ database }: { database: Database }) {
  async function findPinFor(actor: Actor, cid: string, linkedAsset: string | undefined) {
    const [linked] = linkedAsset === undefined ? [] : await database.query(findLinkedPin, { cid, linkedAsset })
    // Where a link is good no more, whoever has it sees what they would without it.
    if (linked) return linked
    const asked = { cid, reader: actor.kind === 'user' ? actor.id : null }
    const [pin] = await database.query(findPin, asked)
    return pin ?? (await database.query(findCopy, asked))[0]
  }

  return async (actor: Actor, cid: string, linkedAsset?: string): Promise<FoundFile | null> => {
    const pin = isNid(cid) && (await findPinFor(actor, cid, linkedAsset))
    if (!pin) return null
    const { kind, ...file } = pin
    if (kind === 'THUMBNAIL') return { ...file, mimeType: 'image/webp', fileName: `${cid}.webp` }
    if (kind === 'TREE') return { ...file, mimeType: 'application/json', fileName: `${cid}.json` }
    return file
  }
}

/** The first bytes of a file, or all of them where there are fewer. Raises NOT_FOUND, UNAVAILABLE. */
export async function readHead({ read }: Pick<ContentStore, 'read'>, nid: string, length: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of read(nid, { offset: 0, length })) parts.push(part)
  return Buffer.concat(parts)
}
