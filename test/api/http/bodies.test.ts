import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { expectError, expectOk } from '../../support/expect-error.ts'
import { formEnd, formType, part, partHead, registrationByGraphQL } from '../../support/form-parts.ts'
import type { RestOptions } from '../../support/rest-client.ts'
import { createTestApp, newFile } from '../../support/test-app.ts'

const app = await createTestApp()
const user = await app.newUser({ num: '100' })
const asset = await user.register()
const path = `assets/${asset.id}/`
const password = 'correct horse battery'

const encodings: [string, (fields: Record<string, string>) => RestOptions][] = [
  ['JSON', (json) => ({ json })],
  ['multipart', (multipart) => ({ multipart })],
  ['urlencoded', (urlencoded) => ({ urlencoded })],
  ['JSON without a Content-Type', (json) => ({ raw: JSON.stringify(json) })],
  [
    'JSON that is labelled urlencoded',
    (json) => ({ raw: JSON.stringify(json), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }),
  ],
  [
    'JSON with a charset',
    (json) => ({ raw: JSON.stringify(json), headers: { 'Content-Type': 'application/json; charset=utf-8' } }),
  ],
]

describe.each(encodings)('request bodies sent as %s', (name, encode) => {
  const slug = `u${encodings.findIndex(([each]) => each === name)}`

  it('sign-up, sign-in and sign-out accept a body in every encoding', async () => {
    const fields = { username: slug, email: `${slug}@example.org`, password, unknown: 'ignored' }
    const account = await app.rest('POST', 'auth/users/', encode(fields))
    expect(account.status, account.text).toBe(201)
    expect(account.body).toEqual({ id: expect.stringMatching(/^user_/), username: slug, email: `${slug}@example.org` })
    const login = await app.rest('POST', 'auth/token/login/', encode({ email: fields.email, password, extra: '1' }))
    expect(login.status, login.text).toBe(200)
    expect(login.body).toEqual({ auth_token: expect.stringMatching(/^[0-9a-f]{40}$/) })
    const actor = { token: login.body.auth_token }
    const logout = await app.rest('POST', 'auth/token/logout/', { ...encode({ anything: 'at all' }), actor })
    expect({ status: logout.status, text: logout.text }).toEqual({ status: 204, text: '' })
    expectError(await app.rest('GET', 'auth/users/me/', { actor }), 'AUTHENTICATION_FAILED')
  })

  it('an asset update accepts a body in every encoding', async () => {
    const caption = `Über & = ? {${name}} 日本語`
    const custom = { license: { name: 'CC0' }, from: name }
    const record = expectOk(
      await user.rest(
        'PATCH',
        path,
        encode({
          caption,
          headline: slug,
          public_access: 'true',
          nit_commit_custom: JSON.stringify(custom),
          commit_message: name,
        }),
      ),
    )
    expect(record).toMatchObject({ caption, headline: slug, public_access: true, nit_commit_custom: custom })
    expectOk(await user.rest('PATCH', path, encode({ public_access: 'False' })))
    expect(expectOk(await user.rest('GET', path))).toMatchObject({ caption, headline: slug, public_access: false })
  })
})

describe('JSON bodies', () => {
  it.each(['application/json', 'application/x-www-form-urlencoded'])(
    'limits a JSON body to 256 KB, sent as %s',
    async (type) => {
      const raw = JSON.stringify({ unknown: 'x'.repeat(256_000) })
      const { body } = expectError(
        await user.rest('PATCH', path, { raw, headers: { 'Content-Type': type } }),
        'PAYLOAD_TOO_LARGE',
      )
      expect(body.error.message).toBe('The body is larger than the limit of 256000 bytes.')
    },
  )

  it('limits a JSON body to 20,000 values, ignoring punctuation inside strings', async () => {
    expectOk(await user.rest('PATCH', path, { json: { unknown: '[,]{"\\'.repeat(20_000) } }))
    for (const values of [Array(20_000).fill(1), Array(20_000).fill({})]) {
      const refused = expectError(await user.rest('PATCH', path, { json: { values } }), 'PAYLOAD_TOO_LARGE')
      expect(refused.body.error.message).toBe('The JSON has more than 20000 values.')
      expectError(await user.graphql('{ me { id } }', { values }), 'PAYLOAD_TOO_LARGE')
    }
  })

  it.each(['text/plain', 'text/plain; charset=utf-8', 'TEXT/JSON', 'application/vnd.api+json'])(
    'accepts a JSON body with the Content-Type %s',
    async (type) => {
      const caption = `JSON as ${type}`
      const raw = ` ${JSON.stringify({ caption, nit_commit_custom: { a: [1] } })}`
      const record = expectOk(await user.rest('PATCH', path, { raw, headers: { 'Content-Type': type } }))
      expect(record).toMatchObject({ caption, nit_commit_custom: { a: [1] } })
    },
  )
})

describe('leading and trailing white space', () => {
  const untidy = {
    caption: ' \t Two words \n',
    headline: ' Title ',
    alt_text: ' Alt ',
    tag: ' tag ',
    commit_message: ' Why ',
  }
  const tidy = { caption: 'Two words', headline: 'Title', alt_text: 'Alt', tag: 'tag' }
  const messageOf = async (id: string) =>
    expectOk(await user.rest('GET', `assets/${id}/history/`)).commits.at(-1).commitMessage

  it.each(['json', 'urlencoded', 'multipart'])(
    'removes leading and trailing white space from text fields of a body in %s',
    async (encoding) => {
      const { id } = await user.register()
      const changed = await user.rest('PATCH', `assets/${id}/`, { [encoding]: untidy })
      expect([expectOk(changed), await messageOf(id)]).toMatchObject([tidy, 'Why'])
      const again = expectOk(await user.rest('PATCH', `assets/${id}/`, { [encoding]: untidy }))
      expect([again.updated_at, await app.commitCount(id)]).toEqual([changed.body.updated_at, 2])
    },
  )

  it('removes leading and trailing white space from text fields of a registration', async () => {
    const { id, ...record } = await user.register(untidy)
    expect([record, await messageOf(id)]).toMatchObject([tidy, 'Why'])
    expect(expectOk(await user.rest('GET', 'assets/?tag=%20tag%20')).results).toContainEqual(
      expect.objectContaining({ id }),
    )
  })

  it('GraphQL removes leading and trailing white space from text fields', async () => {
    const { id } = await user.register()
    const { alt_text: altText, commit_message: commitMessage, ...rest } = untidy
    const document =
      'mutation ($input: UpdateAssetMetadataInput!) { updateAssetMetadata(input: $input) { asset { caption headline altText tag } } }'
    const data = expectOk(await user.graphql(document, { input: { id, altText, commitMessage, ...rest } }))
    const { alt_text, ...others } = tidy
    expect(data.updateAssetMetadata.asset).toEqual({ ...others, altText: alt_text })
    expect(await messageOf(id)).toBe('Why')
  })

  it('keeps leading and trailing white space in JSON strings and passwords', async () => {
    const { id } = await user.register({ signed_metadata: ' {"a": 1} ' })
    expect(expectOk(await user.rest('GET', `assets/${id}/`)).signed_metadata).toBe(' {"a": 1} ')
    const account = { username: 'spacious', email: ' spacious@example.org ', password: ' a password ' }
    expect((await app.rest('POST', 'auth/users/', { json: account })).status).toBe(201)
    const signIn = (password: string) =>
      app.rest('POST', 'auth/token/login/', { json: { email: 'spacious@example.org', password } })
    expectOk(await signIn(account.password))
    expectError(await signIn(account.password.trim()), 'INCORRECT_LOGIN_CREDENTIALS')
  })
})

describe('request bodies that cannot be decoded', () => {
  it.each([
    ['{"caption": ', 'application/json'],
    ['{"caption": "x",}', 'application/json'],
    ['{broken', 'application/x-www-form-urlencoded'],
    ['{broken', 'text/plain'],
    ['broken', 'text/json'],
    ['[1, 2]', 'application/json'],
    ['"text"', 'application/json'],
    ['0', 'application/json'],
    ['--x\r\nnot a part', 'multipart/form-data; boundary=x'],
    ['--x\r\n', 'multipart/form-data'],
  ])('rejects a malformed body with a parse error and changes nothing: %j as %s', async (raw, type) => {
    const before = await app.commitCount(asset.id)
    expectError(await user.rest('PATCH', path, { raw, headers: { 'Content-Type': type } }), 'PARSE_ERROR')
    expect(await app.commitCount(asset.id)).toBe(before)
  })

  it('rejects a JSON body that is not valid UTF-8 with a parse error', async () => {
    const raw = Buffer.concat([Buffer.from('{"caption":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])
    expectError(await user.rest('PATCH', path, { raw, headers: { 'Content-Type': 'application/json' } }), 'PARSE_ERROR')
  })

  it.each(['gzip', 'br', 'deflate, zstd'])('both APIs reject a body compressed with %s with 415', async (coding) => {
    const form = 'multipart/form-data; boundary=x'
    for (const [address, type] of [
      ['api/v3/auth/token/login/', 'application/json'],
      ['api/v3/assets/', form],
      ['graphql', 'application/json'],
      ['graphql', form],
    ]) {
      const answer = await fetch(`${app.url}/${address}`, {
        method: 'POST',
        headers: {
          Authorization: `token ${user.token}`,
          'Content-Type': type!,
          'Content-Encoding': coding,
          'GraphQL-Require-Preflight': '1',
        },
        body: new Uint8Array([31, 139, 8]),
      })
      expect([address, type, answer.status]).toEqual([address, type, 415])
      expect(await answer.text()).toContain('The body is compressed (Content-Encoding). Send it uncompressed.')
    }
  })

  // curl (`-F 'asset_file=@photo.png;encoder=base64'`) and Python's `email.mime` send such parts.
  it.each([
    ['base64', 'asset_file', 'api/v3/assets/'],
    ['quoted-printable', 'caption', 'api/v3/assets/'],
    ['BASE64', '0', 'graphql'],
    ['quoted-printable', 'operations', 'graphql'],
  ])(
    'rejects the transfer encoding %s in the form part %s at %s without a charge',
    async (encoding, encoded, address) => {
      const fields =
        address === 'graphql'
          ? registrationByGraphQL + partHead('0', 'a.txt', 'text/plain')
          : part('caption', 'x') + partHead('asset_file', 'a.txt', 'text/plain')
      const head = `Content-Disposition: form-data; name="${encoded}"`
      const before = await app.wallet(user)
      const answer = await fetch(`${app.url}/${address}`, {
        method: 'POST',
        headers: { Authorization: `token ${user.token}`, 'Content-Type': formType, 'GraphQL-Require-Preflight': '1' },
        body: `${fields.replace(head, `Content-Transfer-Encoding: ${encoding}\r\n${head}`)}aGVsbG8=${formEnd}`,
      })
      const text = await answer.text()
      expect(text).toContain(`(Content-Transfer-Encoding: ${encoding.toLowerCase()}). Send it without an encoding.`)
      expect(text).toMatch(/"unsupported_media_type"|"UNSUPPORTED_MEDIA_TYPE"/)
      expect(await app.wallet(user)).toEqual(before)
    },
  )

  it.each(['text/plain', 'text/html', 'application/xml', 'image/png'])(
    'rejects a body of the type %s with 415',
    async (type) => {
      const headers = { 'Content-Type': type }
      expectError(await user.rest('PATCH', path, { raw: 'caption=x', headers }), 'UNSUPPORTED_MEDIA_TYPE')
    },
  )

  it('rejects a body that is too large with 413', async () => {
    const caption = 'x'.repeat(1_100_000)
    expectError(await user.rest('PATCH', path, { json: { caption } }), 'PAYLOAD_TOO_LARGE')
    expectError(await user.rest('PATCH', path, { multipart: { caption } }), 'PAYLOAD_TOO_LARGE')
    expectError(await user.rest('PATCH', path, { urlencoded: { caption } }), 'PAYLOAD_TOO_LARGE')
  })
})

describe('fields of request bodies', () => {
  it.each([
    [{ caption: 5 }, { caption: '5' }],
    [{ caption: true }, { caption: 'true' }],
    [{ public_access: 'TRUE' }, { public_access: true }],
    [{ public_access: 0 }, { public_access: false }],
    [{ signed_metadata: { a: 1 } }, { signed_metadata: '{"a":1}' }],
    [{ nit_commit_custom: { a: { b: [1] } } }, { nit_commit_custom: expect.objectContaining({ a: { b: [1] } }) }],
  ])('converts the fields %j of a request body to %j', async (json, expected) => {
    expect(expectOk(await user.rest('PATCH', path, { json }))).toMatchObject(expected)
  })

  it.each([
    [{ caption: ['x'] }, 'caption'],
    [{ caption: { x: 1 } }, 'caption'],
    [{ public_access: 'perhaps' }, 'public_access'],
    [{ nit_commit_custom: '[1]' }, 'nit_commit_custom'],
    [{ nit_commit_custom: 'no JSON' }, 'nit_commit_custom'],
    [{ nit_commit_custom: { assetCid: 'posing' } }, 'nit_commit_custom'],
    [{ headline: 'x'.repeat(26) }, 'headline'],
    [{ signed_metadata: 'no JSON' }, 'signed_metadata'],
    [{ caption: 'a\u0000b' }, 'caption'],
  ])('names the invalid field in the validation error for %j', async (json, field) => {
    const { body } = expectError(await user.rest('PATCH', path, { json }), 'VALIDATION_FAILED')
    expect(body.error.details).toEqual({ [field]: [expect.any(String)] })
  })

  it('a registration ignores fields with unknown names', async () => {
    const record = await user.register({ unknown: 'x', nft_token_id: '7', caption: 'kept' })
    expect(record).toMatchObject({ caption: 'kept', nft_token_id: null })
  })

  it('a registration accepts form fields before and after the file', async () => {
    const after = new FormData()
    after.set('asset_file', newFile())
    after.set('caption', 'after')
    const before = new FormData()
    before.set('caption', 'before')
    before.set('asset_file', newFile())
    for (const [multipart, caption] of [
      [after, 'after'],
      [before, 'before'],
    ] as const) {
      expect((await user.rest('POST', 'assets/', { multipart })).body).toMatchObject({ caption })
    }
  })
})

it('deletes the uploaded file after a successful or rejected request', async () => {
  await user.register()
  expectError(
    await user.rest('POST', 'assets/', { multipart: { asset_file: newFile(), headline: 'x'.repeat(101) } }),
    'VALIDATION_FAILED',
  )
  expect(await readdir(join(app.installation.config.dir, 'uploads'))).toEqual([])
})

describe('text fields that are sent as files', () => {
  const blob = (text: string, name = 'blob') => new File([text], name, { type: 'application/json' })
  const texts = { signed_metadata: blob('{"proof": 1}'), signature: blob('[{"signature":"0x"}]') }

  it('a registration accepts a text field that is sent as a file (a Blob)', async () => {
    expect(await user.register({ ...texts, meta: blob('{"at": 1}'), caption: blob('Sea') })).toMatchObject({
      information: { at: 1 },
      signature: [{ signature: '0x' }],
      signed_metadata: '{"proof": 1}',
      caption: 'Sea',
    })
  })

  it('validates a text field that is sent as a file like any other text', async () => {
    const { body } = await user.rest('POST', 'assets/', { multipart: { asset_file: newFile(), meta: blob('{') } })
    expect(body.error.details).toEqual({ meta: ['Value must be valid JSON.'] })
  })

  it('ignores a text field that is sent as an empty file input', async () => {
    const { id } = await user.register({ caption: 'Sea' })
    const unchosen = new File([], '', { type: 'application/octet-stream' })
    const answer = await user.rest('PATCH', `assets/${id}/`, { multipart: { caption: unchosen, tag: 'new' } })
    expect(expectOk(answer)).toMatchObject({ caption: 'Sea', tag: 'new' })
  })
})

describe('encoding of form texts', () => {
  const URLENCODED = 'application/x-www-form-urlencoded'
  const latin1 = (text: string) => Buffer.from(text, 'latin1')
  const typed = (name: string, value: string, type: string) =>
    part(name, value).replace('\r\n\r\n', `\r\nContent-Type: ${type}\r\n\r\n`)
  const send = (raw: string | Buffer, type = formType) =>
    user.rest('PATCH', path, { raw, headers: { 'Content-Type': type } })
  const end = formEnd.trimStart()

  it.each([
    ['caption', 'Größe'],
    ['signed_metadata', '{"by":"Größe"}'],
    ['nit_commit_custom', '{"by":"Größe"}'],
    ['tag', 'ends in half a character: Ã'],
  ])('rejects the form field %s if it is not valid UTF-8, without a change or charge', async (name, text) => {
    const [before, commits] = [await app.wallet(user), await app.commitCount(asset.id)]
    const forms: [string | Buffer, string?][] = [
      [latin1(part('headline', 'fine') + part(name, text) + end)],
      [latin1(part(name, text) + part('headline', 'fine') + end)],
      [latin1(typed(name, text, 'text/plain; charset="UTF-8"') + end)],
      [latin1(typed(name, text, 'text/plain; charset=ISO-8859-1') + end)],
      [latin1(part(name, text).replace('\r\n\r\n', '; filename="blob"\r\n\r\n') + end)],
      [`headline=fine&${name}=${escape(text)}`, URLENCODED],
    ]
    for (const [raw, type] of forms) {
      const { body } = expectError(await send(raw, type), 'VALIDATION_FAILED')
      expect(Object.keys(body.error.details)).toEqual([name])
      expect(body.error.message).toContain('invalid UTF-8')
    }
    expect(await app.wallet(user)).toEqual(before)
    expect(await app.commitCount(asset.id)).toBe(commits)
  })

  it('accepts a form text that is valid UTF-8, even with U+FFFD or invalid percent escapes', async () => {
    const caption = 'Größe \ufffd %FF'
    const forms: [string | Buffer, string?][] = [
      [part('caption', caption) + end],
      [typed('caption', caption, 'text/plain; charset=utf-8') + end],
      [`caption=${encodeURIComponent(caption)}`, URLENCODED],
    ]
    for (const [raw, type] of forms) expect(expectOk(await send(raw, type)).caption).toBe(caption)
    expect(expectOk(await send('caption=100%zz&headline=%', URLENCODED))).toMatchObject({
      caption: '100%zz',
      headline: '%',
    })
  })

  it('/graphql rejects a form text that is not valid UTF-8 with a parse error', async () => {
    const fields = registrationByGraphQL.replace('"file":null', '"file":null,"caption":"Größe"')
    const answer = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { Authorization: `token ${user.token}`, 'Content-Type': formType, 'GraphQL-Require-Preflight': '1' },
      body: new Uint8Array(latin1(`${fields}${partHead('0', 'a.txt', 'text/plain')}bytes${formEnd}`)),
    })
    expect((await answer.json()).errors[0].extensions.code).toBe('PARSE_ERROR')
  })
})
