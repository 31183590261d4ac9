/** Finds the file behind a CID: the file, thumbnail, tree or signed copy of an asset. */
import type { Use } from '../../context.ts'
import { boolean, orNull, statement, text, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { isNid } from '../../shared/ids.ts'
import { visibleAssetsSql } from '../../shared/policy.ts'

export interface FoundFile {
  fileName: string
  mimeType: string
  publicAccess: boolean
}

const columns = { kind: text, fileName: text, mimeType: text, publicAccess: boolean }
const pinsSql = `select p.kind::text as kind, a.file_name as "fileName", a.mime_type as "mimeType", a.public_access as "publicAccess"
   from pins p join assets a on a.id = p.asset_id`
/** Thumbnails and trees come first, because Annal made them. Then public files, because their responses can be cached. */
const firstSql = `order by array_position('{THUMBNAIL,TREE,FILE}', p.kind::text), a.public_access desc, a.id limit 1`

const findPin = statement(
  'asset_pin_find',
  { parameters: { cid: text, reader: orNull(uuid) }, columns },
  `${pinsSql} where p.cid = $cid and p.kind <> 'C2PA' and ${visibleAssetsSql} ${firstSql}`,
)

/** Finds a pin by a link, unless the owner's account is locked. Only the owner gets links to signed copies, so `allow_c2pa_download` does not apply. */
const findLinkedPin = statement(
  'asset_pin_linked',
  { parameters: { cid: text, linkedAsset: uuid }, columns },
  `${pinsSql} join users u on u.id = a.owner_id
   where p.cid = $cid and a.id = $linkedAsset and a.deleted_at is null and u.locked_at is null ${firstSql}`,
)

/** Finds a signed copy. If the owner's account does not allow signed copies for others, only the owner gets it. */
const findSignedPin = statement(
  'asset_pin_copy',
  { parameters: { cid: text, reader: orNull(uuid) }, columns },
  `${pinsSql} join users u on u.id = a.owner_id
   where p.cid = $cid and p.kind = 'C2PA' and ${visibleAssetsSql}
     and (u.allow_c2pa_download or a.owner_id is not distinct from $reader) ${firstSql}`,
)

/** Finds a file that the caller may read. Thumbnails and trees are named after their CID, because the file name may be private. */
export async function findFile(context: Use<'actor' | 'database'>, cid: string, linkedAsset?: string) {
  const pin = isNid(cid) && (await findReadablePin(context, cid, linkedAsset))
  if (!pin) return null
  const { kind, ...file } = pin
  if (kind === 'THUMBNAIL') return { ...file, mimeType: 'image/webp', fileName: `${cid}.webp` }
  if (kind === 'TREE') return { ...file, mimeType: 'application/json', fileName: `${cid}.json` }
  return file
}

async function findReadablePin(
  { actor, database }: Use<'actor' | 'database'>,
  cid: string,
  linkedAsset: string | undefined,
) {
  const [linked] = linkedAsset === undefined ? [] : await database.query(findLinkedPin, { cid, linkedAsset })
  if (linked) return linked
  // An expired link falls back to normal permissions.
  const params = { cid, reader: actor.kind === 'user' ? actor.id : null }
  const [pin] = await database.query(findPin, params)
  return pin ?? (await database.query(findSignedPin, params))[0]
}

/** Reads the first `length` bytes of a file. Throws NOT_FOUND, UNAVAILABLE. */
export async function readHead({ read }: Pick<ContentStore, 'read'>, nid: string, length: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of read(nid, { offset: 0, length })) parts.push(part)
  return Buffer.concat(parts)
}
