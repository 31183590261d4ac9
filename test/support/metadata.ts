/** A value for each metadata field of an asset, by its REST name. */
import { type MetadataField, metadataFields, registrationFields } from '../../src/modules/assets/metadata.ts'

export const sampleOf = ({ kind, updateSize, column }: MetadataField, mark: string): string => {
  if (kind === 'flag') return 'true'
  return kind === 'json' ? JSON.stringify([{ [column]: mark }]) : mark.slice(0, updateSize)
}

export const sampleMetadata = (markOf: (column: string) => string): Record<string, string> =>
  Object.fromEntries(
    Object.values<MetadataField>({ ...metadataFields, ...registrationFields })
      .filter(({ kind }) => kind !== 'flag')
      .map((field) => [field.column, sampleOf(field, markOf(field.column))]),
  )

/** The text fields of a record without metadata, including fields added after the contract. */
export const emptyTexts = Object.fromEntries(
  Object.values<MetadataField>(metadataFields)
    .filter(({ kind }) => kind === 'text')
    .map(({ column }) => [column, '']),
)
