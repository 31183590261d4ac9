/** Which of all files a CID is. The same bytes can be the file of one asset and the thumbnail of another. */
import type { Actor } from '../actor.ts'
import { isNid } from '../ids.ts'
import type { Database } from '../ports.ts'
import { boolean, orNull, statement, text, uuid } from '../sql.ts'

/** How a file is sent. */
export interface FoundFile {
  fileName: string
  mimeType: string
  publicAccess: boolean
}

/**
 * A pin of an asset that a reader may see or, by a link, of the asset that it was made for, unless its owner's account is locked. Thumbnails
 * and trees go first: they are what we made, whoever registers the same bytes and calls them something else. Then what is public, for
 * answers to it may be shared. Files with Content Credentials are the owner's where no others are given any.
 */
const findPin = statement(
  'asset_pin_find',
  {
    parameters: { cid: text, reader: orNull(uuid), linkedAsset: orNull(uuid) },
    columns: { kind: text, fileName: text, mimeType: text, publicAccess: boolean },
    mayLag: true,
  },
  `select p.kind::text as kind, a.file_name as "fileName", a.mime_type as "mimeType", a.public_access as "publicAccess"
   from pins p join assets a on a.id = p.asset_id join users u on u.id = a.owner_id
   where p.cid = $cid and a.deleted_at is null
     and case when $linkedAsset is null then a.public_access or a.owner_id is not distinct from $reader
         else a.id = $linkedAsset and u.locked_at is null end
     and (p.kind <> 'C2PA' or u.allow_c2pa_download or a.owner_id is not distinct from $reader)
   order by array_position('{THUMBNAIL,TREE,FILE,C2PA}', p.kind::text), a.public_access desc, a.id limit 1`,
)

/**
 * What file, thumbnail, tree or file with Content Credentials a CID is, for this actor or by a link; else null. What we made has no name
 * of its own: that of the file, which could be another one's and private, is not told by it. `linkedAsset`: the UUID of the asset that a
 * link was made for.
 */
export const createFindFile =
  ({ database }: { database: Database }) =>
  async (actor: Actor, cid: string, linkedAsset?: string): Promise<FoundFile | null> => {
    if (!isNid(cid)) return null
    const reader = actor.kind === 'user' ? actor.id : null
    const [pin] = await database.query(findPin, { cid, reader, linkedAsset: linkedAsset ?? null })
    if (!pin) return null
    const { kind, ...file } = pin
    if (kind === 'THUMBNAIL') return { ...file, mimeType: 'image/webp', fileName: `${cid}.webp` }
    if (kind === 'TREE') return { ...file, mimeType: 'application/json', fileName: `${cid}.json` }
    return file
  }
