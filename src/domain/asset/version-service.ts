/** What an asset said at a moment of its history, how that differs, and who said it. */
import { DomainError, notFound } from '../errors.ts'
import type { Database } from '../ports/database.ts'
import type { RowOf } from '../sql.ts'
import { type Changes, compare, readTree } from './asset-tree.ts'
import { customField, type Metadata, type MetadataName, metadataFields, ofEach } from './metadata.ts'
import { type Moment, readMoment } from './moment.ts'
import { type Blame, findHead, findPlace, findPlaceAt, readVersions } from './version-statements.ts'

/** An asset as one of its commits left it. */
export interface AssetVersion {
  /** The place of that commit in the history; 1 is the registration. */
  sequence: number
  /** Its UUID. */
  commitId: string
  createdAt: Date
  metadata: Metadata
}

/** Which commit set a field last. */
export interface FieldBlame {
  /** By the name that changes have for it. */
  field: string
  /** Of the custom fields, which one. */
  key: string | null
  /** The place of that commit in the history. */
  sequence: number
}

type VersionRow = RowOf<typeof readVersions.columns> & {
  tree: string
  blame: Blame
  said: Record<string, unknown> | null
  id: string
  sequence: number
  created_at: Date
}

const customOf = (blame: Blame) => (blame[customField.changeName] ?? {}) as Record<string, number>

/** Custom fields stand in the tree as they were given. Raises NOT_FOUND. */
function metadataIn({ tree, blame, said }: VersionRow): Metadata {
  const whole = readTree(tree)
  return {
    ...ofEach<Record<MetadataName, never>>(metadataFields, ({ column, empty }) => said?.[column] ?? empty),
    custom: Object.fromEntries(Object.keys(customOf(blame)).map((key) => [key, whole[key]])),
  }
}

const versionOf = (row: VersionRow): AssetVersion => ({
  sequence: row.sequence,
  commitId: row.id,
  createdAt: row.created_at,
  metadata: metadataIn(row),
})

/**
 * Versions of assets that the caller has read, by the UUID of the asset and a moment as `readMoment` takes it. What takes a moment
 * raises VALIDATION_FAILED, and NOT_FOUND when the commit is none of the asset's, or the asset was not registered yet.
 */
export function createVersionService({ database }: { database: Database }) {
  const find = (asset: string, moment: Moment | undefined) => {
    if (!moment) return database.query(findHead, { asset })
    return 'commit' in moment
      ? database.query(findPlace, { asset, commit: moment.commit })
      : database.query(findPlaceAt, { asset, time: moment.time })
  }

  /** The place in the history; the newest without a moment. `name` is that of the argument. */
  async function placeOf(asset: string, text: string | null | undefined, name: string): Promise<number> {
    const [found] = await find(asset, typeof text === 'string' ? readMoment(text, name) : undefined)
    if (!found) throw notFound('Commit')
    if (found.sequence === 0) throw new DomainError('NOT_FOUND', 'The asset was not registered yet at that time.')
    return found.sequence
  }

  /** As many as places, in their order. Raises NOT_FOUND for those that were erased meanwhile. */
  async function rowsOf(asset: string, sequences: number[]): Promise<VersionRow[]> {
    const rows = await database.query(readVersions, { asset, sequences })
    return sequences.map((sequence) => {
      const row = rows.find((candidate) => candidate.sequence === sequence)
      if (!row) throw notFound('Commit')
      return row
    })
  }

  return {
    placeOf,

    /** What the asset said then. `name` is that of the argument. */
    async at(asset: string, moment: string, name: string): Promise<AssetVersion> {
      const [row] = await rowsOf(asset, [await placeOf(asset, moment, name)])
      return versionOf(row!)
    },

    /** What differs between two places of the history: by field, what it was at the first and what it is at the second. */
    async changes(asset: string, from: number, to: number): Promise<Changes> {
      const [before, after] = (await rowsOf(asset, [from, to])).map(metadataIn)
      return compare(before!, after!)
    },

    /** A part of what was ever given, in the order of fields and then of keys: which commit set it, as of a place of the history. */
    async blame(asset: string, place: number, { limit, offset }: { limit: number; offset: number }) {
      const [{ blame }] = (await rowsOf(asset, [place])) as [VersionRow]
      const plain = Object.values(metadataFields).flatMap(({ column }): FieldBlame[] => {
        const sequence = blame[column]
        return typeof sequence === 'number' ? [{ field: column, key: null, sequence }] : []
      })
      const custom = Object.entries(customOf(blame)).map(
        ([key, sequence]): FieldBlame => ({ field: customField.changeName, key, sequence }),
      )
      return [...plain, ...custom].slice(offset, offset + limit)
    },
  }
}

/** Versions of assets: see `createVersionService`. */
export type VersionService = ReturnType<typeof createVersionService>
