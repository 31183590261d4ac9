/** Finds the file behind a CID: the file, thumbnail, tree or signed copy of an asset. */
import type { Use } from '../../context.ts'
import { boolean, orNull, statement, text, uuid } from '../../db/sql.ts'
import type { ContentStore } from '../../files/file-types.ts'
import { isNid } from '../../shared/ids.ts'
import { visibleAssetsSql } from '../../shared/policy.ts'

/**
 * Finds a pin of an asset that the reader may see, or that a valid link was made for, unless the account of its owner is locked. Signed copies
 * need the permission of the owner, except by a link, because only the owner gets links to them. Thumbnails and trees come first, because
 * Annal made them. Then public files, because their responses can be cached.
 */
const findPin = statement(
  'asset_pin_find',
  {
    parameters: { cid: text, reader: orNull(uuid), linkedAsset: orNull(uuid) },
    columns: { kind: text, fileName: text, mimeType: text, publicAccess: boolean },
  },
  `select p.kind::text as kind, a.file_name as "fileName", a.mime_type as "mimeType", a.public_access as "publicAccess"
   from pins p join assets a on a.id = p.asset_id join users u on u.id = a.owner_id
     cross join lateral (select a.id is not distinct from $linkedAsset and a.deleted_at is null and u.locked_at is null as is_linked) link
   where p.cid = $cid and (link.is_linked or
     (${visibleAssetsSql} and (p.kind <> 'C2PA' or u.allow_c2pa_download or a.owner_id is not distinct from $reader)))
   order by link.is_linked desc, array_position('{THUMBNAIL,TREE,FILE}', p.kind::text), a.public_access desc, a.id limit 1`,
)

/** Finds a file that the caller may read. Thumbnails and trees are named after their CID, because the file name may be private. */
export async function findFile({ actor, database }: Use<'actor' | 'database'>, cid: string, linkedAsset?: string) {
  if (!isNid(cid)) return null
  const reader = actor.kind === 'user' ? actor.id : null
  const [pin] = await database.query(findPin, { cid, reader, linkedAsset: linkedAsset ?? null })
  if (!pin) return null
  const { kind, ...file } = pin
  if (kind === 'THUMBNAIL') return { ...file, mimeType: 'image/webp', fileName: `${cid}.webp` }
  if (kind === 'TREE') return { ...file, mimeType: 'application/json', fileName: `${cid}.json` }
  return file
}

/** Reads the first `length` bytes of a file. Throws NOT_FOUND, UNAVAILABLE. */
export async function readHead({ read }: Pick<ContentStore, 'read'>, nid: string, length: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of read(nid, { offset: 0, length })) parts.push(part)
  return Buffer.concat(parts)
}
