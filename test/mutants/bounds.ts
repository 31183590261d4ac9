import { type Mutant, mutantsOf } from './mutant.ts'

export const bounds: Mutant[] = [
  ...mutantsOf(
    'src/platform/readers.ts',
    ['platform/readers.test.ts'],
    [
      [
        'bounds.orphans',
        'What reads a stranger’s file ends also where whoever started it was killed.',
        `ulimit -t "$0" 2>/dev/null; `,
        ``,
      ],
      [
        'bounds.descriptors',
        'What cannot be started for want of descriptors takes none away for good.',
        `    assertDescriptors()\n`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/pictures/picture-process.ts',
    ['processes/hostile-pictures.processes.ts'],
    [
      [
        'bounds.picture-memory',
        'A picture takes so much memory and no more.',
        `process.memoryUsage.rss() > MAX_MEMORY_BYTES`,
        `process.memoryUsage.rss() < 0`,
      ],
      [
        'bounds.picture-time',
        'A picture takes so much of the processor and no more.',
        `const MAX_PROCESSOR_MS = 10_000`,
        `const MAX_PROCESSOR_MS = 10_000_000`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/profile-service.ts',
    ['processes/hostile-pictures.processes.ts'],
    [
      [
        'bounds.pictures-in-turn',
        'Pictures on profiles are made for each account in turn.',
        `pictureShares.take(user, 1, () =>`,
        `pictureShares.take(undefined, 1, () =>`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/bounded-request.ts',
    ['rest/small-pieces.test.ts'],
    [
      [
        'bounds.pieces-refused',
        'A body in too many small pieces is refused.',
        `this.#pieces <= FREE_PIECES + this.#bytes / LEAST_BYTES`,
        `this.#pieces > 0`,
      ],
      [
        'bounds.pieces-free',
        'A small body may come byte by byte.',
        `const FREE_PIECES = 2_000`,
        `const FREE_PIECES = 2`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/reads/statement-names.ts',
    ['platform/reads.test.ts'],
    [
      [
        'bounds.statements-in-characters',
        'What a connection keeps of statements is bounded by their length: whoever asks chooses what is read.',
        `const MOST_CHARACTERS = 300_000`,
        `const MOST_CHARACTERS = 300_000_000`,
      ],
      [
        'bounds.statements-closed',
        'A statement that was given up is closed at each connection.',
        `if (closed.length > 0) client.query(new Closing(closed))`,
        `if (closed.length < 0) client.query(new Closing(closed))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/pages/asset/timeline.ts',
    ['pages/asset-page.test.ts'],
    [
      [
        'bounds.changes-on-a-page',
        'The page of an asset shows so many changes of a commit and no more, whoever asks.',
        `const MOST_CHANGES = 50`,
        `const MOST_CHANGES = 5_000`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/use-document-limits.ts',
    ['graphql/events.test.ts'],
    [
      [
        'bounds.told-each-time',
        'What a subscription tells each time is small: it is told to all who follow at once.',
        `judged > MOST_TOLD`,
        `judged < 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/read-form.ts',
    ['rest/small-pieces.test.ts'],
    [
      [
        'bounds.parts',
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
        'bounds.encoded-fields',
        'An encoded form has a bounded number of fields.',
        `text.split('&', maxFields + 1).length > maxFields`,
        `text.length < 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/total.ts',
    ['parity/totals.test.ts'],
    [
      [
        'bounds.totals-bounded',
        'A list of everybody’s is not counted to its end.',
        `Math.max(MOST_COUNTED, (offset ?? 0) + MOST_PER_PAGE + 1)`,
        `2_000_000_000`,
      ],
      [
        'bounds.totals-largest',
        'A total is never counted further than the database can be asked for.',
        `, LARGEST_INT)`,
        `, Number.MAX_SAFE_INTEGER)`,
      ],
      [
        'bounds.totals-reach',
        'A total always tells whether there is a next page.',
        `Math.max(MOST_COUNTED, (offset ?? 0) + MOST_PER_PAGE + 1)`,
        `MOST_COUNTED`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/json-input.ts',
    ['rest/hostile-input.test.ts'],
    [
      [
        'bounds.json-depth',
        'JSON of any input is at most 16 levels deep.',
        `MAX_JSON_DEPTH = 16`,
        `MAX_JSON_DEPTH = 17`,
      ],
      [
        'bounds.surrogates',
        'Text that is no Unicode is refused.',
        `return text.isWellFormed() ? undefined :`,
        `return text !== '' ? undefined :`,
      ],
      [
        'bounds.numbers',
        'A number that JavaScript cannot hold is refused, not changed.',
        `return written === literal || magnitude(literal) === magnitude(written)`,
        `return written !== ''`,
      ],
      ['bounds.infinite', 'A number beyond all doubles is refused.', `if (!Number.isFinite(value)) return false`, ``],
    ],
  ),
  ...mutantsOf(
    'src/graphql/document-limits.ts',
    ['graphql/hardening.test.ts', 'tools/introspection.test.ts'],
    [
      ['bounds.depth', 'A document is at most 12 levels deep.', `  depth: 12,`, `  depth: 60,`],
      ['bounds.aliases', 'A document has at most 30 aliases.', `  aliases: 30,`, `  aliases: 300,`],
      [
        'bounds.schema-depth',
        'The query by which tools begin is answered.',
        `  schemaDepth: 20,`,
        `  schemaDepth: 12,`,
      ],
      [
        'bounds.one-change',
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
        'bounds.whole-answers',
        'A document that asks for its answer in parts is told that there are none.',
        `if (INCREMENTAL.has(name.value)) {`,
        `if (INCREMENTAL.has('') && name) {`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/page.ts',
    ['rest/large-pages.test.ts', 'rest/lists.test.ts', 'graphql/reading.test.ts', 'graphql/hardening.test.ts'],
    [
      [
        'bounds.offset',
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
        'bounds.limit',
        'A page has a published maximum.',
        `Math.min(whole(query.get('limit')) || DEFAULT_LIMIT, max)`,
        `whole(query.get('limit')) || DEFAULT_LIMIT`,
      ],
      ['bounds.next', 'The last page has no next one.', `: offset + length < count`, `: offset + length <= count`],
    ],
  ),
  ...mutantsOf(
    'src/rest/pagination.ts',
    ['rest/long-lists.test.ts'],
    [
      [
        'bounds.next-by-cursor',
        'A list that is read by cursors ends where nothing follows.',
        `cursors && 'after' in placeOf(request) ?`,
        `cursors && 'after' in {} ?`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/use-answer-bytes.ts',
    ['processes/answers-that-wait.processes.ts'],
    [
      [
        'bounds.answer-bytes',
        'An answer that waits for its reader is held once.',
        `text.length <= SHORT ? text`,
        `text.length >= 0 ? text`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/http-server.ts',
    ['platform/slow-readers.test.ts'],
    [
      [
        'bounds.expectations-at-once',
        'A request with an expectation counts among those that a connection has under way.',
        `void server.emit('request', req, res)`,
        `serve(req, res)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/http-server.ts',
    ['server/most-connections.test.ts'],
    [
      [
        'bounds.connections',
        'There is a bound on the connections that are open at a port.',
        `maxConnections: connections`,
        `maxConnections: 1e9 + connections`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/http/slow-readers.ts',
    ['platform/slow-readers.test.ts'],
    [
      [
        'bounds.most-waiting',
        'There is a bound on what waits to be read, whoever waits.',
        `if (waiting <= most && now`,
        `if (now`,
      ],
      [
        'bounds.who-holds-most',
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
        'bounds.bodies-together',
        'All bodies under way together take so much memory, and no more.',
        `while (held > most)`,
        `while (held > most * 99)`,
      ],
      [
        'bounds.heaviest-body',
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
        'bounds.streams-user',
        'A user has so many streams open, and no more.',
        `[[\`streams:user:\${actor.id}\`, streamsPerUser]`,
        `[[\`streams:user:\${actor.id}\`, streamsPerUser * 9]`,
      ],
      [
        'bounds.streams-given-back',
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
        'bounds.streams-refused-given-back',
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
        'bounds.streams-of-all-processes',
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
        'bounds.unpaid-bytes-of-all-processes',
        'Uploads at all processes count together.',
        `where \${grantedSql} >= $needed`,
        `where \${grantedSql} is not null`,
      ],
      [
        'bounds.unpaid-bytes-of-the-gone',
        'What a process had that is gone is free a minute later.',
        `where (held->>'until')::float8 > extract(epoch from now())`,
        `where (held->>'until')::float8 >= 0`,
      ],
      [
        'bounds.unpaid-bytes-given-back',
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
        'bounds.unpaid-bytes',
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
        'bounds.unpaid-bytes-declared',
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
        'bounds.requests-of-all-processes',
        'Requests at all processes count together.',
        `count.known = Math.max(count.known, told!.count)`,
        `count.known += 0`,
      ],
      [
        'bounds.requests-minute',
        'A minute later a caller may ask again.',
        `const fresh = { known: 0, untold: 0, endsAt: at + WINDOW_SECONDS * MS }`,
        `const fresh = { known: 0, untold: 0, endsAt: at + 2 * WINDOW_SECONDS * MS }`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/asset/uploads.ts',
    ['rest/unpaid-bytes.test.ts', 'rest/broken-bodies.test.ts'],
    [
      [
        'bounds.unpaid-released',
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
        'bounds.declared-size',
        'A body that says it is too large is refused before it is read.',
        `if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw`,
        `if (Number(req.headers['content-length'] ?? 0) > maxBytes * 1e6) throw`,
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
  ...mutantsOf(
    'src/domain/account/identity-service.ts',
    ['rest/emails.test.ts'],
    [
      [
        'bounds.changes-to-one',
        'Many accounts that take one address for theirs have no more mails sent there than a few.',
        `if (!takesBack) await limits.take(changesToOne`,
        `if (takesBack) await limits.take(changesToOne`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/mail-requests.ts',
    ['rest/emails.test.ts'],
    [
      ['bounds.mailbox-tags', 'An address with a tag is counted as its mailbox.', `tag > 0 ?`, `tag < 0 ?`],
      [
        'bounds.mailbox-dots',
        'Addresses of Gmail are counted as one however their dots are set.',
        `name.replaceAll('.', '')`,
        `name`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/own-password.ts',
    ['rest/passwords.test.ts'],
    [
      [
        'bounds.own-password',
        'Nobody has a password compared without end because it is right.',
        `await limits.take(proofs, id)`,
        ``,
      ],
      [
        'bounds.own-password-before',
        'What is refused is refused before it is hashed.',
        `await limits.assertOpen(proofs, id)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/password-service.ts',
    ['rest/passwords.test.ts'],
    [
      [
        'bounds.password-changes',
        'Nobody has mails sent without end by changing a password.',
        `await limits.take(changes, actor.id)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/idempotency.ts',
    ['rest/idempotency.test.ts'],
    [
      [
        'bounds.free-answers',
        'Requests that cost nothing fill no disk with their answers.',
        ` and counted.count <= $most`,
        ``,
      ],
      [
        'bounds.paid-answers',
        'The answer of a request that was paid for is kept, whatever others take.',
        `if (!context.isFree) await`,
        `if (context.isFree) await`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/account-mail-statements.ts',
    ['rest/emails.test.ts'],
    [
      [
        'bounds.awaiting-asker',
        'Whoever claims an address later keeps no link from who asks for their own.',
        `id is not distinct from $asker desc, `,
        ``,
      ],
    ],
  ),
]
