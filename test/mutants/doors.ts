import { type Mutant, mutantsOf } from './mutant.ts'

export const doors: Mutant[] = [
  ...mutantsOf(
    'src/graphql/use-streams.ts',
    ['graphql/events.test.ts'],
    [
      [
        'doors.proxies-hold-back',
        'Proxies are told to hold no event of a subscription back.',
        `res.setHeader('X-Accel-Buffering', 'no')`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/run-process.ts',
    ['processes/shutdown-delay.processes.ts'],
    [
      [
        'doors.leaves-unheard',
        'A process that was told to stop takes requests until balancers have noticed.',
        `await delay(shutdownDelayMs)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/read-multipart.ts',
    ['rest/bodies.test.ts'],
    [
      [
        'doors.texts-as-files',
        'A text that comes as a file is not dropped.',
        `texts.includes(name)`,
        `texts.includes('')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/pagination.ts',
    ['rest/lists.test.ts'],
    [
      [
        'doors.large-limits',
        'A limit and an offset are large, and not left out, however many digits they have.',
        `/^\\d+$/`,
        `/^\\d{1,9}$/`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/asset-input.ts',
    ['rest/lists.test.ts', 'pages/lookup.test.ts'],
    [
      [
        'doors.hash-with-0x',
        'A hash is the same with 0x before it.',
        `.toLowerCase().replace(/^0x/, '')`,
        `.toLowerCase()`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/execute.ts',
    ['rest/merge-trees.test.ts'],
    [
      [
        'doors.refused-variables',
        'What GraphQL refuses of a value is told at the REST door as of its field.',
        `fields ? validationFailed(fields) : error`,
        `error`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/v3/present-asset.ts',
    ['rest/kept-json.test.ts'],
    [
      [
        'doors.kept-digits',
        'JSON text is answered with the digits it was sent with.',
        `? keptJson(text)`,
        `? JSON.parse(text)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/fields.ts',
    ['rest/fields.test.ts'],
    [
      [
        'doors.flags-of-lists',
        'A flag is read out of texts, numbers and booleans alone.',
        `typeof value === 'object' ? undefined : String(value).toLowerCase()`,
        `String(value).toLowerCase()`,
      ],
      [
        'doors.small-numbers',
        'A small number is the amount that it says.',
        `return digitsOf(value)`,
        `return String(value)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/files/gateway-request.ts',
    ['rest/gateway.test.ts'],
    [
      [
        'doors.unknown-format',
        'Who wants a form that is not had here gets no other one.',
        `if (named !== null && named !== 'raw' && named !== 'car')`,
        `if (named === 'nothing')`,
      ],
      [
        'doors.beyond-the-file',
        'A range beyond the file is refused before anything is sent.',
        `if (size > 0 && first >= size)`,
        `if (size < 0)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/file-name.ts',
    ['rest/gateway.test.ts'],
    [['doors.name-in-no-folder', 'Who makes an address names no folder.', `.split(/[\\\\/]/)`, `.split('|')`]],
  ),
  ...mutantsOf(
    'src/files/gateway.ts',
    ['rest/gateway.test.ts'],
    [
      ['doors.one-tag-each', 'Each part of a file has a tag of its own.', `duplicates && 'dups'`, `false`],
      ['doors.taken-apart', 'Who reads the first block of a file reads the others.', `await takeApart?.()`, ``],
    ],
  ),
  ...mutantsOf(
    'src/files/gateway.ts',
    ['rest/files.test.ts'],
    [
      [
        'doors.type-of-a-list',
        'A file is no page behind a comma in its type.',
        `mimeType.includes(',') ? mimeType.split(';', 1)[0]!.trimEnd() : mimeType`,
        `mimeType`,
      ],
      [
        'doors.xml-is-a-page',
        'What browsers read as XML is only ever downloaded.',
        `\\/[\\w.-]+|text`,
        `\\/[\\w.+-]+|text`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/files/car.ts',
    ['files/car.test.ts'],
    [
      [
        'doors.range-twice',
        'A node that comes twice is gone through for each part of the range.',
        `if (isSent && (!range || cid.code !== dagPb.code)) continue`,
        `if (isSent) continue`,
      ],
      [
        'doors.range-end',
        'Of a range only its blocks are sent.',
        `start < range.offset + range.length && end > range.offset`,
        `end > range.offset`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['platform/database-away.test.ts'],
    [
      [
        'doors.socket-away',
        'A database whose socket is not there is away, and no fault of ours.',
        `|connect ENOENT|`,
        `|`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/import/files.ts',
    ['processes/import.processes.ts'],
    [
      [
        'doors.import-outside',
        'A source does not choose among all files that its reader may read.',
        `  if (!isWithin(folder, named)) return outside\n`,
        ``,
      ],
      ['doors.import-link', 'Nor does a link in its folder.', `  if (!isWithin(folder, file)) return outside\n`, ``],
    ],
  ),
  ...mutantsOf(
    'src/cli/import/form.ts',
    ['processes/import.processes.ts'],
    [
      [
        'doors.import-changed',
        'A file that changes after it was looked at is not registered as what it was not.',
        `left < 0 || (left === 0 && hash.copy().digest('hex') !== sha256)`,
        `left < -1e9`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/import/import.ts',
    ['processes/import.processes.ts'],
    [
      [
        'doors.import-unpaid',
        'An import that the wallet cannot pay for is not begun.',
        `missing === '0'`,
        `missing !== ''`,
      ],
      [
        'doors.import-twice',
        'What an earlier import registered is told so, and is no failure.',
        `if (refused.code === typeOf('DUPLICATE_ASSET'))`,
        `if (refused.code === '')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/page-routes.ts',
    ['pages/refusals.test.ts'],
    [
      [
        'doors.stale-page',
        'A page for everybody is shown also to who comes with a token that is good no more.',
        `{ ...context, hasStaleToken: false }`,
        `context`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/mask-error.ts',
    ['rest/long-values.test.ts'],
    [
      [
        'doors.long-messages',
        'No message repeats a long value in full.',
        `message.slice(0, MAX_MESSAGE).toWellFormed()`,
        `message`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/http-server.ts',
    ['rest/hostile-input.test.ts'],
    [
      ['doors.two-hosts', 'A request names one host.', `!hasTwoHosts(req) && `, ``],
      ['doors.absolute-targets', 'A target in absolute form means its path.', `req.url = url`, ``],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/http-server.ts',
    ['rest/broken-bodies.test.ts'],
    [
      [
        'doors.answers-in-order',
        'What is no HTTP is refused behind the answers to what came before it.',
        `if (earlier?.req.complete)`,
        `if (earlier?.req.complete === null)`,
      ],
      [
        'doors.continue-before-head',
        '`100 Continue` stands before the answer, and not in it.',
        `if (!res.socket) keepHeadBehind(res)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/rest-handler.ts',
    ['rest/versions.test.ts'],
    [
      [
        'doors.version-of-all',
        'The version of an answer is another for whoever is told something else.',
        `const tag = etag && tagOf(etag, text)`,
        `const tag = etag && tagOf(etag, '')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/yoga.ts',
    ['server/headers.test.ts'],
    [
      [
        'doors.graphql-private',
        'What GraphQL answers to one caller is kept for no other.',
        `'private, no-cache'`,
        `'public, max-age=60'`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/read-multipart.ts',
    ['rest/bodies.test.ts'],
    [
      [
        'doors.unreadable-text',
        'A text of a form that is no UTF-8 is refused, and not changed.',
        `isSound ? value : unreadable(value)`,
        `value`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/form-texts.ts',
    ['rest/bodies.test.ts'],
    [
      [
        'doors.half-character',
        'A text of a form that ends in half a character is no UTF-8.',
        `    read()
    return {`,
        `    return {`,
      ],
      [
        'doors.windows-alphabet',
        'A text of a form in windows-1252 is read as that, and not as Latin-1.',
        `WINDOWS.test(charset) ? toWindows(text) : text`,
        `text`,
      ],
      [
        'doors.odd-utf-16',
        'A text of a form in UTF-16 is refused when it ends in half a character.',
        `if (UTF16.test(charset)) return readUnicode('utf-16le')`,
        `if (UTF16.test(charset)) return undefined`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/email.ts',
    ['rest/emails.test.ts', 'parity/stale-tokens.test.ts'],
    [
      [
        'doors.stale-verification',
        'Who has to verify an address to get in asks for a link also with a token that is good no more.',
        `requestEmailVerification: t.field({
    ...openToStaleTokens,`,
        `requestEmailVerification: t.field({`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/request-context.ts',
    ['rest/shared-limits.test.ts'],
    [
      [
        'doors.counted-first',
        'Requests that are refused for a header count like others.',
        `      const credentials = ignoresCredentials ? noCredentials : credentialsOf(headers)
`,
        `      positionOf(headers['annal-read-after'] as string | undefined)
      const credentials = ignoresCredentials ? noCredentials : credentialsOf(headers)
`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/request-context.ts',
    ['parity/stale-tokens.test.ts'],
    [
      [
        'doors.probed-credentials',
        'Probes and documents look at no credentials, good or bad.',
        `ignoresCredentials ? noCredentials : credentialsOf(headers)`,
        `credentialsOf(headers)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/direct-routes.ts',
    ['graphql/hardening.test.ts'],
    [
      [
        'doors.untold-schema',
        'The schema is no document either where the operator keeps it to himself.',
        `if (!parts.schemaText) throw notFound('Schema')`,
        `if (!parts.schemaText) return void res.end('type Query')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/shown-name.ts',
    ['rest/shown-names.test.ts'],
    [
      [
        'doors.steering-names',
        'No name turns the direction of what stands around it, or hides a part of itself.',
        `(?=\\p{Default_Ignorable_Code_Point})\\p{C}|`,
        ``,
      ],
      ['doors.lines-of-names', 'A name has one line.', `[\\p{Cc}\\p{Zl}\\p{Zp}]/u`, `[\\p{Cs}]/u`],
      [
        'doors.joined-names',
        'A name may hold what its language joins letters by.',
        `(?![\\u180e\\u200b-\\u200d\\u{e0020}-\\u{e007f}])(?=`,
        `(?=`,
      ],
      [
        'doors.unseen-names',
        'A name of which nothing is seen is none.',
        `name.replace(/^[\\s\\u180e\\u200b-\\u200d\\u{e0020}-\\u{e007f}]+/u, '').trimEnd()`,
        `name.trim()`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/username.ts',
    ['rest/usernames.test.ts'],
    [
      [
        'doors.invisible-names',
        'A username has no invisible characters.',
        `if (INVISIBLE.test(name)) return`,
        `if (name === '\\0') return`,
      ],
      [
        'doors.two-directions',
        'A username is written in one direction.',
        `RIGHT_TO_LEFT.test(name) && LEFT_TO_RIGHT.test(name)`,
        `RIGHT_TO_LEFT.test(name) && name === ''`,
      ],
      [
        'doors.endless-names',
        'A name that is far too long is refused before its marks are put into their order.',
        `const MOST_PARTS = 4`,
        `const MOST_PARTS = 4_000_000`,
      ],
      [
        'doors.expanded-names',
        'A sign that stands for many counts as many.',
        `Math.max(length(name), length(compared))`,
        `Math.min(length(name), length(compared))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/read-params.ts',
    ['graphql/over-http.test.ts'],
    [
      [
        'doors.numbers-by-get',
        'A number is read by GET as it is by POST.',
        `return value === undefined ? undefined : readJson(value)`,
        `return value === undefined ? undefined : JSON.parse(value)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/persisted-documents.ts',
    ['graphql/persisted-documents.test.ts'],
    [
      [
        'doors.trusted-only',
        'Where only trusted documents are let in, no text is.',
        `allowArbitraryOperations: !trustedOnly`,
        `allowArbitraryOperations: true`,
      ],
      [
        'doors.refused-documents',
        'A document that was refused is not kept.',
        `claims.set(req, { hash, text })`,
        `kept.set(hash, text)`,
      ],
      [
        'doors.document-hash',
        'A document is kept by no hash but its own.',
        `if (keyOf(id) !== hash) throw mismatch()`,
        `if (keyOf(id) !== hash) claims.set(req, { hash: keyOf(id), text })`,
      ],
      [
        'doors.kept-documents',
        'Documents that clients sent take no more than their room.',
        `maxSize: keptDocuments.bytes`,
        `maxSize: 10 * keptDocuments.bytes`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/playground/playground.ts',
    ['graphql/over-http.test.ts'],
    [
      [
        'doors.playground-scripts',
        'The playground runs no script but its own.',
        `'unsafe-eval'`,
        `'unsafe-inline' 'unsafe-eval'`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/trusted-documents.ts',
    ['graphql/persisted-documents.test.ts'],
    [
      [
        'doors.manifest-hash',
        'In a manifest no hash stands for another document.',
        `if (SHA256.test(key) && key !== hashOf(text))`,
        `if (SHA256.test(key) && key === '')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/idempotency.ts',
    ['rest/idempotency.test.ts', 'rest/replays.test.ts'],
    [
      [
        'doors.key-payload',
        'A key that came with another payload is refused.',
        `if (!row.payload_hash.equals(fingerprint.payloadHash)) {`,
        `if (row.payload_hash.length === 0) {`,
      ],
      [
        'doors.key-strangers',
        'Strangers who hit upon the same key are told apart.',
        `[actor.kind, payloadHash.toString('hex')]`,
        `[actor.kind]`,
      ],
      [
        'doors.key-secret',
        'An answer that is a secret is not kept.',
        `if (!context.fingerprint || context.isSecret) return`,
        `if (!context.fingerprint) return`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/asset-service.ts',
    ['rest/replays.test.ts'],
    [
      [
        'doors.key-asset',
        'A repeated request is not answered with the asset of somebody who registered the file since.',
        `where: { nid, ownerId: ownIdOf(actor) ?? { in: [] }, deletedAt: null },`,
        `where: { nid, deletedAt: null },`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/migrations.ts',
    ['server/migrations.test.ts'],
    [
      [
        'doors.downgrade',
        'An older version does not run on a newer database.',
        `if (unknown.length > 0) {`,
        `if (unknown.length > 9) {`,
      ],
      [
        'doors.history',
        'A migration is remembered as Prisma remembers it.',
        `clock_timestamp(), 1)`,
        `clock_timestamp(), 0)`,
        ['processes/prisma-agrees.processes.ts'],
      ],
      [
        'doors.foreign-tables',
        'Nothing is made among the tables of somebody else.',
        `if (rows[0]?.isForeign) {`,
        `if (rows[0]?.isForeign === undefined) {`,
        ['processes/prisma-agrees.processes.ts'],
      ],
      [
        'doors.unfinished',
        'A migration that was interrupted is marked as rolled back.',
        `  await client.query(giveUpUnfinished)\n`,
        '',
        ['processes/prisma-agrees.processes.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/vault/vault-identity.ts',
    ['processes/vault-identity.processes.ts'],
    [
      [
        'doors.vault',
        'A database is opened with its own keys.',
        `if (!known || known.value === own) return`,
        `if (!known || known.value !== '') return`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/config/rules.ts',
    ['server/config.test.ts'],
    [
      [
        'doors.public-url',
        'Links are of the web.',
        `{ protocol: /^https?$/, error: 'Expected an http:// or https:// URL.' }`,
        `{}`,
      ],
      ['doors.relay-key-twice', 'No relay key stands twice.', `new Set(keys).size === keys.length`, `keys.length > 0`],
    ],
  ),
  ...mutantsOf(
    'src/rest/v3/api-keys.ts',
    ['contract/description.test.ts'],
    [
      [
        'doors.undescribed-field',
        'A route reads the fields that are described, and no others.',
        `body.text('name')`,
        `body.text('title')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/v3/transfers.ts',
    ['rest/examples.test.ts'],
    [
      [
        'doors.undescribed-answer',
        'An answer has the fields that are described, and no others.',
        `subject_id: subjectId,`,
        `subject_id: subjectId,\n        about: subjectId,`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/use-error-vocabulary.ts',
    ['graphql/over-http.test.ts'],
    [
      [
        'over-http.status',
        'Without data, an answer of the type of GraphQL is no success.',
        `if (!('data' in result)) extensions.http ??= httpOf(extensions.code)`,
        ``,
      ],
      [
        'over-http.legacy',
        'Who asks for plain JSON gets 200 for a request that was understood.',
        `({ spec: true, status:`,
        `({ spec: false, status:`,
      ],
    ],
  ),
]
