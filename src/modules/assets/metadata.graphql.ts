/** What GraphQL makes of the tables of an asset's metadata: descriptions, sizes and inputs. */
import type { InputFieldsFromShape } from '@pothos/core'
import type { builder, InputFields } from '../../graphql/builder.ts'
import { characters, jsonTextBytes } from '../../graphql/limits/sizes.ts'
import {
  customField,
  type GivenValues,
  type MetadataField,
  type MetadataName,
  metadataFields,
  ofEach,
  type RegistrationName,
  registrationFields,
} from './metadata.ts'

const sized = {
  text: ({ size }: MetadataField) => characters(size),
  json: ({ size }: MetadataField) => jsonTextBytes(size),
  flag: () => undefined,
}

/** Description and size of an output field. */
export const describe = (field: MetadataField) => ({ description: field.description, ...sized[field.kind](field) })

const bytesOf = (field: MetadataField) => sized[field.kind](field)?.extensions.size.bytes ?? 0

/** What each field was and what it became. */
export const CHANGES_BYTES =
  2 * (customField.size + Object.values<MetadataField>(metadataFields).reduce((sum, field) => sum + bytesOf(field), 0))

/** What a tree says of the file and of who registered it. */
const IDENTITY_BYTES = 4_000

/** An asset tree. */
export const TREE_BYTES =
  IDENTITY_BYTES +
  customField.size +
  Object.values<MetadataField>(metadataFields).reduce((sum, field) => sum + (field.treeName ? bytesOf(field) : 0), 0)

type Inputs<Name extends keyof GivenValues> = InputFieldsFromShape<
  typeof builder.$inferSchemaTypes,
  { [Key in Name]: GivenValues[Key] | null | undefined },
  'InputObject'
>

/** Input fields, of which any may be left out. */
export const metadataInputFields = (t: InputFields) => {
  const input = ({ kind, description }: MetadataField) =>
    kind === 'flag' ? t.boolean({ description }) : t.string({ description })
  return {
    changeable: ofEach<Inputs<MetadataName>>(metadataFields, input),
    onlyRegistered: ofEach<Inputs<RegistrationName>>(registrationFields, input),
  }
}
