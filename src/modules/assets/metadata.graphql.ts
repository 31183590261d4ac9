/** GraphQL descriptions, sizes and inputs of the metadata fields. */
import type { InputFieldsFromShape } from '@pothos/core'
import type { builder, InputFields } from '../../graphql/builder.ts'
import { characters, jsonTextBytes } from '../../graphql/limits/document-cost.ts'
import {
  customField,
  type GivenValues,
  type MetadataField,
  type MetadataName,
  mapFields,
  metadataFields,
  type RegistrationName,
  registrationFields,
} from './metadata.ts'

const sized = {
  text: ({ size }: MetadataField) => characters(size),
  json: ({ size }: MetadataField) => jsonTextBytes(size),
  flag: () => undefined,
}

/** Returns the description and the maximum size of an output field. */
export const describe = (field: MetadataField) => ({ description: field.description, ...sized[field.kind](field) })

const bytesOf = (field: MetadataField) => sized[field.kind](field)?.extensions.size.bytes ?? 0

/** Maximum size of the changes of a commit, in bytes. */
export const CHANGES_BYTES =
  2 * (customField.size + Object.values<MetadataField>(metadataFields).reduce((sum, field) => sum + bytesOf(field), 0))

/** Maximum size of the tree fields that identify the file and its creator, in bytes. */
const IDENTITY_BYTES = 4_000

/** Maximum size of an asset tree, in bytes. */
export const TREE_BYTES =
  IDENTITY_BYTES +
  customField.size +
  Object.values<MetadataField>(metadataFields).reduce((sum, field) => sum + (field.treeName ? bytesOf(field) : 0), 0)

type Inputs<Name extends keyof GivenValues> = InputFieldsFromShape<
  typeof builder.$inferSchemaTypes,
  { [Key in Name]: GivenValues[Key] | null | undefined },
  'InputObject'
>

/** Returns the optional input fields. */
export const metadataInputFields = (t: InputFields) => {
  const input = ({ kind, description }: MetadataField) =>
    kind === 'flag' ? t.boolean({ description }) : t.string({ description })
  return {
    changeable: mapFields<Inputs<MetadataName>>(metadataFields, input),
    onlyRegistered: mapFields<Inputs<RegistrationName>>(registrationFields, input),
  }
}
