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
    'src/rest/fields.ts',
    ['rest/fields.test.ts'],
    [
      [
        'doors.flags-of-lists',
        'A flag is read out of texts, numbers and booleans alone.',
        `typeof value === 'object' ? undefined : String(value).toLowerCase()`,
        `String(value).toLowerCase()`,
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
    'src/files/gateway.ts',
    ['rest/gateway.test.ts'],
    [
      ['doors.one-tag-each', 'Each part of a file has a tag of its own.', `duplicates && 'dups'`, `false`],
      ['doors.taken-apart', 'Who reads the first block of a file reads the others.', `await takeApart?.()`, ``],
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
    'src/platform/http/bounded-request.ts',
    ['rest/small-pieces.test.ts'],
    [
      [
        'doors.pieces-refused',
        'A body in too many small pieces is refused.',
        `this.#pieces <= FREE_PIECES + this.#bytes / LEAST_BYTES`,
        `this.#pieces > 0`,
      ],
      [
        'doors.pieces-free',
        'A small body may come byte by byte.',
        `const FREE_PIECES = 2_000`,
        `const FREE_PIECES = 2`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/read-form.ts',
    ['rest/small-pieces.test.ts'],
    [
      [
        'doors.parts',
        'A form has a bounded number of parts, whatever stands in them.',
        `        parts: MAX_PARTS,\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/read-body.ts',
    ['rest/small-pieces.test.ts'],
    [
      [
        'doors.encoded-fields',
        'An encoded form has a bounded number of fields.',
        `text.split('&', maxFields + 1).length > maxFields`,
        `text.length < 0`,
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
    'src/domain/total.ts',
    ['parity/totals.test.ts'],
    [
      [
        'doors.totals-bounded',
        'A list of everybody’s is not counted to its end.',
        `Math.max(MOST_COUNTED, (offset ?? 0) + MOST_PER_PAGE + 1)`,
        `2_000_000_000`,
      ],
      [
        'doors.totals-largest',
        'A total is never counted further than the database can be asked for.',
        `, MOST_ROWS)`,
        `, Number.MAX_SAFE_INTEGER)`,
      ],
      [
        'doors.totals-reach',
        'A total always tells whether there is a next page.',
        `Math.max(MOST_COUNTED, (offset ?? 0) + MOST_PER_PAGE + 1)`,
        `MOST_COUNTED`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/app.ts',
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
    'src/app.ts',
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
    'src/domain/json-input.ts',
    ['rest/hostile-input.test.ts'],
    [
      [
        'doors.json-depth',
        'JSON of any input is at most 16 levels deep.',
        `MAX_JSON_DEPTH = 16`,
        `MAX_JSON_DEPTH = 17`,
      ],
      [
        'doors.surrogates',
        'Text that is no Unicode is refused.',
        `return text.isWellFormed() ? undefined :`,
        `return text !== '' ? undefined :`,
      ],
      [
        'doors.numbers',
        'A number that JavaScript cannot hold is refused, not changed.',
        `return written === literal || magnitude(literal) === magnitude(written)`,
        `return written !== ''`,
      ],
      ['doors.infinite', 'A number beyond all doubles is refused.', `if (!Number.isFinite(value)) return false`, ``],
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
        'doors.expanded-names',
        'A sign that stands for many counts as many.',
        `Math.max(length(name), length(compared))`,
        `Math.min(length(name), length(compared))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/document-limits.ts',
    ['graphql/hardening.test.ts', 'tools/introspection.test.ts'],
    [
      ['doors.depth', 'A document is at most 12 levels deep.', `  depth: 12,`, `  depth: 60,`],
      ['doors.aliases', 'A document has at most 30 aliases.', `  aliases: 30,`, `  aliases: 300,`],
      ['doors.schema-depth', 'The query by which tools begin is answered.', `  schemaDepth: 20,`, `  schemaDepth: 12,`],
      [
        'doors.one-change',
        'A mutation changes one thing.',
        `operation === OperationTypeNode.MUTATION && level > 1`,
        `operation === OperationTypeNode.MUTATION && level > 9`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/document-limits.ts',
    ['graphql/over-http.test.ts'],
    [
      [
        'doors.whole-answers',
        'A document that asks for its answer in parts is told that there are none.',
        `if (INCREMENTAL.has(name.value)) {`,
        `if (INCREMENTAL.has('') && name) {`,
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
    'src/domain/page.ts',
    ['rest/large-pages.test.ts', 'rest/lists.test.ts', 'graphql/reading.test.ts', 'graphql/hardening.test.ts'],
    [
      [
        'doors.offset',
        'Nobody pages without end through what is not their own.',
        `if (offset <= MAX_FOREIGN_OFFSET) return`,
        `if (offset <= MAX_FOREIGN_OFFSET * 100) return`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/pagination.ts',
    ['rest/lists.test.ts'],
    [
      [
        'doors.limit',
        'A page has a published maximum.',
        `Math.min(whole(query.get('limit')) || DEFAULT_LIMIT, max)`,
        `whole(query.get('limit')) || DEFAULT_LIMIT`,
      ],
      ['doors.next', 'The last page has no next one.', `offset + length < count ?`, `offset + length <= count ?`],
    ],
  ),
  ...mutantsOf(
    'src/graphql/use-answer-bytes.ts',
    ['processes/answers-that-wait.processes.ts'],
    [
      [
        'doors.answer-bytes',
        'An answer that waits for its reader is held once.',
        `text.length <= SHORT ? text`,
        `text.length >= 0 ? text`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/slow-readers.ts',
    ['platform/slow-readers.test.ts'],
    [
      [
        'doors.most-waiting',
        'There is a bound on what waits to be read, whoever waits.',
        `if (waiting <= most && now`,
        `if (now`,
      ],
      [
        'doors.who-holds-most',
        'Who holds most is cut off first.',
        `held * (now - watched.since + LOOK_EVERY_MS)`,
        `now - watched.since + held * 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/body-room.ts',
    ['parity/crowded-bodies.test.ts'],
    [
      [
        'doors.bodies-together',
        'All bodies under way together take so much memory, and no more.',
        `while (held > most)`,
        `while (held > most * 99)`,
      ],
      [
        'doors.heaviest-body',
        'Who holds most of bodies gives way first.',
        `weightOf(holder) > weightOf(worst)`,
        `weightOf(holder) < weightOf(worst)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/event/stream-limits.ts',
    ['parity/streams.test.ts'],
    [
      [
        'doors.streams-user',
        'A user has so many streams open, and no more.',
        `[[\`streams:user:\${actor.id}\`, streamsPerUser]`,
        `[[\`streams:user:\${actor.id}\`, streamsPerUser * 9]`,
      ],
      [
        'doors.streams-given-back',
        'A stream that ended makes room.',
        `change: 1 | -1) {
    streams += change
    for`,
        `change: 1 | -1) {
    streams += change
    if (change < 0) return
    for`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/event/stream-limits.ts',
    ['domain/stream-limits.test.ts'],
    [
      [
        'doors.streams-refused-given-back',
        'A stream that was refused is counted by no process when its caller hears of it.',
        `await giveBack()`,
        `void giveBack()`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/event/held-places.ts',
    ['rest/shared-limits.test.ts'],
    [
      [
        'doors.streams-of-all-processes',
        'Streams at all processes count together.',
        `process_id <> $process and until > now()`,
        `process_id = $process and until > now()`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/unpaid-bytes.ts',
    ['domain/unpaid-bytes.test.ts'],
    [
      [
        'doors.unpaid-bytes-of-all-processes',
        'Uploads at all processes count together.',
        `where \${grantedSql} >= $needed`,
        `where \${grantedSql} is not null`,
      ],
      [
        'doors.unpaid-bytes-of-the-gone',
        'What a process had that is gone is free a minute later.',
        `where (held->>'until')::float8 > extract(epoch from now())`,
        `where (held->>'until')::float8 >= 0`,
      ],
      [
        'doors.unpaid-bytes-given-back',
        'What was not heard of that is over is told again.',
        `if (held.size > 0) await tell`,
        `if (held.size > 9) await tell`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/unpaid-bytes.ts',
    ['rest/unpaid-bytes.test.ts'],
    [
      [
        'doors.unpaid-bytes',
        'An account has so many unpaid bytes under way, and no more.',
        `heldBy(owner) + bytes <= most`,
        `heldBy(owner) + bytes <= most * 99`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/uploads.ts',
    ['rest/shared-limits.test.ts'],
    [
      [
        'doors.unpaid-bytes-declared',
        'A request counts with as much as it announces.',
        `if (room < declaredBytes) await`,
        `if (room > declaredBytes) await`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/request-limits.ts',
    ['rest/shared-limits.test.ts', 'domain/request-limits.test.ts'],
    [
      [
        'doors.requests-of-all-processes',
        'Requests at all processes count together.',
        `count.known = Math.max(count.known, told!.count)`,
        `count.known += 0`,
      ],
      [
        'doors.requests-minute',
        'A minute later a caller may ask again.',
        `const fresh = { known: 0, untold: 0, endsAt: at + WINDOW_SECONDS * MS }`,
        `const fresh = { known: 0, untold: 0, endsAt: at + 2 * WINDOW_SECONDS * MS }`,
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
    'src/domain/asset/uploads.ts',
    ['rest/unpaid-bytes.test.ts', 'rest/broken-bodies.test.ts'],
    [
      [
        'doors.unpaid-released',
        'Bytes of a request that ended count no more.',
        `if (bytes > 0) await unpaidBytes.giveBack`,
        `if (bytes < 0) await unpaidBytes.giveBack`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/request-body.ts',
    ['rest/bodies.test.ts', 'rest/broken-bodies.test.ts'],
    [
      [
        'doors.declared-size',
        'A body that says it is too large is refused before it is read.',
        `if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw`,
        `if (Number(req.headers['content-length'] ?? 0) > maxBytes * 1e6) throw`,
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
    'src/config.ts',
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
    'src/graphql/use-document-limits.ts',
    ['rest/under-way.test.ts'],
    [
      [
        'under-way.graphql',
        'GraphQL carries out no more of one asker at once than their share.',
        `admission.enter(asked, async () => executeFn(carried))`,
        `Promise.resolve(executeFn(carried))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/use-document-limits.ts',
    ['graphql/over-http.test.ts'],
    [
      [
        'over-http.unmasked',
        'A page that is too much is refused with the fields that are wrong.',
        `errors: [maskError(error, () => log)]`,
        `errors: [new GraphQLError((error as Error).message)]`,
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
  ...mutantsOf(
    'src/graphql/admission.ts',
    ['rest/under-way.test.ts'],
    [
      [
        'under-way.rest',
        'REST carries out no more of one asker at once than their share.',
        `return admission.enter({ document, operation, actor, bytes: costOf(document, operation, variables).bytes }, run)`,
        `return run()`,
      ],
      [
        'under-way.size',
        'A document counts as many times as it has fields at its root.',
        `=> rootFieldsOf(document, operation)`,
        `=> Math.min(1, rootFieldsOf(document, operation))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/shares.ts',
    ['platform/shares.test.ts'],
    [
      ['under-way.line', 'A line has an end.', `share.line.length >= waiting`, `share.line.length < 0`],
      ['under-way.order', 'What is large is not overtaken by what is small.', `share.line.length === 0 && `, ``],
      [
        'under-way.given-up',
        'Who gives up waiting keeps nobody behind them from going on.',
        `        goOn(share)\n      }, patience)`,
        `      }, patience)`,
      ],
      ['under-way.given-back', 'What ended gives its share back.', `share.held -= size`, `share.held -= 0`],
    ],
  ),
]
