/** Input types of registrations and metadata changes. */
import type { InputFieldsFromShape } from '@pothos/core'
import { builder, type InputFields, maxCostField } from '../../graphql/builder.ts'
import { versionDescription } from '../commits/commits.ts'
import * as metadata from './metadata.ts'

const { customField, inputLengths, mapFields, metadataFields, registrationFields } = metadata

const onTheChain = 'The chain keeps the message forever. Anyone can read it there, even for a private asset'

type Inputs<Name extends keyof metadata.GivenValues> = InputFieldsFromShape<
  typeof builder.$inferSchemaTypes,
  { [Key in Name]: metadata.GivenValues[Key] | null | undefined },
  'InputObject'
>

type Fields<Name extends string> = Record<Name, metadata.MetadataField>

const inputsOf = <Name extends keyof metadata.GivenValues>(t: InputFields, fields: Fields<Name>) =>
  mapFields<Inputs<Name>>(fields, ({ kind, description }) =>
    kind === 'flag' ? t.boolean({ description }) : t.string({ description }),
  )

const changeFields = (t: InputFields, note = '') => ({
  commitMessage: t.string({
    description: `Message about this change, at most ${inputLengths.commitMessage} characters. ${note}${onTheChain}.`,
  }),
  maxCost: maxCostField(t),
})

const targetFields = (t: InputFields) => ({
  id: t.id({ required: true, description: 'The nid.' }),
  expectedHead: t.id({
    description: 'ID of the newest commit that you read. If there is a newer commit, the request fails with CONFLICT.',
  }),
})

const customRules = `You choose the keys. A key that the tree uses itself, such as assetCreator or license, replaces the value of the tree. Keys that identify the file are rejected in any case: ${metadata.identifyingKeys.join(', ')}. At most 10 KB and 16 levels deep.`

export const registrationInputFields = (t: InputFields) => ({
  assetFileMimeType: t.string({
    description:
      'MIME type of the file. Defaults to the type of the upload. Annal detects the type from the content if the given type is a placeholder, such as `application/octet-stream`, or an alias, such as `image/jpg`.',
  }),
  ...inputsOf(t, registrationFields),
  nitCommitCustom: t.field({ type: 'JSONObject', description: `${customField.description}. ${customRules}` }),
  ...inputsOf(t, metadataFields),
  ...changeFields(t),
})

export const RegisterAssetInput = builder.inputType('RegisterAssetInput', {
  description: 'A file and the metadata of its first commit. White space at both ends of texts is removed.',
  fields: (t) => ({
    assetFile: t.field({ type: 'Upload', required: true, description: 'The file, at most 250 MB.' }),
    ...registrationInputFields(t),
  }),
})

export const UpdateAssetMetadataInput = builder.inputType('UpdateAssetMetadataInput', {
  description:
    'The changes to the metadata of an asset. Fields that are left out stay unchanged. White space at both ends of texts is removed.',
  fields: (t) => ({
    ...targetFields(t),
    nitCommitCustom: t.field({
      type: 'JSONObject',
      description: `${customField.description} to set or replace by top-level key; null removes a key. ${customRules}`,
    }),
    ...inputsOf(t, metadataFields),
    ...changeFields(t),
  }),
})

export const RevertAssetInput = builder.inputType('RevertAssetInput', {
  description: 'The version to revert an asset to.',
  fields: (t) => ({
    ...targetFields(t),
    revertTo: t.string({ required: true, description: `The version: ${versionDescription}.` }),
    ...changeFields(t, 'Defaults to `Revert to commit_…`. '),
  }),
})
