/** Every metadata field is available in both APIs, commits, trees and exports. */
import { expect, it } from 'vitest'
import {
  type MetadataField,
  type MetadataName,
  metadataFields,
  registrationFields,
} from '../../src/modules/assets/metadata.ts'
import { description } from '../support/described.ts'
import { expectOk } from '../support/expect-error.ts'
import { sampleMetadata, sampleOf } from '../support/metadata.ts'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })

const fields = Object.entries<MetadataField>(metadataFields)
const allFields = [...fields, ...Object.entries<MetadataField>(registrationFields)]
const named = (entries: [string, MetadataField][]) => entries.map(([name, field]) => ({ name, ...field }))

const schema = expectOk(
  await app.graphql(`{ __schema { types { name
    fields { name description } inputFields { name description } } } }`),
).__schema.types as { name: string; fields: Described[] | null; inputFields: Described[] | null }[]
interface Described {
  name: string
  description: string
}
const described = (type: string, field: string) => {
  const { fields, inputFields } = schema.find(({ name }) => name === type)!
  return (fields ?? inputFields)!.find(({ name }) => name === field)?.description
}

const given = sampleMetadata((column) => `${column} at first`)
const registered = await user.register(given)
const read = async (name: string, id: string) =>
  expectOk(await user.graphql(`query ($id: ID!) { asset(id: $id) { ${name} } }`, { id })).asset[name]

it.each(named(allFields))(
  'both APIs accept and return the metadata field: $name',
  async ({ name, kind, column, description }) => {
    expect([described('Asset', name), described('RegisterAssetInput', name)]).toEqual([description, description])
    const value = kind === 'flag' ? false : given[column]
    expect(await read(name, registered.id)).toBe(value)
    // JSON texts have the format that existing callers expect.
    const reported = kind === 'json' ? JSON.stringify(registered) : registered[column]
    if (kind === 'json') expect(reported.replaceAll('\\', '')).toContain(value)
    else expect(reported).toBe(value)
  },
)

it.each(named(fields))(
  'an update changes the metadata field, and its commit contains the old value: $name',
  async ({ name, kind, column, ...field }) => {
    expect(described('UpdateAssetMetadataInput', name)).toBe(field.description)
    const { id } = await user.register(given)
    const before = await read(name, id)
    const text = sampleOf({ ...field, kind, column } as MetadataField, `${column} after`)
    const after = kind === 'flag' ? true : text
    expectOk(await user.rest('PATCH', `assets/${id}/`, { multipart: { [column]: text } }))
    expect(await read(name, id)).toBe(after)
    const { commits } = expectOk(await user.rest('GET', `assets/${id}/history/`))
    expect(commits[1].changes).toEqual({ [column]: [before, after] })
  },
)

it('the REST documentation contains the maximum length of each string', () => {
  const schemas = description.components.schemas as Record<
    string,
    { properties: Record<string, { maxLength: number }> }
  >
  const texts = named(fields).filter(({ kind }) => kind === 'text')
  for (const { column, size, updateSize } of texts) {
    const lengths = ['AssetToRegister', 'UpdateAsset'].map((name) => schemas[name]!.properties[column]!.maxLength)
    expect(lengths, column).toEqual([size, updateSize])
  }
  expect(metadataFields.headline).toMatchObject({ size: 100, updateSize: 25 })
})

it('the asset tree and its GraphQL type contain exactly the metadata fields with a tree name', async () => {
  const { id } = await user.register(given)
  const [commit] = await app.sql<{ tree: string }>(
    'select tree from commits c join assets a on a.id = c.asset_id where a.nid = $1',
    [id],
  )
  const tree = JSON.parse(commit!.tree)
  for (const [name, { treeName, column, description }] of fields) {
    expect(described('AssetVersion', name), name).toBe(treeName ? description : undefined)
    if (treeName) expect(tree[treeName], name).toBe(given[column])
    else expect(JSON.stringify(tree), name).not.toContain(`${column} at first`)
  }
})

it('an account export contains every metadata field under its GraphQL name', async () => {
  const { assets } = expectOk(await user.rest('GET', 'auth/users/me/export/'))
  const asset = assets.find(({ nid }: { nid: string }) => nid === registered.id)
  for (const [name, { kind, column }] of allFields)
    expect(asset[name as MetadataName], name).toBe(kind === 'flag' ? false : given[column])
})
